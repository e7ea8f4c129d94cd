// tensor.cu - the rate of mma.sync. A program of its own, since devices before sm_80 lack some
// shapes.
//
// Rows: mma.SHAPE.WARPS.ILP   cycles per instruction and SM, WARPS per SM; latency.SHAPE: cycles,
// one warp
#include "measure.cuh"

static float *out;

#define SHAPE(name, type, count, instruction)                                                      \
    struct name {                                                                                  \
        enum { COUNT = count };                                                                    \
        typedef type T;                                                                            \
        __device__ static void of(T *d, unsigned a, unsigned b)                                    \
        {                                                                                          \
            instruction;                                                                           \
        }                                                                                          \
    };
#define FOUR(op, constraint)                                                                       \
    asm volatile(op " {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%5,%5}, {%0,%1,%2,%3};"                       \
                 : constraint(d[0]), constraint(d[1]), constraint(d[2]), constraint(d[3])          \
                 : "r"(a), "r"(b))
SHAPE(F16_16816, float, 4, FOUR("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "+f"))
SHAPE(BF16_16816, float, 4, FOUR("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "+f"))
SHAPE(TF32_1688, float, 4, FOUR("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "+f"))
SHAPE(S8_16832, int, 4, FOUR("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", "+r"))
SHAPE(F16_1688, float, 4,
      asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4}, {%5}, "
                   "{%0,%1,%2,%3};"
                   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                   : "r"(a), "r"(b)))
SHAPE(F16ACC_16816, unsigned, 2,
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%2,%2,%2}, "
                   "{%3,%3}, {%0,%1};"
                   : "+r"(d[0]), "+r"(d[1])
                   : "r"(a), "r"(b)))
SHAPE(F64_884, double, 2,
      asm volatile("{.reg .f64 x, y; cvt.rn.f64.u32 x, %2; cvt.rn.f64.u32 y, %3;"
                   "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {x}, {y}, {%0,%1};}"
                   : "+d"(d[0]), "+d"(d[1])
                   : "r"(a), "r"(b)))

template <class Shape, int ILP>
__global__ void products(float *out, long long *clocks, unsigned a, unsigned b, int loops)
{
    typename Shape::T d[ILP][Shape::COUNT];

    for (int i = 0; i < ILP; i++)
        for (int k = 0; k < Shape::COUNT; k++)
            d[i][k] = (typename Shape::T) 0;
    const long long from = clock64();
    for (int l = 0; l < loops; l++)
#pragma unroll
        for (int k = 0; k < 8; k++)
#pragma unroll
            for (int i = 0; i < ILP; i++)
                Shape::of(d[i], a, b);
    if (clocks)
        *clocks = clock64() - from;
    typename Shape::T sum = 0;
    for (int i = 0; i < ILP; i++)
        for (int k = 0; k < Shape::COUNT; k++)
            sum += d[i][k];
    out[blockIdx.x * blockDim.x + threadIdx.x] = (float) sum;
}

template <class Shape, int ILP> static void rate(const char *name, int warps)
{
    const int loops = 128 / (share > 4 ? 4 : share);
    float *const o = out;
    char full[64];
    const double few =
        timed([=] { products<Shape, ILP><<<sms, warps * 32>>>(o, NULL, 1, 1, loops); });
    const double many =
        timed([=] { products<Shape, ILP><<<sms, warps * 32>>>(o, NULL, 1, 1, 3 * loops); });

    snprintf(full, sizeof full, "mma.%s.%d.%d", name, warps, ILP);
    row(full, (many - few) * 1e-6 * sm_khz / (2.0 * loops * 8 * ILP * warps), "cycles/instruction");
}

template <class Shape> static void rows(const char *name)
{
    long long *clocks = array<long long>(1), cycles = 0;
    char full[64];

    for (int i = 0; i < 2; i++)
        products<Shape, 1><<<1, 32>>>(out, clocks, 1, 1, 64);
    check(cudaMemcpy(&cycles, clocks, sizeof cycles, cudaMemcpyDeviceToHost));
    snprintf(full, sizeof full, "mma.latency.%s", name);
    row(full, cycles / (64 * 8.0), "cycles");
    rate<Shape, 1>(name, 4);
    rate<Shape, 2>(name, 4);
    rate<Shape, 4>(name, 4);
    rate<Shape, 2>(name, 8);
    rate<Shape, 4>(name, 16);
}

int main(int argc, char **argv)
{
    open(argc, argv);
    out = array<float>((size_t) 1 << 22);
    rows<F16_16816>("f16_16816");
    rows<F16_1688>("f16_1688");
    rows<F16ACC_16816>("f16acc_16816");
    rows<BF16_16816>("bf16_16816");
    rows<TF32_1688>("tf32_1688");
    rows<S8_16832>("s8_16832");
    rows<F64_884>("f64_884");
    return 0;
}
