/* cache_hints.h - CUDA's loads and stores with cache hints, as clangd needs them.
 *
 * Clang's headers for CUDA lack these functions, which nvcc has. make editor includes this file in
 * front of each kernel, for clangd only. They are templates: where a newer clang has the functions
 * themselves, those are preferred. */
#pragma once

#if defined(__clang__) && defined(__CUDA__)

#define WARPBOOK_LOAD(name)                                                                        \
    template <class T> __device__ T name(const T *address)                                         \
    {                                                                                              \
        return *address;                                                                           \
    }
#define WARPBOOK_STORE(name)                                                                       \
    template <class T> __device__ void name(T *address, T value)                                   \
    {                                                                                              \
        *address = value;                                                                          \
    }

WARPBOOK_LOAD(__ldca)
WARPBOOK_LOAD(__ldcg)
WARPBOOK_LOAD(__ldcs)
WARPBOOK_LOAD(__ldcv)
WARPBOOK_LOAD(__ldlu)
WARPBOOK_STORE(__stcg)
WARPBOOK_STORE(__stcs)
WARPBOOK_STORE(__stwb)
WARPBOOK_STORE(__stwt)

#endif
