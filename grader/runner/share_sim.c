/* share_sim.c - shares the simulated GPU's memory: it is in the runner, and the guest only refers
 * to it by address.
 *
 * Pinned arrays of the host are memory files. The guest reserves their addresses without mapping
 * them. When its host code touches one, it must ask the runner for it (sim_calls.h, CALL_TOUCH), so
 * the runner knows of every touch.
 */
#include "runner/share.h"
#include "runner/sim_calls.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum { MOST_HOST = 256, PAGE = 4096 };

/* The simulated GPU checks where each array ends, so arrays must not share a block. */
const bool share_in_slabs = false;

static struct HostArray {
    uint64_t address, bytes;
    int read, write; /* descriptors of the memory file; both 0: a free row */
    bool touched;    /* by the guest's host code */
} arrays[MOST_HOST];

bool share_possible(void)
{
    return true;
}

uint64_t share_address(const Share *share)
{
    return (uintptr_t) share->data;
}

/* ---- The runner's side ---- */

static bool open_file(struct HostArray *array)
{
    char path[64];

    array->write = memfd_create("array", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (array->write < 0 || ftruncate(array->write, (off_t) array->bytes) ||
        fcntl(array->write, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
        return false;
    snprintf(path, sizeof path, "/proc/self/fd/%d", array->write);
    array->read = open(path, O_RDONLY | O_CLOEXEC);
    return array->read >= 0;
}

static void close_file(struct HostArray *array)
{
    if (array->write > 0)
        close(array->write);
    if (array->read > 0)
        close(array->read);
    *array = (struct HostArray){ 0 };
}

/* Chooses an address, with a free page after each array. */
static void *place(const struct HostArray *array)
{
    static uint64_t next;

    if (next < HOST_ARRAYS_BEGIN || next + array->bytes > HOST_ARRAYS_END)
        next = HOST_ARRAYS_BEGIN;
    for (; next + array->bytes < HOST_ARRAYS_END; next += array->bytes + PAGE) {
        void *at = mmap((void *) (uintptr_t) next, array->bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_FIXED_NOREPLACE, array->write, 0);
        if (at == (void *) (uintptr_t) next) {
            next += array->bytes + PAGE;
            return at;
        }
        if (at != MAP_FAILED)
            munmap(at, array->bytes);
    }
    return NULL;
}

static cudaError_t make_host(Share *share)
{
    struct HostArray *array = arrays;
    cudaError_t error;

    while (array < arrays + MOST_HOST && array->bytes)
        array++;
    if (array == arrays + MOST_HOST)
        return cudaErrorMemoryAllocation;
    array->bytes = share->bytes = (share->bytes + PAGE - 1) / PAGE * PAGE;
    if (!open_file(array) || !(share->data = place(array))) {
        close_file(array);
        return cudaErrorMemoryAllocation;
    }
    array->address = (uintptr_t) share->data;
    error = cudaHostRegister(share->data, share->bytes, cudaHostRegisterDefault);
    if (error)
        share_close(share);
    return error;
}

cudaError_t share_make(Share *share, size_t bytes, bool host, int *fd)
{
    *fd = -1;
    *share = (Share){ .bytes = bytes, .host = host };
    return host ? make_host(share) : cudaMalloc(&share->data, bytes);
}

static struct HostArray *array_at(uint64_t address)
{
    for (int i = 0; i < MOST_HOST; i++)
        if (arrays[i].bytes && address - arrays[i].address < arrays[i].bytes)
            return &arrays[i];
    return NULL;
}

bool share_holds(uint64_t address, uint64_t bytes)
{
    const struct HostArray *array = array_at(address);

    return array && bytes <= array->bytes - (address - array->address);
}

int share_touch(uint64_t address, bool writes, uint64_t *first, uint64_t *bytes)
{
    struct HostArray *array = array_at(address);

    if (!array)
        return -1;
    array->touched = true;
    *first = array->address;
    *bytes = array->bytes;
    return writes ? array->write : array->read;
}

bool share_touched(void)
{
    for (int i = 0; i < MOST_HOST; i++)
        if (arrays[i].bytes && arrays[i].touched)
            return true;
    return false;
}

const void *share_host_array(int i)
{
    for (int k = 0; k < MOST_HOST; k++)
        if (arrays[k].bytes && i-- == 0)
            return (const void *) (uintptr_t) arrays[k].address;
    return NULL;
}

/* ---- The guest's side ---- */

cudaError_t share_open(Share *share, size_t bytes, bool host, int fd, uint64_t address)
{
    void *at = (void *) (uintptr_t) address;

    if (fd >= 0)
        close(fd);
    *share = (Share){ .data = at, .bytes = bytes, .host = host };
    if (host &&
        mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != at)
        return cudaErrorMemoryAllocation;
    return cudaSuccess;
}

/* ---- Both sides ---- */

void share_close(Share *share)
{
    struct HostArray *array = share->host ? array_at((uintptr_t) share->data) : NULL;

    if (array) {
        cudaHostUnregister(share->data);
        close_file(array);
    }
    if (share->host)
        munmap(share->data, share->bytes);
    else
        cudaFree(share->data);
    *share = (Share){ 0 };
}
