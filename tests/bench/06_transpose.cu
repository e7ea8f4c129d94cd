/* 06_transpose - compares our fastest rung with cublasSgeam and with cudaMemcpy, which moves the
 * same bytes without transposing them, and the other rungs with cublasSgeam. `make bench`;
 * KERNEL is the fastest rung's file, REFERENCE the reference's. */
#include "bench.h"
#include "fill.h"
#include "lab.h"

#include <cublas_v2.h>

#define CUBLAS_CHECK(call)                                                                         \
    do {                                                                                           \
        if ((call) != CUBLAS_STATUS_SUCCESS) {                                                     \
            fprintf(stderr, "%s:%d: %s failed\n", __FILE__, __LINE__, #call);                      \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* Files that define the same names: each is in its own namespace, and its function is renamed,
 * since an `extern "C"` function has one name in all namespaces. */
#define transpose transpose_fastest
namespace fastest
{
#include KERNEL
}
#undef transpose
#define transpose transpose_reference
namespace reference
{
#include REFERENCE
}
#undef transpose
#define transpose transpose_6
namespace output_order
{
#include "../../solutions/06_transpose/beyond/6_output_order.cu"
}
#undef transpose
#define transpose transpose_7
namespace vectors
{
#include "../../solutions/06_transpose/beyond/7_vector.cu"
}
#undef transpose
#define transpose transpose_8
namespace tall_tiles
{
#include "../../solutions/06_transpose/beyond/8_tall_tiles.cu"
}
#undef transpose

typedef void Transpose(float *out, const float *in, int rows, int cols);

static const struct {
    const char *name;
    Transpose *transpose;
} kernels[] = {
    { "reference", reference::transpose_reference },
    { "6_output_order", output_order::transpose_6 },
    { "7_vector", vectors::transpose_7 },
    { "8_tall_tiles", tall_tiles::transpose_8 },
    { "fastest", fastest::transpose_fastest },
};

enum { MOST_SETS = 16 };

typedef struct Problem {
    int rows, cols, sets;
    float *in[MOST_SETS], *out[MOST_SETS], *want;
    Transpose *transpose;
    cublasHandle_t cublas;
} Problem;

static void by_rung(void *self, int set)
{
    Problem *p = (Problem *) self;

    p->transpose(p->out[set], p->in[set], p->rows, p->cols);
}

/* cuBLAS is column-major: our rows x cols is its cols x rows. */
static void sgeam(Problem *p, float *out, const float *in)
{
    const float one = 1, zero = 0;

    CUBLAS_CHECK(cublasSgeam(p->cublas, CUBLAS_OP_T, CUBLAS_OP_N, p->rows, p->cols, &one, in,
                             p->cols, &zero, out, p->rows, out, p->rows));
}

static void by_sgeam(void *self, int set)
{
    Problem *p = (Problem *) self;

    sgeam(p, p->out[set], p->in[set]);
}

static void by_memcpy(void *self, int set)
{
    Problem *p = (Problem *) self;
    size_t bytes = sizeof(float) * (size_t) p->rows * (size_t) p->cols;

    CUDA_CHECK(cudaMemcpyAsync(p->out[set], p->in[set], bytes, cudaMemcpyDeviceToDevice));
}

static __global__ void fill_kernel(float *data, size_t count, FillKey key)
{
    size_t step = (size_t) gridDim.x * blockDim.x;
    Fill fill = { FILL_UNIFORM, 0, 0 };

    for (size_t i = blockIdx.x * (size_t) blockDim.x + threadIdx.x; i < count; i += step)
        data[i] = fill_f32(fill, key, i);
}

static __global__ void differences(const float *a, const float *b, size_t count,
                                   unsigned long long *differ)
{
    size_t step = (size_t) gridDim.x * blockDim.x;

    for (size_t i = blockIdx.x * (size_t) blockDim.x + threadIdx.x; i < count; i += step)
        if (!(a[i] == b[i]))
            atomicAdd(differ, 1ull);
}

/* Checks the result first: every element against cublasSgeam's, from a poisoned output. */
static void check(Problem *p, const char *who)
{
    size_t count = (size_t) p->rows * (size_t) p->cols;
    unsigned long long differ = 0, *on_device;

    CUDA_CHECK(cudaMalloc(&on_device, sizeof differ));
    CUDA_CHECK(cudaMemset(on_device, 0, sizeof differ));
    CUDA_CHECK(cudaMemset(p->out[0], 0xFF, count * sizeof(float)));
    by_rung(p, 0);
    sgeam(p, p->want, p->in[0]);
    differences<<<1024, 256>>>(p->out[0], p->want, count, on_device);
    CUDA_CHECK(cudaMemcpy(&differ, on_device, sizeof differ, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(on_device));
    if (!differ)
        return;
    fprintf(stderr, "%d x %d: %llu elements of the %s differ from cublasSgeam's\n", p->rows,
            p->cols, differ, who);
    exit(1);
}

static void measure(cublasHandle_t cublas, int rows, int cols)
{
    Problem p = { rows, cols };
    Bench bench = { &p };
    size_t count = (size_t) rows * (size_t) cols;
    char name[64];

    p.cublas = cublas;
    p.sets = count > ((size_t) 1 << 27) ? 3 : 8; /* the ring exceeds 3 x L2 */
    bench.sets = p.sets;
    bench.bytes = 8.0 * (double) count;
    CUDA_CHECK(cudaEventCreate(&bench.start));
    CUDA_CHECK(cudaEventCreate(&bench.stop));
    CUDA_CHECK(cudaMalloc(&p.want, count * sizeof(float)));
    for (int i = 0; i < p.sets; i++) {
        CUDA_CHECK(cudaMalloc(&p.in[i], count * sizeof(float)));
        CUDA_CHECK(cudaMalloc(&p.out[i], count * sizeof(float)));
        fill_kernel<<<1024, 256>>>(p.in[i], count, fill_key(i + 1, 0));
    }
    PUT(name, "%d x %d", rows, cols);
    for (const auto &row : kernels) { /* the fastest comes last */
        p.transpose = row.transpose;
        check(&p, row.name);
        bench_row(name, "cublasSgeam", row.name, &bench, bench_race(&bench, by_sgeam, by_rung));
    }
    bench_row(name, "cudaMemcpy", "fastest", &bench, bench_race(&bench, by_memcpy, by_rung));
    bench_row(name, "cublasSgeam", "cublasSgeam", &bench, bench_race(&bench, by_sgeam, by_sgeam));
    CUDA_CHECK(cudaFree(p.want));
    for (int i = 0; i < p.sets; i++) {
        CUDA_CHECK(cudaFree(p.in[i]));
        CUDA_CHECK(cudaFree(p.out[i]));
    }
}

int main(void)
{
    static const int sizes[][2] = {
        { 16384, 16384 }, { 8192, 4096 }, { 8193, 4099 }, { 11264, 11136 }, { 32, 3932160 },
    };
    size_t free_bytes, total_bytes;
    cublasHandle_t cublas;

    bench_head(KERNEL);
    CUBLAS_CHECK(cublasCreate(&cublas));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        double bytes = 8.0 * sizes[i][0] * sizes[i][1];
        CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
        if (bytes * 9 > (double) free_bytes)
            printf("%d x %d: skipped, the GPU has too little free memory\n", sizes[i][0],
                   sizes[i][1]);
        else
            measure(cublas, sizes[i][0], sizes[i][1]);
    }
    CUBLAS_CHECK(cublasDestroy(cublas));
    return 0;
}
