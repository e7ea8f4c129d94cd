/* endless_children.cu - a kernel that launches itself without end. */
#include <cstdio>

__global__ void again()
{
    again<<<1, 1, 0, cudaStreamTailLaunch>>>();
}

int main()
{
    again<<<1, 1>>>();
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
