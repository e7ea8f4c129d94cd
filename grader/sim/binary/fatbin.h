/* fatbin.h - what nvcc puts into a program: PTX texts and cubins, by architecture. */
#ifndef SIM_BINARY_FATBIN_H
#define SIM_BINARY_FATBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum FatbinKind { FATBIN_PTX = 1, FATBIN_ELF = 2 } FatbinKind;

typedef struct FatbinEntry {
    FatbinKind kind;
    int arch;    /* 80 */
    char *bytes; /* decompressed, with a 0 behind; owned */
    size_t size;
} FatbinEntry;

enum { FATBIN_ENTRIES = 64 };

typedef struct Fatbin {
    FatbinEntry entries[FATBIN_ENTRIES];
    int count;
} Fatbin;

/* From the pointer that a program registers (__fatBinC_Wrapper_t), whose memory is trusted as far
 * as its own headers reach. False with `why` (what to do next included): not a fat binary,
 * relocatable device code, compressed and no libzstd here. */
bool fatbin_read(const void *wrapper, Fatbin *fatbin, char *why, size_t size);

/* The same from `size` bytes that start with the fat binary's header: nothing beyond is read,
 * whatever the header claims. For tests and fuzzing, too. */
bool fatbin_read_bytes(const void *bytes, size_t size, Fatbin *fatbin, char *why, size_t why_size);
void fatbin_free(Fatbin *fatbin);

/* The PTX of the highest architecture up to `arch`, else of the lowest; NULL: the program has no
 * PTX.
 */
const FatbinEntry *fatbin_ptx(const Fatbin *fatbin, int arch);

/* What ptxas made of a kernel. */
typedef struct KernelResources {
    int registers; /* a thread */
    int static_shared_bytes;
    int local_bytes;  /* stack and spills, per thread */
    int most_threads; /* a block, by launch bounds; 0: not said */
    int frame_bytes;  /* of local_bytes, the kernel's own: local arrays and spills */
} KernelResources;

/* From the cubin (ELF) of the architecture nearest to `arch` in the fat binary. False: not found or
 * malformed. `kernel` is the mangled name. */
bool fatbin_resources(const Fatbin *fatbin, int arch, const char *kernel, KernelResources *found);

/* sim/binary/lz4.c. Unpacks one LZ4 block, as nvcc --compress-mode=speed writes it: how many bytes
 * of `out` were filled; -1: the block is malformed or wants more than `room`. */
long lz4_unpack(const unsigned char *in, size_t size, unsigned char *out, size_t room);

#endif
