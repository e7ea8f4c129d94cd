/* pages.c - which parts of managed memory have been used (pages.h). */
#include "sim/memory/pages.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, CHUNK_PAGES = CHUNK_BYTES / PAGE };

/* Linux describes a page in 8 bytes, of which the upper bits say whether it has an entry: in
 * memory, or swapped out. */
enum { ENTRY_SHIFT = 62 };

bool pages_open(void *at, size_t bytes)
{
    const int flags = MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;

    if (mmap(at, bytes, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED)
        return false;
    madvise(at, bytes, MADV_NOHUGEPAGE); /* one use would count for all of a huge page */
    return true;
}

void pages_close(void *at, size_t bytes)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;

    (void) mmap(at, bytes, PROT_NONE, flags, -1, 0);
}

static bool any_entry(const uint64_t *pages, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (pages[i] >> ENTRY_SHIFT)
            return true;
    return false;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The page `first` begins a chunk. */
static bool read_chunks(int file, uint64_t first, size_t pages, bool *used)
{
    enum { MOST = 64 * CHUNK_PAGES }; /* pages at a time */
    uint64_t entries[MOST];

    for (size_t at = 0; at < pages; at += MOST) {
        const size_t count = least(MOST, pages - at);
        const ssize_t bytes = (ssize_t) (count * sizeof *entries);
        if (pread(file, entries, (size_t) bytes, (off_t) ((first + at) * sizeof *entries)) != bytes)
            return false;
        for (size_t i = 0; i < count; i += CHUNK_PAGES)
            used[(at + i) / CHUNK_PAGES] = any_entry(entries + i, least(CHUNK_PAGES, count - i));
    }
    return true;
}

/* A program may close any file, so none is kept open. */
bool pages_used(const void *at, size_t bytes, bool *used)
{
    const int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    bool well;

    if (file < 0)
        return false;
    well = read_chunks(file, (uintptr_t) at / PAGE, (bytes + PAGE - 1) / PAGE, used);
    close(file);
    return well;
}

bool pages_forget(void *at, size_t bytes)
{
    return !madvise(at, bytes, MADV_DONTNEED);
}
