/* fatbin.h - the device code that nvcc puts into a program: PTX texts and cubins, by architecture.
 */
#ifndef SIM_BINARY_FATBIN_H
#define SIM_BINARY_FATBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum FatbinKind { FATBIN_PTX = 1, FATBIN_ELF = 2 } FatbinKind;

typedef struct FatbinEntry {
    FatbinKind kind;
    int arch;    /* 80 */
    int part;    /* 0: the linked code; 1, 2, ...: an object file of relocatable code */
    char *bytes; /* decompressed, followed by a 0; owned */
    size_t size;
} FatbinEntry;

enum { FATBIN_ENTRIES = 256 };

typedef struct Fatbin {
    FatbinEntry entries[FATBIN_ENTRIES];
    int count;
    int parts; /* 1: not relocatable; otherwise one more than there are object files */
} Fatbin;

/* Reads from the pointer that a program registers (__fatBinC_Wrapper_t); the sizes in its headers
 * are trusted. Relocatable code (nvcc -rdc=true) has one part per object file. Returns false and
 * sets `why` (including what to do next) if it is not a fat binary, or is compressed and libzstd is
 * not installed. */
bool fatbin_read(const void *wrapper, Fatbin *fatbin, char *why, size_t size);

/* The same from `size` bytes that start with the fat binary's header. Never reads past them,
 * whatever the header claims. Also used by tests and fuzzing. */
bool fatbin_read_bytes(const void *bytes, size_t size, Fatbin *fatbin, char *why, size_t why_size);
void fatbin_free(Fatbin *fatbin);

/* The PTX of a part for the highest architecture up to `arch`, or else for the lowest. NULL if the
 * part has no PTX. */
const FatbinEntry *fatbin_ptx_of(const Fatbin *fatbin, int arch, int part);
const FatbinEntry *fatbin_ptx(const Fatbin *fatbin, int arch); /* of part 0 */

/* The resources that a compiled kernel uses. */
typedef struct KernelResources {
    int registers; /* per thread */
    int static_shared_bytes;
    int local_bytes;  /* stack and spills, per thread */
    int most_threads; /* per block, from the launch bounds; 0: not given */
    int frame_bytes;  /* part of local_bytes: the kernel's own local arrays and spills */
} KernelResources;

/* Reads them from the fat binary's cubin (ELF) for the architecture nearest to `arch`. Returns
 * false if it is missing or malformed. `kernel` is the mangled name. */
bool fatbin_resources(const Fatbin *fatbin, int arch, const char *kernel, KernelResources *found);

/* sim/binary/lz4.c. Unpacks one LZ4 block, as written by nvcc --compress-mode=speed. Returns the
 * number of bytes written to `out`; -1: the block is malformed or needs more than `room`. */
long lz4_unpack(const unsigned char *in, size_t size, unsigned char *out, size_t room);

#endif
