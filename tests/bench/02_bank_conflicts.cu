/* 02_bank_conflicts - compares the reference with our fastest rung, and each with its bound. The
 * reference takes two wavefronts of shared memory per step and warp, and an SM does one per
 * clock. The fastest rung takes an addition and a multiply-add per step and thread. `make
 * bench`; KERNEL is the file of the fastest rung, REFERENCE that of the last numbered one. */
#include "bench.h"
#include "fill.h"
#include "lab.h"

/* Two files that define the same names: each is in its own namespace, and its function is renamed,
 * since an `extern "C"` function has one name in all namespaces. */
#define distances distances_reference
namespace reference
{
#include REFERENCE
}
#undef distances

#define distances distances_fastest
namespace fastest
{
#include KERNEL
}
#undef distances

#include <vector>
#define main skinning_main
namespace skinning
{
#include "skinning.cu"
}
#undef main

enum { SETS = 3 };

typedef struct Problem {
    int n, d;
    float *x[SETS], *dist[SETS];
} Problem;

static void by_reference(void *self, int set)
{
    Problem *p = (Problem *) self;

    reference::distances_reference(p->dist[set], p->x[set], p->n, p->d);
}

static void by_fastest(void *self, int set)
{
    Problem *p = (Problem *) self;

    fastest::distances_fastest(p->dist[set], p->x[set], p->n, p->d);
}

/* Integers near each other, whose distances are exact. */
static __global__ void fill_kernel(float *data, int count, FillKey key)
{
    Fill fill = { FILL_RANGE, 1000000, 1000016 };

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        data[i] = fill_f32(fill, key, i);
}

static __global__ void differences(Problem p, unsigned long long *differ)
{
    for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < p.n * p.n;
         e += gridDim.x * blockDim.x) {
        double sum = 0;
        for (int k = 0; k < p.d; k++) {
            double difference = (double) p.x[0][e / p.n * p.d + k] - p.x[0][e % p.n * p.d + k];
            sum += difference * difference;
        }
        if (p.dist[0][e] != sum)
            atomicAdd(differ, 1ull);
    }
}

/* Checks the result first: every distance, from a poisoned output. */
static void check(Problem *p, const char *who, BenchCall *call)
{
    unsigned long long differ = 0, *on_device;

    CUDA_CHECK(cudaMalloc(&on_device, sizeof differ));
    CUDA_CHECK(cudaMemset(on_device, 0, sizeof differ));
    CUDA_CHECK(cudaMemset(p->dist[0], 0xFF, sizeof(float) * p->n * p->n));
    call(p, 0);
    differences<<<1024, 256>>>(*p, on_device);
    CUDA_CHECK(cudaMemcpy(&differ, on_device, sizeof differ, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(on_device));
    if (!differ)
        return;
    fprintf(stderr, "n = %d, d = %d: %llu distances of the %s are wrong\n", p->n, p->d, differ,
            who);
    exit(1);
}

static int attribute(cudaDeviceAttr what)
{
    int value;

    CUDA_CHECK(cudaDeviceGetAttribute(&value, what, 0));
    return value;
}

/* FP32 units of an SM (CUDA C++ Programming Guide, arithmetic instructions). */
static int fp32_units(void)
{
    int major = attribute(cudaDevAttrComputeCapabilityMajor);
    int minor = attribute(cudaDevAttrComputeCapabilityMinor);

    return major == 7 || (major == 8 && minor == 0) ? 64 : 128;
}

static void print_bounds(const Problem *p, BenchResult r)
{
    double clocks_a_ms =
        (double) attribute(cudaDevAttrMultiProcessorCount) * attribute(cudaDevAttrClockRate);
    double steps = (double) p->n * p->n * p->d;
    double shared_ms = 2 * steps / 32 / clocks_a_ms;
    double fp32_ms = 2 * steps / fp32_units() / clocks_a_ms;

    printf("    reference: %.3f of its bound, two wavefronts per step (%.4f ms)\n",
           shared_ms / r.library_ms, shared_ms);
    printf("    fastest:   %.3f of its bound, two FP32 instructions per step (%.4f ms)\n",
           fp32_ms / r.ours_ms, fp32_ms);
    bench_figure(shared_ms / r.library_ms, "reference/d = %d/of its bound", p->d);
    bench_figure(fp32_ms / r.ours_ms, "fastest/d = %d/of its bound", p->d);
}

static void measure(int n, int d)
{
    Problem p = { n, d };
    Bench bench = { &p };
    BenchResult race;
    char name[64];

    bench.sets = SETS;
    bench.bytes = sizeof(float) * (double) n * (n + d);
    CUDA_CHECK(cudaEventCreate(&bench.start));
    CUDA_CHECK(cudaEventCreate(&bench.stop));
    for (int i = 0; i < SETS; i++) {
        CUDA_CHECK(cudaMalloc(&p.x[i], sizeof(float) * n * d));
        CUDA_CHECK(cudaMalloc(&p.dist[i], sizeof(float) * n * n));
        fill_kernel<<<256, 256>>>(p.x[i], n * d, fill_key(i + 1, 0));
        CUDA_CHECK(cudaGetLastError());
    }
    check(&p, "reference", by_reference);
    check(&p, "fastest", by_fastest);
    PUT(name, "n %d, d %d", n, d);
    race = bench_race(&bench, by_reference, by_fastest);
    bench_row(name, "reference", "fastest", &bench, race);
    print_bounds(&p, race);
    bench_row(name, "reference", "reference", &bench,
              bench_race(&bench, by_reference, by_reference));
    for (int i = 0; i < SETS; i++) {
        CUDA_CHECK(cudaFree(p.x[i]));
        CUDA_CHECK(cudaFree(p.dist[i]));
    }
    CUDA_CHECK(cudaEventDestroy(bench.start));
    CUDA_CHECK(cudaEventDestroy(bench.stop));
}

/* ---- The same bones in five places (labs/02_bank_conflicts/skinning.cu) ---- */

typedef struct Skin {
    skinning::Mesh mesh;
    const float4 *bones;
} Skin;

template <skinning::Place PLACE> static void by_place(void *self, int)
{
    const Skin *skin = (const Skin *) self;

    skinning::launch(PLACE, skin->mesh, skin->bones);
}

static void measure_skinning(int vertices, bool sorted)
{
    static BenchCall *const by[] = { by_place<skinning::GLOBAL>, by_place<skinning::SHARED>,
                                     by_place<skinning::PADDED>, by_place<skinning::COLUMNS>,
                                     by_place<skinning::CONSTANT> };
    Skin skin = { skinning::make_mesh(vertices, sorted), skinning::make_bones() };
    Bench bench = { &skin, 1, 64.0 * vertices };

    CUDA_CHECK(cudaEventCreate(&bench.start));
    CUDA_CHECK(cudaEventCreate(&bench.stop));
    for (int place = skinning::SHARED; place < skinning::PLACES; place++)
        bench_row(sorted ? "skinning, sorted" : "skinning", "global", skinning::place_name[place],
                  &bench, bench_race(&bench, by[skinning::GLOBAL], by[place]));
    CUDA_CHECK(cudaEventDestroy(bench.start));
    CUDA_CHECK(cudaEventDestroy(bench.stop));
    skinning::free_mesh(skin.mesh);
}

int main(void)
{
    bench_head(KERNEL);
    printf("reference: %s\n", REFERENCE);
    measure(4128, 64);
    measure(4128, 63);
    measure(4128, 128);
    measure_skinning(1 << 22, false);
    measure_skinning(1 << 22, true);
    return 0;
}
