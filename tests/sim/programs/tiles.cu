/* Cooperative groups of several warps (they use the shared memory that the driver reserves).
 *
 * expect: ok
 * schedules: forward reverse random:3
 */
#include "check.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__global__ void sums(const int *in, int *out)
{
    __shared__ cg::block_tile_memory<256> memory;
    auto block = cg::this_thread_block(memory);
    auto tile = cg::tiled_partition<128>(block);
    int sum = cg::reduce(tile, in[block.thread_rank()], cg::plus<int>());

    tile.sync();
    if (tile.thread_rank() == 0)
        out[tile.meta_group_rank()] = sum;
}

int main()
{
    int host[256], *in, *out, copied[2];

    for (int i = 0; i < 256; i++)
        host[i] = i;
    OK(cudaMalloc(&in, sizeof host));
    OK(cudaMalloc(&out, sizeof copied));
    OK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    sums<<<1, 256>>>(in, out);
    OK(cudaMemcpy(copied, out, sizeof copied, cudaMemcpyDeviceToHost));
    CHECK(copied[0] == 127 * 64 && copied[1] == 383 * 64);
    OK(cudaFree(in));
    OK(cudaFree(out));
    printf("ok\n");
}
