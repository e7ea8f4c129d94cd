/* linked.h - what the two files of linked.cu share across object files (nvcc -rdc=true). */
#ifndef LINKED_H
#define LINKED_H

extern __device__ int counter;
extern __constant__ int table[4];

__device__ int other(int x);
void second(int *out);

/* Both object files define it. */
template <class T> __device__ __noinline__ T twice(T x)
{
    return x + x;
}

#endif
