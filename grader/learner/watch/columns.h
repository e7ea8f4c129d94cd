/* columns.h - adds columns to a compiler's messages, so that a terminal or an editor can open the
 * place: labs/06_transpose/kernel.cu:12:5. */
#ifndef LEARNER_WATCH_COLUMNS_H
#define LEARNER_WATCH_COLUMNS_H

/* nvcc prints no column, but the source line, indented by two, and a ^ below the place. Returns the
 * text with "kernel.cu:12:" replaced by "kernel.cu:12:5:" where such a ^ follows. The caller
 * frees. */
char *text_with_columns(const char *text);

#endif
