/* source_shape.h - the dimensions of arrays, from the source that declares them.
 *
 * PTX knows only how large an array is. The source says that it has rows and columns.
 */
#ifndef SIM_BASE_SOURCE_SHAPE_H
#define SIM_BASE_SOURCE_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

/* The dimensions of `__shared__ float name[A][B]`, outermost first. Sizes may be expressions of
 * numbers, enumerators, constants and macros. Returns their number; 0: unknown, or the source
 * declares several such arrays of different shapes. */
enum { SHAPE_DIMS = 4 };
int source_shape(const char *source, const char *name, long dims[SHAPE_DIMS]);

/* Replaces `tile[33]` in a sentence by `tile[1][0]`, for each array that has several dimensions. */
void source_shape_sentence(const char *source, char *text, size_t size);

/* The same with a source file. Leaves the text as it is if that cannot be read. */
void source_shape_file(const char *path, char *text, size_t size);

#endif
