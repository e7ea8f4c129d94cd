/* compile.h - the commands of a build: nvcc, the linker, readelf, and with which words. */
#ifndef BUILD_COMPILE_H
#define BUILD_COMPILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include "lab.h"
#include "build/toolchain.h"

enum { COMPILE_LIMIT_S = 120, COMPILE_ARCHS = 32 };

/* All that decides the commands. Paths are absolute. */
typedef struct Compile {
    const Toolchain *toolchain;
    const Lab *lab;
    char lab_dir[PATH_MAX], common[PATH_MAX];
    char gencode[COMPILE_ARCHS][64]; /* "arch=compute_80,code=sm_80": what is made */
    int gencodes;
    bool probes;   /* does the compiler work at all? No lab's kernel */
    bool portable; /* for other machines: no line numbers, which hold paths of this one */
} Compile;

void compile_for(Compile *compile, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The flags, one per line, as part of a cache key. */
void compile_write_flags(const Compile *compile, FILE *key);

/* Each runs in `folder`, where kernel.cu lies; the status is child_run()'s, and what the program
 * printed is in `output`. The first makes kernel.o and the lists of what was read: kernel.d,
 * kernel.asm.d, *.ii. Then kernel.so from kernel.o; and what kernel.o holds. */
int compile_object(const Compile *compile, const char *folder, char *output, size_t size);
int compile_link(const Compile *compile, const char *folder, char *output, size_t size);
int compile_list(const Compile *compile, const char *folder, char *listing, size_t size);

/* A compiler sees its own files, the lab's and its folder's, where the kernel can hold it to that.
 * From now on it sees all: where that is too little for it. False: it does already. */
bool compile_unconfine(void);

/* The command as it is typed in a shell to see all that nvcc says, to be run where we are. */
void compile_typed(const Compile *compile, const char *source, char *text, size_t size);

#endif
