/* tensors.cu - matrix products on tensor cores: as CUDA's samples write them with nvcuda::wmma, and
 * as libraries write them with ldmatrix and mma.
 *
 * expect: ok
 */
#include "check.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <vector>

using namespace nvcuda;

template <int M, int N, int K, typename In, typename Sum, typename LayoutB, typename Fragment>
static __device__ void product(const In *a, const In *b, const Sum *c, Sum *d, int ldb, Sum scale)
{
    wmma::fragment<wmma::matrix_a, M, N, K, Fragment, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, Fragment, LayoutB> fb;
    wmma::fragment<wmma::accumulator, M, N, K, Sum> sum, old;

    wmma::fill_fragment(sum, (Sum) 0);
    wmma::load_matrix_sync(fa, a, K);
    wmma::load_matrix_sync(fb, b, ldb);
    wmma::mma_sync(sum, fa, fb, sum);
    wmma::load_matrix_sync(old, c, N, wmma::mem_row_major);
    for (int i = 0; i < sum.num_elements; i++) /* as in the sample: each lane scales its part */
        sum.x[i] = scale * sum.x[i] + old.x[i];
    wmma::store_matrix_sync(d, sum, N, wmma::mem_row_major);
}

template <int M, int N, int K, typename In, typename Sum, typename Fragment>
static __global__ void by_rows(const In *a, const In *b, const Sum *c, Sum *d)
{
    product<M, N, K, In, Sum, wmma::row_major, Fragment>(a, b, c, d, N, (Sum) 2);
}

template <int M, int N, int K, typename In, typename Sum, typename Fragment>
static __global__ void by_columns(const In *a, const In *b, const Sum *c, Sum *d)
{
    product<M, N, K, In, Sum, wmma::col_major, Fragment>(a, b, c, d, K, (Sum) 2);
}

template <typename T> static T *to_device(const std::vector<T> &host)
{
    T *at;

    OK(cudaMalloc(&at, host.size() * sizeof(T)));
    OK(cudaMemcpy(at, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return at;
}

template <int M, int N, int K, typename In, typename Sum>
static void check(void (*kernel)(const In *, const In *, const Sum *, Sum *), bool columns)
{
    std::vector<In> a(M * K), b(K * N);
    std::vector<Sum> c(M * N), d(M * N);

    for (int i = 0; i < M * K; i++)
        a[i] = (In) (float) (i * 7 % 9);
    for (int i = 0; i < K * N; i++)
        b[i] = (In) (float) (i * 5 % 8);
    for (int i = 0; i < M * N; i++)
        c[i] = (Sum) (i % 11);
    In *da = to_device(a), *db = to_device(b);
    Sum *dc = to_device(c), *dd = to_device(d);
    kernel<<<1, 32>>>(da, db, dc, dd);
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(d.data(), dd, d.size() * sizeof(Sum), cudaMemcpyDeviceToHost));
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double want = i * N + j;
            want = (int) want % 11;
            for (int k = 0; k < K; k++)
                want += 2 * (double) (float) a[i * K + k] *
                        (double) (float) b[columns ? j * K + k : k * N + j];
            CHECK((double) (float) d[i * N + j] == want);
        }
    OK(cudaFree(da));
    OK(cudaFree(db));
    OK(cudaFree(dc));
    OK(cudaFree(dd));
}

/* ---- 64 x 64 by ldmatrix and mma, four warps, each 32 x 32 ---- */

enum { SIDE = 64, PAD = 8 };

static __device__ void load_four(unsigned r[4], const __half *at)
{
    unsigned address = (unsigned) __cvta_generic_to_shared(at);

    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address));
}

static __device__ void load_two_transposed(unsigned r[2], const __half *at)
{
    unsigned address = (unsigned) __cvta_generic_to_shared(at);

    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(address));
}

static __global__ void multiply(const __half *a, const __half *b, float *c)
{
    __shared__ __align__(16) __half sa[SIDE][SIDE + PAD], sb[SIDE][SIDE + PAD];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int row = warp / 2 * 32, column = warp % 2 * 32;

    for (int i = threadIdx.x; i < SIDE * SIDE / 8; i += blockDim.x) {
        *(uint4 *) &sa[i / 8][i % 8 * 8] = ((const uint4 *) a)[i];
        *(uint4 *) &sb[i / 8][i % 8 * 8] = ((const uint4 *) b)[i];
    }
    __syncthreads();
    for (int m = row; m < row + 32; m += 16)
        for (int n = column; n < column + 32; n += 8) {
            float d[4] = { 0, 0, 0, 0 };
            for (int k = 0; k < SIDE; k += 16) {
                unsigned fa[4], fb[2];
                load_four(fa, &sa[m + lane % 16][k + lane / 16 * 8]);
                load_two_transposed(fb, &sb[k + lane % 16][n]);
                asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, "
                             "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                             : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                             : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]),
                               "r"(fb[1]));
            }
            float *to = c + (m + lane / 4) * SIDE + n + lane % 4 * 2;
            *(float2 *) to = make_float2(d[0], d[1]);
            *(float2 *) (to + 8 * SIDE) = make_float2(d[2], d[3]);
        }
}

static void check_multiply()
{
    std::vector<__half> a(SIDE * SIDE), b(SIDE * SIDE);
    std::vector<float> c(SIDE * SIDE);

    for (int i = 0; i < SIDE * SIDE; i++) {
        a[i] = __float2half((float) (i * 3 % 7 - 3));
        b[i] = __float2half((float) (i * 11 % 9 - 4));
    }
    __half *da = to_device(a), *db = to_device(b);
    float *dc = to_device(c);
    multiply<<<1, 128>>>(da, db, dc);
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(c.data(), dc, c.size() * 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            float want = 0;
            for (int k = 0; k < SIDE; k++)
                want += __half2float(a[i * SIDE + k]) * __half2float(b[k * SIDE + j]);
            CHECK(c[i * SIDE + j] == want);
        }
    OK(cudaFree(da));
    OK(cudaFree(db));
    OK(cudaFree(dc));
}

int main()
{
    check<16, 16, 16>(by_rows<16, 16, 16, __half, float, __half>, false);
    check<16, 16, 16>(by_columns<16, 16, 16, __half, float, __half>, true);
    check<8, 32, 16>(by_rows<8, 32, 16, __nv_bfloat16, float, __nv_bfloat16>, false);
    check<16, 16, 8>(by_columns<16, 16, 8, float, float, wmma::precision::tf32>, true);
    check<16, 16, 16>(by_rows<16, 16, 16, signed char, int, signed char>, false);
    check<32, 8, 16>(by_columns<32, 8, 16, unsigned char, int, unsigned char>, true);
    check<8, 8, 4>(by_columns<8, 8, 4, double, double, double>, true);
    check_multiply();
    puts("ok");
}
