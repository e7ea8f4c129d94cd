/* device_heap.cu - faults with malloc() and free() inside kernels.
 *
 * case past_the_end
 *   reported: out of bounds @past_the_end
 *   says: cudaErrorIllegalAddress
 * case after_free
 *   reported: use after free @after_free
 *   says: cudaErrorIllegalAddress
 * case twice
 *   reported: use after free @twice
 *   says: cudaErrorIllegalAddress
 * case not_its_own
 *   reported: forbidden @not_its_own
 *   says: cudaErrorIllegalAddress
 * case leak
 *   reported: leak
 * case right
 */
#include "faults.h"

__device__ int *volatile kept;

static __global__ void past_the_end()
{
    int *a = (int *) malloc(10 * sizeof *a);

    kept = a;
    kept[10] = 1; // @past_the_end
    free(kept);
}

static __global__ void after_free()
{
    kept = (int *) malloc(40);
    free(kept);
    kept[3] = 1; // @after_free
}

static __global__ void twice()
{
    kept = (int *) malloc(40);
    free(kept);
    free(kept); // @twice
}

static __global__ void not_its_own(int *a)
{
    free(a); // @not_its_own
}

static __global__ void leak()
{
    kept = (int *) malloc(40);
    kept[0] = 1;
}

static __global__ void right()
{
    kept = (int *) malloc(40);
    kept[9] = 1;
    free(kept);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";

    if (!strcmp(name, "past_the_end"))
        past_the_end<<<1, 1>>>();
    else if (!strcmp(name, "after_free"))
        after_free<<<1, 1>>>();
    else if (!strcmp(name, "twice"))
        twice<<<1, 1>>>();
    else if (!strcmp(name, "not_its_own")) {
        int *a;
        cudaMalloc(&a, 40);
        not_its_own<<<1, 1>>>(a);
    } else if (!strcmp(name, "leak"))
        leak<<<1, 1>>>();
    else
        right<<<1, 1>>>();
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
