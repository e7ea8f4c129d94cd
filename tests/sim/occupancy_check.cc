/* occupancy_check.cc - compares device_occupancy() with NVIDIA's calculator, a header of the
 * toolkit: for every described device, 0 to 256 registers, blocks of 1 to 1056 threads, and shared
 * memory from 0 to more than the maximum per block. The limiting resources must also agree. With
 * --cubins, for each kernel in the cubins with its resources, blocks of 32 to 1024 threads with and
 * without dynamic shared memory.
 *
 *     occupancy_check FOLDER DEVICE... [--cubins CUBIN...]
 *
 * tests/sim/occupancy_check.sh builds and runs it.
 */
extern "C" {
#include "sim/device/device.h"
#include "sim/binary/elf_reader.h"
}

#include <cuda_occupancy.h>

#include <cstdio>
#include <cstdlib>
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

/* Whether our limiter is one of NVIDIA's limiting factors. */
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
        printf("%s: the toolkit's calculator does not support this device or input\n", d.key);
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
    for (size_t shared = 0; shared <= 232 * 1024; shared++) { /* every byte: all unit boundaries */
        ++*cases;
        wrong += !check(d, p, 32, 128, shared);
        if (wrong > 20)
            break;
    }
    return wrong;
}

/* ---- Kernels of cubins ---- */

enum { CUBIN_ARCH = 80 };

static long check_kernel(const Device &d, const KernelResources &kernel, long *cases)
{
    static const size_t dynamic[] = { 0, 1000, 16 << 10, 48 << 10, 99 << 10, 164 << 10, 227 << 10 };
    const cudaOccDeviceProp p = properties_of(d);
    long wrong = 0;

    for (int threads = 32; threads <= 1024; threads += 32)
        for (size_t more : dynamic) {
            ++*cases;
            wrong +=
                !check(d, p, kernel.registers, threads, (size_t) kernel.static_shared_bytes + more);
        }
    return wrong;
}

static bool read_file(const char *path, unsigned char **bytes, size_t *size)
{
    FILE *file = fopen(path, "rb");
    long length = -1;

    *bytes = NULL;
    if (file && !fseek(file, 0, SEEK_END) && (length = ftell(file)) >= 0) {
        rewind(file);
        *bytes = (unsigned char *) malloc((size_t) length + 1);
        *size = *bytes ? fread(*bytes, 1, (size_t) length, file) : 0;
    }
    if (file)
        fclose(file);
    return *bytes && *size == (size_t) length;
}

/* Returns the number of kernels in the cubin; -1: it cannot be read. */
static int check_cubin(const char *path, const Device *devices, int count, long *cases, long *wrong)
{
    unsigned char *bytes = NULL;
    size_t size = 0;
    int kernels = 0;
    Elf elf;

    if (!read_file(path, &bytes, &size) || !elf_open(&elf, bytes, size)) {
        printf("%s: not a cubin\n", path);
        free(bytes);
        return -1;
    }
    for (uint32_t i = 0; i < elf.count; i++) {
        ElfSection section;
        KernelResources kernel;
        if (!elf_section(&elf, i, &section) || strncmp(section.name, ".text.", 6) ||
            !elf_resources(&elf, CUBIN_ARCH, section.name + 6, &kernel))
            continue;
        kernels++;
        for (int k = 0; k < count; k++) {
            const long before = *wrong;
            *wrong += check_kernel(devices[k], kernel, cases);
            if (*wrong > before)
                printf("    in %s, %s\n", path, section.name + 6);
        }
    }
    free(bytes);
    return kernels;
}

static int check_cubins(char **paths, int files, const Device *devices, int count)
{
    long cases = 0, wrong = 0;
    int kernels = 0, unread = 0;

    for (int i = 0; i < files; i++) {
        const int found = check_cubin(paths[i], devices, count, &cases, &wrong);
        unread += found < 0;
        kernels += found > 0 ? found : 0;
    }
    printf("%ld occupancies of %d kernels in %d cubins: %ld differ from the toolkit's calculator\n",
           cases, kernels, files, wrong);
    return wrong || unread || !kernels;
}

static int check_devices(const Device *devices, int count)
{
    long wrong = 0, cases = 0;

    for (int i = 0; i < count; i++)
        wrong += check_device(devices[i], &cases);
    printf("%ld occupancies on %d devices: %ld differ from the toolkit's calculator\n", cases,
           count, wrong);
    return wrong || !count;
}

int main(int argc, char **argv)
{
    enum { MOST_DEVICES = 64 };
    static Device devices[MOST_DEVICES];
    int count = 0, i = 2;

    for (; i < argc && strcmp(argv[i], "--cubins") && count < MOST_DEVICES; i++) {
        char why[400];
        if (!device_read(argv[1], argv[i], &devices[count++], why, sizeof why)) {
            printf("%s\n", why);
            return 2;
        }
    }
    return i < argc ? check_cubins(argv + i + 1, argc - i - 1, devices, count)
                    : check_devices(devices, count);
}
