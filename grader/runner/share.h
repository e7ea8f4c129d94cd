/* share.h - memory that the runner owns and its guest uses as well: an array with its guards.
 *
 * share_cuda.c: device memory by the driver's virtual memory calls, exported as a descriptor; the
 * host's pinned memory as a memory file that both sides register. share_sim.c: the simulated GPU's
 * memory, which the guest names and does not hold.
 */
#ifndef RUNNER_SHARE_H
#define RUNNER_SHARE_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Share {
    void *data;
    size_t bytes; /* as mapped: at least what was asked for */
    bool host;
    uint64_t handle; /* the driver's, of device memory */
} Share;

/* Several arrays may lie in one block: nobody watches where each of them ends. */
extern const bool share_in_slabs;

/* Can this device's memory be shared between processes at all? Once CUDA is up. */
bool share_possible(void);

/* Takes memory. *fd is what the other side opens it by, for the caller to close; -1: it needs none.
 */
cudaError_t share_make(Share *share, size_t bytes, bool host, int *fd);

/* What the other side is told of where it lies: 0 but on a simulated GPU, where that is its name.
 */
uint64_t share_address(const Share *share);

/* The other side's half; closes the descriptor. `address`: where the maker has it. */
cudaError_t share_open(Share *share, size_t bytes, bool host, int fd, uint64_t address);

/* Simulated GPU only, where a host array is mapped in the guest when its host code first touches
 * it. share_holds(): do these bytes lie in one array? share_touch(): the array's range and its
 * memory file, which stays the runner's; -1: no such array. share_touched(): was any current array
 * touched? share_host_array(): where the i-th begins; NULL: there are no more.
 */
bool share_holds(uint64_t address, uint64_t bytes);
int share_touch(uint64_t address, bool writes, uint64_t *first, uint64_t *bytes);
bool share_touched(void);
const void *share_host_array(int i);

/* Either side's; the memory goes back when both have closed it. */
void share_close(Share *share);

#endif
