/* sgemm.cu SIZE REPETITIONS - C = A B for square matrices of floats. Each block computes a tile of
 * 128 x 128 elements from slices of 8, and each thread 8 x 8 of them in registers. */
#include "bench.h"

enum { TILE = 128, SLICE = 8, OWN = 8, THREADS = TILE / OWN * TILE / OWN };

static __global__ void __launch_bounds__(THREADS)
    sgemm(float *c, const float *a, const float *b, int size)
{
    __shared__ float as[SLICE][TILE], bs[SLICE][TILE]; /* as is transposed: threads read columns */
    int thread = threadIdx.x, row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
    int own_row = thread / (TILE / OWN) * OWN, own_col = thread % (TILE / OWN) * OWN;
    float sum[OWN][OWN] = { { 0 } };

    for (int k0 = 0; k0 < size; k0 += SLICE) {
        /* Each thread loads four floats of A (128 rows of 8) and four of B (8 rows of 128). */
        int r = thread / 2, q = thread % 2 * 4;
        float4 x = *(const float4 *) &a[(size_t) (row0 + r) * size + k0 + q];
        as[q][r] = x.x;
        as[q + 1][r] = x.y;
        as[q + 2][r] = x.z;
        as[q + 3][r] = x.w;
        r = thread / 32;
        q = thread % 32 * 4;
        *(float4 *) &bs[r][q] = *(const float4 *) &b[(size_t) (k0 + r) * size + col0 + q];
        __syncthreads(); /* both slices are loaded */
        for (int k = 0; k < SLICE; k++) {
            float left[OWN], right[OWN];
            for (int i = 0; i < OWN; i += 4) {
                *(float4 *) &left[i] = *(const float4 *) &as[k][own_row + i];
                *(float4 *) &right[i] = *(const float4 *) &bs[k][own_col + i];
            }
            for (int i = 0; i < OWN; i++)
                for (int j = 0; j < OWN; j++)
                    sum[i][j] += left[i] * right[j];
        }
        __syncthreads(); /* before the next slices overwrite them */
    }
    for (int i = 0; i < OWN; i++)
        for (int j = 0; j < OWN; j += 4)
            *(float4 *) &c[(size_t) (row0 + own_row + i) * size + col0 + own_col + j] =
                make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
}

struct Problem {
    float *a, *b, *c;
    int size;
};

static void launch(void *self)
{
    Problem *p = (Problem *) self;

    sgemm<<<dim3(p->size / TILE, p->size / TILE), THREADS>>>(p->c, p->a, p->b, p->size);
}

/* Compares every seventh row with sums in double precision. */
static bool is_right(const float *a, const float *b, const float *c, int size)
{
    double *sum = (double *) calloc((size_t) size, sizeof *sum);
    bool right = sum;

    for (int row = 0; row < size && right; row += 7) {
        memset(sum, 0, (size_t) size * sizeof *sum);
        for (int k = 0; k < size; k++)
            for (int col = 0; col < size; col++)
                sum[col] += (double) a[(size_t) row * size + k] * b[(size_t) k * size + col];
        for (int col = 0; col < size; col++)
            right &= fabs(c[(size_t) row * size + col] - sum[col]) <= sum[col] * size / 16777216.0;
    }
    free(sum);
    return right;
}

int main(int count, char **words)
{
    int size = count > 1 ? atoi(words[1]) : 512, repetitions = count > 2 ? atoi(words[2]) : 5;
    size_t cells = (size_t) size * size, bytes = sizeof(float) * cells;
    char name[32];

    if (size < TILE || size % TILE || size > 8192 || repetitions < 1 ||
        repetitions > MOST_REPETITIONS)
        return 2;
    float *a = (float *) bench_host(bytes), *b = (float *) bench_host(bytes);
    float *c = (float *) bench_host(bytes);
    Problem p = { (float *) bench_device(bytes), (float *) bench_device(bytes),
                  (float *) bench_device(bytes), size };
    for (size_t i = 0; i < cells; i++) {
        a[i] = bench_value((unsigned) i);
        b[i] = bench_value((unsigned) (i + cells));
    }
    CHECK(cudaMemcpy(p.a, a, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(p.b, b, bytes, cudaMemcpyHostToDevice));
    BenchTimes times = bench_run(launch, &p, repetitions);
    CHECK(cudaMemcpy(c, p.c, bytes, cudaMemcpyDeviceToHost));
    if (!is_right(a, b, c, size)) {
        printf("wrong\n");
        return 1;
    }
    snprintf(name, sizeof name, "sgemm-%d", size);
    bench_print(name, &times);
    CHECK(cudaFree(p.a));
    CHECK(cudaFree(p.b));
    CHECK(cudaFree(p.c));
    return 0;
}
