/* patterns.cu - small kernels with known access patterns, for which a GPU's profiler and the
 * simulated GPU should count the same.
 *
 *     patterns            launches all of them, in order
 *     patterns --list     their labels, without a launch
 *     patterns LABEL...   launches these
 *
 * A label is one launch, which prints "launch LABEL OUTPUT", where OUTPUT is a hash of the kernel's
 * output; the last line is "done N". A row of the table stands for launches whose parameter runs
 * from `first` to `last` in steps of `step` (0: it doubles).
 */
#include "patterns.cuh"
#include "memory.cuh"
#include "atomics.cuh"
#include "flow.cuh"
#include "arithmetic.cuh"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

enum { BYTES = 1 << 18, INDICES = 1024 };

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error != cudaSuccess) {                                                                \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* ---- Patterns: a lane's element; -1: none ---- */

typedef int Pattern(int lane, int a, int b);

static unsigned hash(unsigned x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

#define PATTERN(name, expression)                                                                  \
    static int name(int lane, int a, int b)                                                        \
    {                                                                                              \
        (void) a, (void) b;                                                                        \
        return expression;                                                                         \
    }

PATTERN(stride, lane *a)
PATTERN(offset, lane + a)
PATTERN(reversed, 31 - lane + a)
PATTERN(exchanged, lane ^ a)
PATTERN(multiplied, lane *a & 31)
PATTERN(rows, lane / a * b + lane % a)
PATTERN(scattered, (int) (hash((unsigned) lane) % (unsigned) a))
/* Equal addresses. */
PATTERN(groups, lane >> a)
PATTERN(few, lane &a)
PATTERN(n2_equal, lane & ~2)
PATTERN(n4_equal, lane & ~4)
PATTERN(n8_equal, lane & ~8)
PATTERN(n16_equal, lane & ~16)
PATTERN(half_n1_half_n2, lane < 16 ? lane & ~1 : lane & ~2)
PATTERN(one_pair_unequal, lane == 31 ? 31 : lane & ~1)
PATTERN(all_but_one, lane == 31 ? a : 0)
PATTERN(pairs_stride, (lane >> 1) * a)
PATTERN(n2_pairs_stride, (lane >> 2 << 1 | (lane & 1)) * a)
/* Inactive lanes. */
PATTERN(first, lane < a ? lane : -1)
PATTERN(last, lane >= a ? lane : -1)
PATTERN(each, lane % a == 0 ? lane : -1)
PATTERN(odd_out, lane & 1 ? -1 : lane)
PATTERN(odd_out_pairs, lane & 1 ? -1 : lane >> 2)
PATTERN(only, lane == a ? lane : -1)

/* ---- Launches ---- */

typedef struct Row {
    const char *name;
    Kernel *kernel;
    const char *pattern_name; /* NULL: the parameter is the kernel's n; lane l accesses element l */
    Pattern *pattern;
    int first, last, step;
    int b; /* second parameter of the pattern; the kernel's n */
    int blocks, threads_x, threads_y, shared_bytes;
} Row;

#define AS(name, kernel, pattern, first, last, step, b)                                            \
    {                                                                                              \
        name, kernel, #pattern, pattern, first, last, step, b, 1, 32, 1, 0                         \
    }
#define PLAIN(kernel, first, last, step, blocks, threads_x, threads_y, shared)                     \
    {                                                                                              \
#kernel, kernel, NULL, NULL, first, last, step, 0, blocks, threads_x, threads_y, shared    \
    }

#define EQUAL_ADDRESSES(name, kernel)                                                              \
    AS(name, kernel, groups, 1, 5, 1, 0), AS(name, kernel, few, 0, 0, 1, 0),                       \
        AS(name, kernel, few, 1, 1, 1, 0), AS(name, kernel, few, 3, 3, 1, 0),                      \
        AS(name, kernel, few, 7, 7, 1, 0), AS(name, kernel, n2_equal, 0, 0, 1, 0),                 \
        AS(name, kernel, n4_equal, 0, 0, 1, 0), AS(name, kernel, n8_equal, 0, 0, 1, 0),            \
        AS(name, kernel, n16_equal, 0, 0, 1, 0), AS(name, kernel, half_n1_half_n2, 0, 0, 1, 0),    \
        AS(name, kernel, one_pair_unequal, 0, 0, 1, 0)

#define LANES_OUT(name, kernel)                                                                    \
    AS(name, kernel, first, 1, 1, 1, 0), AS(name, kernel, first, 8, 24, 8, 0),                     \
        AS(name, kernel, last, 17, 17, 1, 0), AS(name, kernel, each, 3, 3, 1, 0),                  \
        AS(name, kernel, odd_out, 0, 0, 1, 0), AS(name, kernel, odd_out_pairs, 0, 0, 1, 0),        \
        AS(name, kernel, only, 31, 31, 1, 0)

#define SHARED(name, kernel, same_bank)                                                            \
    AS(name, kernel, stride, 1, 32, 1, 0), EQUAL_ADDRESSES(name, kernel), LANES_OUT(name, kernel), \
        AS(name, kernel, all_but_one, same_bank, same_bank, 1, 0),                                 \
        AS(name, kernel, pairs_stride, 2, 8, 0, 0), AS(name, kernel, n2_pairs_stride, 2, 8, 0, 0), \
        AS(name, kernel, reversed, 0, 0, 1, 0), AS(name, kernel, multiplied, 5, 6, 1, 0),          \
        AS(name, kernel, rows, 8, 8, 1, 33), AS(name, kernel, scattered, 64, 64, 1, 0)

#define ATOMIC(name, kernel)                                                                       \
    AS(name, kernel, few, 0, 0, 1, 0), AS(name, kernel, few, 3, 3, 1, 0),                          \
        AS(name, kernel, stride, 1, 2, 1, 0), AS(name, kernel, stride, 8, 32, 0, 0),               \
        AS(name, kernel, groups, 1, 1, 1, 0), AS(name, kernel, first, 7, 7, 1, 0),                 \
        AS(name, kernel, odd_out_pairs, 0, 0, 1, 0), AS(name, kernel, scattered, 16, 16, 1, 0)

#define FLOWS(kernel, first, last, step) PLAIN(kernel, first, last, step, 2, 64, 1, 0)

/* clang-format off */
static const Row table_of_launches[] = {
    /* Global memory: strides, alignment, order, rows, equal addresses, inactive lanes. */
    AS("load1", load<unsigned char>, stride, 1, 32, 0, 0),
    AS("load1", load<unsigned char>, offset, 1, 31, 10, 0),
    AS("load2", load<unsigned short>, stride, 1, 32, 0, 0),
    AS("load2", load<unsigned short>, offset, 1, 15, 7, 0),
    AS("load4", load<float>, stride, 1, 32, 1, 0),
    AS("load4", load<float>, offset, 0, 31, 1, 0),
    AS("load4", load<float>, reversed, 0, 1, 1, 0),
    AS("load4", load<float>, exchanged, 1, 16, 0, 0),
    AS("load4", load<float>, multiplied, 5, 7, 1, 0),
    AS("load4", load<float>, rows, 1, 16, 0, 33),
    AS("load4", load<float>, rows, 1, 16, 0, 40),
    AS("load4", load<float>, rows, 1, 16, 0, 517),
    AS("load4", load<float>, scattered, 64, 4096, 0, 0),
    EQUAL_ADDRESSES("load4", load<float>),
    LANES_OUT("load4", load<float>),
    AS("load8", load<float2>, stride, 1, 32, 1, 0),
    AS("load8", load<float2>, offset, 0, 15, 1, 0),
    AS("load8", load<float2>, rows, 1, 16, 0, 33),
    EQUAL_ADDRESSES("load8", load<float2>),
    LANES_OUT("load8", load<float2>),
    AS("load16", load<float4>, stride, 1, 32, 1, 0),
    AS("load16", load<float4>, offset, 0, 7, 1, 0),
    AS("load16", load<float4>, rows, 1, 16, 0, 33),
    EQUAL_ADDRESSES("load16", load<float4>),
    LANES_OUT("load16", load<float4>),
    AS("store1", store<unsigned char>, stride, 1, 32, 0, 0),
    AS("store2", store<unsigned short>, stride, 1, 32, 0, 0),
    AS("store4", store<float>, stride, 1, 32, 1, 0),
    AS("store4", store<float>, offset, 0, 31, 1, 0),
    AS("store4", store<float>, rows, 1, 16, 0, 33),
    EQUAL_ADDRESSES("store4", store<float>),
    LANES_OUT("store4", store<float>),
    AS("store8", store<float2>, stride, 1, 32, 1, 0),
    AS("store8", store<float2>, offset, 0, 15, 1, 0),
    EQUAL_ADDRESSES("store8", store<float2>),
    LANES_OUT("store8", store<float2>),
    AS("store16", store<float4>, stride, 1, 32, 1, 0),
    AS("store16", store<float4>, offset, 0, 7, 1, 0),
    EQUAL_ADDRESSES("store16", store<float4>),
    LANES_OUT("store16", store<float4>),
    AS("load_read_only", load_read_only, stride, 1, 32, 0, 0),
    AS("load_streaming", load_streaming, stride, 1, 32, 0, 0),
    AS("load_volatile", load_volatile, stride, 1, 32, 0, 0),
    AS("load_float3", load_float3, stride, 1, 8, 0, 0),

    /* Shared memory; the next element in the same bank is 32, 16 or 8 elements away. */
    AS("shared_load1", shared_load<unsigned char>, stride, 1, 32, 0, 0),
    AS("shared_load2", shared_load<unsigned short>, stride, 1, 32, 0, 0),
    AS("shared_store1", shared_store<unsigned char>, stride, 1, 32, 0, 0),
    AS("shared_store2", shared_store<unsigned short>, stride, 1, 32, 0, 0),
    SHARED("shared_load4", shared_load<float>, 32),
    SHARED("shared_load8", shared_load<float2>, 16),
    SHARED("shared_load16", shared_load<float4>, 8),
    SHARED("shared_store4", shared_store<float>, 32),
    SHARED("shared_store8", shared_store<float2>, 16),
    SHARED("shared_store16", shared_store<float4>, 8),
    PLAIN(shared_tile, 32, 36, 1, 1, 32, 8, 36 * 32 * 4),
    AS("load_generic", load_generic, stride, 1, 4, 0, 0),
    AS("load_generic_shared", load_generic, stride, 1, 4, 0, 1),

    /* Memory other than global; asynchronous copies. */
    AS("load_constant", load_constant, groups, 5, 5, 1, 0),
    AS("load_constant", load_constant, stride, 1, 1, 1, 0),
    AS("local_array", local_array, stride, 1, 5, 4, 3),
    AS("copy_async4", copy_async<4>, stride, 1, 8, 0, 0),
    AS("copy_async8", copy_async<8>, stride, 1, 8, 0, 0),
    AS("copy_async16", copy_async<16>, stride, 1, 8, 0, 0),
    AS("copy_async16", copy_async<16>, first, 7, 7, 1, 0),
    AS("copy_async_cg16", copy_async_cg, stride, 1, 8, 0, 0),
    AS("copy_async_to4", copy_async_to<4>, stride, 1, 32, 0, 0),
    AS("copy_async_to8", copy_async_to<8>, stride, 1, 16, 0, 0),
    AS("copy_async_to16", copy_async_to<16>, stride, 1, 8, 0, 0),

    /* Atomic operations. */
    ATOMIC("red_add_int", atomic_global<AddInt>),
    ATOMIC("atom_add_int", atomic_global_used<AddInt>),
    ATOMIC("red_add_float", atomic_global<AddFloat>),
    ATOMIC("atom_add_float", atomic_global_used<AddFloat>),
    AS("red_add_double", atomic_global<AddDouble>, stride, 1, 4, 0, 0),
    AS("red_add_long", atomic_global<AddLong>, stride, 1, 4, 0, 0),
    AS("red_max_int", atomic_global<MaxInt>, few, 3, 3, 1, 0),
    AS("red_and_int", atomic_global<AndInt>, few, 3, 3, 1, 0),
    ATOMIC("atom_exch_int", atomic_global_used<ExchInt>),
    ATOMIC("atom_cas_int", atomic_global_used<CasInt>),
    AS("red_exch_int", atomic_global<ExchInt>, few, 3, 3, 1, 0),
    AS("red_cas_int", atomic_global<CasInt>, few, 3, 3, 1, 0),
    ATOMIC("shared_add_int", atomic_shared<AddInt>),
    ATOMIC("shared_add_int_used", atomic_shared_used<AddInt>),
    ATOMIC("shared_add_float", atomic_shared<AddFloat>),
    ATOMIC("shared_add_float_used", atomic_shared_used<AddFloat>),
    ATOMIC("shared_cas_int", atomic_shared_used<CasInt>),
    AS("shared_add_double", atomic_shared<AddDouble>, stride, 1, 4, 0, 0),
    AS("shared_add_long", atomic_shared<AddLong>, stride, 1, 4, 0, 0),
    AS("shared_add_long", atomic_shared<AddLong>, few, 0, 3, 3, 0),
    AS("shared_max_int", atomic_shared<MaxInt>, few, 3, 3, 1, 0),
    AS("shared_inc_int", atomic_shared<IncInt>, few, 3, 3, 1, 0),
    AS("shared_exch_int", atomic_shared_used<ExchInt>, few, 3, 3, 1, 0),
    AS("shared_exch_float", atomic_shared<ExchFloat>, few, 3, 3, 1, 0),
    AS("uniform_add_one", uniform_add_one, stride, 1, 1, 1, 4),
    AS("uniform_add_one", uniform_add_one, first, 7, 7, 1, 4),
    AS("uniform_add_other", uniform_add_other, stride, 1, 1, 1, 4),
    AS("uniform_add_used", uniform_add_used, stride, 1, 1, 1, 4),
    AS("uniform_add_float", uniform_add_float, stride, 1, 1, 1, 4),
    AS("uniform_max", uniform_max, stride, 1, 1, 1, 4),
    AS("uniform_cas", uniform_cas, stride, 1, 1, 1, 4),
    AS("uniform_shared", uniform_shared, stride, 1, 1, 1, 4),
    PLAIN(histogram, 1000, 1000, 1, 2, 256, 1, 0),

    /* Divergent threads; the parameter is the kernel's n. */
    FLOWS(first_lanes, 1, 31, 10), FLOWS(odd_lanes, 20, 20, 1), FLOWS(either_way, 20, 20, 1),
    FLOWS(halves, 20, 20, 1), FLOWS(nested, 20, 20, 1), FLOWS(trips_by_lane, 0, 0, 1),
    FLOWS(trips_by_group, 1, 16, 0), FLOWS(trips_by_data, 0, 0, 1), FLOWS(early_exit, 1, 31, 10),
    FLOWS(exit_in_loop, 0, 0, 1), FLOWS(break_in_loop, 0, 0, 1), FLOWS(continue_in_loop, 0, 0, 1),
    FLOWS(four_ways, 12, 12, 1), FLOWS(short_if, 0, 0, 1), FLOWS(choice, 0, 0, 1),
    FLOWS(by_warp, 20, 20, 1), PLAIN(tail, 1000, 1000, 1, 4, 256, 1, 0),
    FLOWS(divergent_call, 20, 20, 1), FLOWS(recursion, 0, 0, 1), FLOWS(shuffle_sum, 0, 0, 1),
    FLOWS(vote_and_match, 0, 0, 1),
    PLAIN(tree_interleaved, 0, 0, 1, 4, 256, 1, 0), PLAIN(tree_strided, 0, 0, 1, 4, 256, 1, 0),
    PLAIN(tree_sequential, 0, 0, 1, 4, 256, 1, 0),

    /* Multiply-adds. */
    AS("fma_one", fma_one, stride, 1, 1, 1, 0), AS("fma_one", fma_one, first, 9, 9, 1, 0),
    AS("fma_contracted", fma_contracted, stride, 1, 1, 1, 0),
    AS("fma_not_contracted", fma_not_contracted, stride, 1, 1, 1, 0),
    AS("fma_double", fma_double, stride, 1, 1, 1, 0),
    AS("divide", divide, stride, 1, 1, 1, 0), AS("divide", divide, first, 9, 9, 1, 0),
    AS("divide_fast", divide_fast, stride, 1, 1, 1, 0),
    AS("reciprocal", reciprocal, stride, 1, 1, 1, 0),
    AS("root", root, stride, 1, 1, 1, 0),
    AS("root_reciprocal", root_reciprocal, stride, 1, 1, 1, 0),
    AS("exponential", exponential, stride, 1, 1, 1, 0),
    AS("logarithm", logarithm, stride, 1, 1, 1, 0),
    AS("power", power, stride, 1, 1, 1, 0), AS("sine", sine, stride, 1, 1, 1, 0),
    AS("hyperbolic", hyperbolic, stride, 1, 1, 1, 0),
    AS("remainder_float", remainder_float, stride, 1, 1, 1, 0),
    AS("divide_double", divide_double, stride, 1, 1, 1, 0),
    AS("divide_int", divide_int, stride, 1, 1, 1, 0),
    AS("remainder_unsigned", remainder_unsigned, stride, 1, 1, 1, 0),
    AS("divide_long", divide_long, stride, 1, 1, 1, 0),
    AS("fma_chain", fma_chain, stride, 1, 1, 1, 64), AS("fma_chain", fma_chain, first, 9, 9, 1, 65),
    PLAIN(polynomial, 0, 0, 1, 2, 64, 1, 0), PLAIN(dot, 1000, 1000, 1, 2, 128, 1, 0),
    PLAIN(matrix_vector, 100, 100, 1, 1, 128, 1, 0),
    PLAIN(matrix_tiles, 64, 64, 1, 4, 16, 16, 0),
    { "matrix_pitched", matrix_pitched, "pitch", offset, 16, 20, 4, 64, 4, 16, 16, 2560 },
};
/* clang-format on */

enum { ROWS = sizeof table_of_launches / sizeof *table_of_launches };

/* ---- Running the launches ---- */

typedef struct Device {
    char *out, *in, *host;
    int *index;
} Device;

/* The words are floats in [1, 2), and all different as integers. */
static void set_up(Device *device)
{
    uint32_t *words = (uint32_t *) malloc(BYTES);

    device->host = (char *) malloc(BYTES);
    CHECK(cudaMalloc((void **) &device->out, BYTES));
    CHECK(cudaMalloc((void **) &device->in, BYTES));
    CHECK(cudaMalloc((void **) &device->index, INDICES * sizeof(int)));
    for (unsigned i = 0; i < BYTES / 4; i++)
        words[i] = 0x3f800000u | hash(i) >> 9;
    CHECK(cudaMemcpy(device->in, words, BYTES, cudaMemcpyHostToDevice));
    free(words);
}

static void write_index(const Row *row, int a, Device *device)
{
    int index[INDICES];

    for (int i = 0; i < INDICES; i++)
        index[i] = row->pattern ? row->pattern(i, a, row->b) : i;
    CHECK(cudaMemcpy(device->index, index, sizeof index, cudaMemcpyHostToDevice));
    memset(device->host, 0, BYTES);
    CHECK(cudaMemcpy(device->out, device->host, BYTES, cudaMemcpyHostToDevice));
}

static uint32_t output_hash(Device *device)
{
    uint32_t value = 2166136261u;

    CHECK(cudaMemcpy(device->host, device->out, BYTES, cudaMemcpyDeviceToHost));
    for (int i = 0; i < BYTES; i++)
        value = (value ^ (unsigned char) device->host[i]) * 16777619u;
    return value;
}

static void run(const Row *row, int a, const char *label, Device *device)
{
    /* matrix_...: a square of blocks */
    bool square = row->threads_x == 16;
    dim3 grid((unsigned) row->blocks, square ? (unsigned) row->blocks : 1);
    dim3 block((unsigned) row->threads_x, (unsigned) row->threads_y);

    write_index(row, a, device);
    row->kernel<<<grid, block, (size_t) row->shared_bytes>>>(device->out, device->in, device->index,
                                                             row->pattern ? row->b : a);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    printf("launch %s %08x\n", label, output_hash(device));
}

/* "load4.rows.8.33": kernel, pattern, its parameters */
static void name_launch(const Row *row, int a, char *label, size_t size)
{
    if (!row->pattern_name)
        snprintf(label, size, "%s.%d", row->name, a);
    else if (row->b)
        snprintf(label, size, "%s.%s.%d.%d", row->name, row->pattern_name, a, row->b);
    else
        snprintf(label, size, "%s.%s.%d", row->name, row->pattern_name, a);
}

static bool is_wanted(const char *label, char **words, int count)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(words[i], label))
            return true;
    return !count;
}

int main(int count, char **words)
{
    bool list = count > 1 && !strcmp(words[1], "--list");
    Device device = { 0 };
    int done = 0;

    if (!list)
        set_up(&device);
    for (int r = 0; r < ROWS; r++) {
        const Row *row = &table_of_launches[r];
        for (int a = row->first; a <= row->last; a = row->step ? a + row->step : a * 2) {
            char label[80];
            name_launch(row, a, label, sizeof label);
            if (list)
                printf("%s\n", label);
            else if (is_wanted(label, words + 1, count - 1)) {
                run(row, a, label, &device);
                done++;
            }
        }
    }
    if (!list)
        printf("done %d\n", done);
    return 0;
}
