/* memory_ranges.cu - what a program can ask about hints for managed memory: whole ranges, parts
 * that differ, several attributes at once, and the errors.
 *
 * expect: ok
 */
#include "check.h"

enum { PAGE = 4096, PAGES = 64 };

__managed__ int table[1024];

static int ask(cudaMemRangeAttribute attribute, const char *at, int pages)
{
    int value = -99;

    OK(cudaMemRangeGetAttribute(&value, sizeof value, attribute, at, (size_t) pages * PAGE));
    return value;
}

#if CUDART_VERSION >= 13000
static cudaMemLocation device()
{
    return { cudaMemLocationTypeDevice, 0 };
}

static cudaMemLocation host()
{
    return { cudaMemLocationTypeHost, 0 };
}
#define PREFETCH(at, bytes, where) cudaMemPrefetchAsync(at, bytes, where, 0, 0)
#else
static int device()
{
    return 0;
}

static int host()
{
    return cudaCpuDeviceId;
}
#define PREFETCH(at, bytes, where) cudaMemPrefetchAsync(at, bytes, where, 0)
#endif

static void nothing_yet(const char *x)
{
    CHECK(ask(cudaMemRangeAttributeReadMostly, x, PAGES) == 0);
    CHECK(ask(cudaMemRangeAttributePreferredLocation, x, PAGES) == cudaInvalidDeviceId);
    CHECK(ask(cudaMemRangeAttributeLastPrefetchLocation, x, PAGES) == cudaInvalidDeviceId);
    CHECK(ask(cudaMemRangeAttributeAccessedBy, x, PAGES) == cudaInvalidDeviceId);
    CHECK(ask(cudaMemRangeAttributePreferredLocationType, x, PAGES) == cudaMemLocationTypeInvalid);
}

static void read_mostly(char *x)
{
    const cudaMemRangeAttribute is = cudaMemRangeAttributeReadMostly;

    OK(cudaMemAdvise(x, 8 * PAGE, cudaMemAdviseSetReadMostly, device()));
    CHECK(ask(is, x, 8) == 1 && ask(is, x + 3 * PAGE, 2) == 1 && ask(is, x, 9) == 0);
    OK(cudaMemAdvise(x + 4 * PAGE, PAGE, cudaMemAdviseUnsetReadMostly, device()));
    CHECK(ask(is, x, 8) == 0 && ask(is, x, 4) == 1 && ask(is, x + 5 * PAGE, 3) == 1);
    // A part of a page counts as the whole page.
    OK(cudaMemAdvise(x + 20 * PAGE + 100, 8, cudaMemAdviseSetReadMostly, device()));
    CHECK(ask(is, x + 20 * PAGE, 1) == 1 && ask(is, x + 20 * PAGE, 2) == 0);
}

static void preferred(char *x)
{
    const cudaMemRangeAttribute is = cudaMemRangeAttributePreferredLocation;
    const cudaMemRangeAttribute type = cudaMemRangeAttributePreferredLocationType;

    OK(cudaMemAdvise(x, PAGES * PAGE, cudaMemAdviseSetPreferredLocation, host()));
    CHECK(ask(is, x, PAGES) == cudaCpuDeviceId && ask(type, x, PAGES) == cudaMemLocationTypeHost);
    OK(cudaMemAdvise(x, 32 * PAGE, cudaMemAdviseSetPreferredLocation, device()));
    CHECK(ask(is, x, 32) == 0 && ask(type, x, 32) == cudaMemLocationTypeDevice);
    CHECK(ask(cudaMemRangeAttributePreferredLocationId, x, 32) == 0);
    CHECK(ask(is, x, 33) == cudaInvalidDeviceId && ask(is, x + 32 * PAGE, 32) == cudaCpuDeviceId);
    CHECK(ask(type, x, 33) == cudaMemLocationTypeInvalid);
    OK(cudaMemAdvise(x, PAGES * PAGE, cudaMemAdviseUnsetPreferredLocation, device()));
    CHECK(ask(is, x, 1) == cudaInvalidDeviceId);
}

static void prefetched(char *x)
{
    const cudaMemRangeAttribute last = cudaMemRangeAttributeLastPrefetchLocation;

    OK(PREFETCH(x, PAGES * PAGE, device()));
    CHECK(ask(last, x, PAGES) == 0);
    OK(PREFETCH(x + 16 * PAGE, 16 * PAGE, host()));
    CHECK(ask(last, x, 16) == 0 && ask(last, x + 16 * PAGE, 16) == cudaCpuDeviceId);
    CHECK(ask(last, x, PAGES) == cudaInvalidDeviceId);
    CHECK(ask(cudaMemRangeAttributeLastPrefetchLocationType, x, 16) == cudaMemLocationTypeDevice);
    OK(cudaDeviceSynchronize());
}

static void accessed_by(char *x)
{
    int who[4] = {};

    OK(cudaMemAdvise(x, 4 * PAGE, cudaMemAdviseSetAccessedBy, device()));
    OK(cudaMemRangeGetAttribute(who, sizeof who, cudaMemRangeAttributeAccessedBy, x, 4 * PAGE));
    CHECK(who[0] == 0 && who[1] == cudaInvalidDeviceId && who[3] == cudaInvalidDeviceId);
    OK(cudaMemAdvise(x, PAGE, cudaMemAdviseUnsetAccessedBy, device()));
    CHECK(ask(cudaMemRangeAttributeAccessedBy, x, 4) == cudaInvalidDeviceId);
    CHECK(ask(cudaMemRangeAttributeAccessedBy, x + PAGE, 3) == 0);
}

static void several(char *x)
{
    int mostly = -9, last = -9, by[2] = { -9, -9 };
    void *data[] = { &mostly, by, &last };
    size_t sizes[] = { sizeof mostly, sizeof by, sizeof last };
    cudaMemRangeAttribute all[] = { cudaMemRangeAttributeReadMostly,
                                    cudaMemRangeAttributeAccessedBy,
                                    cudaMemRangeAttributeLastPrefetchLocation };

    OK(cudaMemAdvise(x, PAGE, cudaMemAdviseSetReadMostly, device()));
    OK(cudaMemRangeGetAttributes(data, sizes, all, 3, x + PAGE, 3 * PAGE));
    CHECK(mostly == 1 && by[0] == 0 && by[1] == cudaInvalidDeviceId && last == 0);
    EXPECT(cudaErrorInvalidValue, cudaMemRangeGetAttributes(data, sizes, all, 0, x, PAGE));
    EXPECT(cudaErrorInvalidValue, cudaMemRangeGetAttributes(NULL, sizes, all, 3, x, PAGE));
    EXPECT(cudaErrorInvalidValue, cudaMemRangeGetAttributes(data, NULL, all, 3, x, PAGE));
    EXPECT(cudaErrorInvalidValue, cudaMemRangeGetAttributes(data, sizes, NULL, 3, x, PAGE));
}

static void wrong(char *x)
{
    const cudaMemRangeAttribute mostly = cudaMemRangeAttributeReadMostly;
    char *plain;
    int value[2], local = 0;

    OK(cudaMalloc(&plain, PAGE));
    EXPECT(cudaErrorInvalidValue, cudaMemRangeGetAttribute(NULL, 4, mostly, x, PAGE));
    EXPECT(cudaErrorInvalidValue, cudaMemRangeGetAttribute(value, 8, mostly, x, PAGE));
    EXPECT(cudaErrorInvalidValue, cudaMemRangeGetAttribute(value, 0, mostly, x, PAGE));
    EXPECT(cudaErrorInvalidValue,
           cudaMemRangeGetAttribute(value, 6, cudaMemRangeAttributeAccessedBy, x, PAGE));
    EXPECT(cudaErrorInvalidValue,
           cudaMemRangeGetAttribute(value, 4, (cudaMemRangeAttribute) 99, x, PAGE));
    EXPECT(cudaErrorInvalidValue, cudaMemRangeGetAttribute(value, 4, mostly, x, 0));
    EXPECT(cudaErrorInvalidValue, cudaMemRangeGetAttribute(value, 4, mostly, x, (size_t) 1 << 40));
    EXPECT(cudaErrorInvalidValue, cudaMemRangeGetAttribute(value, 4, mostly, plain, PAGE));
    EXPECT(cudaErrorInvalidValue, cudaMemRangeGetAttribute(value, 4, mostly, &local, 4));
    EXPECT(cudaErrorInvalidValue, cudaMemRangeGetAttribute(value, 4, mostly, NULL, PAGE));
    (void) cudaGetLastError();
    OK(cudaFree(plain));
}

int main()
{
    char *x;

    OK(cudaMallocManaged(&x, PAGES * PAGE));
    nothing_yet(x);
    read_mostly(x);
    preferred(x);
    prefetched(x);
    accessed_by(x);
    several(x);
    wrong(x);
    OK(cudaMemAdvise(table, sizeof table, cudaMemAdviseSetReadMostly, device()));
    CHECK(ask(cudaMemRangeAttributeReadMostly, (char *) table, 1) == 1);
    OK(cudaFree(x));
    // New memory at the same place has no hints.
    OK(cudaMallocManaged(&x, PAGES * PAGE));
    nothing_yet(x);
    OK(cudaFree(x));
    puts("ok");
}
