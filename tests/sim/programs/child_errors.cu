/* child_errors.cu - launches in kernels that fail: their errors, which only the launching thread
 * sees.
 *
 * expect: ok
 * stderr: launch: child_errors.cu:38: a grid of (0,1,1) has no blocks
 * libraries: cudadevrt
 */
#include "check.h"

__global__ void count(int *counter)
{
    atomicAdd(counter, 1);
}

__global__ void deep(int *counter)
{
    atomicAdd(counter, 1);
    deep<<<1, 1>>>(counter);
}

__global__ void many(int *counter, int launches, cudaError_t *error)
{
    *error = cudaSuccess;
    for (int i = 0; i < launches; i++) {
        count<<<1, 1>>>(counter);
        if (*error == cudaSuccess)
            *error = cudaGetLastError();
    }
}

__global__ void __launch_bounds__(64) bounded(int *counter)
{
    atomicAdd(counter, 1);
}

__global__ void shapes(int *counter, cudaError_t *error)
{
    count<<<0, 32>>>(counter);
    error[0] = cudaPeekAtLastError();
    error[1] = cudaGetLastError();
    error[2] = cudaGetLastError();
    count<<<1, 1025>>>(counter);
    error[3] = cudaGetLastError();
    count<<<1, 32, 1 << 20>>>(counter);
    error[4] = cudaGetLastError();
    bounded<<<1, 65>>>(counter);
    error[5] = cudaGetLastError();
    error[6] = cudaMemsetAsync(NULL, 0, 4, 0);
    if (threadIdx.x == 0)
        printf("%s", cudaGetErrorString(cudaSuccess) == NULL ? "no text" : "");
}

int main()
{
    int *counter, counted;
    cudaError_t *error, errors[7];
    size_t limit;

    OK(cudaMalloc(&counter, sizeof(int)));
    OK(cudaMalloc(&error, sizeof errors));
    OK(cudaMemset(counter, 0, sizeof(int)));

    shapes<<<1, 1>>>(counter, error);
    OK(cudaMemcpy(errors, error, sizeof errors, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 6; i++)
        EXPECT(i == 2 ? cudaSuccess : cudaErrorInvalidConfiguration, errors[i]);
    EXPECT(cudaErrorInvalidValue, errors[6]);

    deep<<<1, 1>>>(counter);
    OK(cudaMemcpy(&counted, counter, sizeof counted, cudaMemcpyDeviceToHost));
    CHECK(counted == 25); /* the host's launch and 24 more */

    OK(cudaDeviceGetLimit(&limit, cudaLimitDevRuntimePendingLaunchCount));
    CHECK(limit == 2048);
    OK(cudaMemset(counter, 0, sizeof(int)));
    many<<<1, 1>>>(counter, 2050, error);
    OK(cudaMemcpy(&counted, counter, sizeof counted, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(errors, error, sizeof *error, cudaMemcpyDeviceToHost));
    CHECK(counted == 2048);
    EXPECT(cudaErrorLaunchPendingCountExceeded, errors[0]);

    OK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 4096));
    OK(cudaMemset(counter, 0, sizeof(int)));
    many<<<1, 1>>>(counter, 2050, error);
    OK(cudaMemcpy(&counted, counter, sizeof counted, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(errors, error, sizeof *error, cudaMemcpyDeviceToHost));
    CHECK(counted == 2050);
    OK(errors[0]);
    OK(cudaFree(counter));
    OK(cudaFree(error));
    printf("ok\n");
}
