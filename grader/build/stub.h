/* stub.h - our solutions without their text, for where strangers' code runs.
 *
 * A gradebook shows its cells stand-ins for solutions/LAB/: the starter, which is no secret; and
 * for each of our kernels that a grading needs, a file of its name with one line, "// sealed HASH",
 * and beside it the built .so. Students get the same (make course-kit), with an .o to be linked on
 * their machine. */
#ifndef BUILD_STUB_H
#define BUILD_STUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* By its content, a file of solutions/; of a stand-in that of the file it stands for. 0: there is
 * none. */
uint64_t solution_hash(const char *path);

/* True if the file is a stand-in; `object` gets the path of its .so, there or not. */
bool is_sealed(const char *path, char *object, size_t size);

/* Writes a stand-in for `source` as FOLDER/NAME; `object`: what is built of it, which gets NAME's
 * words with `ending`, ".so" or ".o"; NULL: none is needed. False with errno set. */
bool seal(const char *source, const char *object, const char *ending, const char *folder,
          const char *name);

#endif
