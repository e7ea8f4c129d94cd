/* cublas.cu - libcublas.so: the calls of cuBLAS that samples use, on kernels of our own.
 *
 * It is not NVIDIA's library. Results are those of BLAS, but sums are added in another order, and
 * counts and times are those of simple kernels. Calls that are not here report themselves
 * (stubs.c). Like cuBLAS, it works with the runtime that the program uses.
 */
#include "kernels.cuh"

#include <cstdio>
#include <cstdlib>
#include <cublas_v2.h>

using namespace small_blas;

#define API extern "C" __attribute__((visibility("default")))

struct cublasContext {
    cudaStream_t stream;
    cublasPointerMode_t pointers;
    cublasMath_t math;
    cublasAtomicsMode_t atomics;
    double *result; /* on the device, for results that go to the host; NULL: not yet needed */
};

/* ---- Handles ---- */

static void say_whose_it_is()
{
    static bool said;
    const char *quiet = getenv("SIM_QUIET");

    if (!said && !(quiet && *quiet == '1'))
        fputs("sim: cuBLAS: these are Warpbook's own simple kernels, not NVIDIA's: sums may differ "
              "in\n"
              "     their last bits, and counts and times say nothing about cuBLAS\n",
              stderr);
    said = true;
}

API cublasStatus_t cublasCreate_v2(cublasHandle_t *handle)
{
    if (!handle)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (cudaFree(NULL) != cudaSuccess) /* there is no device */
        return CUBLAS_STATUS_NOT_INITIALIZED;
    say_whose_it_is();
    *handle = (cublasHandle_t) calloc(1, sizeof **handle);
    return *handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

API cublasStatus_t cublasDestroy_v2(cublasHandle_t handle)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    cudaFree(handle->result);
    free(handle);
    return CUBLAS_STATUS_SUCCESS;
}

#define SETTING(Name, Type, field)                                                                 \
    API cublasStatus_t cublasSet##Name(cublasHandle_t handle, Type value)                          \
    {                                                                                              \
        if (!handle)                                                                               \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                                  \
        handle->field = value;                                                                     \
        return CUBLAS_STATUS_SUCCESS;                                                              \
    }                                                                                              \
    API cublasStatus_t cublasGet##Name(cublasHandle_t handle, Type *value)                         \
    {                                                                                              \
        if (!handle || !value)                                                                     \
            return handle ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_NOT_INITIALIZED;           \
        *value = handle->field;                                                                    \
        return CUBLAS_STATUS_SUCCESS;                                                              \
    }

SETTING(Stream_v2, cudaStream_t, stream)
SETTING(PointerMode_v2, cublasPointerMode_t, pointers)
SETTING(MathMode, cublasMath_t, math)
SETTING(AtomicsMode, cublasAtomicsMode_t, atomics)

API cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *, size_t)
{
    return handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

API cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int *version)
{
    if (!version)
        return CUBLAS_STATUS_INVALID_VALUE;
    *version = CUBLAS_VERSION;
    return CUBLAS_STATUS_SUCCESS;
}

API const char *cublasGetStatusName(cublasStatus_t status)
{
    switch (status) {
#define NAME(status)                                                                               \
    case status:                                                                                   \
        return #status;
        NAME(CUBLAS_STATUS_SUCCESS)
        NAME(CUBLAS_STATUS_NOT_INITIALIZED)
        NAME(CUBLAS_STATUS_ALLOC_FAILED)
        NAME(CUBLAS_STATUS_INVALID_VALUE)
        NAME(CUBLAS_STATUS_ARCH_MISMATCH)
        NAME(CUBLAS_STATUS_MAPPING_ERROR)
        NAME(CUBLAS_STATUS_EXECUTION_FAILED)
        NAME(CUBLAS_STATUS_INTERNAL_ERROR)
        NAME(CUBLAS_STATUS_NOT_SUPPORTED)
        NAME(CUBLAS_STATUS_LICENSE_ERROR)
    default:
        return "CUBLAS_STATUS_UNKNOWN";
    }
}

API const char *cublasGetStatusString(cublasStatus_t status)
{
    return cublasGetStatusName(status);
}

/* ---- Copies ---- */

static cublasStatus_t copied(cudaError_t error)
{
    return error ? CUBLAS_STATUS_MAPPING_ERROR : CUBLAS_STATUS_SUCCESS;
}

/* A vector is a matrix of one row, with its increment as the pitch. */
static cublasStatus_t copy_rows(int rows, int columns, int bytes, const void *from, int from_ld,
                                void *to, int to_ld, cudaMemcpyKind kind, bool blocking,
                                cudaStream_t stream)
{
    const size_t from_pitch = (size_t) from_ld * bytes, to_pitch = (size_t) to_ld * bytes;
    const size_t width = (size_t) rows * bytes;

    if (rows < 0 || columns < 0 || bytes <= 0 || from_ld < rows || to_ld < rows)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!rows || !columns)
        return CUBLAS_STATUS_SUCCESS;
    return copied(
        blocking ? cudaMemcpy2D(to, to_pitch, from, from_pitch, width, columns, kind)
                 : cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, columns, kind, stream));
}

API cublasStatus_t cublasSetVector(int n, int bytes, const void *x, int incx, void *y, int incy)
{
    return copy_rows(1, n, bytes, x, incx, y, incy, cudaMemcpyHostToDevice, true, 0);
}

API cublasStatus_t cublasGetVector(int n, int bytes, const void *x, int incx, void *y, int incy)
{
    return copy_rows(1, n, bytes, x, incx, y, incy, cudaMemcpyDeviceToHost, true, 0);
}

API cublasStatus_t cublasSetMatrix(int rows, int columns, int bytes, const void *a, int lda,
                                   void *b, int ldb)
{
    return copy_rows(rows, columns, bytes, a, lda, b, ldb, cudaMemcpyHostToDevice, true, 0);
}

API cublasStatus_t cublasGetMatrix(int rows, int columns, int bytes, const void *a, int lda,
                                   void *b, int ldb)
{
    return copy_rows(rows, columns, bytes, a, lda, b, ldb, cudaMemcpyDeviceToHost, true, 0);
}

API cublasStatus_t cublasSetVectorAsync(int n, int bytes, const void *x, int incx, void *y,
                                        int incy, cudaStream_t stream)
{
    return copy_rows(1, n, bytes, x, incx, y, incy, cudaMemcpyHostToDevice, false, stream);
}

API cublasStatus_t cublasGetVectorAsync(int n, int bytes, const void *x, int incx, void *y,
                                        int incy, cudaStream_t stream)
{
    return copy_rows(1, n, bytes, x, incx, y, incy, cudaMemcpyDeviceToHost, false, stream);
}

/* ---- What all calculations need ---- */

static cublasStatus_t launched()
{
    return cudaPeekAtLastError() ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS;
}

static unsigned blocks_for(long long n)
{
    return (unsigned) ((n + THREADS - 1) / THREADS);
}

template <typename T> static Scalar<T> scalar(cublasHandle_t handle, const T *at)
{
    if (handle->pointers == CUBLAS_POINTER_MODE_DEVICE)
        return Scalar<T>{ 0, at };
    return Scalar<T>{ *at, NULL };
}

/* ---- Level 1 ---- */

template <typename T>
static cublasStatus_t do_axpy(cublasHandle_t handle, long long n, const T *alpha, const T *x,
                              long long incx, T *y, long long incy)
{
    if (!handle || !alpha)
        return handle ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_NOT_INITIALIZED;
    if (n <= 0)
        return CUBLAS_STATUS_SUCCESS;
    axpy<T><<<blocks_for(n), THREADS, 0, handle->stream>>>(
        n, scalar(handle, alpha), Vector<const T>(x, n, incx), Vector<T>(y, n, incy));
    return launched();
}

template <typename T>
static cublasStatus_t do_scal(cublasHandle_t handle, long long n, const T *alpha, T *x,
                              long long incx)
{
    if (!handle || !alpha)
        return handle ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_NOT_INITIALIZED;
    if (n <= 0 || incx <= 0)
        return CUBLAS_STATUS_SUCCESS;
    scal<T><<<blocks_for(n), THREADS, 0, handle->stream>>>(n, scalar(handle, alpha),
                                                           Vector<T>(x, n, incx));
    return launched();
}

template <typename T>
static cublasStatus_t do_copy(cublasHandle_t handle, long long n, const T *x, long long incx, T *y,
                              long long incy)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (n <= 0)
        return CUBLAS_STATUS_SUCCESS;
    copy<T><<<blocks_for(n), THREADS, 0, handle->stream>>>(n, Vector<const T>(x, n, incx),
                                                           Vector<T>(y, n, incy));
    return launched();
}

/* The call returns when a result for the host is there, as cuBLAS does. */
template <typename T, Sum WHICH>
static cublasStatus_t do_sum(cublasHandle_t handle, long long n, const T *x, long long incx,
                             const T *y, long long incy, T *result)
{
    const bool to_host = handle && handle->pointers == CUBLAS_POINTER_MODE_HOST;

    if (!handle || !result)
        return handle ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_NOT_INITIALIZED;
    if (to_host && !handle->result && cudaMalloc(&handle->result, sizeof(double)))
        return CUBLAS_STATUS_ALLOC_FAILED;
    n = n > 0 ? n : 0;
    T *to = to_host ? (T *) handle->result : result;
    reduce<T, WHICH><<<1, THREADS, 0, handle->stream>>>(n, Vector<const T>(x, n, incx),
                                                        Vector<const T>(y, n, incy), to);
    if (!to_host)
        return launched();
    if (cudaMemcpyAsync(result, to, sizeof(T), cudaMemcpyDeviceToHost, handle->stream) ||
        cudaStreamSynchronize(handle->stream))
        return CUBLAS_STATUS_EXECUTION_FAILED;
    return launched();
}

/* ---- Levels 2 and 3 ---- */

static bool is_operation(cublasOperation_t operation)
{
    return operation == CUBLAS_OP_N || operation == CUBLAS_OP_T || operation == CUBLAS_OP_C;
}

template <typename T>
static cublasStatus_t do_gemv(cublasHandle_t handle, cublasOperation_t operation, int m, int n,
                              const T *alpha, const T *a, int lda, const T *x, int incx,
                              const T *beta, T *y, int incy)
{
    const bool transposed = operation != CUBLAS_OP_N;

    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!is_operation(operation) || m < 0 || n < 0 || lda < (m > 1 ? m : 1) || !incx || !incy ||
        !alpha || !beta)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!m || !n)
        return CUBLAS_STATUS_SUCCESS;
    const Vector<const T> from(x, transposed ? m : n, incx);
    const Vector<T> to(y, transposed ? n : m, incy);
    if (transposed)
        gemv_transposed<T><<<n, THREADS, 0, handle->stream>>>(m, scalar(handle, alpha), a, lda,
                                                              from, scalar(handle, beta), to);
    else
        gemv<T><<<blocks_for(m), THREADS, 0, handle->stream>>>(m, n, scalar(handle, alpha), a, lda,
                                                               from, scalar(handle, beta), to);
    return launched();
}

template <typename T> struct Product {
    cublasOperation_t of_a, of_b;
    int m, n, k, batch;
    const T *alpha, *beta;
    Matrix<const T> a, b;
    Matrix<T> c;
};

template <typename T> static bool is_valid(const Product<T> &p)
{
    const int a_rows = p.a.transposed ? p.k : p.m, b_rows = p.b.transposed ? p.n : p.k;

    return is_operation(p.of_a) && is_operation(p.of_b) && p.m >= 0 && p.n >= 0 && p.k >= 0 &&
           p.batch >= 0 && p.a.ld >= (a_rows > 1 ? a_rows : 1) &&
           p.b.ld >= (b_rows > 1 ? b_rows : 1) && p.c.ld >= (p.m > 1 ? p.m : 1) && p.alpha &&
           p.beta;
}

template <typename T> static cublasStatus_t do_gemm(cublasHandle_t handle, Product<T> p)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    p.a.transposed = p.of_a != CUBLAS_OP_N;
    p.b.transposed = p.of_b != CUBLAS_OP_N;
    if (!is_valid(p))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!p.m || !p.n || !p.batch)
        return CUBLAS_STATUS_SUCCESS;
    gemm<T><<<dim3((p.m + TILE - 1) / TILE, (p.n + TILE - 1) / TILE, p.batch), dim3(TILE, TILE), 0,
              handle->stream>>>(p.m, p.n, p.k, scalar(handle, p.alpha), p.a, p.b,
                                scalar(handle, p.beta), p.c);
    return launched();
}

/* ---- The calls, for float and double ---- */

#define CALLS(X, T)                                                                                \
    API cublasStatus_t cublas##X##axpy_v2(cublasHandle_t handle, int n, const T *alpha,            \
                                          const T *x, int incx, T *y, int incy)                    \
    {                                                                                              \
        return do_axpy<T>(handle, n, alpha, x, incx, y, incy);                                     \
    }                                                                                              \
    API cublasStatus_t cublas##X##scal_v2(cublasHandle_t handle, int n, const T *alpha, T *x,      \
                                          int incx)                                                \
    {                                                                                              \
        return do_scal<T>(handle, n, alpha, x, incx);                                              \
    }                                                                                              \
    API cublasStatus_t cublas##X##copy_v2(cublasHandle_t handle, int n, const T *x, int incx,      \
                                          T *y, int incy)                                          \
    {                                                                                              \
        return do_copy<T>(handle, n, x, incx, y, incy);                                            \
    }                                                                                              \
    API cublasStatus_t cublas##X##dot_v2(cublasHandle_t handle, int n, const T *x, int incx,       \
                                         const T *y, int incy, T *result)                          \
    {                                                                                              \
        return do_sum<T, DOT>(handle, n, x, incx, y, incy, result);                                \
    }                                                                                              \
    API cublasStatus_t cublas##X##asum_v2(cublasHandle_t handle, int n, const T *x, int incx,      \
                                          T *result)                                               \
    {                                                                                              \
        return do_sum<T, ABSOLUTE>(handle, n, x, incx, x, incx, result);                           \
    }                                                                                              \
    API cublasStatus_t cublas##X##nrm2_v2(cublasHandle_t handle, int n, const T *x, int incx,      \
                                          T *result)                                               \
    {                                                                                              \
        return do_sum<T, NORM>(handle, n, x, incx, x, incx, result);                               \
    }                                                                                              \
    API cublasStatus_t cublas##X##gemv_v2(cublasHandle_t handle, cublasOperation_t operation,      \
                                          int m, int n, const T *alpha, const T *a, int lda,       \
                                          const T *x, int incx, const T *beta, T *y, int incy)     \
    {                                                                                              \
        return do_gemv<T>(handle, operation, m, n, alpha, a, lda, x, incx, beta, y, incy);         \
    }                                                                                              \
    API cublasStatus_t cublas##X##gemm_v2(cublasHandle_t handle, cublasOperation_t of_a,           \
                                          cublasOperation_t of_b, int m, int n, int k,             \
                                          const T *alpha, const T *a, int lda, const T *b,         \
                                          int ldb, const T *beta, T *c, int ldc)                   \
    {                                                                                              \
        return do_gemm<T>(                                                                         \
            handle,                                                                                \
            { of_a, of_b, m, n, k, 1, alpha, beta, { a, lda, 0 }, { b, ldb, 0 }, { c, ldc, 0 } }); \
    }                                                                                              \
    API cublasStatus_t cublas##X##gemmStridedBatched(                                              \
        cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n,       \
        int k, const T *alpha, const T *a, int lda, long long stride_a, const T *b, int ldb,       \
        long long stride_b, const T *beta, T *c, int ldc, long long stride_c, int batch)           \
    {                                                                                              \
        return do_gemm<T>(handle, { of_a,                                                          \
                                    of_b,                                                          \
                                    m,                                                             \
                                    n,                                                             \
                                    k,                                                             \
                                    batch,                                                         \
                                    alpha,                                                         \
                                    beta,                                                          \
                                    { a, lda, stride_a },                                          \
                                    { b, ldb, stride_b },                                          \
                                    { c, ldc, stride_c } });                                       \
    }

CALLS(S, float)
CALLS(D, double)
