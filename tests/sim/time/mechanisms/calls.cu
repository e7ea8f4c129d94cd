// calls.cu - calls of functions that are not inlined.
//
// Rows, in cycles of a warp per call, WARPS on each SM: call.KIND.WARPS. KIND:
// leaf      a function that calls none: a multiply-add on what the last call returned
// nested    one that calls a leaf, and needs a value after it
// deep4     a recursive function, 4 levels per call from outside; per level
// deep16    the same with 16 levels
// twice4    a recursive function that calls itself twice, 4 levels: 15 calls; per call
// pointer   a leaf through a pointer that all lanes agree on
// diverged  the same through pointers that differ between halves of a warp; per call of the warp
#include "measure.cuh"

static float *out;

typedef float Function(float x, int n);

__device__ __noinline__ static float leaf(float x, int)
{
    return x * 0.5f + 1.f;
}

__device__ __noinline__ static float other_leaf(float x, int)
{
    return x * 0.25f + 2.f;
}

__device__ __noinline__ static float nested(float x, int n)
{
    return leaf(x + 1.f, n) * x;
}

__device__ __noinline__ static float deep(float x, int n)
{
    return n == 0 ? x * 0.5f : deep(x + 1.f, n - 1) * x + 1.f;
}

__device__ __noinline__ static float twice(float x, int n)
{
    if (n == 0)
        return x * 0.5f;
    const float first = twice(x + 1.f, n - 1);

    return first * x + twice(first, n - 1);
}

enum Kind { LEAF, NESTED, DEEP, TWICE };

template <Kind KIND> __global__ void calls(float *out, int rounds, int levels)
{
    float x = threadIdx.x;

#pragma unroll 1
    for (int i = 0; i < rounds; i++)
        x = KIND == LEAF     ? leaf(x, levels)
            : KIND == NESTED ? nested(x, levels)
            : KIND == DEEP   ? deep(x, levels)
                             : twice(x, levels);
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

__device__ static Function *const functions[] = { leaf, other_leaf };

__global__ void pointers(float *out, int rounds, int which)
{
    float x = threadIdx.x;
    Function *const f = functions[threadIdx.x % 32 < which];

#pragma unroll 1
    for (int i = 0; i < rounds; i++)
        x = f(x, i);
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

template <class Launch>
static void call_row(const char *kind, int warps, double each, Launch launch)
{
    const int rounds = 200 / (share > 4 ? 4 : share);
    const int blocks = warps > 16 ? warps / 16 * sms : sms;
    const int threads = 32 * (warps > 16 ? 16 : warps);
    char name[48];
    const double ns = timed([=] { launch(blocks, threads, 3 * rounds); }) -
                      timed([=] { launch(blocks, threads, rounds); });

    snprintf(name, sizeof name, "call.%s.%d", kind, warps);
    row(name, ns * 1e-6 * sm_khz / (2 * rounds) / each, "cycles");
}

template <Kind KIND> static void kind_row(const char *kind, int warps, int levels, double each)
{
    float *const o = out;

    call_row(kind, warps, each, [=](int blocks, int threads, int rounds) {
        calls<KIND><<<blocks, threads>>>(o, rounds, levels);
    });
}

static void pointer_row(const char *kind, int warps, int which)
{
    float *const o = out;

    call_row(kind, warps, 1, [=](int blocks, int threads, int rounds) {
        pointers<<<blocks, threads>>>(o, rounds, which);
    });
}

int main(int argc, char **argv)
{
    open(argc, argv);
    out = array<float>((size_t) 1 << 20);
    for (int warps : { 1, 4, 16, 48 }) {
        kind_row<LEAF>("leaf", warps, 0, 1);
        kind_row<NESTED>("nested", warps, 0, 1);
        kind_row<DEEP>("deep4", warps, 3, 4);
        kind_row<DEEP>("deep16", warps, 15, 16);
        kind_row<TWICE>("twice4", warps, 3, 15);
        pointer_row("pointer", warps, 0);
        pointer_row("diverged", warps, 16);
    }
    return 0;
}
