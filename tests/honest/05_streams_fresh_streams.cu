// expect: pass - four streams, created and destroyed in each call; one wait for all of them
// lab: streams
#include "cudalab.cuh"
#include "kernel.h"

LAB_API void encrypt(uint32_t *out, const uint32_t *in, long n, uint32_t *device, long capacity,
                     uint32_t key, int rounds)
{
    const int lanes = 4;
    cudaStream_t lane[lanes];
    long most = capacity / lanes, chunk = (n + 27) / 28 < most ? (n + 27) / 28 : most;

    for (int k = 0; k < lanes; k++)
        CUDA_CHECK(cudaStreamCreate(&lane[k]));
    for (long c = 0; c * chunk < n; c++) {
        cudaStream_t s = lane[c % lanes];
        uint32_t *p = &device[c % lanes * most];
        int words = (int) (n - c * chunk < chunk ? n - c * chunk : chunk);

        CUDA_CHECK(cudaMemcpyAsync(p, &in[c * chunk], sizeof *p * words, cudaMemcpyDefault, s));
        encrypt_kernel<<<ceil_div(words, BLOCK), BLOCK, 0, s>>>(p, words, key, rounds);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpyAsync(&out[c * chunk], p, sizeof *p * words, cudaMemcpyDefault, s));
    }
    CUDA_CHECK(cudaDeviceSynchronize());
    for (int k = 0; k < lanes; k++)
        CUDA_CHECK(cudaStreamDestroy(lane[k]));
}
