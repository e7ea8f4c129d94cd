/* thrusts.cu - thrust's algorithms on device vectors.
 *
 * schedules: forward reverse random:7
 * expect: ok
 */
#include "digest.h"

#include <algorithm>
#include <numeric>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/merge.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>
#include <vector>

struct Square {
    __host__ __device__ long long operator()(int x) const
    {
        return (long long) x * x;
    }
};

template <typename T> static std::vector<T> host_of(const thrust::device_vector<T> &device)
{
    std::vector<T> host(device.size());

    OK(cudaMemcpy(host.data(), thrust::raw_pointer_cast(device.data()), device.size() * sizeof(T),
                  cudaMemcpyDeviceToHost));
    return host;
}

template <typename T>
static void check(const char *name, const thrust::device_vector<T> &device,
                  const std::vector<T> &want)
{
    const std::vector<T> host = host_of(device);

    CHECK(host == want);
    digest_bytes(name, host.data(), host.size() * sizeof(T));
}

/* Its merge loads the key after the last one. */
struct LastDigit {
    __host__ __device__ bool operator()(int a, int b) const
    {
        return (a + 300) % 10 < (b + 300) % 10;
    }
};

static void comparators(const std::vector<int> &x)
{
    std::vector<int> sorted(x), low(x), high(x), both(2 * x.size());

    std::stable_sort(sorted.begin(), sorted.end(), LastDigit());
    thrust::device_vector<int> device(x.begin(), x.end());
    thrust::stable_sort(device.begin(), device.end(), LastDigit());
    CHECK(host_of(device) == sorted);

    for (int &value : high)
        value += 7;
    std::sort(low.begin(), low.end());
    std::sort(high.begin(), high.end());
    thrust::device_vector<int> a(low.begin(), low.end()), b(high.begin(), high.end());
    thrust::device_vector<int> out(both.size());
    std::merge(low.begin(), low.end(), high.begin(), high.end(), both.begin());
    thrust::merge(a.begin(), a.end(), b.begin(), b.end(), out.begin());
    CHECK(host_of(out) == both);
    both.resize(std::set_union(low.begin(), low.end(), high.begin(), high.end(), both.begin()) -
                both.begin());
    out.resize(thrust::set_union(a.begin(), a.end(), b.begin(), b.end(), out.begin()) -
               out.begin());
    CHECK(host_of(out) == both);
}

int main()
{
    const int n = 10007;
    std::vector<int> x(n), keys, places(n);
    Random random(70);

    for (int &value : x)
        value = (int) random.below(1000) - 300;
    thrust::device_vector<int> device(x.begin(), x.end()), out(n), by(n);

    CHECK(thrust::reduce(device.begin(), device.end()) == std::accumulate(x.begin(), x.end(), 0));
    long long squares = 0;
    for (int value : x)
        squares += Square()(value);
    CHECK(thrust::transform_reduce(device.begin(), device.end(), Square(), 0LL,
                                   thrust::plus<long long>()) == squares);

    std::vector<int> sums(n);
    std::partial_sum(x.begin(), x.end(), sums.begin());
    thrust::inclusive_scan(device.begin(), device.end(), out.begin());
    check("thrust_scan", out, sums);

    keys = x;
    std::iota(places.begin(), places.end(), 0);
    std::stable_sort(places.begin(), places.end(), [&](int a, int b) { return x[a] < x[b]; });
    std::sort(keys.begin(), keys.end());
    thrust::device_vector<int> sorted = device;
    for (int i = 0; i < n; i++)
        by[i] = i;
    thrust::stable_sort_by_key(sorted.begin(), sorted.end(), by.begin());
    check("thrust_keys", sorted, keys);
    check("thrust_places", by, places);

    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    out.resize(thrust::unique_copy(sorted.begin(), sorted.end(), out.begin()) - out.begin());
    check("thrust_unique", out, keys);
    sorted.erase(thrust::unique(sorted.begin(), sorted.end()), sorted.end()); /* in place */
    CHECK(sorted == thrust::device_vector<int>(keys));
    comparators(x);
    puts("ok");
}
