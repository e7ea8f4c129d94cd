/* pages.h - tells which parts of managed memory have been used, by the process's own page table.
 *
 * The memory is mapped as shared, so its page-table entries can be dropped without its data. The
 * first use of a page afterwards, by the host's code, by a system call or by a simulated kernel,
 * makes an entry again, and Linux shows which pages have one. No use is intercepted, so none can
 * fail for that.
 */
#ifndef SIM_MEMORY_PAGES_H
#define SIM_MEMORY_PAGES_H

#include <stdbool.h>
#include <stddef.h>

/* The driver moves this much at a time, and Linux maps at most this much when a page is read.
 * Memory begins at a multiple of it. */
enum { CHUNK_BYTES = 64 << 10 };

static inline size_t chunks_in(size_t bytes)
{
    return (bytes + CHUNK_BYTES - 1) / CHUNK_BYTES;
}

/* Maps new memory, of zeros, over whole pages that are mapped already. Returns false, and leaves
 * them as they are, if the system refuses. */
bool pages_open(void *at, size_t bytes);
/* They are no memory any more. */
void pages_close(void *at, size_t bytes);
/* Sets used[i] to whether a page of chunk i has been used since pages_forget(). Returns false if
 * the system does not tell. */
bool pages_used(const void *at, size_t bytes, bool *used);
/* Returns false if the system keeps the entries, since the program has locked its memory. */
bool pages_forget(void *at, size_t bytes);

#endif
