/* device_cuda.cu - the parts of the runner that need kernels of their own.
 *
 * Filling an array and searching it for changes are the same walk over its 16-byte pieces: each
 * thread computes four 32-bit words, and stores them or compares them with the array. The result
 * of a search is a number in one cell of device memory, which keeps the minimum.
 */
#include "runner/device_cuda.h"

enum { THREADS = 256, BLOCKS_PER_SM = 8 };

/* Resident blocks per SM: every GPU's SM has threads for this many. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define RESIDENT 4
#else
#define RESIDENT 6
#endif

static unsigned long long *cell; /* on the device */
static int sms;

/* ---- Contents (x86-64 and the device are little-endian) ---- */

/* The words of fill.h's stream from which elements 4 group .. 4 group + 3 are computed. */
static __device__ __forceinline__ void element_words(Fill fill, FillKey key, size_t group,
                                                     uint32_t words[4])
{
    fill_words(key, fill.kind == FILL_RUNS ? group / 32 : group, words);
    if (fill.kind == FILL_RUNS)
        words[0] = words[1] = words[2] = words[3] = fill_pick(words, group / 8);
    if (fill.kind == FILL_SIGNED) {
        const uint32_t chunk_bits = fill_chunk_bits(key, group / (FILL_CHUNK / 4));
        for (int i = 0; i < 4; i++)
            words[i] = fill_sign(words[i], chunk_bits, 4 * group + i);
    }
}

/* Four elements of AS_U8. */
static __device__ __forceinline__ uint32_t bytes_of_group(Fill fill, FillKey key, size_t group)
{
    uint32_t words[4], bytes = 0;

    element_words(fill, key, group, words);
    for (int i = 0; i < 4; i++)
        bytes |= (uint32_t) element_of(AS_U8, fill, words[i]) << 8 * i;
    return bytes;
}

/* Computes any word of an array, slowly: for FILL_SUMMED outside whole chunks, and for the last
 * bytes. */
static __device__ __noinline__ uint32_t word_at(Element type, Fill fill, FillKey key, size_t word)
{
    uint32_t bits = 0;

    if (type == AS_F64)
        return (uint32_t) (element_bits(type, fill, key, word >> 1) >> 32 * (word & 1));
    if (type != AS_U8)
        return (uint32_t) element_bits(type, fill, key, word);
    for (int i = 0; i < 4; i++)
        bits |= (uint32_t) element_bits(type, fill, key, word << 2 | i) << 8 * i;
    return bits;
}

static __device__ __forceinline__ uint4 piece_at(Element type, Fill fill, FillKey key, size_t piece)
{
    uint32_t words[4], is[4];

    if (type == AS_F64 || fill.kind == FILL_SUMMED)
        return make_uint4(
            word_at(type, fill, key, 4 * piece), word_at(type, fill, key, 4 * piece + 1),
            word_at(type, fill, key, 4 * piece + 2), word_at(type, fill, key, 4 * piece + 3));
    if (type == AS_U8) {
        for (int i = 0; i < 4; i++)
            is[i] = bytes_of_group(fill, key, 4 * piece + i);
    } else {
        element_words(fill, key, piece, words);
        for (int i = 0; i < 4; i++)
            is[i] = (uint32_t) element_of(type, fill, words[i]);
    }
    return make_uint4(is[0], is[1], is[2], is[3]);
}

static __device__ __forceinline__ unsigned char byte_at(Element type, Fill fill, FillKey key,
                                                        size_t byte)
{
    return (unsigned char) (word_at(type, fill, key, byte >> 2) >> 8 * (byte & 3));
}

/* The first byte in which two different pieces differ. */
static __device__ __forceinline__ size_t differing_byte(uint4 a, uint4 b)
{
    if (a.x != b.x)
        return (__ffs(a.x ^ b.x) - 1) / 8;
    if (a.y != b.y)
        return 4 + (__ffs(a.y ^ b.y) - 1) / 8;
    if (a.z != b.z)
        return 8 + (__ffs(a.z ^ b.z) - 1) / 8;
    return 12 + (__ffs(a.w ^ b.w) - 1) / 8;
}

/* ---- FILL_SUMMED: a block computes the last element of a chunk from all others ---- */

static_assert(FILL_CHUNK == 4 * THREADS, "a chunk is one piece per thread");

/* The sum of `value` over the block, for its last thread. */
static __device__ __forceinline__ int sum_for_last_thread(int value)
{
    __shared__ int warp_sums[THREADS / 32];

    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, offset);
    if (threadIdx.x % 32 == 0)
        warp_sums[threadIdx.x / 32] = value;
    __syncthreads(); /* every warp's sum is written before the last thread reads them */
    int sum = 0;
    for (int w = 0; threadIdx.x == THREADS - 1 && w < THREADS / 32; w++)
        sum += warp_sums[w];
    __syncthreads(); /* all are read before the next chunk's sums are written */
    return sum;
}

/* This thread's piece of a whole chunk of 4-byte elements. All threads of the block must call it
 * with the same chunk. */
static __device__ __forceinline__ uint4 summed_piece(Element type, FillKey key, size_t chunk)
{
    uint32_t words[4], is[4];
    bool is_last = threadIdx.x == THREADS - 1;
    int value[4], mine = 0;

    fill_words(key, chunk * (FILL_CHUNK / 4) + threadIdx.x, words);
    for (int i = 0; i < 4; i++) {
        value[i] = fill_small_of(words[i]);
        mine += is_last && i == 3 ? 0 : value[i];
    }
    int sum = sum_for_last_thread(mine);
    if (is_last)
        value[3] = fill_chunk_sum(key, chunk) - sum;
    for (int i = 0; i < 4; i++)
        is[i] = type == AS_F32 ? __float_as_uint((float) value[i]) : (uint32_t) value[i];
    return make_uint4(is[0], is[1], is[2], is[3]);
}

/* Stores (look false) or compares (look true). */
static __device__ __forceinline__ void walk(bool look, Element type, Fill fill, FillKey key,
                                            unsigned char *data, size_t bytes,
                                            unsigned long long *least)
{
    size_t pieces = bytes / sizeof(uint4), step = (size_t) gridDim.x * THREADS;
    size_t first = (size_t) blockIdx.x * THREADS + threadIdx.x;
    unsigned long long found = DEVICE_NOTHING;

    for (size_t base = first - threadIdx.x; base < pieces; base += step) { /* uniform in a block */
        size_t piece = base + threadIdx.x;
        bool whole_chunk =
            fill.kind == FILL_SUMMED && element_bytes(type) == 4 && base + THREADS <= pieces;
        uint4 right;
        if (whole_chunk)
            right = summed_piece(type, key, base / THREADS);
        else if (piece < pieces)
            right = piece_at(type, fill, key, piece);
        else
            continue;
        uint4 *place = (uint4 *) data + piece;
        if (!look) {
            *place = right;
            continue;
        }
        uint4 is = *place;
        if (((is.x ^ right.x) | (is.y ^ right.y) | (is.z ^ right.z) | (is.w ^ right.w)) &&
            found == DEVICE_NOTHING)
            found = piece * sizeof(uint4) + differing_byte(is, right);
    }
    /* Less than a piece is left, and the guard begins right after it. */
    size_t byte = pieces * sizeof(uint4) + first;
    if (byte < bytes) {
        unsigned char right = byte_at(type, fill, key, byte);
        if (!look)
            data[byte] = right;
        else if (data[byte] != right && found == DEVICE_NOTHING)
            found = byte;
    }
    if (look && found != DEVICE_NOTHING)
        atomicMin(least, found);
}

static __global__ void __launch_bounds__(THREADS, RESIDENT)
    fill_kernel(Element type, Fill fill, FillKey key, unsigned char *data, size_t bytes)
{
    walk(false, type, fill, key, data, bytes, NULL);
}

static __global__ void __launch_bounds__(THREADS, RESIDENT)
    change_kernel(Element type, Fill fill, FillKey key, const unsigned char *data, size_t bytes,
                  unsigned long long *least)
{
    walk(true, type, fill, key, (unsigned char *) data, bytes, least);
}

/* Enough blocks to fill the device, but no more than there is work for, plus one for the last
 * bytes. */
static unsigned blocks_for(size_t bytes)
{
    size_t wanted = bytes / sizeof(uint4) / THREADS + 1, most = (size_t) sms * BLOCKS_PER_SM;

    return (unsigned) (wanted < most ? wanted : most);
}

extern "C" cudaError_t device_fill(Element type, Fill fill, FillKey key, void *data, size_t bytes)
{
    fill_kernel<<<blocks_for(bytes), THREADS>>>(type, fill, key, (unsigned char *) data, bytes);
    return cudaGetLastError();
}

/* ---- Searches: each leaves the minimum that it finds in the cell ---- */

static cudaError_t clear_cell(void)
{
    return cudaMemset(cell, 0xFF, sizeof *cell);
}

static cudaError_t read_cell(unsigned long long *value)
{
    cudaError_t error = cudaGetLastError(); /* of the launch */

    return error ? error : cudaMemcpy(value, cell, sizeof *cell, cudaMemcpyDeviceToHost);
}

extern "C" cudaError_t device_find_change(Element type, Fill fill, FillKey key, const void *data,
                                          size_t bytes, unsigned long long *index)
{
    cudaError_t error = clear_cell();

    if (error)
        return error;
    change_kernel<<<blocks_for(bytes), THREADS>>>(type, fill, key, (const unsigned char *) data,
                                                  bytes, cell);
    error = read_cell(index);
    if (!error && *index != DEVICE_NOTHING)
        *index /= element_bytes(type);
    return error;
}

/* One thread per byte of either guard. The cell gets twice the distance, plus one if the byte is
 * before the array, so the minimum is the nearest byte on either side. */
static __global__ void stray_kernel(const unsigned char *data, size_t bytes, size_t guard_bytes,
                                    unsigned char whole, unsigned long long *least)
{
    size_t i = (size_t) blockIdx.x * THREADS + threadIdx.x;

    if (i >= guard_bytes)
        return;
    if (data[bytes + i] != whole)
        atomicMin(least, 2ull * i);
    if (*(data - 1 - i) != whole)
        atomicMin(least, 2ull * (i + 1) + 1);
}

extern "C" cudaError_t device_find_stray(const void *data, size_t bytes, size_t guard_bytes,
                                         unsigned char whole, unsigned long long *distance,
                                         int *before)
{
    unsigned long long found;
    cudaError_t error = clear_cell();

    if (error)
        return error;
    stray_kernel<<<(unsigned) ((guard_bytes + THREADS - 1) / THREADS), THREADS>>>(
        (const unsigned char *) data, bytes, guard_bytes, whole, cell);
    error = read_cell(&found);
    if (error)
        return error;
    *before = found != DEVICE_NOTHING && (found & 1);
    *distance = found == DEVICE_NOTHING ? found : found / 2;
    return cudaSuccess;
}

/* ---- Clock ---- */

static __device__ __forceinline__ unsigned long long global_ns(void)
{
    unsigned long long ns;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

/* The timer advances in steps of up to 1 us on some devices, so both readings are taken at a
 * step. */
static __device__ __forceinline__ unsigned long long next_step_ns(unsigned long long after)
{
    unsigned long long last = global_ns(), now;

    while ((now = global_ns()) == last || now < after)
        last = now;
    return now;
}

/* Measures the clock in kilohertz: cycles per millisecond. */
static __global__ void clock_kernel(unsigned long long *khz)
{
    unsigned long long begin_ns = next_step_ns(0);
    long long begin = clock64();
    unsigned long long end_ns = next_step_ns(begin_ns + 100000);
    long long end = clock64();

    *khz = (unsigned long long) (end - begin) * 1000000ull / (end_ns - begin_ns);
}

extern "C" cudaError_t device_clock(double *mhz)
{
    unsigned long long khz;
    cudaError_t error;

    clock_kernel<<<1, 1>>>(cell);
    error = read_cell(&khz);
    if (!error)
        *mhz = (double) khz / 1e3;
    return error;
}

/* ---- Functions of a simulated GPU only ---- */

extern "C" {
extern const int device_simulated = 0;

cudaError_t device_poison(void *data, size_t bytes, unsigned char byte)
{
    return cudaMemsetAsync(data, byte, bytes, 0);
}

void device_name(void *, const char *, int, size_t)
{
}

void device_watch(void)
{
}

int device_found(char *, size_t)
{
    return 0;
}

int device_checks(int, unsigned long long, unsigned long long)
{
    return 0;
}

int device_count(int, const void *, DeviceCount *)
{
    return 0;
}

int device_model_time(unsigned)
{
    return 0;
}

int device_timed(DeviceTimed *)
{
    return 0;
}

int device_limits(char *, size_t)
{
    return 0;
}

int device_cost(int, char *, size_t)
{
    return 0;
}

int device_record(long long, int)
{
    return 0;
}

size_t device_records(void *, size_t)
{
    return 0;
}

int device_trace(void)
{
    return 0;
}

size_t device_traced(void *, size_t)
{
    return 0;
}
}

/* ---- The guest uses the GPU itself, and its events give the time ---- */

extern "C" {
void device_serve(void)
{
}

cudaError_t device_go(const struct Lab *)
{
    return cudaSuccess;
}

cudaError_t device_gone(double *)
{
    return cudaSuccess;
}
}

/* ---- Start ---- */

static __global__ void probe_kernel(unsigned long long *answer)
{
    atomicAdd(answer, (unsigned long long) (threadIdx.x + 1));
}

/* Threads 1 .. 256 add up to 256 * 257 / 2; the cell began at -1. */
extern "C" cudaError_t device_begin(int *right)
{
    unsigned long long answer = 0;
    int device;
    cudaError_t error = cudaGetDevice(&device);

    *right = 0;
    if (error || (error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device)) ||
        (error = cudaMalloc((void **) &cell, sizeof *cell)) || (error = clear_cell()))
        return error;
    probe_kernel<<<1, THREADS>>>(cell);
    error = read_cell(&answer);
    *right = !error && answer + 1 == (unsigned long long) THREADS * (THREADS + 1) / 2;
    return error;
}
