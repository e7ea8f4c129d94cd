/* beyond.cu - an instruction that is not simulated is reported when it is reached, not before.
 *
 * expect: ok
 * stderr: this instruction in multiply, block (0,0,0)
 */
#include "check.h"

#include <mma.h>

static __global__ void multiply(float *y, bool wanted)
{
    __shared__ half x[256];
    nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, half, nvcuda::wmma::row_major> a;

    if (wanted) {
        nvcuda::wmma::load_matrix_sync(a, x, 16);
        y[threadIdx.x] = a.x[0];
    }
}

int main()
{
    float *y;

    OK(cudaMalloc(&y, 128));
    multiply<<<1, 32>>>(y, false);
    OK(cudaDeviceSynchronize());
    multiply<<<1, 32>>>(y, true);
    EXPECT(cudaErrorIllegalInstruction, cudaDeviceSynchronize());
    puts("ok");
}
