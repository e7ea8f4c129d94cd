/* marker.cu - a kernel that does nothing but say, by its grid, whose the next ones are. */
#include <cuda_runtime.h>

__global__ void marker(void)
{
}

extern "C" void marker_launch(unsigned number)
{
    marker<<<number, 1>>>();
}
