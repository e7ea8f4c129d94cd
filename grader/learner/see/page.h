/* page.h - writes the page of make see. */
#ifndef LEARNER_SEE_PAGE_H
#define LEARNER_SEE_PAGE_H

#include "base/markup.h"
#include "learner/see/seen.h"

void see_page(const Seen *seen, FILE *to);

/* For source text: bytes that are not UTF-8, and control characters, become question marks. */
void see_clean_text(char *text);

extern const char see_style[], see_script[]; /* page.css, page.js */

/* ---- Sections, one file each ---- */

void see_source(Page *page, const Seen *seen);       /* source.c */
void see_finding_rows(Page *page, const Seen *seen); /* findings.c; nothing if there is none */
void see_accesses(Page *page, const Seen *seen);     /* accesses.c */
void see_arrays(Page *page, const Seen *seen);
void see_pictures(Page *page, const Seen *seen); /* pictures.c */

/* What a picture of draw/ needs to know about the kernel. */
Picture see_picture(const Seen *seen, const SeenKernel *kernel);

#endif
