/* faults.h - shared by the faulty programs: selects a case by its name, and prints the final error
 * of the GPU. */
#ifndef FAULTS_H
#define FAULTS_H

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

struct Case {
    const char *name;
    void (*run)();
};

template <typename T> T *array(size_t count)
{
    T *a;

    cudaMalloc(&a, count * sizeof(T));
    return a;
}

/* The same, filled with zeros. */
template <typename T> T *zeros(size_t count)
{
    T *a = array<T>(count);

    cudaMemset(a, 0, count * sizeof(T));
    return a;
}

template <size_t N> int run_case(const Case (&cases)[N], int argc, char **argv)
{
    for (const Case &c : cases)
        if (argc == 2 && !strcmp(c.name, argv[1])) {
            c.run();
            cudaError_t launch = cudaGetLastError(), end = cudaDeviceSynchronize();
            puts(cudaGetErrorName(launch ? launch : end));
            cudaDeviceReset();
            return 0;
        }
    fprintf(stderr, "which case?\n");
    return 2;
}

#endif
