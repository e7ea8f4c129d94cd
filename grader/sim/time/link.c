/* link.c - accesses of kernels to the host's memory, over the link.
 *
 * Each direction is a queue: reads occupy one, writes the other, atomics both. Lines of the host's
 * memory may be in an L1, as any line, but not in the L2 (tests/sim/time/mechanisms, again: an H200
 * reads them again with each pass over them that goes past the L1). Copies that run at the same
 * time do not slow accesses down, nor the other way round.
 */
#include "sim/time/model.h"

/* Of each request, besides its data: 28 explain what an H200 reads and writes, 51 and 52 GB/s of
 * 63 (tests/sim/time/mechanisms, pinned.read and pinned.write). */
enum { HEADER_BYTES = 28 };

/* The SM cycles per byte. */
static double cycles_per_byte(const Device *device, double gbps)
{
    return gbps > 0 ? device->sm_mhz / 1e3 / gbps : 0;
}

void link_open(Link *link, const Device *device)
{
    *link = (Link){ .latency = device->link_latency,
                    .store_latency = device->store_latency,
                    .request_cycles = device->link_request_ns * device->sm_mhz / 1e3,
                    .byte_cycles = cycles_per_byte(device, device->pcie_gbps),
                    .data_cycles =
                        cycles_per_byte(device, device->pcie_gbps * device->pcie_pinned_share) };
}

void link_begin(Link *link)
{
    for (int i = 0; i < LINK_WAYS; i++)
        link->free[i] = link->busy[i] = 0;
}

/* Returns when these bytes have been moved. */
static double move(Link *link, LinkWay way, double requests, double bytes, uint64_t now)
{
    const double cycles = latest(latest(requests * link->request_cycles, bytes * link->data_cycles),
                                 (bytes + requests * HEADER_BYTES) * link->byte_cycles);

    link->free[way] = latest(link->free[way], (double) now) + cycles;
    link->busy[way] += cycles;
    return link->free[way];
}

/* The request itself occupies the way of writes. */
uint64_t link_load(Link *link, double bytes, uint64_t now)
{
    link->free[LINK_WRITES] =
        latest(link->free[LINK_WRITES], (double) now) + HEADER_BYTES * link->byte_cycles;
    return memory_up(move(link, LINK_READS, 1, bytes, now)) + (uint64_t) link->latency;
}

/* The SM does not wait until the data has arrived. */
uint64_t link_store(Link *link, double bytes, uint64_t now)
{
    return memory_up(move(link, LINK_WRITES, 1, bytes, now)) + (uint64_t) link->store_latency;
}

uint64_t link_merge(Link *link, double bytes, uint64_t now)
{
    return memory_up(move(link, LINK_WRITES, 0, bytes, now)) + (uint64_t) link->store_latency;
}

/* Each pass over a sector is a request of its own. */
uint64_t link_update(Link *link, double passes, uint64_t now)
{
    const double there = move(link, LINK_WRITES, passes, passes * SECTOR_BYTES, now);

    return memory_up(latest(there, move(link, LINK_READS, passes, passes * SECTOR_BYTES, now))) +
           (uint64_t) link->latency;
}
