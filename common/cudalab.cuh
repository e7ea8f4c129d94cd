/* cudalab.cuh - what a kernel.cu may use besides CUDA itself. */
#ifndef CUDALAB_CUH
#define CUDALAB_CUH

#include <cstdio>
#include <cstdlib>

/* Stops the program with file, line and CUDA's message if a call fails; the grader reports a
 * `crash`. */
#define CUDA_CHECK(call)                                                                           \
    do {                                                                                           \
        cudaError_t cuda_check_error = (call);                                                     \
        if (cuda_check_error != cudaSuccess) {                                                     \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                          \
                    cudaGetErrorString(cuda_check_error));                                         \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* How many pieces of size `piece` cover `whole`; both positive. */
static __host__ __device__ inline int ceil_div(int whole, int piece)
{
    return whole / piece + (whole % piece != 0);
}

#endif
