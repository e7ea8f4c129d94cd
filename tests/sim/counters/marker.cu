/* marker.cu - an empty kernel whose grid identifies the next launches. */
#include <cuda_runtime.h>

__global__ void marker(void)
{
}

extern "C" void marker_launch(unsigned number)
{
    marker<<<number, 1>>>();
}
