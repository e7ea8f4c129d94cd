/* markup.h - a self-contained HTML page. */
#ifndef GRADEBOOK_REPORT_MARKUP_H
#define GRADEBOOK_REPORT_MARKUP_H

#include <stdio.h>

typedef struct Page {
    FILE *to;
    char nonce[40]; /* only styles and scripts with it are run */
} Page;

/* From the doctype to <main>, and from </main> to the end. */
void page_begin(Page *page, FILE *to, const char *title);
void page_end(Page *page);
void page_script(Page *page, const char *script);

/* Every text that we did not write enters a page through this function, which escapes it for
 * element content and quoted attributes. */
void page_text(Page *page, const char *text);
void page_format(Page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes our own markup unchanged. */
void page_put(Page *page, const char *markup);

extern const char page_style[], page_sorting[]; /* page.css, page.js */

#endif
