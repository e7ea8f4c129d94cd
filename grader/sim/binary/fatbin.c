/* fatbin.c - reads a fat binary: a header, then entries. Each entry has a header, a name, options
 * and a payload: PTX or a cubin, uncompressed or compressed by zstd (nvcc's default) or LZ4.
 *
 * The program is not trusted: sizes and offsets are checked before they are used, the sum of all
 * unpacked bytes is bounded, and fatbin_read_bytes() never reads past the end of its input.
 */
#include "sim/binary/fatbin.h"
#include "sim/binary/elf_reader.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The formats ---- */

typedef struct Wrapper {
    uint32_t magic, version;
    const void *data;
    const void *const *parts; /* relocatable code: fat binaries of the object files, and NULL */
} Wrapper;

typedef struct FatbinHeader {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t size; /* of all entries */
} FatbinHeader;

typedef struct EntryHeader {
    uint16_t kind, version;
    uint32_t header_bytes; /* including the name and options, which follow this */
    uint64_t payload_bytes;
    uint32_t packed_bytes; /* 0: not packed */
    uint32_t options_offset;
    uint16_t isa_minor, isa_major;
    uint32_t arch, name_offset, name_bytes;
    uint64_t flags, zero, unpacked_bytes;
} EntryHeader;

enum {
    WRAPPER_MAGIC = 0x466243B1,
    WRAPPER_RELOCATABLE = 2,
    FLAG_LZ4 = 0x2000,
    FLAG_ZSTD = 0x8000,
};
#define FATBIN_MAGIC  0xBA55ED50u
#define FATBIN_MOST   ((uint64_t) 1 << 31) /* nvcc does not write larger ones */
#define UNPACKED_MOST ((size_t) 256 << 20) /* of all entries together */

#define ADVICE "build with nvcc -gencode arch=compute_80,code=compute_80"

/* ---- Reasons for a refusal ---- */

typedef struct Reader {
    Fatbin *fatbin;
    size_t room; /* bytes that may still be unpacked */
    char *why;
    size_t why_size;
} Reader;

__attribute__((format(printf, 2, 3))) static bool refuse(Reader *reader, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(reader->why, reader->why_size, format, arguments);
    va_end(arguments);
    return false;
}

/* ---- Unpacking ---- */

typedef size_t Decompress(void *out, size_t room, const void *in, size_t size);

/* libzstd's function, if that library is installed; it stays loaded. */
static Decompress *zstd(void)
{
    static Decompress *found;
    void *library;

    if (found)
        return found;
    library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library)
        *(void **) &found = dlsym(library, "ZSTD_decompress");
    return found;
}

/* Fills `size` bytes of `out`. On failure, returns false and sets `why`. libzstd's error codes are
 * larger than any buffer, so comparing with the expected size is enough. */
static bool unpack(Reader *reader, const EntryHeader *entry, const unsigned char *payload,
                   unsigned char *out, size_t size)
{
    size_t got;

    if (entry->flags & FLAG_ZSTD) {
        if (!zstd())
            return refuse(reader, "the kernels are compressed with zstd, but libzstd.so.1 is not "
                                  "installed: build with nvcc --no-compress, or install libzstd1");
        got = zstd()(out, size, payload, entry->packed_bytes);
    } else if (entry->flags & FLAG_LZ4) {
        got = (size_t) lz4_unpack(payload, entry->packed_bytes, out, size);
    } else {
        return refuse(reader,
                      "the kernels are compressed in an unknown way (flags 0x%llx): build "
                      "with nvcc --no-compress",
                      (unsigned long long) entry->flags);
    }
    if (got != size)
        return refuse(reader,
                      "the fat binary is damaged: an entry does not decompress to %zu bytes, "
                      "the size in its header",
                      size);
    return true;
}

/* ---- Entries ---- */

/* The entry's bytes, unpacked, followed by a 0. NULL on failure, with `why`. */
static char *contents(Reader *reader, const EntryHeader *entry, const unsigned char *payload,
                      size_t *size)
{
    uint64_t wanted = entry->packed_bytes ? entry->unpacked_bytes : entry->payload_bytes;
    unsigned char *out;

    if (entry->packed_bytes > entry->payload_bytes) {
        refuse(reader, "the fat binary is damaged: an entry extends past its end");
        return NULL;
    }
    if (wanted > reader->room) {
        refuse(reader, "the fat binary holds more than %zu MiB of code", UNPACKED_MOST >> 20);
        return NULL;
    }
    *size = (size_t) wanted;
    out = malloc(*size + 1);
    if (!out) {
        refuse(reader, "not enough memory for the %zu bytes of the fat binary", *size);
        return NULL;
    }
    if (!entry->packed_bytes)
        memcpy(out, payload, *size);
    else if (!unpack(reader, entry, payload, out, *size)) {
        free(out);
        return NULL;
    }
    reader->room -= *size;
    out[*size] = 0;
    return (char *) out;
}

/* Keeps an entry that is PTX or a cubin. Without a cubin the run continues with fewer figures.
 */
static bool keep(Reader *reader, const EntryHeader *entry, const unsigned char *payload)
{
    Fatbin *fatbin = reader->fatbin;
    FatbinEntry *kept = &fatbin->entries[fatbin->count];
    char *bytes;
    size_t size;

    if (entry->kind != FATBIN_PTX && entry->kind != FATBIN_ELF)
        return true;
    if (fatbin->count == FATBIN_ENTRIES)
        return refuse(reader, "the fat binary has more than %d entries of code: " ADVICE,
                      FATBIN_ENTRIES);
    bytes = contents(reader, entry, payload, &size);
    if (!bytes)
        return entry->kind == FATBIN_ELF;
    if (entry->kind == FATBIN_PTX)
        size = strlen(bytes); /* padded by zeros */
    *kept = (FatbinEntry){ .kind = (FatbinKind) entry->kind,
                           .arch = entry->arch < 10000 ? (int) entry->arch : 0,
                           .part = fatbin->parts,
                           .bytes = bytes,
                           .size = size };
    fatbin->count++;
    return true;
}

/* Reads the entry at `at`. *length: its size, including its header. */
static bool read_entry(Reader *reader, const unsigned char *at, size_t left, size_t *length)
{
    EntryHeader entry;

    if (left < sizeof entry)
        return refuse(reader, "the fat binary is truncated within the header of an entry");
    memcpy(&entry, at, sizeof entry);
    if (entry.header_bytes < sizeof entry || entry.header_bytes > left ||
        entry.payload_bytes > left - entry.header_bytes)
        return refuse(reader,
                      "the fat binary is damaged or truncated: an entry has %llu bytes, but only "
                      "%zu are left",
                      (unsigned long long) entry.payload_bytes, left);
    *length = entry.header_bytes + (size_t) entry.payload_bytes;
    return keep(reader, &entry, at + entry.header_bytes);
}

/* ---- The whole fat binary ---- */

static bool read_header(Reader *reader, const void *bytes, FatbinHeader *header)
{
    memcpy(header, bytes, sizeof *header);
    if (header->magic != FATBIN_MAGIC)
        return refuse(reader, "not a fat binary (it begins with 0x%08x): " ADVICE,
                      (unsigned) header->magic);
    if (header->version != 1 || header->header_bytes < sizeof *header)
        return refuse(reader, "the fat binary has an unknown version (%d, header of %d bytes)",
                      header->version, header->header_bytes);
    if (header->size > FATBIN_MOST)
        return refuse(reader, "the fat binary is damaged: it claims %llu bytes",
                      (unsigned long long) header->size);
    return true;
}

static bool read_entries(Reader *reader, const unsigned char *at, size_t left)
{
    while (left) {
        size_t length = 0;
        if (!read_entry(reader, at, left, &length))
            return false;
        at += length;
        left -= length;
    }
    return true;
}

/* Adds the entries of one part. */
static bool read_part(Reader *reader, const void *bytes, size_t size)
{
    FatbinHeader header;

    if (size < sizeof header)
        return refuse(reader, "the fat binary is truncated: it has %zu bytes", size);
    if (!read_header(reader, bytes, &header))
        return false;
    if (header.header_bytes > size || header.size > size - header.header_bytes)
        return refuse(reader, "the fat binary is truncated: it claims %llu bytes but has %zu",
                      (unsigned long long) header.size + header.header_bytes, size);
    if (!read_entries(reader, (const unsigned char *) bytes + header.header_bytes,
                      (size_t) header.size))
        return false;
    reader->fatbin->parts++;
    return true;
}

bool fatbin_read_bytes(const void *bytes, size_t size, Fatbin *fatbin, char *why, size_t why_size)
{
    Reader reader = { fatbin, UNPACKED_MOST, why, why_size };

    fatbin->count = fatbin->parts = 0;
    if (read_part(&reader, bytes, size))
        return true;
    fatbin_free(fatbin);
    return false;
}

/* The same from memory of the program, whose own headers give the size. */
static bool read_trusted(Reader *reader, const void *bytes)
{
    FatbinHeader header;

    return read_header(reader, bytes, &header) &&
           read_part(reader, bytes, header.header_bytes + (size_t) header.size);
}

/* The linked code, which has no PTX, and the object files from which it was linked. */
static bool read_relocatable(Reader *reader, const Wrapper *wrapper)
{
    bool well = read_trusted(reader, wrapper->data);

    for (int i = 0; well && wrapper->parts && wrapper->parts[i]; i++)
        well = read_trusted(reader, wrapper->parts[i]);
    if (!well)
        fatbin_free(reader->fatbin);
    return well;
}

bool fatbin_read(const void *wrapper, Fatbin *fatbin, char *why, size_t size)
{
    Reader reader = { fatbin, UNPACKED_MOST, why, size };
    FatbinHeader header;
    Wrapper w;

    fatbin->count = fatbin->parts = 0;
    if (!wrapper)
        return refuse(&reader, "the program does not register a fat binary");
    memcpy(&w, wrapper, sizeof w);
    if (w.magic != WRAPPER_MAGIC)
        return refuse(&reader,
                      "the program registers something other than a fat binary of nvcc (0x%08x)",
                      (unsigned) w.magic);
    if (w.version == WRAPPER_RELOCATABLE && w.data)
        return read_relocatable(&reader, &w);
    if (w.version != 1 || !w.data)
        return refuse(&reader, "the fat binary's wrapper has an unknown version (%u)",
                      (unsigned) w.version);
    if (!read_header(&reader, w.data, &header))
        return false;
    return fatbin_read_bytes(w.data, header.header_bytes + (size_t) header.size, fatbin, why, size);
}

void fatbin_free(Fatbin *fatbin)
{
    for (int i = 0; i < fatbin->count; i++)
        free(fatbin->entries[i].bytes);
    fatbin->count = 0;
}

/* ---- Lookups ---- */

/* True if an entry for `arch` suits a device of architecture `wanted` better than one for `than`.
 */
static bool serves_better(int arch, int than, int wanted)
{
    if ((arch <= wanted) != (than <= wanted))
        return arch <= wanted;
    return arch <= wanted ? arch > than : arch < than;
}

const FatbinEntry *fatbin_ptx(const Fatbin *fatbin, int arch)
{
    return fatbin_ptx_of(fatbin, arch, 0);
}

const FatbinEntry *fatbin_ptx_of(const Fatbin *fatbin, int arch, int part)
{
    const FatbinEntry *best = NULL;

    for (int i = 0; i < fatbin->count; i++) {
        const FatbinEntry *entry = &fatbin->entries[i];
        if (entry->kind == FATBIN_PTX && entry->part == part &&
            (!best || serves_better(entry->arch, best->arch, arch)))
            best = entry;
    }
    return best;
}

bool fatbin_resources(const Fatbin *fatbin, int arch, const char *kernel, KernelResources *found)
{
    int nearest = -1;

    for (int i = 0; i < fatbin->count; i++) {
        const FatbinEntry *entry = &fatbin->entries[i];
        int distance = abs(entry->arch - arch);
        Elf elf;
        if (entry->kind == FATBIN_ELF && (nearest < 0 || distance < nearest) &&
            elf_open(&elf, entry->bytes, entry->size) &&
            elf_resources(&elf, entry->arch, kernel, found))
            nearest = distance;
    }
    return nearest >= 0;
}
