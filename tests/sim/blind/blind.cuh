// blind.cuh - what the launches of the blind set have in common: inputs, device arrays, timing and
// checks.
//
// A launch is a function `void NAME(Run &run)`: it fills device arrays, passes the launch to
// run.measure(), then names the output and, where that is cheap, compares it with a computation on
// the host.
#ifndef BLIND_CUH
#define BLIND_CUH

#include <cuda_profiler_api.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call) check_call((call), __FILE__, __LINE__)

inline void check_call(cudaError_t error, const char *file, int line)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s:%d: %s\n", file, line, cudaGetErrorString(error));
    exit(1);
}

// The marker tells a profiler's reader which launch the next kernels belong to: by its grid.
__global__ void marker()
{
}

// ---- Inputs: the same on each machine ----

inline uint32_t mix(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

inline std::vector<uint32_t> words(size_t count, uint32_t seed)
{
    std::vector<uint32_t> v(count);
    for (size_t i = 0; i < count; i++)
        v[i] = mix((uint32_t) i * 2654435769u + seed);
    return v;
}

// Below `limit`.
inline std::vector<int> integers(size_t count, uint32_t limit, uint32_t seed)
{
    std::vector<int> v(count);
    for (size_t i = 0; i < count; i++)
        v[i] = (int) (mix((uint32_t) i * 2654435769u + seed) % limit);
    return v;
}

// Between `low` and `high`.
inline std::vector<float> floats(size_t count, uint32_t seed, float low = -1, float high = 1)
{
    std::vector<float> v(count);
    for (size_t i = 0; i < count; i++)
        v[i] = low + (high - low) * ((mix((uint32_t) i * 2654435769u + seed) >> 8) * 0x1p-24f);
    return v;
}

inline int blocks_for(size_t threads, int block)
{
    return (int) ((threads + block - 1) / block);
}

// ---- Device arrays ----

// Arrays that are freed with this object.
class Arrays
{
  public:
    ~Arrays()
    {
        free_arrays();
    }

    void free_arrays()
    {
        for (void *at : arrays)
            CHECK(cudaFree(at));
        arrays.clear();
    }

    template <class T> T *zeros(size_t count)
    {
        T *at;
        CHECK(cudaMalloc(&at, count * sizeof(T)));
        CHECK(cudaMemset(at, 0, count * sizeof(T)));
        arrays.push_back(at);
        return at;
    }

    template <class T> T *upload(const std::vector<T> &host)
    {
        T *at;
        CHECK(cudaMalloc(&at, host.size() * sizeof(T)));
        CHECK(cudaMemcpy(at, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
        arrays.push_back(at);
        return at;
    }

  protected:
    std::vector<void *> arrays;
};

// ---- One launch ----

enum Mode { ONCE, TIMED, PROFILED };

class Run : public Arrays
{
  public:
    Run(Mode mode, int number, int repeats) : mode(mode), number(number), repeats(repeats)
    {
    }

    // Runs `reset` before each launch, outside of the measured time. One launch warms up.
    template <class Launch, class Reset> void measure(Launch launch, Reset reset)
    {
        reset();
        launch();
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        launches = 1;
        if (mode == TIMED)
            time(launch, reset);
        if (mode == PROFILED)
            profile(launch, reset);
    }

    template <class Launch> void measure(Launch launch)
    {
        measure(launch, [] {});
    }

    // The output: reads it back and adds it to the checksum.
    template <class T> std::vector<T> output(const T *device, size_t count)
    {
        std::vector<T> host(count);
        CHECK(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
        const unsigned char *bytes = (const unsigned char *) host.data();
        for (size_t i = 0; i < count * sizeof(T); i++)
            checksum = (checksum ^ bytes[i]) * 16777619u;
        return host;
    }

    // Compares values with those of the host: a difference above `tolerance`, relative to the
    // larger of 1 and the expected value, fails.
    void expect(double got, double wanted, double tolerance)
    {
        const double size = fabs(wanted) > 1 ? fabs(wanted) : 1;
        checked++;
        if (!(fabs(got - wanted) <= tolerance * size) && !wrong++)
            fprintf(stderr, "wrong: %.9g instead of %.9g\n", got, wanted);
    }

    template <class T, class Host>
    void expect_all(const std::vector<T> &got, Host host, double tolerance, size_t step = 1)
    {
        for (size_t i = 0; i < got.size(); i += step)
            expect((double) got[i], (double) host(i), tolerance);
    }

    const Mode mode;
    const int number, repeats;
    int launches = 0;
    double median_us = 0, spread_us = 0; // spread: between the quartiles
    uint32_t checksum = 2166136261u;
    size_t checked = 0, wrong = 0;

  private:
    template <class Launch, class Reset> void time(Launch launch, Reset reset)
    {
        std::vector<float> us;
        cudaEvent_t begin, end;
        CHECK(cudaEventCreate(&begin));
        CHECK(cudaEventCreate(&end));
        for (int i = 0; i < repeats; i++) {
            float ms;
            reset();
            CHECK(cudaDeviceSynchronize());
            CHECK(cudaEventRecord(begin));
            launch();
            CHECK(cudaEventRecord(end));
            CHECK(cudaEventSynchronize(end));
            CHECK(cudaEventElapsedTime(&ms, begin, end));
            us.push_back(ms * 1000);
            launches++;
        }
        CHECK(cudaEventDestroy(begin));
        CHECK(cudaEventDestroy(end));
        std::sort(us.begin(), us.end());
        median_us = us[us.size() / 2];
        spread_us = us[us.size() * 3 / 4] - us[us.size() / 4];
    }

    template <class Launch, class Reset> void profile(Launch launch, Reset reset)
    {
        reset();
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaProfilerStart());
        marker<<<number, 1>>>();
        launch();
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaProfilerStop());
        launches++;
    }
};

#endif
