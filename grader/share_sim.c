/* share_sim.c - the simulated GPU's memory: it lies in the runner, and the guest only names it. */
#include "share.h"

const bool share_in_slabs = false;

bool share_possible(void)
{
    return false;
}

uint64_t share_address(const Share *share)
{
    return (uintptr_t) share->data;
}

cudaError_t share_make(Share *share, size_t bytes, bool host, int *fd)
{
    *fd = -1;
    *share = (Share){ .bytes = bytes, .host = host };
    return cudaErrorNotSupported;
}

cudaError_t share_open(Share *share, size_t bytes, bool host, int fd, uint64_t address)
{
    (void) fd;
    (void) address;
    *share = (Share){ .bytes = bytes, .host = host };
    return cudaErrorNotSupported;
}

void share_close(Share *share)
{
    (void) share;
}
