/* vector_words.cu - compares one word of a vector load with 0. The simulator once crashed, since it
 * expected a single writer for a register that a vector load had written.
 *
 * expect: 31 1 1
 */
#include "check.h"

__global__ void choose(int *out, const int2 *in)
{
    int2 v = in[threadIdx.x];

    out[threadIdx.x] = v.x == 0 ? v.y : v.x;
}

int main()
{
    int2 host[32];
    int *out, result[32];
    int2 *in;

    for (int i = 0; i < 32; i++)
        host[i] = make_int2(i % 2, 31 - i);
    CHECK(!cudaMalloc(&out, sizeof result));
    CHECK(!cudaMalloc(&in, sizeof host));
    CHECK(!cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    choose<<<1, 32>>>(out, in);
    CHECK(!cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost));
    printf("%d %d %d\n", result[0], result[1], result[31]);
    CHECK(!cudaFree(out));
    CHECK(!cudaFree(in));
    return 0;
}
