/* occupancy_check.cc - device_occupancy() beside NVIDIA's own calculator, which comes with the
 * toolkit as a header: every described device, registers 0 to 256, blocks of 1 to 1056 threads,
 * shared memory of 0 to past the most that a block may have. The limits that hold must be the same
 * ones, too.
 *
 * tests/sim/occupancy_check.sh builds and runs it; without a toolkit it says so.
 */
extern "C" {
#include "device.h"
}

#include <cuda_occupancy.h>

#include <cstdio>
#include <cstring>

static cudaOccDeviceProp properties_of(const Device &d)
{
    cudaOccDeviceProp p;

    p.computeMajor = d.cc / 10;
    p.computeMinor = d.cc % 10;
    p.maxThreadsPerBlock = d.threads_per_block;
    p.maxThreadsPerMultiprocessor = d.threads_per_sm;
    p.regsPerBlock = d.registers_per_sm;
    p.regsPerMultiprocessor = d.registers_per_sm;
    p.warpSize = 32;
    p.sharedMemPerBlock = (size_t) d.shared_per_block_bytes;
    p.sharedMemPerMultiprocessor = (size_t) d.shared_per_sm_bytes;
    p.numSms = d.sms;
    p.sharedMemPerBlockOptin = (size_t) d.shared_per_block_optin_bytes;
    p.reservedSharedMemPerBlock = (size_t) d.shared_reserved_bytes;
    return p;
}

/* One of the factors that NVIDIA's names must be ours. */
static bool is_among(Limiter limiter, unsigned factors)
{
    static const unsigned bits[] = { OCC_LIMIT_WARPS, OCC_LIMIT_BLOCKS, OCC_LIMIT_REGISTERS,
                                     OCC_LIMIT_SHARED_MEMORY };

    return limiter < LIMIT_NONE && (factors & bits[limiter]);
}

static bool check(const Device &d, const cudaOccDeviceProp &p, int registers, int threads,
                  size_t shared)
{
    cudaOccFuncAttributes kernel;
    cudaOccDeviceState state;
    cudaOccResult want;
    Occupancy got = device_occupancy(&d, registers, threads, shared);

    kernel.maxThreadsPerBlock = 1024;
    kernel.numRegs = registers;
    kernel.sharedSizeBytes = shared / 3; /* static, the rest dynamic */
    kernel.maxDynamicSharedSizeBytes = shared - shared / 3;
    kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    kernel.numBlockBarriers = 1;
    if (cudaOccMaxActiveBlocksPerMultiprocessor(&want, &p, &kernel, &state, threads,
                                                shared - shared / 3) != CUDA_OCC_SUCCESS) {
        printf("%s: the toolkit knows no such device, or not that input\n", d.key);
        return false;
    }
    if (got.blocks_per_sm == want.activeBlocksPerMultiprocessor &&
        is_among(got.limiter, want.limitingFactors))
        return true;
    printf("%s, %d registers, %d threads, %zu bytes: %d blocks by %s, toolkit: %d (factors %#x)\n",
           d.key, registers, threads, shared, got.blocks_per_sm, limiter_word(got.limiter),
           want.activeBlocksPerMultiprocessor, want.limitingFactors);
    return false;
}

static long check_device(const Device &d, long *cases)
{
    const cudaOccDeviceProp p = properties_of(d);
    long wrong = 0;

    for (int registers = 0; registers <= 257; registers += registers < 40 ? 1 : 3)
        for (int threads = 1; threads <= 1056; threads += threads == 1 ? 31 : 16)
            for (size_t shared = 0; shared <= 232 * 1024; shared += shared < 4096 ? 508 : 1999) {
                ++*cases;
                if (!check(d, p, registers, threads, shared) && ++wrong > 20)
                    return wrong;
            }
    for (size_t shared = 0; shared <= 232 * 1024; shared++) { /* each byte: the edges of units */
        ++*cases;
        wrong += !check(d, p, 32, 128, shared);
        if (wrong > 20)
            break;
    }
    return wrong;
}

int main(int argc, char **argv)
{
    long wrong = 0, cases = 0;

    for (int i = 2; i < argc; i++) {
        Device device;
        char why[400];
        if (!device_read(argv[1], argv[i], &device, why, sizeof why)) {
            printf("%s\n", why);
            return 2;
        }
        wrong += check_device(device, &cases);
    }
    printf("%ld occupancies on %d devices: %ld differ from the toolkit's calculator\n", cases,
           argc - 2, wrong);
    return wrong != 0 || argc < 3;
}
