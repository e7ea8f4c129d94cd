/* compile.h - the commands of a build: nvcc, the linker and readelf, with their arguments. */
#ifndef BUILD_COMPILE_H
#define BUILD_COMPILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include "lab.h"
#include "build/toolchain.h"

enum { COMPILE_LIMIT_S = 120, COMPILE_ARCHS = 32 };

/* The inputs of the commands. Paths are absolute. */
typedef struct Compile {
    const Toolchain *toolchain;
    const Lab *lab;
    char lab_dir[PATH_MAX], common[PATH_MAX];
    char gencode[COMPILE_ARCHS][64]; /* "arch=compute_80,code=sm_80": the code to generate */
    int gencodes;
    bool probes;   /* only tests whether the compiler works; not a lab's kernel */
    bool uses_std; /* kernel.cu may use the C++ library, or includes other headers */
    bool portable; /* for other machines: no line numbers, which contain paths of this machine */
} Compile;

void compile_for(Compile *compile, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* True if a source mentions std, or includes more than the lab's headers. */
bool compile_uses_std(const char *source);

/* The flags, one per line, as part of a cache key. */
void compile_write_flags(const Compile *compile, FILE *key);

/* Each of these runs in `folder`, which contains kernel.cu, and returns the status of child_run();
 * `output` receives the program's output. compile_object makes kernel.o and the lists of files that
 * were read: kernel.d, kernel.asm.d, *.ii. compile_link makes kernel.so from kernel.o. compile_list
 * lists the contents of kernel.o. */
int compile_object(const Compile *compile, const char *folder, char *output, size_t size);
int compile_link(const Compile *compile, const char *folder, char *output, size_t size);
int compile_list(const Compile *compile, const char *folder, char *listing, size_t size);

/* If the system can confine a compiler, it sees only its own files, the lab's and its working
 * folder. This call lifts that restriction from now on, for compilers that need more. Returns false
 * if it was already lifted. */
bool compile_unconfine(void);

/* The command to type in the working folder to see everything that nvcc prints. */
void compile_typed(const Compile *compile, const char *source, char *text, size_t size);

#endif
