/* honest.cu - one of the labs' right kernels (KERNEL), called with small cases: its results must be
 * right, and run_honest.sh sees that nothing is told of it. */
#include KERNEL

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

static float value(long i)
{
    return (float) ((i * 7919 + 13) % 1009) / 64 - 7;
}

/* Guarded on both sides, as the grader's runner guards its arrays. */
extern "C" int simMark(void *at, size_t bytes, int kind) __attribute__((weak));
enum { GUARD = 256, NO_ACCESS = 1 };

static float *array(long n, bool filled)
{
    std::vector<float> host(n);
    size_t bytes = (size_t) n * sizeof(float), all = (bytes + 2 * GUARD + 255) / 256 * 256;
    char *a;

    cudaMalloc(&a, all);
    for (long i = 0; i < n; i++)
        host[i] = value(i);
    if (filled)
        cudaMemcpy(a + GUARD, host.data(), bytes, cudaMemcpyHostToDevice);
    if (simMark) {
        simMark(a, GUARD, NO_ACCESS);
        simMark(a + GUARD + bytes, all - GUARD - bytes, NO_ACCESS);
    }
    return (float *) (a + GUARD);
}

static void check(const float *out, const std::vector<double> &want, double tolerance)
{
    std::vector<float> got(want.size());

    if (cudaDeviceSynchronize() ||
        cudaMemcpy(got.data(), out, got.size() * sizeof(float), cudaMemcpyDeviceToHost)) {
        printf("failed: %s\n", cudaGetErrorString(cudaGetLastError()));
        exit(1);
    }
    for (size_t i = 0; i < want.size(); i++)
        if (!(fabs(got[i] - want[i]) <= tolerance * (1 + fabs(want[i])))) {
            printf("wrong at %zu: %g instead of %g\n", i, got[i], want[i]);
            exit(1);
        }
}

static const long sizes[] = { 1, 31, 257, 1000, 4099, 70001 };
static const int shapes[][2] = { { 1, 1 }, { 33, 65 }, { 64, 64 }, { 100, 37 }, { 257, 130 } };

#if LAB == 0
static void run()
{
    for (long n : sizes) {
        float *in = array(n, true), *out = array(n, false);
        std::vector<double> want(n);
        for (long i = 0; i < n; i++)
            want[i] = value(i);
        copy(out, in, n);
        check(out, want, 0);
    }
}
#elif LAB == 1
static void run()
{
    for (const int *s : shapes) {
        long n = (long) s[0] * s[1];
        float *in = array(n, true), *out = array(n, false);
        float *mean = array(s[1], true), *scale = array(s[1], true);
        std::vector<double> want(n);
        for (long i = 0; i < n; i++)
            want[i] = ((double) value(i) - value(i % s[1])) * value(i % s[1]);
        standardise(out, in, mean, scale, s[0], s[1]);
        check(out, want, 1e-5);
    }
}
#elif LAB == 6
static void run()
{
    for (const int *s : shapes) {
        long n = (long) s[0] * s[1];
        float *in = array(n, true), *out = array(n, false);
        std::vector<double> want(n);
        for (long i = 0; i < n; i++)
            want[i % s[1] * s[0] + i / s[1]] = value(i);
        transpose(out, in, s[0], s[1]);
        check(out, want, 0);
    }
}
#elif LAB == 7
static void run()
{
    for (long n : sizes) {
        float *in = array(n, true), *out = array(1, false), *scratch = array(SCRATCH, false);
        std::vector<double> want(1);
        for (long i = 0; i < n; i++)
            want[0] += value(i);
        for (int again = 0; again < 2; again++) {
            sum(out, in, n, scratch, SCRATCH);
            check(out, want, 1e-4);
        }
    }
}
#endif

int main()
{
    run();
    cudaDeviceReset();
    return 0;
}
