/* share.h - memory that the runner owns and its guest also uses: an array with its guards.
 *
 * share_cuda.c: device memory from the driver's virtual memory calls, exported as a descriptor; the
 * host's pinned memory as a memory file that both sides register. share_sim.c: the simulated GPU's
 * memory, which the guest only refers to by address.
 */
#ifndef RUNNER_SHARE_H
#define RUNNER_SHARE_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Share {
    void *data;
    size_t bytes; /* as mapped: at least as many as requested */
    bool host;
    uint64_t handle; /* the driver's handle of device memory */
} Share;

/* True if several arrays may be in one block, because the device does not check where each ends. */
extern const bool share_in_slabs;

/* True if this device's memory can be shared between processes. Call it once CUDA is up. */
bool share_possible(void);

/* Allocates memory. *fd is the descriptor with which the other side opens it, for the caller to
 * close; -1: no descriptor is needed. */
cudaError_t share_make(Share *share, size_t bytes, bool host, int *fd);

/* The address that is sent to the other side: 0 on a real GPU, the memory's address on a simulated
 * GPU. */
uint64_t share_address(const Share *share);

/* The other side's half of share_make(); closes the descriptor. `address`: the maker's address. */
cudaError_t share_open(Share *share, size_t bytes, bool host, int fd, uint64_t address);

/* Simulated GPU only, where a host array is mapped in the guest when its host code first touches
 * it. share_holds(): true if these bytes are inside one array. share_touch(): sets the array's
 * range and returns its memory file, which stays the runner's; -1: no such array. share_touched():
 * true if a current array was touched. share_host_array(): the start of the i-th; NULL: there are
 * no more.
 */
bool share_holds(uint64_t address, uint64_t bytes);
int share_touch(uint64_t address, bool writes, uint64_t *first, uint64_t *bytes);
bool share_touched(void);
const void *share_host_array(int i);

/* For either side; the memory is freed when both have closed it. */
void share_close(Share *share);

#endif
