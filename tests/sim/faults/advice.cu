/* advice.cu - mistakes that leave a program running, and programs that only look like them: what is
 * not certain is a note, which is no finding.
 *
 * case elements
 *   reported: note
 * case elements_back
 *   reported: note
 * case pointer_size
 *   reported: note
 * case rounded_down
 *   reported: note
 * case columns_rounded_down
 *   reported: note
 * case rows_rounded_down
 *   reported: note
 * case unasked
 *   reported: launch
 *   reported: note
 * case quarters
 * case quarter_used
 * case one_of_each
 * case larger_buffer
 * case padded_rows
 * case asked
 *   reported: launch
 */
#include "faults.h"

enum { N = 1000, BLOCK = 128, ROWS = 40, COLS = 50, TILE = 16 };

static float host[N];

__global__ void twice(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        x[i] = 2 * x[i];
}

__global__ void fill(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        x[i] = (float) i;
}

__global__ void fill_matrix(float *x, int rows, int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;

    if (row < rows && col < cols)
        x[row * cols + col] = (float) col;
}

static void finish(float *x, size_t bytes)
{
    cudaMemcpy(host, x, bytes, cudaMemcpyDeviceToHost);
    cudaFree(x);
}

/* ---- Mistakes ---- */

/* cudaMemcpy counts bytes; the kernel reads only what is there. */
static void elements()
{
    float *x = array<float>(N);

    cudaMemcpy(x, host, N, cudaMemcpyHostToDevice);
    twice<<<1, N / 4>>>(x, N / 4);
    finish(x, 4);
}

static void elements_back()
{
    float *x = array<float>(N);

    fill<<<(N + BLOCK - 1) / BLOCK, BLOCK>>>(x, N);
    finish(x, N);
}

static void pointer_size()
{
    float *x = array<float>(N), *from = host;

    cudaMemcpy(x, from, sizeof from, cudaMemcpyHostToDevice);
    twice<<<1, 2>>>(x, 2);
    finish(x, 8);
}

static void rounded_down()
{
    float *x = array<float>(N);

    fill<<<N / BLOCK, BLOCK>>>(x, N);
    finish(x, N * sizeof(float));
}

static void columns_rounded_down()
{
    float *x = array<float>(12 * COLS);

    fill_matrix<<<dim3(COLS / TILE, 1), dim3(TILE, 12)>>>(x, 12, COLS);
    finish(x, 12 * COLS * sizeof(float));
}

static void rows_rounded_down()
{
    float *x = array<float>(N);

    fill_matrix<<<dim3((25 + TILE - 1) / TILE, ROWS / TILE), dim3(TILE, TILE)>>>(x, ROWS, 25);
    finish(x, N * sizeof(float));
}

/* The launch is refused, and faults.h asks later: a thread of its own does not. */
static void unasked()
{
    float *x = zeros<float>(N);

    fill<<<1, 2000>>>(x, N);
    finish(x, N * sizeof(float));
    puts("cudaSuccess");
    exit(0);
}

/* ---- No mistakes ---- */

static void quarters()
{
    float *x = array<float>(N);

    for (int i = 0; i < 4; i++)
        cudaMemcpy(x + i * N / 4, host, N, cudaMemcpyHostToDevice);
    twice<<<(N + BLOCK - 1) / BLOCK, BLOCK>>>(x, N);
    for (int i = 0; i < 4; i++)
        cudaMemcpy(host, x + i * N / 4, N, cudaMemcpyDeviceToHost);
    cudaFree(x);
}

/* A kernel makes the rest. */
static void quarter_used()
{
    float *x = array<float>(N);

    cudaMemcpy(x, host, N, cudaMemcpyHostToDevice);
    fill<<<(N + BLOCK - 1) / BLOCK, BLOCK>>>(x, N);
    finish(x, N * sizeof(float));
}

/* One pointer, one double, one sum. */
static void one_of_each()
{
    double *one = array<double>(1);
    float *sum = array<float>(N);

    cudaMemcpy(one, host, sizeof *one, cudaMemcpyHostToDevice);
    fill<<<(N + BLOCK - 1) / BLOCK, BLOCK>>>(sum, N);
    cudaFree(one);
    finish(sum, sizeof *sum);
}

/* As many elements as there are, in a buffer for more, copied as a whole. */
static void larger_buffer()
{
    float *x = array<float>(N);

    fill<<<(N - 50 + BLOCK - 1) / BLOCK, BLOCK>>>(x, N - 50);
    finish(x, N * sizeof(float));
}

static void padded_rows()
{
    float *x = array<float>(12 * COLS);

    fill_matrix<<<dim3((COLS + TILE - 1) / TILE, 1), dim3(TILE, 12)>>>(x, 11, COLS);
    finish(x, 12 * COLS * sizeof(float));
}

static void asked()
{
    float *x = zeros<float>(N);

    fill<<<1, 2000>>>(x, N);
    cudaGetLastError();
    finish(x, N * sizeof(float));
}

static const Case cases[] = {
    { "elements", elements },
    { "elements_back", elements_back },
    { "pointer_size", pointer_size },
    { "rounded_down", rounded_down },
    { "unasked", unasked },
    { "columns_rounded_down", columns_rounded_down },
    { "quarters", quarters },
    { "rows_rounded_down", rows_rounded_down },
    { "quarter_used", quarter_used },
    { "one_of_each", one_of_each },
    { "larger_buffer", larger_buffer },
    { "padded_rows", padded_rows },
    { "asked", asked },
};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}
