/* cublas_matrices.cu - cuBLAS as samples use it: vectors, matrix times vector, matrix products with
 * all transpositions and leading dimensions, batches, scalars on the device, a stream.
 *
 * libraries: cublas
 * expect: ok
 * stderr: these are Warpbook's own simple kernels
 */
#include "check.h"

#include <cmath>
#include <cublas_v2.h>
#include <vector>

#define BLAS(call)                                                                                 \
    do {                                                                                           \
        cublasStatus_t got_ = (call);                                                              \
        if (got_ != CUBLAS_STATUS_SUCCESS) {                                                       \
            printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cublasGetStatusName(got_));       \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* ---- The calls, by type ---- */

template <typename T> struct Blas;

#define CALLS(X, T)                                                                                \
    template <> struct Blas<T> {                                                                   \
        static constexpr auto axpy = cublas##X##axpy;                                              \
        static constexpr auto scal = cublas##X##scal;                                              \
        static constexpr auto dot = cublas##X##dot;                                                \
        static constexpr auto asum = cublas##X##asum;                                              \
        static constexpr auto nrm2 = cublas##X##nrm2;                                              \
        static constexpr auto gemv = cublas##X##gemv;                                              \
        static constexpr auto gemm = cublas##X##gemm;                                              \
        static constexpr auto batched = cublas##X##gemmStridedBatched;                             \
    };
CALLS(S, float)
CALLS(D, double)

template <typename T> static T value(int i)
{
    return (T) (i * 7 % 23 - 11) / 4;
}

template <typename T> static std::vector<T> values(size_t n, int seed)
{
    std::vector<T> v(n);

    for (size_t i = 0; i < n; i++)
        v[i] = value<T>((int) i + seed);
    return v;
}

template <typename T> static T *to_device(const std::vector<T> &host)
{
    T *at;

    OK(cudaMalloc(&at, host.size() * sizeof(T)));
    BLAS(cublasSetVector((int) host.size(), sizeof(T), host.data(), 1, at, 1));
    return at;
}

template <typename T> static std::vector<T> to_host(const T *at, size_t n)
{
    std::vector<T> host(n);

    BLAS(cublasGetVector((int) n, sizeof(T), at, 1, host.data(), 1));
    return host;
}

template <typename T> static bool near(T got, double want)
{
    return fabs((double) got - want) <= 1e-5 * (1 + fabs(want));
}

/* ---- Vectors ---- */

template <typename T> static void check_vectors(cublasHandle_t handle)
{
    enum { N = 1000 };
    const std::vector<T> x = values<T>(N, 0), y = values<T>(2 * N, 5);
    T *dx = to_device(x), *dy = to_device(y), alpha = (T) 1.5, result;
    double dot = 0, sum = 0, squares = 0;

    for (int i = 0; i < N; i++) {
        dot += (double) x[i] * y[2 * i];
        sum += fabs((double) x[i]);
        squares += (double) x[i] * x[i];
    }
    BLAS(Blas<T>::dot(handle, N, dx, 1, dy, 2, &result));
    CHECK(near(result, dot));
    BLAS(Blas<T>::asum(handle, N, dx, 1, &result));
    CHECK(near(result, sum));
    BLAS(Blas<T>::nrm2(handle, N, dx, 1, &result));
    CHECK(near(result, sqrt(squares)));
    BLAS(Blas<T>::axpy(handle, N, &alpha, dx, -1, dy, 2)); /* x from its end */
    std::vector<T> out = to_host(dy, 2 * N);
    for (int i = 0; i < N; i++)
        CHECK(near(out[2 * i], y[2 * i] + 1.5 * x[N - 1 - i]) && out[2 * i + 1] == y[2 * i + 1]);
    BLAS(Blas<T>::scal(handle, N / 2, &alpha, dx, 2));
    out = to_host(dx, N);
    for (int i = 0; i < N; i++)
        CHECK(near(out[i], i % 2 ? x[i] : 1.5 * x[i]));
    OK(cudaFree(dx));
    OK(cudaFree(dy));
}

/* ---- Matrix times vector ---- */

template <typename T> static void check_gemv(cublasHandle_t handle)
{
    enum { M = 37, N = 23, LDA = 40 };
    const std::vector<T> a = values<T>(LDA * N, 1), x = values<T>(M + N, 2),
                         y = values<T>(M + N, 3);
    const T alpha = 2, beta = -1;
    T *da = to_device(a), *dx = to_device(x);

    for (cublasOperation_t operation : { CUBLAS_OP_N, CUBLAS_OP_T }) {
        T *dy = to_device(y);
        const int rows = operation == CUBLAS_OP_N ? M : N, columns = M + N - rows;
        BLAS(Blas<T>::gemv(handle, operation, M, N, &alpha, da, LDA, dx, 1, &beta, dy, 1));
        const std::vector<T> out = to_host(dy, rows);
        for (int i = 0; i < rows; i++) {
            double want = -(double) y[i];
            for (int k = 0; k < columns; k++)
                want += 2 * (double) (operation == CUBLAS_OP_N ? a[k * LDA + i] : a[i * LDA + k]) *
                        x[k];
            CHECK(near(out[i], want));
        }
        OK(cudaFree(dy));
    }
    OK(cudaFree(da));
    OK(cudaFree(dx));
}

/* ---- Products ---- */

template <typename T>
static double product(const T *a, int lda, bool ta, const T *b, int ldb, bool tb, int i, int j,
                      int k)
{
    double sum = 0;

    for (int l = 0; l < k; l++)
        sum += (double) (ta ? a[i * lda + l] : a[l * lda + i]) *
               (tb ? b[l * ldb + j] : b[j * ldb + l]);
    return sum;
}

template <typename T> static void check_gemm(cublasHandle_t handle, bool device_scalars)
{
    enum { M = 35, N = 18, K = 29, LD = 41, BATCH = 3, STRIDE = LD * LD };
    const std::vector<T> a = values<T>(BATCH * STRIDE, 1), b = values<T>(BATCH * STRIDE, 2);
    const std::vector<T> c = values<T>(BATCH * STRIDE, 3);
    std::vector<T> scalars = { (T) 0.5, (T) 2 };
    T *da = to_device(a), *db = to_device(b), *ds = to_device(scalars);
    const T *alpha = device_scalars ? ds : scalars.data(), *beta = alpha + 1;

    BLAS(cublasSetPointerMode(handle, device_scalars ? CUBLAS_POINTER_MODE_DEVICE
                                                     : CUBLAS_POINTER_MODE_HOST));
    for (int which = 0; which < 8; which++) {
        const bool ta = which & 1, tb = which & 2, batched = which & 4;
        T *dc = to_device(c);
        const cublasOperation_t oa = ta ? CUBLAS_OP_T : CUBLAS_OP_N,
                                ob = tb ? CUBLAS_OP_T : CUBLAS_OP_N;
        if (batched)
            BLAS(Blas<T>::batched(handle, oa, ob, M, N, K, alpha, da, LD, STRIDE, db, LD, STRIDE,
                                  beta, dc, LD, STRIDE, BATCH));
        else
            BLAS(Blas<T>::gemm(handle, oa, ob, M, N, K, alpha, da, LD, db, LD, beta, dc, LD));
        OK(cudaDeviceSynchronize());
        const std::vector<T> out = to_host(dc, BATCH * STRIDE);
        for (int i = 0; i < BATCH * STRIDE; i++) {
            const int at = i / STRIDE, column = i % STRIDE / LD, row = i % STRIDE % LD;
            double want = c[i];
            if (row < M && column < N && (batched || at == 0))
                want = 2 * want + 0.5 * product(&a[at * STRIDE], LD, ta, &b[at * STRIDE], LD, tb,
                                                row, column, K);
            CHECK(near(out[i], want));
        }
        OK(cudaFree(dc));
    }
    BLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
    OK(cudaFree(da));
    OK(cudaFree(db));
    OK(cudaFree(ds));
}

/* Where beta is 0, C may hold anything: here it was never written. */
static void check_new_result(cublasHandle_t handle)
{
    enum { N = 16 };
    const float one = 1, zero = 0;
    std::vector<float> a(N * N, 0), b = values<float>(N * N, 4);
    float *c;

    for (int i = 0; i < N; i++)
        a[i * N + i] = 1;
    float *da = to_device(a), *db = to_device(b);
    OK(cudaMalloc(&c, N * N * sizeof(float)));
    BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, da, N, db, N, &zero, c, N));
    CHECK(to_host(c, N * N) == b);
    CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, da, N - 1, db, N, &zero, c,
                      N) == CUBLAS_STATUS_INVALID_VALUE);
    OK(cudaFree(da));
    OK(cudaFree(db));
    OK(cudaFree(c));
}

int main()
{
    cublasHandle_t handle;
    cudaStream_t stream, same;

    BLAS(cublasCreate(&handle));
    OK(cudaStreamCreate(&stream));
    BLAS(cublasSetStream(handle, stream));
    BLAS(cublasGetStream(handle, &same));
    CHECK(same == stream);
    check_vectors<float>(handle);
    check_vectors<double>(handle);
    BLAS(cublasSetStream(handle, 0));
    check_gemv<float>(handle);
    check_gemv<double>(handle);
    check_gemm<float>(handle, false);
    check_gemm<double>(handle, true);
    check_new_result(handle);
    BLAS(cublasDestroy(handle));
    OK(cudaStreamDestroy(stream));
    puts("ok");
}
