/* markup.h - HTML in one file that needs no other and reaches no network. */
#ifndef GRADEBOOK_REPORT_MARKUP_H
#define GRADEBOOK_REPORT_MARKUP_H

#include <stdio.h>

typedef struct Page {
    FILE *to;
    char nonce[40]; /* styles and scripts that don't know it are not run */
} Page;

/* From the doctype to <main>, and from </main> to the end. */
void page_begin(Page *page, FILE *to, const char *title);
void page_end(Page *page);
void page_script(Page *page, const char *script);

/* The only way by which a text that we did not write gets into a page: escaped for an element's
 * content and for a quoted attribute. */
void page_text(Page *page, const char *text);
void page_format(Page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Ours, as it stands. */
void page_put(Page *page, const char *markup);

extern const char page_style[], page_sorting[]; /* page.css, page.js */

#endif
