/* tokens.h - compares two sources, ignoring comments and blanks. */
#ifndef BASE_TOKENS_H
#define BASE_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the tokens of a source without comments and blanks, each terminated by a 0. The caller
 * frees them. */
char *token_stream(const char *source, size_t *size);

/* True if the two sources differ only in comments, blanks and line ends. */
bool same_but_for_comments(const char *a, const char *b);

#endif
