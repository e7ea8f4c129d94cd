/* lanes_lock.cu - lanes of one warp that wait for each other's lock: reported instead of hanging.
 *
 * Since Volta a GPU lets such lanes run on by themselves, and the kernel ends; here a warp's lanes
 * run together, as far as they can, and what can then never end is said.
 *
 * expect: ok
 * stderr-any: yes
 */
#include "check.h"

static __global__ void lock_each(int *lock, int *sum)
{
    while (atomicCAS(lock, 0, 1))
        ;
    *(volatile int *) sum = *(volatile int *) sum + 1;
    __threadfence();
    atomicExch(lock, 0);
}

int main()
{
    int *x;

    OK(cudaMalloc(&x, 8));
    OK(cudaMemset(x, 0, 8));
    lock_each<<<1, 32>>>(x, x + 1);
    EXPECT(cudaErrorLaunchTimeout, cudaDeviceSynchronize());
    puts("ok");
}
