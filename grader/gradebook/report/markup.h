/* markup.h - the style and the script of gradebook's pages. */
#ifndef GRADEBOOK_REPORT_MARKUP_H
#define GRADEBOOK_REPORT_MARKUP_H

#include "base/markup.h"

extern const char page_style[], page_sorting[]; /* page.css, page.js */
extern const char run_autograder[];             /* run_autograder.py */

#endif
