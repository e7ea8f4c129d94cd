/* room.c - how much of the simulated GPU's memory this machine can hold. A described GPU may have
 * more memory than the machine. Pages exist only once they are touched, so allocating is free. But
 * an allocation that the machine could never hold is refused, and a finding says why. Otherwise the
 * system would kill the program when it uses the pages.
 */
#include "sim/runtime/runtime.h"

#include <stdio.h>
#include <string.h>

/* The number of kB after a word of /proc/meminfo; 0: not found. */
static uint64_t meminfo(const char *word)
{
    FILE *file = fopen("/proc/meminfo", "re");
    char line[200];
    unsigned long long kb = 0;

    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, word, strlen(word)) && sscanf(line + strlen(word), " %llu", &kb) == 1)
            break;
    if (file)
        fclose(file);
    return (uint64_t) kb << 10;
}

/* A number in a file of the container's limits; UINT64_MAX: no such file, or "max". */
static uint64_t number_in(const char *path)
{
    FILE *file = fopen(path, "re");
    unsigned long long bytes = 0;
    bool found = file && fscanf(file, "%llu", &bytes) == 1;

    if (file)
        fclose(file);
    return found ? bytes : UINT64_MAX;
}

static uint64_t container_room(void)
{
    static const char *const files[][2] = {
        { "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current" },
        { "/sys/fs/cgroup/memory/memory.limit_in_bytes",
          "/sys/fs/cgroup/memory/memory.usage_in_bytes" },
    };
    uint64_t room = UINT64_MAX;

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        uint64_t most = number_in(files[i][0]), used = number_in(files[i][1]);
        if (most != UINT64_MAX && used != UINT64_MAX && most - used < room)
            room = used < most ? most - used : 0;
    }
    return room;
}

/* The bytes that could be touched now before the system runs out of memory; UINT64_MAX: unknown. */
static uint64_t machine_room(void)
{
    uint64_t available = meminfo("MemAvailable:"), room = container_room();

    available += meminfo("SwapFree:");
    if (available && available < room)
        room = available;
    return room;
}

/* Determined only for large requests, so that small programs do not depend on it. */
bool room_for(size_t bytes)
{
    enum { SMALL = 64 << 20 };

    if (bytes < SMALL && memory_in_use() < SMALL)
        return true;
    if (!rt.machine_bytes)
        rt.machine_bytes = machine_room();
    return bytes <= rt.machine_bytes && memory_in_use() <= rt.machine_bytes - bytes;
}
