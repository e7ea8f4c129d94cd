/* turns.cu - unordered streams take turns while races are checked: four streams that share a buffer
 * overwrite each other's data, while four streams with separate buffers do not. */
#include <cstdio>

enum { STREAMS = 4, CHUNKS = 32, WORDS = 64 };

static __global__ void add_one(int *data)
{
    data[threadIdx.x]++;
}

static int wrong_with(int buffers, int *device, int *host)
{
    cudaStream_t stream[STREAMS];
    int wrong = 0;

    for (int i = 0; i < STREAMS; i++)
        cudaStreamCreateWithFlags(&stream[i], cudaStreamNonBlocking);
    for (int i = 0; i < CHUNKS * WORDS; i++)
        host[i] = i;
    for (int c = 0; c < CHUNKS; c++) {
        cudaStream_t s = stream[c % STREAMS];
        int *buffer = device + c % buffers * WORDS, *chunk = host + c * WORDS;
        cudaMemcpyAsync(buffer, chunk, WORDS * sizeof(int), cudaMemcpyHostToDevice, s);
        add_one<<<1, WORDS, 0, s>>>(buffer);
        cudaMemcpyAsync(chunk, buffer, WORDS * sizeof(int), cudaMemcpyDeviceToHost, s);
    }
    cudaDeviceSynchronize();
    for (int i = 0; i < CHUNKS * WORDS; i++)
        wrong += host[i] != i + 1;
    for (int i = 0; i < STREAMS; i++)
        cudaStreamDestroy(stream[i]);
    return wrong;
}

int main(void)
{
    int *device, *host;

    cudaMalloc(&device, STREAMS * WORDS * sizeof(int));
    cudaMallocHost(&host, CHUNKS * WORDS * sizeof(int));
    printf("a buffer each: %s\n", wrong_with(STREAMS, device, host) ? "wrong" : "right");
    printf("one for all: %s\n", wrong_with(1, device, host) ? "wrong" : "right");
    cudaFree(device);
    return cudaFreeHost(host);
}
