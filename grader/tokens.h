/* tokens.h - do two sources say the same? */
#ifndef TOKENS_H
#define TOKENS_H

#include <stdbool.h>

/* True if the two sources differ in comments, blanks and line ends only. */
bool same_but_for_comments(const char *a, const char *b);

#endif
