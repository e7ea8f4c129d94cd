// narrow.cu - arrays of bytes, shorts and words in local memory: elements stored, then loaded.
//
// narrow.BYTES.STEP.APART.LANES.W: ns per step of W warps of one SM. In a step each of LANES lanes
// stores to an element of its array, adds the one APART elements further, and moves by STEP
// elements; the sum is what it stores next. An array has 64 elements.
// read.BYTES.STEP.LANES.W: the same without the store
#include "measure.cuh"

enum { LENGTH = 64, MOST_LANES = 32 };

static int *out;

template <class T>
__global__ void narrow(int step, int apart, int lanes, bool stores, int rounds, int *out)
{
    volatile T array[LENGTH];
    int sum = 0, at = 0;

    for (int k = 0; k < LENGTH; k++)
        array[k] = (T) k;
    if ((int) threadIdx.x % 32 >= lanes)
        return;
    if (stores)
        for (int r = 0; r < rounds; r++) {
            array[at] = (T) sum;
            sum += array[(at + apart) % LENGTH];
            at = (at + step) % LENGTH;
        }
    else
        for (int r = 0; r < rounds; r++) {
            sum += array[(at + (sum & 0x40000000)) % LENGTH];
            at = (at + step) % LENGTH;
        }
    if (sum == 77)
        *out = sum;
}

template <class T>
static void one_row(const char *name, int step, int apart, int lanes, int warps, bool stores)
{
    const int rounds = 400 / (share > 8 ? 8 : share);
    int *const o = out;
    const auto launch = [=](int n) {
        narrow<T><<<1, 32 * warps>>>(step, apart, lanes, stores, n, o);
    };
    const double ns = timed([=] { launch(3 * rounds); }) - timed([=] { launch(rounds); });

    row(name, ns / (2 * rounds), "ns");
}

template <class T> static void rows_of(int lanes, int warps)
{
    static const int places[][2] = { { 0, 0 }, { 0, 1 }, { 0, 32 }, { 1, 1 }, { 4, 4 }, { 5, 33 } };
    char name[64];

    for (const int *place : places) {
        snprintf(name, sizeof name, "narrow.%d.%d.%d.%d.%d", (int) sizeof(T), place[0], place[1],
                 lanes, warps);
        if (is_wanted("narrow"))
            one_row<T>(name, place[0], place[1], lanes, warps, true);
    }
    for (int step : { 0, 1, 5 }) {
        snprintf(name, sizeof name, "read.%d.%d.%d.%d", (int) sizeof(T), step, lanes, warps);
        if (is_wanted("read"))
            one_row<T>(name, step, 0, lanes, warps, false);
    }
}

int main(int argc, char **argv)
{
    open(argc, argv);
    out = array<int>(1);
    for (int warps : { 1, 4, 16 })
        for (int lanes : { 1, 8, (int) MOST_LANES }) {
            rows_of<unsigned char>(lanes, warps);
            rows_of<unsigned short>(lanes, warps);
            rows_of<int>(lanes, warps);
        }
    return 0;
}
