/* tokens.h - do two sources say the same? */
#ifndef BASE_TOKENS_H
#define BASE_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

/* What a source says without comments and blanks: its tokens, each ended by a 0. The caller frees.
 */
char *token_stream(const char *source, size_t *size);

/* True if the two sources differ in comments, blanks and line ends only. */
bool same_but_for_comments(const char *a, const char *b);

#endif
