// rows.cu - threads that work on rows of their own, as naive kernels do: each load and store of a
// warp touches 32 lines. The rows stay in the L1.
//
// rows.HOW.BYTES.GAP.W: ns per step of a warp, W warps on each SM. A row has 32 elements of BYTES;
// the rows of neighbouring threads are GAP bytes apart. HOW: read (the address of each load needs
// the load before), sum (loads may overlap), copy (load, add what the last step left, store into
// another row), update (the same into the same place), write (stores only). few: on 4 SMs.
//
// fresh.LINES.GAP.W: ns per load of a warp that sums rows of 64 words which are in the L2 only; it
// touches LINES lines, each by neighbouring lanes with words of their own. GAP: bytes from row to
// row.
//
// stack.HOW.W: the same with an array of each thread's own in local memory: push (a store, then a
// load elsewhere), walk (each load's index needs the load before), update.
//
// own.LINES.STRIDE.SMS.W: ns per store of W warps on SMS SMs; a warp stores to LINES lines, and its
// next store is STRIDE bytes on, in 32 places.
//
// after.SPACE.PLACE.LINES.DELAY: ns per step of one warp that stores to LINES lines and, DELAY
// dependent additions later, loads from them; the sum is what it stores next. SPACE: global, local
// (a word of all lanes is a line; a lane's part of them is LINES words). PLACE of the load: word
// (the one that was stored), line (another word of the line, in another sector), other (a line that
// no step stores to).
//
// shift.BYTES.ELEMENTS.W: ns per load of BYTES per lane from the L1, of neighbouring elements; the
// first one is ELEMENTS after a multiple of 128 bytes.
#include "measure.cuh"

enum { ELEMENTS = 32, FEW = 4 };

static unsigned char *from, *to;
static int *out;

enum How { READ, SUM, COPY, UPDATE, WRITE };
static const char *const hows[] = { "read", "sum", "copy", "update", "write" };

template <class T> __device__ static int first(T value)
{
    return (int) value;
}

__device__ static int first(int4 value)
{
    return value.x;
}

template <class T> __device__ static T made(int value)
{
    return (T) value;
}

template <> __device__ int4 made<int4>(int value)
{
    return make_int4(value, value, value, value);
}

// The elements are 0; the compiler does not know.
template <class T, How HOW>
__global__ void rows(const unsigned char *in, unsigned char *to, int gap, int rounds, int *out)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    const T *const x = (const T *) (in + (size_t) row * gap);
    T *const y = (T *) (to + (size_t) row * gap);
    int carry = 0;

    for (int r = 0; r < rounds; r++)
#pragma unroll 4
        for (int k = 0; k < ELEMENTS; k++) {
            if (HOW == READ)
                carry = first(x[k + carry]);
            else if (HOW == SUM)
                carry += first(x[k]) ^ r;
            else if (HOW == WRITE)
                y[k] = made<T>(r);
            else {
                carry = (first(x[k]) + carry) & 1;
                y[k] = made<T>(carry);
            }
        }
    if (carry == 77)
        *out = carry;
}

template <class T, How HOW> static void row_of(int gap, int warps, int count)
{
    const int rounds = 24 / (share > 8 ? 8 : share), threads = 32 * warps;
    unsigned char *const y = HOW == UPDATE ? from : to, *const x = from;
    int *const o = out;
    char name[48];
    const auto launch = [=](int many) {
        return timed([=] { rows<T, HOW><<<count, threads>>>(x, y, gap, many, o); });
    };
    const double ns = launch(3 * rounds) - launch(rounds);

    snprintf(name, sizeof name, "%s.%s.%d.%d.%d", count == FEW ? "few" : "rows", hows[HOW],
             (int) sizeof(T), gap, warps);
    row(name, ns / (2 * rounds) / ELEMENTS, "ns");
}

template <class T, How HOW> static void rows_of(int gap)
{
    for (int warps : { 1, 2, 4, 8 })
        row_of<T, HOW>(gap, warps, sms), row_of<T, HOW>(gap, warps, FEW);
}

template <How HOW> static void all_rows()
{
    rows_of<unsigned char, HOW>(64);
    rows_of<int, HOW>(128);
    rows_of<int, HOW>(132);
    row_of<int4, HOW>(512, 1, sms);
}

// ---- Rows in the L2: those of each round are new ----

__global__ void fresh(const unsigned char *in, int lines, int gap, int rounds, int *out)
{
    const int lane = threadIdx.x % 32, warp = blockIdx.x * blockDim.x / 32 + threadIdx.x / 32;
    const int each = 32 / lines, warps = gridDim.x * blockDim.x / 32;
    int sum = 0;

    for (int r = 0; r < rounds; r++) {
        const int row = (r * warps + warp) * lines + lane / each;
        const int *x = (const int *) (in + (size_t) row * gap) + lane % each;
#pragma unroll 16
        for (int k = 0; k < 64 / each; k++)
            sum += x[k * each];
    }
    if (sum == 77)
        *out = sum;
}

static void fresh_row(int lines, int gap, int warps)
{
    const int rounds = 8 / warps, count = sms;
    const unsigned char *const x = from;
    int *const o = out;
    char name[48];
    const auto launch = [=](int many) {
        return timed([=] { fresh<<<count, 32 * warps>>>(x, lines, gap, many, o); });
    };
    const double ns = launch(2 * rounds) - launch(rounds);

    snprintf(name, sizeof name, "fresh.%d.%d.%d", lines, gap, warps);
    row(name, ns / rounds / (64 * lines / 32.0), "ns");
}

static void fresh_rows()
{
    for (int warps : { 1, 2, 4, 8 }) {
        fresh_row(32, 256, warps), fresh_row(32, 264, warps);
        fresh_row(8, 256, warps), fresh_row(8, 264, warps);
    }
}

// ---- Local memory ----

enum StackHow { PUSH, WALK, STACK_UPDATE };
static const char *const stack_hows[] = { "push", "walk", "update" };

template <StackHow HOW> __global__ void stacks(const int *in, int rounds, int *out)
{
    int stack[32], carry = threadIdx.x % 8;

    for (int k = 0; k < 32; k++)
        stack[k] = in[k];
    for (int r = 0; r < rounds; r++)
#pragma unroll 4
        for (int k = 0; k < 32; k++) {
            if (HOW == WALK)
                carry = stack[carry & 31] + ((k + threadIdx.x) & 7);
            else if (HOW == PUSH) {
                stack[(carry + k) & 31] = carry & 7;
                carry = stack[(carry + k * 5) & 31];
            } else {
                stack[carry & 31] ^= carry & 3;
                carry = (carry + k) & 15;
            }
        }
    if (carry == 77)
        *out = carry;
}

template <StackHow HOW> static void stack_rows()
{
    const int rounds = 24 / (share > 8 ? 8 : share), count = sms;
    const int *const x = (const int *) from;
    int *const o = out;
    char name[48];

    for (int warps : { 1, 2, 4, 8 }) {
        const auto launch = [=](int many) {
            return timed([=] { stacks<HOW><<<count, 32 * warps>>>(x, many, o); });
        };
        const double ns = launch(3 * rounds) - launch(rounds);
        snprintf(name, sizeof name, "stack.%s.%d", stack_hows[HOW], warps);
        row(name, ns / (2 * rounds) / 32, "ns");
    }
}

// ---- Stores ----

__global__ void own(unsigned char *to, int lines, int stride, int rounds)
{
    const int lane = threadIdx.x % 32, warp = blockIdx.x * blockDim.x / 32 + threadIdx.x / 32;
    const int each = 32 / lines, row = warp * lines + lane / each;
    unsigned char *const y = to + (size_t) row * (32 * stride + 128) + lane % each * 4;

    for (int r = 0; r < rounds; r++)
#pragma unroll 4
        for (int k = 0; k < 32; k++)
            *(int *) (y + (size_t) k * stride) = r;
}

static void own_row(int lines, int stride, int count, int warps)
{
    const int rounds = 24 / (share > 8 ? 8 : share);
    unsigned char *const y = to;
    char name[48];
    const auto launch = [=](int many) {
        return timed([=] { own<<<count, 32 * warps>>>(y, lines, stride, many); });
    };
    const double ns = launch(3 * rounds) - launch(rounds);

    snprintf(name, sizeof name, "own.%d.%d.%d.%d", lines, stride, count, warps);
    row(name, ns / (2 * rounds) / 32, "ns");
}

static void own_rows()
{
    for (int stride : { 4, 32, 128 })
        for (int count : { 4, 33, 132 })
            for (int warps : { 1, 2, 8 })
                own_row(32, stride, count, warps);
    for (int lines : { 1, 4, 8, 16 }) {
        own_row(lines, 4, 4, 1);
        for (int warps : { 1, 2, 4, 8 })
            own_row(lines, 4, 132, warps), own_row(lines, 128, 132, warps);
    }
}

// ---- Loads after stores ----

// The lanes share `lines` lines. Words 0 and 16 of a lane's line are in different sectors.
template <int DELAY>
__global__ void after_global(int *to, int lines, int apart, int rounds, int *out)
{
    const int lane = threadIdx.x % 32, each = 32 / lines;
    int *const x = to + lane / each * 64 + lane % each;
    int sum = 0, loaded;

    for (int r = 0; r < rounds; r++) {
        asm volatile("st.global.s32 [%0], %1;" ::"l"(x), "r"(sum) : "memory");
#pragma unroll
        for (int k = 0; k < DELAY; k++)
            asm volatile("add.s32 %0, %0, %1;" : "+r"(sum) : "r"(r));
        asm volatile("ld.global.ca.s32 %0, [%1];" : "=r"(loaded) : "l"(x + apart) : "memory");
        sum += loaded;
    }
    if (sum == 77)
        *out = sum;
}

// Lane n uses word n % `lines` + `from` of its array.
template <int DELAY> __global__ void after_local(int lines, int apart, int rounds, int *out)
{
    volatile int array[64];
    const int at = threadIdx.x % 32 % lines;
    int sum = 0;

    for (int k = 0; k < 64; k++)
        array[k] = k;
    for (int r = 0; r < rounds; r++) {
        array[at] = sum;
#pragma unroll
        for (int k = 0; k < DELAY; k++)
            asm volatile("add.s32 %0, %0, %1;" : "+r"(sum) : "r"(r));
        sum += array[at + apart];
    }
    if (sum == 77)
        *out = sum;
}

template <class Launch>
static void after_row(const char *space, const char *place, int lines, int delay, Launch launch)
{
    const int rounds = 400 / (share > 8 ? 8 : share);
    char name[64];
    const double ns = timed([=] { launch(3 * rounds); }) - timed([=] { launch(rounds); });

    snprintf(name, sizeof name, "after.%s.%s.%d.%d", space, place, lines, delay);
    row(name, ns / (2 * rounds), "ns");
}

template <int DELAY> static void after_rows_of(int lines)
{
    int *const x = (int *) to, *const o = out;
    const auto global = [=](const char *place, int apart) {
        after_row("global", place, lines, DELAY,
                  [=](int n) { after_global<DELAY><<<1, 32>>>(x, lines, apart, n, o); });
    };
    const auto local = [=](const char *place, int apart) {
        after_row("local", place, lines, DELAY,
                  [=](int n) { after_local<DELAY><<<1, 32>>>(lines, apart, n, o); });
    };

    global("word", 0), global("other", 32);
    local("word", 0), local("other", 32);
    if (lines == 32)
        global("line", 16);
}

static void after_rows()
{
    for (int lines : { 1, 4, 8, 16, 32 }) {
        after_rows_of<0>(lines);
        after_rows_of<8>(lines);
        after_rows_of<16>(lines);
        after_rows_of<32>(lines);
    }
}

// ---- Alignment ----

template <class T> __global__ void shifted(const T *x, int *out, int rounds)
{
    const T *const from = x + threadIdx.x % 32 + threadIdx.x / 32 * 32;
    int sum[8] = { 0 };

    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int k = 0; k < 8; k++) // the place differs, so that no load can be left out
            sum[k] += first(from[k * 128 + (mixed(r) & 7) * 32]);
    for (int k = 1; k < 8; k++)
        sum[0] += sum[k];
    if (sum[0] == 77)
        *out = sum[0];
}

template <class T> static void shift_row(int elements, int warps)
{
    const int rounds = 100 / (share > 8 ? 8 : share), count = sms;
    const T *const x = (const T *) from + elements;
    int *const o = out;
    char name[48];
    const auto launch = [=](int many) {
        return timed([=] { shifted<T><<<count, 32 * warps>>>(x, o, many); });
    };
    const double ns = launch(3 * rounds) - launch(rounds);

    snprintf(name, sizeof name, "shift.%d.%d.%d", (int) sizeof(T), elements, warps);
    row(name, ns / (2 * rounds) / 8 / warps, "ns");
}

static void shift_rows()
{
    for (int warps : { 8, 32 }) {
        for (int elements : { 0, 1, 4, 8, 31 })
            shift_row<int>(elements, warps);
        shift_row<unsigned char>(0, warps), shift_row<unsigned char>(1, warps);
        shift_row<int4>(0, warps), shift_row<int4>(1, warps);
    }
}

int main(int argc, char **argv)
{
    open(argc, argv);
    from = array<unsigned char>((size_t) sms * 256 * 544 + 4096);
    to = array<unsigned char>((size_t) sms * 256 * (32 * 128 + 128) + 4096);
    out = array<int>(1);
    if (is_wanted("rows")) {
        all_rows<READ>();
        all_rows<SUM>();
        all_rows<COPY>();
        all_rows<UPDATE>();
        all_rows<WRITE>();
    }
    if (is_wanted("fresh"))
        fresh_rows();
    if (is_wanted("own"))
        own_rows();
    if (is_wanted("after"))
        after_rows();
    if (is_wanted("shift"))
        shift_rows();
    if (is_wanted("stack")) {
        stack_rows<PUSH>();
        stack_rows<WALK>();
        stack_rows<STACK_UPDATE>();
    }
    return 0;
}
