/* text.h - wraps prose for a terminal. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdio.h>

/* Prints text with every line indented, broken at blanks so that no line exceeds `columns`. A word
 * that is too long for a line gets a line of its own. A '\n' in the text begins a new line. */
void print_wrapped(const char *text, int indent, int columns);
void print_wrapped_to(FILE *to, const char *text, int indent, int columns);

/* Wraps only the lines that are too wide: the others may be aligned, such as a compiler's. */
void print_lines_wrapped(const char *text, int indent, int columns);

#endif
