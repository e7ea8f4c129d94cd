/* lanes_lock.cu - lanes of one warp that wait for each other's lock: reported instead of hanging.
 *
 * Since Volta, a GPU schedules such lanes independently, and the kernel ends. The simulator runs
 * the lanes of a warp together as far as possible, and reports a wait that can then never end.
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
