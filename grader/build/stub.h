/* stub.h - solutions without their text, where students' code could read them.
 *
 * A gradebook's sandboxes see stubs instead of solutions/LAB/: the starter, which is not secret,
 * and for each kernel that a grading needs, a file of the same name with one line, "// sealed
 * HASH", and the built .so next to it. Students get the same (make course-kit), with an .o that is
 * linked on their machine. */
#ifndef BUILD_STUB_H
#define BUILD_STUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The hash of a file in solutions/ by its content; a stub has the hash of the file that it
 * replaces. 0 if the file cannot be read. */
uint64_t solution_hash(const char *path);

/* True if the file is a stub; `object` receives the path of its .so, which may be missing. */
bool is_sealed(const char *path, char *object, size_t size);

/* Writes a stub for `source` as FOLDER/NAME. `object`, if not NULL, is its build; it is copied
 * under NAME with `ending` (".so" or ".o"). On failure, returns false and sets errno. */
bool seal(const char *source, const char *object, const char *ending, const char *folder,
          const char *name);

#endif
