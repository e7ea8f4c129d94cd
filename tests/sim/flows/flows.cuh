// flows.cuh - what the launches of the training set have in common. A launch runs one small kernel
// on arrays of hashed values; its name is that of the kernel.
#ifndef FLOWS_CUH
#define FLOWS_CUH

#include "../blind/blind.cuh"

// Items: no multiple of a warp. A kernel reads several values per item.
static const int items = 9990, threads_of_block = 128;

struct Ints {
    uint32_t limit;
    std::vector<int> make(size_t count) const
    {
        return integers(count, limit, limit);
    }
};

struct Hashes {
    std::vector<unsigned> make(size_t count) const
    {
        return words(count, 7);
    }
};

struct Reals {
    std::vector<float> make(size_t count) const
    {
        return floats(count, 9);
    }
};

struct Doubles {
    std::vector<double> make(size_t count) const
    {
        const std::vector<float> from = floats(count, 11);
        return std::vector<double>(from.begin(), from.end());
    }
};

struct Bytes {
    uint32_t limit;
    std::vector<unsigned char> make(size_t count) const
    {
        const std::vector<int> from = integers(count, limit, 13);
        return std::vector<unsigned char>(from.begin(), from.end());
    }
};

inline Ints ints(uint32_t limit)
{
    return { limit };
}

inline Hashes hashes()
{
    return {};
}

inline Reals reals()
{
    return {};
}

inline Doubles doubles()
{
    return {};
}

inline Bytes bytes(uint32_t limit)
{
    return { limit };
}

// Runs kernel(in, out, n, more...) on `blocks` blocks; `out` has one value per item.
template <class In, class Out, class Make, class... Parameters, class... More>
void run_map(Run &run, void (*kernel)(const In *, Out *, int, Parameters...), Make values,
             int per_item, int blocks, int threads, More... more)
{
    const In *in = run.upload(values.make((size_t) items * per_item));
    Out *out = run.zeros<Out>(items);
    run.measure([=] { kernel<<<blocks, threads>>>(in, out, items, more...); });
    run.output(out, items);
}

struct Flow {
    const char *name;
    void (*run)(Run &run);
};

#define FLOW(kernel, ...)                                                                          \
    {                                                                                              \
#kernel, [](Run & run) { run_map(run, kernel, __VA_ARGS__); }                              \
    }
// A thread per item.
#define MAP(kernel, values, per_item)                                                              \
    FLOW(kernel, values, per_item, blocks_for(items, threads_of_block), threads_of_block)
#define MAP_WITH(kernel, values, per_item, ...)                                                    \
    FLOW(kernel, values, per_item, blocks_for(items, threads_of_block), threads_of_block,          \
         __VA_ARGS__)
// Several items per thread, or per block.
#define FEW(kernel, values) FLOW(kernel, values, 1, 24, threads_of_block)

// With as much shared memory per block as it has threads, in integers.
#define FLOW_SHARED(kernel, values)                                                                \
    {                                                                                              \
#kernel, [](Run &run) {                                                                    \
            const int *in = run.upload(values.make(items));                                        \
            int *out = run.zeros<int>(items);                                                      \
            run.measure([=] {                                                                      \
                kernel<<<blocks_for(items, threads_of_block), threads_of_block,                    \
                         threads_of_block * sizeof(int)>>>(in, out, items);                        \
            });                                                                                    \
            run.output(out, items);                                                                \
        }       \
    }

#endif
