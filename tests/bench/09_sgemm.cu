/* 09_sgemm - compares the lab's reference, which is its fastest rung, with cublasSgemm in single
 * precision without TF32. `make bench`; REFERENCE is the reference's file. The table's rates
 * are GFLOP/s here: 2 m n k over the time. */
#include <cublas_v2.h>
#include <cuda_pipeline.h>

#include "bench.h"
#include "fill.h"
#include "kernel.h"

#include REFERENCE

#define CUBLAS_CHECK(call)                                                                         \
    do {                                                                                           \
        if ((call) != CUBLAS_STATUS_SUCCESS) {                                                     \
            fprintf(stderr, "%s:%d: %s failed\n", __FILE__, __LINE__, #call);                      \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

enum { SETS = 3 };

typedef struct Problem {
    int m, n, k;
    float *a[SETS], *b[SETS], *d[SETS];
    cublasHandle_t cublas;
} Problem;

static void reference(void *self, int set)
{
    Problem *p = (Problem *) self;

    sgemm(p->d[set], p->a[set], p->b[set], NULL, p->m, p->n, p->k, 1, 0);
}

/* cuBLAS is column-major: our row-major D = A B is its D' = B' A'. */
static void library(void *self, int set)
{
    Problem *p = (Problem *) self;
    const float one = 1, zero = 0;

    CUBLAS_CHECK(cublasSgemm(p->cublas, CUBLAS_OP_N, CUBLAS_OP_N, p->n, p->m, p->k, &one, p->b[set],
                             p->n, p->a[set], p->k, &zero, p->d[set], p->n));
}

/* Small integers, so that every order of summation gives the same bits. */
static __global__ void fill_kernel(float *data, size_t count, FillKey key)
{
    size_t step = (size_t) gridDim.x * blockDim.x;
    Fill fill = { FILL_SMALL, 0, 0 };

    for (size_t i = blockIdx.x * (size_t) blockDim.x + threadIdx.x; i < count; i += step)
        data[i] = fill_f32(fill, key, i);
}

/* Computes each element in double precision, simply and slowly; all other results are compared with
 * these. */
static __global__ void differences(const float *d, const float *a, const float *b, int n, int k,
                                   size_t count, unsigned long long *differ)
{
    size_t at = blockIdx.x * (size_t) blockDim.x + threadIdx.x;
    double sum = 0;

    if (at >= count)
        return;
    for (int j = 0; j < k; j++)
        sum += (double) a[at / n * k + j] * b[(size_t) j * n + at % n];
    if (!((double) d[at] == sum))
        atomicAdd(differ, 1ull);
}

/* Checks the result first: every element, from a poisoned output. */
static void check(Problem *p, const char *name, BenchCall *call)
{
    size_t count = (size_t) p->m * (size_t) p->n;
    unsigned long long differ, *on_device;

    CUDA_CHECK(cudaMalloc(&on_device, sizeof differ));
    CUDA_CHECK(cudaMemset(on_device, 0, sizeof differ));
    CUDA_CHECK(cudaMemset(p->d[0], 0xFF, count * sizeof(float)));
    call(p, 0);
    differences<<<(unsigned) ((count + 255) / 256), 256>>>(p->d[0], p->a[0], p->b[0], p->n, p->k,
                                                           count, on_device);
    CUDA_CHECK(cudaMemcpy(&differ, on_device, sizeof differ, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(on_device));
    if (!differ)
        return;
    fprintf(stderr, "%s: %d x %d x %d: %llu elements are wrong\n", name, p->m, p->n, p->k, differ);
    exit(1);
}

static void measure(cublasHandle_t cublas, int m, int n, int k)
{
    Problem p = { m, n, k };
    Bench bench = { &p };
    size_t in_a = (size_t) m * k, in_b = (size_t) k * n, in_d = (size_t) m * n;
    char name[64];

    p.cublas = cublas;
    bench.sets = SETS;
    bench.bytes = 2.0 * m * n * k;
    bench.unit = "GFLOP/s";
    CUDA_CHECK(cudaEventCreate(&bench.start));
    CUDA_CHECK(cudaEventCreate(&bench.stop));
    for (int i = 0; i < SETS; i++) {
        CUDA_CHECK(cudaMalloc(&p.a[i], in_a * sizeof(float)));
        CUDA_CHECK(cudaMalloc(&p.b[i], in_b * sizeof(float)));
        CUDA_CHECK(cudaMalloc(&p.d[i], in_d * sizeof(float)));
        fill_kernel<<<1024, 256>>>(p.a[i], in_a, fill_key(i + 1, 0));
        fill_kernel<<<1024, 256>>>(p.b[i], in_b, fill_key(i + 1, 1));
    }
    check(&p, "cublasSgemm", library);
    check(&p, REFERENCE, reference);
    PUT(name, "%d x %d x %d", m, n, k);
    bench_row(name, "cublasSgemm", "reference", &bench, bench_race(&bench, library, reference));
    bench_row(name, "cublasSgemm", "cublasSgemm", &bench, bench_race(&bench, library, library));
    for (int i = 0; i < SETS; i++) {
        CUDA_CHECK(cudaFree(p.a[i]));
        CUDA_CHECK(cudaFree(p.b[i]));
        CUDA_CHECK(cudaFree(p.d[i]));
    }
}

int main(void)
{
    static const int sizes[][3] = {
        { 4096, 4096, 4096 },
        { 8192, 8192, 8192 },
        { 4095, 4097, 4093 },
        { 2048, 2048, 2048 },
    };
    size_t free_bytes, total_bytes;
    cublasHandle_t cublas;

    bench_head(REFERENCE);
    printf("Rates are GFLOP/s here: 2 m n k over the time.\n");
    CUBLAS_CHECK(cublasCreate(&cublas));
    CUBLAS_CHECK(cublasSetMathMode(cublas, CUBLAS_DEFAULT_MATH)); /* no TF32 by default */
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        double n = sizes[i][0];
        CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
        if (SETS * 3 * 4.4 * n * n > (double) free_bytes)
            printf("%d: skipped, the GPU has too little free memory\n", sizes[i][0]);
        else
            measure(cublas, sizes[i][0], sizes[i][1], sizes[i][2]);
    }
    CUBLAS_CHECK(cublasDestroy(cublas));
    return 0;
}
