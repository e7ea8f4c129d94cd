/* markup.h - a self-contained HTML page. */
#ifndef BASE_MARKUP_H
#define BASE_MARKUP_H

#include <stdbool.h>
#include <stdio.h>

typedef struct Page {
    FILE *to;
    char nonce[40]; /* only styles and scripts with it are run */
} Page;

typedef struct PageHead {
    const char *title, *style; /* style: CSS, trusted */
    bool has_pictures;         /* SVG with styles of their own: styles need no number */
} PageHead;

/* Writes everything up to <body>, and </body> and what follows. */
void page_begin(Page *page, FILE *to, const PageHead *head);
void page_end(Page *page);
void page_script(Page *page, const char *script);

/* Writes a part of the page. `markup` is trusted and written unchanged. The values of its
 * conversions, %s, %d, %f and %g (with precision) and %%, may come from students: texts are escaped
 * for element content and quoted attributes. */
void page_print(Page *page, const char *markup, ...) __attribute__((format(printf, 2, 3)));

/* Writes a sentence, escaped, as element content. `name` in backticks is set as code. */
void page_sentence(Page *page, const char *text);

#endif
