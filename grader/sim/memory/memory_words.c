/* memory_words.c - describes an address in words, by its distance to the nearest allocation.
 */
#include "sim/memory/memory.h"

#include <stdio.h>

void memory_name(const Allocation *a, char *text, size_t size)
{
    static const char *const made_by[] = { [ALLOCATED] = "cudaMalloc",
                                           [HOST_PINNED] = "pinned host memory",
                                           [VARIABLE_GLOBAL] = "__device__",
                                           [VARIABLE_CONST] = "__constant__",
                                           [MANAGED] = "managed",
                                           [DEVICE_HEAP] = "malloc() in a kernel",
                                           [ARRAY_MEMORY] = "cudaMallocArray" };

    if (a->label)
        snprintf(text, size, "`%.100s` (%zu bytes)", a->label, a->bytes);
    else if (a->name)
        snprintf(text, size, "`%.100s` (%zu bytes, %s)", a->name, a->bytes, made_by[a->kind]);
    else
        snprintf(text, size, "allocation %d (%zu bytes, %s)", a->number, a->bytes,
                 made_by[a->kind]);
}

/* The bytes may begin inside the allocation and end after it. */
static void describe_against(const Allocation *a, uint64_t address, size_t bytes, char *text,
                             size_t size)
{
    char name[200];
    uint64_t off = address - a->base;

    memory_name(a, name, sizeof name);
    if (a->freed && address - a->base < a->bytes)
        snprintf(text, size, "inside %s, which has been freed", name);
    else if (address < a->base)
        snprintf(text, size, "%llu byte%s before %s%s", (unsigned long long) (a->base - address),
                 a->base - address == 1 ? "" : "s", name, a->freed ? ", which has been freed" : "");
    else if (off < a->bytes && bytes <= a->bytes - off)
        snprintf(text, size, "byte %llu of %s", (unsigned long long) off, name);
    else if (off < a->bytes)
        snprintf(text, size, "the last %llu of them after the end of %s",
                 (unsigned long long) (bytes - (a->bytes - off)), name);
    else if (off == a->bytes)
        snprintf(text, size, "the %zu byte%s after %s%s", bytes, bytes == 1 ? "" : "s", name,
                 a->freed ? ", which has been freed" : "");
    else
        snprintf(text, size, "%llu byte%s after the end of %s%s",
                 (unsigned long long) (off - a->bytes), off - a->bytes == 1 ? "" : "s", name,
                 a->freed ? ", which has been freed" : "");
}

void memory_describe(uint64_t address, size_t bytes, char *text, size_t size)
{
    static const char *const words[] = { [ADDRESS_HOST] = "a host pointer",
                                         [ADDRESS_NULL] = "a null pointer",
                                         [ADDRESS_NOTHING] = "nothing is allocated there" };
    AddressKind ground = memory_address_kind(address);
    const Allocation *a = memory_nearest(address);

    if (a)
        describe_against(a, address, bytes, text, size);
    else if (ground == ADDRESS_GUARD)
        snprintf(text, size, "nothing is allocated there");
    else
        snprintf(text, size, "%s", words[ground]);
}
