/* peers.cu - a program for several GPUs on a machine with one: what it learns about peers, and
 * copies between devices that are copies within one; copies between CUDA arrays.
 *
 * expect: ok
 * stderr: copies 260 bytes, but the destination has 256 from that place on, and the source 256
 */
#include "check.h"

#include <string.h>

static void questions()
{
    int value = -9, device = -9;
    char id[32], upper[32] = "0000:00:00";

    OK(cudaDeviceCanAccessPeer(&value, 0, 0));
    CHECK(value == 0);
    EXPECT(cudaErrorInvalidDevice, cudaDeviceCanAccessPeer(&value, 0, 1));
    EXPECT(cudaErrorInvalidDevice, cudaDeviceEnablePeerAccess(1, 0));
    EXPECT(cudaErrorPeerAccessUnsupported, cudaDeviceEnablePeerAccess(0, 0));
    EXPECT(cudaErrorInvalidValue, cudaDeviceEnablePeerAccess(0, 1));
    EXPECT(cudaErrorPeerAccessNotEnabled, cudaDeviceDisablePeerAccess(0));
    EXPECT(cudaErrorInvalidDevice, cudaDeviceDisablePeerAccess(-1));
    EXPECT(cudaErrorInvalidDevice,
           cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0));
    EXPECT(cudaErrorInvalidDevice,
           cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrPerformanceRank, 0, 1));
    EXPECT(cudaErrorInvalidValue,
           cudaDeviceGetP2PAttribute(NULL, cudaDevP2PAttrAccessSupported, 0, 1));

    OK(cudaDeviceGetPCIBusId(id, sizeof id, 0));
    OK(cudaDeviceGetByPCIBusId(&device, id));
    CHECK(device == 0);
    OK(cudaDeviceGetByPCIBusId(&device, upper));
    OK(cudaDeviceGetByPCIBusId(&device, id + 5));
    EXPECT(cudaErrorInvalidDevice, cudaDeviceGetByPCIBusId(&device, "0000:3b:00.0"));
    EXPECT(cudaErrorInvalidValue, cudaDeviceGetByPCIBusId(&device, "the first one"));
    EXPECT(cudaErrorInvalidValue, cudaDeviceGetByPCIBusId(&device, NULL));
    EXPECT(cudaErrorInvalidValue, cudaDeviceGetByPCIBusId(NULL, id));
    (void) cudaGetLastError();
}

static void boxes()
{
    enum { WIDTH = 64, HEIGHT = 4, BYTES = WIDTH * HEIGHT };
    char host[BYTES], back[BYTES], *a, *b;
    cudaMemcpy3DPeerParms params = {};
    cudaStream_t stream;

    for (int i = 0; i < BYTES; i++)
        host[i] = (char) i;
    OK(cudaStreamCreate(&stream));
    OK(cudaMalloc(&a, BYTES));
    OK(cudaMalloc(&b, BYTES));
    OK(cudaMemcpy(a, host, BYTES, cudaMemcpyHostToDevice));
    OK(cudaMemset(b, 0, BYTES));
    params.srcPtr = make_cudaPitchedPtr(a, WIDTH, WIDTH, HEIGHT);
    params.dstPtr = make_cudaPitchedPtr(b, WIDTH, WIDTH, HEIGHT);
    params.srcPos = make_cudaPos(8, 1, 0);
    params.extent = make_cudaExtent(16, 2, 1);
    OK(cudaMemcpy3DPeer(&params));
    params.dstPos = make_cudaPos(32, 2, 0);
    OK(cudaMemcpy3DPeerAsync(&params, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemcpy(back, b, BYTES, cudaMemcpyDeviceToHost));
    CHECK(!memcmp(back, host + WIDTH + 8, 16) && !back[16]);
    CHECK(!memcmp(back + 3 * WIDTH + 32, host + 2 * WIDTH + 8, 16));

    params.dstDevice = 1;
    EXPECT(cudaErrorInvalidDevice, cudaMemcpy3DPeer(&params));
    params.dstDevice = 0;
    params.srcPtr.ptr = NULL;
    EXPECT(cudaErrorInvalidValue, cudaMemcpy3DPeer(&params));
    EXPECT(cudaErrorInvalidValue, cudaMemcpy3DPeerAsync(NULL, stream));
    EXPECT(cudaErrorInvalidDevice, cudaMemcpyPeer(b, 0, a, 1, BYTES));
    (void) cudaGetLastError();
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(a));
    OK(cudaFree(b));
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma nv_diag_suppress 1444 // the call is old

// The rows of the two arrays have different lengths; bytes follow each other as if they had none.
static void arrays()
{
    float in[64], out[64];
    cudaArray_t wide, tall;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    const cudaMemcpyKind within = cudaMemcpyDeviceToDevice;

    for (int i = 0; i < 64; i++)
        in[i] = (float) i;
    OK(cudaMallocArray(&wide, &format, 16, 4));
    OK(cudaMallocArray(&tall, &format, 8, 8));
    OK(cudaMemcpy2DToArray(wide, 0, 0, in, 64, 64, 4, cudaMemcpyHostToDevice));
    OK(cudaMemcpyArrayToArray(tall, 0, 0, wide, 0, 0, sizeof in, within));
    OK(cudaMemcpy2DFromArray(out, 32, tall, 0, 0, 32, 8, cudaMemcpyDeviceToHost));
    CHECK(!memcmp(in, out, sizeof in));
    // 5 floats from the third of the second row, to the last one of the third row and on.
    OK(cudaMemcpyArrayToArray(tall, 28, 2, wide, 8, 1, 20, cudaMemcpyDefault));
    OK(cudaMemcpy2DFromArray(out, 32, tall, 0, 0, 32, 8, cudaMemcpyDeviceToHost));
    CHECK(out[22] == 22 && out[23] == 18 && out[24] == 19 && out[27] == 22 && out[28] == 28);

    EXPECT(cudaErrorInvalidValue, cudaMemcpyArrayToArray(tall, 0, 0, wide, 0, 0, 260, within));
    EXPECT(cudaErrorInvalidValue, cudaMemcpyArrayToArray(NULL, 0, 0, wide, 0, 0, 4, within));
    EXPECT(cudaErrorInvalidMemcpyDirection,
           cudaMemcpyArrayToArray(tall, 0, 0, wide, 0, 0, 4, cudaMemcpyHostToDevice));
    OK(cudaMemcpyArrayToArray(tall, 0, 0, wide, 0, 0, 0, within));
    (void) cudaGetLastError();
    OK(cudaFreeArray(wide));
    OK(cudaFreeArray(tall));
}

int main()
{
    questions();
    boxes();
    arrays();
    puts("ok");
}
