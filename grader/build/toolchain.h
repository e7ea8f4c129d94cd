/* toolchain.h - nvcc and the C++ compiler behind it, as found on this machine.
 *
 * Two environment variables let the tests run without them (tests/fake_nvcc plays both programs):
 * $WARPBOOK_NVCC is the compiler, $WARPBOOK_READELF the program that lists an object's symbols.
 */
#ifndef BUILD_TOOLCHAIN_H
#define BUILD_TOOLCHAIN_H

#include <stdbool.h>
#include <stddef.h>

/* Lists have one item per line. */
typedef struct Toolchain {
    char nvcc[512];       /* path */
    char host[512];       /* the C++ compiler that nvcc calls; it also links */
    char readelf[512];    /* lists the contents of an object */
    char include[512];    /* the toolkit's headers, a real path */
    char roots[2048];     /* list: folders of the toolkit's and the system's headers */
    char libraries[1024]; /* list: folders of libcudart.so */
    char archs[256];      /* " 75 80 86": the architectures that this nvcc knows */
    char version[128];    /* "13.0.88", for people and for results */
    char identity[4096]; /* the version texts of nvcc and of the host compiler, for the cache key */
    char problem[512];   /* "" if usable; otherwise what is wrong and what to do */
} Toolchain;

/* Finds nvcc: $WARPBOOK_NVCC, $CUDA_HOME/bin, $PATH, /usr/local/cuda/bin. */
void toolchain_find(Toolchain *toolchain);

/* Chooses for a GPU the architecture of the PTX and that of the machine code (0: PTX only). Returns
 * false, with a sentence in `note`, if this nvcc cannot compile for the GPU; true, with a note, if
 * it does not know the GPU. */
bool toolchain_archs(const Toolchain *toolchain, int cc, int *ptx, int *sm, char *note,
                     size_t size);

/* Explains what is wrong with the machine, from the output of a compiler that failed on a file of
 * the workbook. Returns NULL if it does not know. */
const char *toolchain_fault(const char *output);

#endif
