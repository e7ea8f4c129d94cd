/* toolchain.h - nvcc and the C++ compiler behind it, as found on this machine.
 *
 * Two environment variables let the tests run without them (tests/fake_nvcc is both programs):
 * $WARPBOOK_NVCC names the compiler, $WARPBOOK_READELF the program that lists an object's symbols.
 */
#ifndef BUILD_TOOLCHAIN_H
#define BUILD_TOOLCHAIN_H

#include <stdbool.h>
#include <stddef.h>

/* Lists have one item per line. */
typedef struct Toolchain {
    char nvcc[512];       /* path */
    char host[512];       /* the C++ compiler that nvcc calls; it links, too */
    char readelf[512];    /* lists what an object holds */
    char include[512];    /* the toolkit's headers, a real path */
    char roots[2048];     /* list: folders that the toolkit's and the system's headers lie in */
    char libraries[1024]; /* list: folders of libcudart.so */
    char archs[256];      /* " 75 80 86": the architectures that this nvcc knows */
    char version[128];    /* "13.0.88", for people and for results */
    char identity[4096];  /* what nvcc and the host compiler say of themselves: for the cache key */
    char problem[512];    /* "" if usable; else what is wrong and what to do */
} Toolchain;

/* Finds nvcc: $WARPBOOK_NVCC, $CUDA_HOME/bin, $PATH, /usr/local/cuda/bin. */
void toolchain_find(Toolchain *toolchain);

/* The architecture whose PTX, and the one whose machine code (0: PTX only), suit a GPU. False, with
 * a sentence in `note`, if this nvcc cannot compile for it; true with a note if it does not know
 * it. */
bool toolchain_archs(const Toolchain *toolchain, int cc, int *ptx, int *sm, char *note,
                     size_t size);

/* What is wrong with the machine, from the output of a compiler that failed on a file of the
 * workbook. NULL: unknown. */
const char *toolchain_fault(const char *output);

#endif
