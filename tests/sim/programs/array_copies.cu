/* array_copies.cu - copies to, from and between CUDA arrays: parts of them, in streams and graphs,
 * and what is refused.
 *
 * expect: ok
 * stderr: copies 65 x 1 x 1 (bytes, rows, slices)
 */
#include "check.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* cudaMemcpyToArray */

#include <cstring>

enum { WIDTH = 37, HEIGHT = 21, DEPTH = 3 };

static float in[DEPTH][HEIGHT][WIDTH], out[DEPTH][HEIGHT][WIDTH];

/* Element i of a slice. */
static float nth(const float slice[HEIGHT][WIDTH], int i)
{
    return slice[i / WIDTH][i % WIDTH];
}

static cudaArray_t new_array(size_t width, size_t height, size_t depth)
{
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array;

    OK(cudaMalloc3DArray(&array, &format, make_cudaExtent(width, height, depth)));
    return array;
}

static void check_window(cudaStream_t stream)
{
    enum { LEFT = 5, TOP = 3, W = 17, H = 11 };
    cudaArray_t a = new_array(WIDTH, HEIGHT, 0), b = new_array(WIDTH, HEIGHT, 0);
    const size_t row = WIDTH * sizeof(float);

    OK(cudaMemcpy2DToArrayAsync(a, 0, 0, in, row, row, HEIGHT, cudaMemcpyHostToDevice, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemcpyToArray(b, 0, 0, in[1], sizeof in[1], cudaMemcpyHostToDevice));
    OK(cudaMemcpy2DArrayToArray(b, 8, 2, a, LEFT * 4, TOP, W * 4, H, cudaMemcpyDeviceToDevice));
    memset(out, 0, sizeof out);
    OK(cudaMemcpy2DFromArrayAsync(out, row, b, 0, 0, row, HEIGHT, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            const bool moved = x >= 2 && x < 2 + W && y >= 2 && y < 2 + H;
            CHECK(out[0][y][x] == (moved ? in[0][y - 2 + TOP][x - 2 + LEFT] : in[1][y][x]));
        }
    OK(cudaFreeArray(a));
    OK(cudaFreeArray(b));
}

/* Bytes that begin and end within rows. */
static void check_flat()
{
    cudaArray_t a = new_array(WIDTH, HEIGHT, 0);
    float *middle = &in[0][4][9];
    const size_t bytes = (3 * WIDTH + 5) * sizeof(float);

    OK(cudaMemcpyToArray(a, 0, 0, in[2], sizeof in[2], cudaMemcpyHostToDevice));
    OK(cudaMemcpyToArray(a, 9 * 4, 4, middle, bytes, cudaMemcpyHostToDevice));
    OK(cudaMemcpyFromArray(out, a, 0, 0, sizeof out[0], cudaMemcpyDeviceToHost));
    for (int i = 0; i < HEIGHT * WIDTH; i++) {
        const int first = 4 * WIDTH + 9;
        const bool moved = i >= first && i < first + 3 * WIDTH + 5;
        CHECK(nth(out[0], i) == nth(in[moved ? 0 : 2], i));
    }
    memset(out, 0, sizeof out);
    OK(cudaMemcpyFromArray(out, a, 9 * 4, 4, bytes, cudaMemcpyDeviceToHost));
    CHECK(!memcmp(out, middle, bytes));
    OK(cudaFreeArray(a));
}

static cudaMemcpy3DParms box_to(cudaArray_t array, size_t x, size_t y, size_t z)
{
    cudaMemcpy3DParms copy;

    memset(&copy, 0, sizeof copy);
    copy.srcPtr = make_cudaPitchedPtr(in, WIDTH * sizeof(float), WIDTH, HEIGHT);
    copy.dstArray = array;
    copy.dstPos = make_cudaPos(x, y, z);
    copy.extent = make_cudaExtent(WIDTH - x, HEIGHT - y, DEPTH - z);
    copy.kind = cudaMemcpyHostToDevice;
    return copy;
}

static void check_box()
{
    cudaArray_t a = new_array(WIDTH, HEIGHT, DEPTH), b = new_array(WIDTH, HEIGHT, DEPTH);
    cudaMemcpy3DParms copy = box_to(a, 0, 0, 0);

    OK(cudaMemcpy3D(&copy));
    copy = box_to(a, 7, 5, 1);
    OK(cudaMemcpy3DAsync(&copy, 0));
    memset(&copy, 0, sizeof copy);
    copy.srcArray = a;
    copy.dstArray = b;
    copy.extent = make_cudaExtent(WIDTH, HEIGHT, DEPTH);
    copy.kind = cudaMemcpyDeviceToDevice;
    OK(cudaMemcpy3D(&copy));
    copy.dstArray = NULL;
    copy.srcArray = b;
    copy.dstPtr = make_cudaPitchedPtr(out, WIDTH * sizeof(float), WIDTH, HEIGHT);
    copy.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3D(&copy));
    for (int z = 0; z < DEPTH; z++)
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++) {
                const bool moved = x >= 7 && y >= 5 && z >= 1;
                CHECK(out[z][y][x] == (moved ? in[z - 1][y - 5][x - 7] : in[z][y][x]));
            }
    OK(cudaFreeArray(a));
    OK(cudaFreeArray(b));
}

static void check_graph()
{
    cudaArray_t a = new_array(WIDTH, HEIGHT, DEPTH);
    cudaMemcpy3DParms copy = box_to(a, 0, 0, 0);
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t first, second;

    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddMemcpyNode(&first, graph, NULL, 0, &copy));
    copy = box_to(a, 0, 0, 0);
    copy.srcArray = a;
    copy.dstArray = NULL;
    copy.dstPtr = make_cudaPitchedPtr(out, WIDTH * sizeof(float), WIDTH, HEIGHT);
    copy.kind = cudaMemcpyDeviceToHost;
    memset(&copy.srcPtr, 0, sizeof copy.srcPtr);
    OK(cudaGraphAddMemcpyNode(&second, graph, &first, 1, &copy));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    memset(out, 0, sizeof out);
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaDeviceSynchronize());
    CHECK(!memcmp(in, out, sizeof in));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaFreeArray(a));
}

static void check_errors()
{
    cudaArray_t a = new_array(16, 4, 0);

    EXPECT(cudaErrorInvalidValue,
           cudaMemcpy2DToArray(a, 0, 0, in, 65, 65, 1, cudaMemcpyHostToDevice));
    EXPECT(cudaErrorInvalidMemcpyDirection,
           cudaMemcpy2DToArray(a, 0, 0, in, 64, 64, 1, cudaMemcpyDeviceToHost));
    OK(cudaFreeArray(a));
    EXPECT(cudaErrorInvalidValue,
           cudaMemcpy2DToArray(a, 0, 0, in, 64, 64, 1, cudaMemcpyHostToDevice));
    cudaGetLastError();
}

int main()
{
    cudaStream_t stream;

    for (int i = 0; i < DEPTH * HEIGHT * WIDTH; i++)
        in[i / WIDTH / HEIGHT][i / WIDTH % HEIGHT][i % WIDTH] = (float) (i + 1);
    OK(cudaStreamCreate(&stream));
    check_window(0);
    check_window(stream);
    check_flat();
    check_box();
    check_graph();
    check_errors();
    OK(cudaStreamDestroy(stream));
    puts("ok");
}
