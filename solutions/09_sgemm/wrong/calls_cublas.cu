// expect: build - calls the library instead of a kernel
#include "cudalab.cuh"
#include "kernel.h"

#include <cublas_v2.h>

LAB_API void sgemm(float *d, const float *a, const float *b, const float *c, int m, int n, int k,
                   float alpha, float beta)
{
    static cublasHandle_t cublas;
    float zero = 0;

    (void) c;
    (void) beta;
    if (!cublas)
        cublasCreate(&cublas);
    cublasSgemm(cublas, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &alpha, b, n, a, k, &zero, d, n);
}
