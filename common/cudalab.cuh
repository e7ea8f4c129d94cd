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

/* How many pieces of size `piece` cover `whole`; both positive. A long stays a long. */
template <class Whole>
static __host__ __device__ constexpr auto ceil_div(Whole whole, int piece) -> decltype(whole + 0)
{
    return whole / piece + (whole % piece != 0);
}

static_assert(ceil_div(5000000000L, 256) == 19531250, "more elements than an int can count");

#endif
