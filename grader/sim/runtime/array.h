/* array.h - CUDA arrays as the calls see them, and the copies of which they are a side. */
#ifndef SIM_RUNTIME_ARRAY_H
#define SIM_RUNTIME_ARRAY_H

#include "sim/runtime/runtime.h"

typedef struct RtArray {
    struct RtArray *next;
    Texels texels;
    struct cudaChannelFormatDesc format;
    struct cudaExtent extent; /* as the program gave it */
    unsigned flags;
    bool is_level; /* of a mipmapped array, with which it is freed */
} RtArray;

/* A mipmapped array: each level is an array with half the size of the one before. */
typedef struct Mipmap {
    struct Mipmap *next;
    RtArray *levels[MOST_LEVELS];
    int count;
} Mipmap;

/* mipmap.c; NULL: no such array. */
Mipmap *mipmap_of(cudaMipmappedArray_const_t handle);
void mipmaps_drop(void); /* before arrays_drop(), which frees the levels */

/* Finds the array; NULL: no such array. */
RtArray *array_of(cudaArray_const_t handle);
cudaError_t array_allocate(RtArray **array, const struct cudaChannelFormatDesc *format,
                           struct cudaExtent extent, unsigned flags);
void array_release(RtArray *array);
/* The texels of this format, without a place and a size; false: no such format. */
bool texels_of_format(const struct cudaChannelFormatDesc *format, Texels *texels);
void arrays_drop(void); /* cudaDeviceReset */

/* copy.c: the arguments of a copy. A side with an array has a place in it, and no address. */
typedef struct CopyCall {
    const char *call;
    void *to;
    const void *from;
    ArrayPlace to_array, from_array;
    size_t to_pitch, from_pitch, to_slice, from_slice, width, height, depth;
    enum cudaMemcpyKind kind;
} CopyCall;

cudaError_t copy_in(Stream *stream, const CopyCall *copy, bool blocking);
/* The same for bytes in a row. */
cudaError_t copy_bytes(Stream *stream, const char *call, void *to, const void *from, size_t bytes,
                       enum cudaMemcpyKind kind, bool blocking);
/* Work that is not yet issued, after all checks. A copy of no bytes is invalid. */
cudaError_t copy_work(const CopyCall *copy, Work **work);
cudaError_t copy_stage(CopyWork *copy); /* reads the host's side now */

/* array_copy.c: fills in the sides and the size; `copy` has everything else. */
cudaError_t copy_of_params(const struct cudaMemcpy3DParms *params, const char *call,
                           CopyCall *copy);

#endif
