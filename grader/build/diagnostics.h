/* diagnostics.h - reduces a compiler's output to what helps a student. */
#ifndef BUILD_DIAGNOSTICS_H
#define BUILD_DIAGNOSTICS_H

#include <stdbool.h>
#include <stddef.h>

/* Copies the lines of a compiler's output that help: at most 12 lines of errors in kernel.cu, which
 * is called `shown`, then the number of further errors. `folder` is where the compiler ran. `size`
 * is at least 100 bytes. */
void complaint(const char *output, const char *folder, const char *shown, char *text, size_t size);

/* The errors in kernel.cu that the compiler's output names, without repetitions. */
typedef struct CompilerError {
    int line, column; /* column 0: unknown */
    char text[300];
} CompilerError;
int compiler_errors(const char *output, const char *folder, CompilerError *errors, int most);

/* Whether complaint() left out errors for want of room. */
bool complaint_is_cut(const char *text);

/* What a common error in these lines means in CUDA, and what to do: a sentence; "": none known. */
const char *complaint_meaning(const char *text);

/* The line of the source where a name first stands alone, outside comments and strings; 0: none. A
 * name such as `std::cout` or `operator new` is found by its last word. */
int line_of_name(const char *source, const char *name);

#endif
