// flow.cuh - what the sections have in common: arrays, streams, the timed part and checks.
//
// A section is a function `void NAME(Flow &flow)`: it makes its arrays, passes the work to
// flow.time() and compares the result with a computation on the host.
#ifndef FLOW_CUH
#define FLOW_CUH

#include "../blind.cuh"

enum { MOST_STREAMS = 8, NO_GATE = 0, GATE_US = 300 };

// Dependent multiply-adds of one thread: the host issues the work of a section meanwhile.
__global__ void gate(float *out, int loops)
{
    float x = 0;

#pragma unroll 16
    for (int i = 0; i < loops; i++)
        x = x * 0.5f + 1.25f;
    *out = x;
}

class Flow : public Arrays
{
  public:
    cudaStream_t stream[MOST_STREAMS];
    double us;
    size_t checked, wrong;

    Flow()
    {
        CHECK(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0));
        CHECK(cudaMalloc(&gate_out, sizeof(float)));
        CHECK(cudaEventCreate(&begin));
        CHECK(cudaEventCreate(&end));
        for (int i = 0; i < MOST_STREAMS; i++) {
            CHECK(cudaStreamCreate(&stream[i]));
            CHECK(cudaEventCreateWithFlags(&links[i], cudaEventDisableTiming));
        }
        clear();
    }

    ~Flow()
    {
        clear();
        for (int i = 0; i < MOST_STREAMS; i++) {
            CHECK(cudaStreamDestroy(stream[i]));
            CHECK(cudaEventDestroy(links[i]));
        }
        CHECK(cudaFree(gate_out));
        CHECK(cudaEventDestroy(begin));
        CHECK(cudaEventDestroy(end));
    }

    // Frees the arrays of the section.
    void clear()
    {
        free_arrays();
        for (void *at : host_arrays)
            CHECK(cudaFreeHost(at));
        host_arrays.clear();
        us = 0;
        checked = wrong = 0;
    }

    // ---- Arrays ----

    template <class T> T *managed(size_t count)
    {
        T *at;
        CHECK(cudaMallocManaged(&at, count * sizeof(T)));
        arrays.push_back(at);
        return at;
    }

    // Host memory that copies and kernels reach; mapped() is its address on the device.
    template <class T> T *pinned(size_t count)
    {
        T *at;
        CHECK(cudaHostAlloc(&at, count * sizeof(T), cudaHostAllocMapped));
        host_arrays.push_back(at);
        return at;
    }

    template <class T> T *pinned(const std::vector<T> &values)
    {
        T *at = pinned<T>(values.size());
        std::copy(values.begin(), values.end(), at);
        return at;
    }

    template <class T> T *mapped(T *host)
    {
        T *at;
        CHECK(cudaHostGetDevicePointer(&at, host, 0));
        return at;
    }

    template <class T> std::vector<T> download(const T *device, size_t count)
    {
        std::vector<T> host(count);
        CHECK(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
        return host;
    }

    // ---- The timed part ----

    // Adds the time of the work that `work` issues into the first `streams` streams. All of them
    // start at one event, and the first one waits for the others at the end.
    template <class Work> void time(int streams, Work work, int gate_us = GATE_US)
    {
        float ms;
        CHECK(cudaDeviceSynchronize());
        if (gate_us > 0)
            hold(gate_us);
        CHECK(cudaEventRecord(begin, stream[0]));
        for (int i = 1; i < streams; i++)
            CHECK(cudaStreamWaitEvent(stream[i], begin, 0));
        work();
        CHECK(cudaGetLastError());
        for (int i = 1; i < streams; i++)
            hand(i, 0);
        CHECK(cudaEventRecord(end, stream[0]));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&ms, begin, end));
        us += ms * 1e3;
    }

    // What follows in stream `to` waits for what stream `from` has now.
    void hand(int from, int to)
    {
        CHECK(cudaEventRecord(links[from], stream[from]));
        CHECK(cudaStreamWaitEvent(stream[to], links[from], 0));
    }

    // ---- Checks ----

    // A difference above `tolerance`, relative to the larger of 1 and the expected value, fails.
    void expect(double got, double wanted, double tolerance = 0)
    {
        const double size = fabs(wanted) > 1 ? fabs(wanted) : 1;
        checked++;
        if (!(fabs(got - wanted) <= tolerance * size) && !wrong++)
            fprintf(stderr, "flows: %.9g instead of %.9g\n", got, wanted);
    }

    // Every `step`-th value is compared with host(i).
    template <class T, class Host>
    void expect_some(const T &got, size_t count, size_t step, Host host, double tolerance = 0)
    {
        for (size_t i = 0; i < count; i += step)
            expect((double) got[i], (double) host(i), tolerance);
    }

  private:
    cudaEvent_t begin, end, links[MOST_STREAMS];
    std::vector<void *> host_arrays;
    float *gate_out;
    int clock_khz;

    void hold(int gate_us)
    {
        const int cycles_per_loop = 4;
        const long long cycles = (long long) gate_us * clock_khz / 1000;
        gate<<<1, 1, 0, stream[0]>>>(gate_out, (int) (cycles / cycles_per_loop));
    }
};

// ---- Managed memory ----

inline void prefetch(const void *at, size_t bytes, bool to_device, cudaStream_t stream)
{
#if CUDART_VERSION >= 13000
    cudaMemLocation where = {};
    where.type = to_device ? cudaMemLocationTypeDevice : cudaMemLocationTypeHost;
    CHECK(cudaMemPrefetchAsync(at, bytes, where, 0, stream));
#else
    CHECK(cudaMemPrefetchAsync(at, bytes, to_device ? 0 : cudaCpuDeviceId, stream));
#endif
}

inline void advise(const void *at, size_t bytes, cudaMemoryAdvise advice, bool device)
{
#if CUDART_VERSION >= 13000
    cudaMemLocation where = {};
    where.type = device ? cudaMemLocationTypeDevice : cudaMemLocationTypeHost;
    CHECK(cudaMemAdvise(at, bytes, advice, where));
#else
    CHECK(cudaMemAdvise(at, bytes, advice, device ? 0 : cudaCpuDeviceId));
#endif
}

#endif
