/* markup.h - a self-contained HTML page. */
#ifndef GRADEBOOK_REPORT_MARKUP_H
#define GRADEBOOK_REPORT_MARKUP_H

#include <stdio.h>

typedef struct Page {
    FILE *to;
    char nonce[40]; /* only styles and scripts with it are run */
} Page;

/* Writes everything up to <main>, and everything from </main> on. */
void page_begin(Page *page, FILE *to, const char *title);
void page_end(Page *page);
void page_script(Page *page, const char *script);

/* Writes a part of the page. `markup` is trusted and written unchanged. The values of its
 * conversions, %s, %d, %f and %g (with precision) and %%, may come from students: texts are escaped
 * for element content and quoted attributes. */
void page_print(Page *page, const char *markup, ...) __attribute__((format(printf, 2, 3)));

extern const char page_style[], page_sorting[]; /* page.css, page.js */

#endif
