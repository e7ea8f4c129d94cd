/* share_cuda.c - memory of a real GPU, and pinned host memory, shared by two processes.
 *
 * The runtime has no calls for this, so the driver's are looked up in libcuda, which the runtime
 * has loaded. Host memory is a memory file that both processes map and register. It is then pinned
 * and mapped for the GPU, as memory from cudaMallocHost is.
 */
#include "runner/share.h"

#include <cuda.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

const bool share_in_slabs = true;

/* ---- The driver ---- */

static struct {
    CUresult (*attribute)(int *, CUdevice_attribute, CUdevice);
    CUresult (*granularity)(size_t *, const CUmemAllocationProp *,
                            CUmemAllocationGranularity_flags);
    CUresult (*create)(CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *,
                       unsigned long long);
    CUresult (*release)(CUmemGenericAllocationHandle);
    CUresult (*export)(void *, CUmemGenericAllocationHandle, CUmemAllocationHandleType,
                       unsigned long long);
    CUresult (*import)(CUmemGenericAllocationHandle *, void *, CUmemAllocationHandleType);
    CUresult (*reserve)(CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long);
    CUresult (*unreserve)(CUdeviceptr, size_t);
    CUresult (*map)(CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long);
    CUresult (*unmap)(CUdeviceptr, size_t);
    CUresult (*access)(CUdeviceptr, size_t, const CUmemAccessDesc *, size_t);
} driver;

static const struct {
    const char *name;
    void **at;
} calls[] = {
    { "cuDeviceGetAttribute", (void **) &driver.attribute },
    { "cuMemGetAllocationGranularity", (void **) &driver.granularity },
    { "cuMemCreate", (void **) &driver.create },
    { "cuMemRelease", (void **) &driver.release },
    { "cuMemExportToShareableHandle", (void **) &driver.export },
    { "cuMemImportFromShareableHandle", (void **) &driver.import },
    { "cuMemAddressReserve", (void **) &driver.reserve },
    { "cuMemAddressFree", (void **) &driver.unreserve },
    { "cuMemMap", (void **) &driver.map },
    { "cuMemUnmap", (void **) &driver.unmap },
    { "cuMemSetAccess", (void **) &driver.access },
};

static bool find_driver(void)
{
    static void *library;

    if (library)
        return true;
    void *found = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    for (size_t i = 0; found && i < sizeof calls / sizeof *calls; i++)
        if (!(*calls[i].at = dlsym(found, calls[i].name)))
            return false;
    library = found;
    return library != NULL;
}

static cudaError_t error_of(CUresult result)
{
    return result == CUDA_SUCCESS               ? cudaSuccess
           : result == CUDA_ERROR_OUT_OF_MEMORY ? cudaErrorMemoryAllocation
                                                : cudaErrorUnknown;
}

bool share_possible(void)
{
    static const CUdevice_attribute needed[] = {
        CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
        CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
    };
    int device, has = 1;

    if (!find_driver() || cudaGetDevice(&device))
        return false;
    for (size_t i = 0; i < sizeof needed / sizeof *needed && has; i++)
        if (driver.attribute(&has, needed[i],
                             device)) /* a process sees one GPU, so the ordinals agree */
            return false;
    return has;
}

/* ---- Device memory ---- */

static CUmemAllocationProp properties(void)
{
    CUmemAllocationProp wanted = { .type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                   .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                   .location.type = CU_MEM_LOCATION_TYPE_DEVICE };

    cudaGetDevice(&wanted.location.id);
    return wanted;
}

/* Maps the memory at an address that the GPU may read and write; releases it on failure. */
static cudaError_t map_device(Share *share)
{
    CUmemAccessDesc access = { .location = properties().location,
                               .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE };
    CUdeviceptr at = 0;
    CUresult result = driver.reserve(&at, share->bytes, 0, 0, 0);

    if (!result && (result = driver.map(at, share->bytes, 0, share->handle, 0)))
        driver.unreserve(at, share->bytes);
    else if (!result && (result = driver.access(at, share->bytes, &access, 1))) {
        driver.unmap(at, share->bytes);
        driver.unreserve(at, share->bytes);
    }
    if (result)
        driver.release(share->handle);
    share->data = (void *) (uintptr_t) at;
    return error_of(result);
}

static cudaError_t make_device(Share *share, int *fd)
{
    CUmemAllocationProp wanted = properties();
    CUmemGenericAllocationHandle handle;
    size_t piece = 0;
    CUresult result = driver.granularity(&piece, &wanted, CU_MEM_ALLOC_GRANULARITY_MINIMUM);

    if (result)
        return error_of(result);
    share->bytes = (share->bytes + piece - 1) / piece * piece;
    if ((result = driver.create(&handle, share->bytes, &wanted, 0)))
        return error_of(result);
    share->handle = handle;
    if ((result = driver.export(fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0))) {
        driver.release(handle);
        return error_of(result);
    }
    return map_device(share);
}

static cudaError_t open_device(Share *share, int fd)
{
    CUmemGenericAllocationHandle handle;
    CUresult result =
        driver.import(&handle, (void *) (intptr_t) fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);

    if (result)
        return error_of(result);
    share->handle = handle;
    return map_device(share);
}

/* ---- The host's memory ---- */

static cudaError_t map_host(Share *share, int fd)
{
    void *memory = mmap(NULL, share->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    cudaError_t error;

    if (memory == MAP_FAILED)
        return cudaErrorMemoryAllocation;
    error =
        cudaHostRegister(memory, share->bytes, cudaHostRegisterPortable | cudaHostRegisterMapped);
    if (error)
        munmap(memory, share->bytes);
    share->data = memory;
    return error;
}

/* Sealed against shrinking: otherwise the guest could turn the runner's next read into a bus
 * error. */
static cudaError_t make_host(Share *share, int *fd)
{
    cudaError_t error = cudaErrorMemoryAllocation;

    share->bytes = (share->bytes + 4095) / 4096 * 4096;
    *fd = memfd_create("warpbook-array", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (*fd < 0)
        return error;
    if (!ftruncate(*fd, (off_t) share->bytes) &&
        !fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
        error = map_host(share, *fd);
    if (error)
        close(*fd);
    return error;
}

/* ---- Both ---- */

cudaError_t share_make(Share *share, size_t bytes, bool host, int *fd)
{
    *fd = -1;
    *share = (Share){ .bytes = bytes, .host = host };
    return host ? make_host(share, fd) : make_device(share, fd);
}

uint64_t share_address(const Share *share)
{
    (void) share;
    return 0;
}

cudaError_t share_open(Share *share, size_t bytes, bool host, int fd, uint64_t address)
{
    cudaError_t error;

    (void) address; /* each side may have it at a different address */
    *share = (Share){ .bytes = bytes, .host = host };
    error = host ? map_host(share, fd) : open_device(share, fd);
    close(fd);
    return error;
}

void share_close(Share *share)
{
    if (share->host) {
        cudaHostUnregister(share->data);
        munmap(share->data, share->bytes);
        return;
    }
    driver.unmap((CUdeviceptr) (uintptr_t) share->data, share->bytes);
    driver.unreserve((CUdeviceptr) (uintptr_t) share->data, share->bytes);
    driver.release(share->handle);
}
