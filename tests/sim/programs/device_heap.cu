/* malloc(), free(), new and delete in kernels: a list per thread, memory that a later kernel frees,
 * a heap that is too small, and boxes copied by cudaMemcpy3D().
 *
 * expect: ok
 * schedules: forward reverse random:5
 */
#include "check.h"

struct Item {
    int value;
    Item *next;
};

__global__ void lists(int *out, int length)
{
    Item *first = NULL;
    int sum = 0;

    for (int i = 0; i < length; i++)
        first = new Item{ i * (int) threadIdx.x, first };
    while (first) {
        Item *next = first->next;
        sum += first->value;
        delete first;
        first = next;
    }
    out[threadIdx.x] = sum;
}

__device__ int *kept[4];

__global__ void keep()
{
    kept[blockIdx.x] = (int *) malloc(100 * sizeof(int));
    for (int i = 0; i < 100; i++)
        kept[blockIdx.x][i] = i + blockIdx.x;
}

__global__ void use(int *out)
{
    int sum = 0;

    for (int i = 0; i < 100; i++)
        sum += kept[blockIdx.x][i];
    free(kept[blockIdx.x]);
    free(NULL);
    out[blockIdx.x] = sum;
}

__global__ void too_much(int *out)
{
    void *large = malloc(64 << 20);

    *out = large == NULL;
}

static void boxes()
{
    enum { X = 5, Y = 4, Z = 3 };
    float in[Z][Y][X], out[Z][Y][X] = {};
    cudaPitchedPtr box;
    cudaMemcpy3DParms copy = {};
    const cudaExtent extent = make_cudaExtent(X * sizeof(float), Y, Z);

    for (int i = 0; i < X * Y * Z; i++)
        (&in[0][0][0])[i] = (float) i;
    OK(cudaMalloc3D(&box, extent));
    OK(cudaMemset3D(box, 0, extent));
    copy.srcPtr = make_cudaPitchedPtr(in, X * sizeof(float), X, Y);
    copy.dstPtr = box;
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&copy));
    copy.srcPtr = box;
    copy.dstPtr = make_cudaPitchedPtr(out, X * sizeof(float), X, Y);
    copy.srcPos = make_cudaPos(sizeof(float), 1, 1); // from the second element of each dimension
    copy.extent = make_cudaExtent((X - 1) * sizeof(float), Y - 1, Z - 1);
    copy.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3D(&copy));
    CHECK(out[0][0][0] == in[1][1][1] && out[1][2][3] == in[2][3][4] && out[2][0][0] == 0);
    OK(cudaFree(box.ptr));
}

int main()
{
    int *out, values[32];
    size_t heap = 0;

    OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
    OK(cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize));
    CHECK(heap == 16 << 20);
    OK(cudaMalloc(&out, sizeof values));
    lists<<<1, 32>>>(out, 10);
    OK(cudaMemcpy(values, out, sizeof values, cudaMemcpyDeviceToHost));
    CHECK(values[3] == 135);
    keep<<<4, 1>>>();
    use<<<4, 1>>>(out);
    OK(cudaMemcpy(values, out, sizeof values, cudaMemcpyDeviceToHost));
    CHECK(values[2] == 4950 + 200);
    too_much<<<1, 1>>>(out);
    OK(cudaMemcpy(values, out, sizeof values, cudaMemcpyDeviceToHost));
    CHECK(values[0] == 1);
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float2>();
    CHECK(format.x == 32 && format.y == 32 && format.z == 0 &&
          format.f == cudaChannelFormatKindFloat);
    boxes();
    OK(cudaFree(out));
    printf("ok\n");
}
