/* device.c - reads the description of a GPU, and computes how many blocks of a kernel fit on one of
 * its SMs.
 *
 * A description consists of `key: value` lines; # starts a comment. Each figure must appear exactly
 * once and lie within bounds that hold for every GPU, so mistakes are reported with their line, and
 * no computation divides by zero. Numbers are not read by strtod, which depends on the program's
 * locale.
 */
#include "sim/device/device.h"
#include "sim/base/common.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 512, PLACE = 1024, FIELDS = 128, WARP = 32, SLICE_SMS = 12 };

/* ---- The keys ---- */

/* BYTES and LARGE take a unit; WHOLE and BYTES are ints, REAL and LARGE doubles. */
typedef enum FieldKind { WHOLE, REAL, BYTES, LARGE, TEXT } FieldKind;

typedef struct Field {
    const char *key;
    FieldKind kind;
    size_t offset;
    double least, most;
} Field;

#define FIELD(name, kind, least, most)                                                             \
    {                                                                                              \
#name, kind, offsetof(Device, name), least, most                                           \
    }

static const Field fields[] = {
    FIELD(name, TEXT, 1, sizeof(((Device *) 0)->name) - 1),
    FIELD(cc, WHOLE, 50, 129),
    FIELD(sms, WHOLE, 1, 4096),
    FIELD(threads_per_sm, WHOLE, 32, 8192),
    FIELD(blocks_per_sm, WHOLE, 1, 256),
    FIELD(registers_per_sm, WHOLE, 1024, 1 << 20),
    FIELD(threads_per_block, WHOLE, 32, 1024),
    FIELD(shared_per_sm_bytes, BYTES, 1024, 1 << 24),
    FIELD(shared_per_block_bytes, BYTES, 1024, 1 << 24),
    FIELD(shared_per_block_optin_bytes, BYTES, 1024, 1 << 24),
    FIELD(shared_reserved_bytes, BYTES, 0, 1 << 16),
    FIELD(register_unit, WHOLE, 1, 4096),
    FIELD(schedulers_per_sm, WHOLE, 1, 16),
    FIELD(copy_engines, WHOLE, 0, 64),
    FIELD(sm_mhz, REAL, 1, 1e5),
    FIELD(memory_mhz, REAL, 1, 1e5),
    FIELD(memory_bus_bits, WHOLE, 8, 1 << 16),
    FIELD(memory_gbps, REAL, 0.1, 1e6),
    FIELD(pcie_gbps, REAL, 0.1, 1e5),
    FIELD(fp32_tflops, REAL, 0.001, 1e5),
    FIELD(l2_bytes, LARGE, 1024, 1e12),
    FIELD(memory_bytes, LARGE, 1 << 20, 1e15),
    FIELD(fp32_lanes, WHOLE, 1, 1024),
    FIELD(fp64_lanes, WHOLE, 1, 1024),
    FIELD(fp16_lanes, WHOLE, 1, 1024),
    FIELD(int_lanes, WHOLE, 1, 1024),
    FIELD(convert_lanes, WHOLE, 1, 1024),
    FIELD(sfu_lanes, WHOLE, 1, 1024),
    FIELD(lsu_lanes, WHOLE, 1, 1024),
    FIELD(register_reads, WHOLE, 1, 16),
    FIELD(alu_latency, WHOLE, 1, 1000),
    FIELD(fp64_latency, WHOLE, 1, 1000),
    FIELD(fp16_latency, WHOLE, 1, 1000),
    FIELD(sfu_latency, WHOLE, 1, 1000),
    FIELD(shuffle_latency, WHOLE, 1, 1000),
    FIELD(guard_latency, WHOLE, 0, 10000),
    FIELD(meeting_cycles, WHOLE, 0, 1000),
    FIELD(leaving_cycles, WHOLE, 0, 1000),
    FIELD(hidden_latency, WHOLE, 0, 1000),
    FIELD(l1_store_pass_bytes, WHOLE, 32, 128),
    FIELD(l1_store_part_cycles, WHOLE, 0, 10000),
    FIELD(branch_latency, WHOLE, 1, 1000),
    FIELD(return_latency, WHOLE, 0, 1000),
    FIELD(return_cycles, WHOLE, 0, 100),
    FIELD(indirect_latency, WHOLE, 0, 1000),
    FIELD(indirect_cycles, WHOLE, 0, 100),
    FIELD(barrier_latency, WHOLE, 1, 1000),
    FIELD(barrier_warp_cycles, WHOLE, 0, 100),
    FIELD(vote_latency, WHOLE, 0, 1000),
    FIELD(shared_update_cycles, WHOLE, 0, 1000),
    FIELD(shared_cycle_bytes, WHOLE, 1, 128),
    FIELD(constant_cycles, WHOLE, 1, 100),
    FIELD(constant_miss_cycles, WHOLE, 0, 1000),
    FIELD(wide_product_latency, WHOLE, 1, 1000),
    FIELD(high_product_latency, WHOLE, 1, 1000),
    FIELD(wide_hold_cycles, WHOLE, 1, 100),
    FIELD(shared_latency, WHOLE, 1, 1000),
    FIELD(l1_latency, WHOLE, 1, 1000),
    FIELD(local_latency, WHOLE, 1, 1000),
    FIELD(l2_latency, WHOLE, 1, 10000),
    FIELD(store_latency, WHOLE, 1, 10000),
    FIELD(memory_latency, WHOLE, 1, 10000),
    FIELD(memory_queue, WHOLE, 0, 10000),
    FIELD(memory_spread, WHOLE, 0, 10000),
    FIELD(link_latency, WHOLE, 1, 100000),
    FIELD(l1_bytes, BYTES, 1024, 1 << 24),
    FIELD(shared_least_bytes, BYTES, 0, 1 << 24),
    FIELD(l1_ways, WHOLE, 1, 16),
    FIELD(l2_ways, WHOLE, 1, 16),
    FIELD(l1_lines, WHOLE, 1, 16),
    FIELD(l1_load_bytes, WHOLE, 1, 1024),
    FIELD(l1_fill_bytes, WHOLE, 1, 1024),
    FIELD(l1_store_bytes, WHOLE, 1, 1024),
    FIELD(local_merge_cycles, WHOLE, 0, 1000),
    FIELD(lsu_queue, WHOLE, 1, 10000),
    FIELD(memory_atom_bytes, WHOLE, 32, 128),
    FIELD(memory_ecc, WHOLE, 0, 1),
    FIELD(memory_rows_per_ns, REAL, 0, 1e4),
    FIELD(blocks_per_ns, REAL, 0, 1e4),
    FIELD(l2_halves, WHOLE, 1, 2),
    FIELD(l1_merging_lines, WHOLE, 0, 32),
    FIELD(l2_slices, WHOLE, 0, 256),
    FIELD(l2_spread, WHOLE, 0, 10000),
    FIELD(l2_far_latency, WHOLE, 0, 10000),
    FIELD(block_start_cycles, WHOLE, 0, 100000),
    FIELD(l2_gbps, REAL, 0.1, 1e6),
    FIELD(l2_pass_bytes, WHOLE, 32, 128),
    FIELD(l2_store_gbps, REAL, 0.1, 1e6),
    FIELD(l2_store_sector_gbps, REAL, 0.1, 1e6),
    FIELD(l2_store_part_gbps, REAL, 0.1, 1e6),
    FIELD(memory_read_share, REAL, 0.01, 1),
    FIELD(memory_write_share, REAL, 0.01, 1),
    FIELD(atomic_ns, REAL, 0.01, 1e4),
    FIELD(integer_atomic_ns, REAL, 0.01, 1e4),
    FIELD(atomic_pass_ns, REAL, 0.001, 1e4),
    FIELD(launch_us, REAL, 0, 1e4),
    FIELD(follow_us, REAL, 0, 1e4),
    FIELD(graph_follow_us, REAL, 0, 1e4),
    FIELD(start_us, REAL, 0, 1e4),
    FIELD(switch_us, REAL, 0, 1e4),
    FIELD(issue_us, REAL, 0, 1e4),
    FIELD(event_us, REAL, 0, 1e4),
    FIELD(copy_us, REAL, 0, 1e4),
    FIELD(cross_us, REAL, 0, 1e4),
    FIELD(pcie_pinned_share, REAL, 0.01, 1),
    FIELD(pcie_both_share, REAL, 0.01, 1),
    FIELD(pcie_pageable_share, REAL, 0.01, 1),
    FIELD(link_request_ns, REAL, 0, 1e4),
    FIELD(first_fault_us, REAL, 0, 1e6),
    FIELD(split_fault_us, REAL, 0, 1e6),
    FIELD(page_fault_us, REAL, 0, 1e6),
    FIELD(page_chunk_us, REAL, 0, 1e6),
    FIELD(page_copy_us, REAL, 0, 1e6),
    FIELD(fresh_fault_us, REAL, 0, 1e6),
    FIELD(fresh_chunk_us, REAL, 0, 1e6),
    FIELD(prefetch_us, REAL, 0, 1e6),
    FIELD(prefetch_block_us, REAL, 0, 1e6),
    FIELD(prefetch_fresh_us, REAL, 0, 1e6),
    FIELD(prefetch_back_us, REAL, 0, 1e6),
    FIELD(prefetch_back_gbps, REAL, 0.01, 1e5),
};
enum { FIELD_COUNT = sizeof fields / sizeof *fields };

static const Field *find_field(const char *key)
{
    for (int i = 0; i < FIELD_COUNT; i++)
        if (!strcmp(fields[i].key, key))
            return &fields[i];
    return NULL;
}

/* ---- Numbers ---- */

/* Reads digits with at most one decimal point, such as 1215 or 15.75. Returns the text after them;
 * NULL if there is no number. */
static const char *read_number(const char *at, double *value)
{
    double whole = 0, scale = 1;
    int digits = 0;
    bool point = false;

    for (; isdigit((unsigned char) *at) || (*at == '.' && !point); at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        if (++digits > 15) /* up to 15 digits are exact in a double */
            return NULL;
        whole = whole * 10 + (*at - '0');
        scale *= point ? 10 : 1;
    }
    *value = whole / scale;
    return digits ? at : NULL;
}

/* The value of the unit "", " KiB" etc.; 0: unknown unit. */
static double unit_of(const char *text)
{
    static const struct {
        const char *name;
        double bytes;
    } units[] = {
        { "", 1 },          { "KiB", 1024 }, { "MiB", 1024 * 1024 },
        { "GiB", 1 << 30 }, { "MB", 1e6 },   { "GB", 1e9 },
    };

    text += *text == ' ';
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(text, units[i].name))
            return units[i].bytes;
    return 0;
}

static bool has_unit(const Field *field)
{
    return field->kind == BYTES || field->kind == LARGE;
}

static bool number_of(const Field *field, const char *text, double *value)
{
    const char *rest = read_number(text, value);
    double unit = rest ? unit_of(rest) : 0;

    if (!unit || (*rest && !has_unit(field)))
        return false;
    *value *= unit;
    return field->kind == REAL || *value == (double) (long long) *value;
}

/* ---- Reading a file ---- */

typedef struct DescriptionReader {
    const char *path;
    int line;
    Device *device;
    bool seen[FIELD_COUNT];
    char *why;
    size_t why_size;
} DescriptionReader;

__attribute__((format(printf, 2, 3))) static bool refuse(const DescriptionReader *reader,
                                                         const char *format, ...)
{
    int used = reader->line
                   ? snprintf(reader->why, reader->why_size, "%s:%d: ", reader->path, reader->line)
                   : snprintf(reader->why, reader->why_size, "%s: ", reader->path);
    va_list arguments;

    if (used < 0 || (size_t) used >= reader->why_size)
        return false;
    va_start(arguments, format);
    vsnprintf(reader->why + used, reader->why_size - (size_t) used, format, arguments);
    va_end(arguments);
    return false;
}

/* Removes the comment, and blanks at both ends. */
static char *trim(char *text)
{
    char *end = text + strcspn(text, "#\n");

    while (end > text && isspace((unsigned char) end[-1]))
        end--;
    *end = 0;
    return text + strspn(text, " \t");
}

static bool set_text(const DescriptionReader *reader, const Field *field, const char *value)
{
    size_t length = strlen(value);

    if (length < (size_t) field->least || length > (size_t) field->most)
        return refuse(reader, "%s must have 1 to %d characters", field->key, (int) field->most);
    for (const char *at = value; *at; at++)
        if (*at < ' ' || *at > '~')
            return refuse(reader, "%s contains a character that is not plain ASCII", field->key);
    memcpy((char *) reader->device + field->offset, value, length + 1);
    return true;
}

static bool set_number(const DescriptionReader *reader, const Field *field, const char *value)
{
    char *place = (char *) reader->device + field->offset;
    double number;

    if (!number_of(field, value, &number))
        return refuse(reader, "%s must be a %s, not `%.40s`", field->key,
                      field->kind == REAL ? "number"
                      : has_unit(field)   ? "number of bytes, KiB, MiB, GiB, MB or GB"
                                          : "whole number",
                      value);
    if (number < field->least || number > field->most)
        return refuse(reader, "%s is %.40s: it must be from %lld to %lld", field->key, value,
                      (long long) field->least, (long long) field->most);
    if (field->kind == REAL || field->kind == LARGE)
        memcpy(place, &number, sizeof number);
    else
        memcpy(place, &(int){ (int) number }, sizeof(int));
    return true;
}

static bool take_line(DescriptionReader *reader, char *line)
{
    char *key = trim(line), *colon = strchr(key, ':');
    const Field *field;

    if (!*key)
        return true;
    if (!colon)
        return refuse(reader, "expected `key: value`");
    *colon = 0;
    field = find_field(key);
    if (!field)
        return refuse(reader, "unknown key `%.40s`", key);
    if (reader->seen[field - fields])
        return refuse(reader, "%s appears twice", key);
    reader->seen[field - fields] = true;
    colon += 1 + strspn(colon + 1, " \t");
    return field->kind == TEXT ? set_text(reader, field, colon) : set_number(reader, field, colon);
}

static bool take_lines(DescriptionReader *reader, FILE *file)
{
    char line[LINE];

    while (fgets(line, sizeof line, file)) {
        reader->line++;
        if (strlen(line) == sizeof line - 1 && !strchr(line, '\n'))
            return refuse(reader, "this line is longer than %d characters", LINE - 2);
        if (!take_line(reader, line))
            return false;
    }
    reader->line = 0;
    return !ferror(file) || refuse(reader, "cannot be read: %s", strerror(errno));
}

/* Checks that involve several figures. */
static bool check_whole(const DescriptionReader *reader)
{
    const Device *d = reader->device;

    for (int i = 0; i < FIELD_COUNT; i++)
        if (!reader->seen[i])
            return refuse(reader, "%s is missing", fields[i].key);
    if (d->threads_per_sm % WARP || d->threads_per_block % WARP)
        return refuse(reader, "threads_per_sm and threads_per_block must be multiples of 32");
    if (d->l2_latency < d->l1_latency || d->memory_latency < d->l2_latency)
        return refuse(reader,
                      "the L2 must not be faster than the L1, or memory faster than the L2");
    if (d->link_latency < d->l2_latency)
        return refuse(reader, "link_latency must not be less than l2_latency");
    if (d->memory_atom_bytes & (d->memory_atom_bytes - 1))
        return refuse(reader, "memory_atom_bytes must be 32, 64 or 128");
    if (d->threads_per_block > d->threads_per_sm)
        return refuse(reader, "threads_per_block exceeds threads_per_sm");
    if (d->threads_per_sm > WARP * 64 * d->schedulers_per_sm) /* sim/time/sm.c: one bit per warp */
        return refuse(reader, "threads_per_sm: a scheduler has 64 warps at most");
    if (d->shared_per_block_bytes > d->shared_per_block_optin_bytes ||
        d->shared_per_block_optin_bytes > d->shared_per_sm_bytes - d->shared_reserved_bytes)
        return refuse(
            reader,
            "shared_per_block_bytes must not exceed shared_per_block_optin_bytes, which must not "
            "exceed shared_per_sm_bytes minus shared_reserved_bytes");
    return true;
}

/* ---- Finding a description ---- */

static const char extension[] = ".txt";

static size_t key_length(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name), end = strlen(extension);

    return length > end && !strcmp(entry->d_name + length - end, extension) ? length - end : 0;
}

static int is_description(const struct dirent *entry)
{
    const size_t length = key_length(entry);

    return length > 0 && length < sizeof(((Device *) 0)->key);
}

/* Lists the keys of all descriptions in the folder, in order, as far as they fit. */
static void list_devices(const char *folder, char *text, size_t size)
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_description, alphasort);

    *text = 0;
    for (int i = 0; i < count; i++) {
        size_t used = strlen(text);
        snprintf(text + used, size - used, " %.*s", (int) key_length(entries[i]),
                 entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
}

/* Finds the file's path, and the key without folder and extension. */
static bool find_file(const char *folder, const char *key, char *path, char *short_key, size_t size)
{
    const char *slash = strrchr(key, '/');
    const char *name = slash ? slash + 1 : key;
    size_t length = strlen(name);

    if (slash && length > 4 && !strcmp(name + length - 4, ".txt"))
        length -= 4;
    if (!length || length >= size)
        return false;
    memcpy(short_key, name, length);
    short_key[length] = 0;
    length = slash ? (size_t) snprintf(path, PLACE, "%s", key)
                   : (size_t) snprintf(path, PLACE, "%s/%s.txt", folder, key);
    return length < PLACE;
}

bool device_read(const char *folder, const char *key, Device *device, char *why, size_t size)
{
    DescriptionReader reader = { .device = device, .why = why, .why_size = size };
    char path[PLACE], known[LINE];
    FILE *file;
    bool fine;

    *device = (Device){ .slice = 1 };
    reader.path = path;
    if (!find_file(folder, key, path, device->key, sizeof device->key)) {
        snprintf(why, size, "`%.40s` is not a valid device name", key);
        return false;
    }
    file = fopen(path, "re");
    if (!file && errno == ENOENT && !strchr(key, '/')) {
        list_devices(folder, known, sizeof known);
        snprintf(why, size, "there is no device `%s`; %s%s", key,
                 *known ? "there are:" : "no descriptions were found in ", *known ? known : folder);
        return false;
    }
    if (!file)
        return refuse(&reader, "%s", strerror(errno));
    fine = take_lines(&reader, file) && check_whole(&reader);
    fclose(file);
    return fine;
}

/* ---- A slice ---- */

void device_slice(Device *device)
{
    int parts = (device->sms + SLICE_SMS - 1) / SLICE_SMS, sms = device->sms / parts;
    double share = (double) sms / device->sms; /* each SM keeps its share of the common resources */

    device->slice *= parts;
    device->sms = sms;
    device->l2_bytes *= share;
    device->memory_gbps *= share;
    device->l2_gbps *= share;
    device->l2_store_sector_gbps *= share;
    device->l2_store_part_gbps *= share;
    device->l2_store_gbps *= share;
    device->l2_slices = (int) ceil(device->l2_slices * share);
    device->memory_rows_per_ns *= share;
    device->blocks_per_ns *= share;
    device->memory_bus_bits = (int) (device->memory_bus_bits * share + 0.5);
    device->pcie_gbps *= share;
    device->fp32_tflops *= share;
    device->atomic_ns /= share; /* an address is updated by one unit, however small the slice */
    device->integer_atomic_ns /= share;
    device->atomic_pass_ns /= share;
    device->link_request_ns /= share;
    device->page_fault_us /= share; /* a slice has a share of the data, and the same time */
    device->page_chunk_us /= share;
    device->page_copy_us /= share;
    device->fresh_fault_us /= share;
    device->fresh_chunk_us /= share;
    device->prefetch_block_us /= share;
    device->prefetch_fresh_us /= share;
    device->prefetch_back_gbps *= share;
}

/* ---- Occupancy ---- */

/* Registers are allocated per warp, in units, from the part of the register file that belongs to
 * the warp's scheduler. A block starts only if it would fit with the same number of warps on every
 * scheduler. */
static long by_registers(const Device *device, int registers, int warps, Occupancy *found)
{
    long a_warp = (long) round_up((uint64_t) registers * WARP, (uint64_t) device->register_unit);
    long rounded = (long) round_up((uint64_t) warps, (uint64_t) device->schedulers_per_sm);

    found->warp_registers = a_warp;
    if (registers > 256 || a_warp * rounded > device->registers_per_sm)
        return 0;
    if (!a_warp)
        return LONG_MAX;
    found->register_warps =
        device->registers_per_sm / device->schedulers_per_sm / a_warp * device->schedulers_per_sm;
    return found->register_warps / warps;
}

static long by_shared(const Device *device, size_t bytes, Occupancy *found)
{
    long unit = device->cc >= 80 ? 128 : 256;
    long most = device->shared_per_block_optin_bytes + device->shared_reserved_bytes;
    long a_block;

    found->shared_unit = unit;
    if (bytes > (size_t) most)
        return 0;
    a_block = (long) round_up(bytes + (uint64_t) device->shared_reserved_bytes, (uint64_t) unit);
    found->block_shared_bytes = a_block;
    if (a_block > most)
        return 0;
    return a_block ? device->shared_per_sm_bytes / a_block : LONG_MAX;
}

Occupancy device_occupancy(const Device *device, int registers, int threads, size_t shared_bytes)
{
    int warps = threads / WARP + (threads % WARP != 0), most_warps = device->threads_per_sm / WARP;
    Occupancy found = { .limiter = LIMIT_NONE };
    long *limits = found.limits, least;

    if (threads <= 0 || registers < 0)
        return found;
    limits[LIMIT_WARPS] = threads > device->threads_per_block ? 0 : most_warps / warps;
    limits[LIMIT_BLOCKS] = device->blocks_per_sm;
    limits[LIMIT_REGISTERS] = by_registers(device, registers, warps, &found);
    limits[LIMIT_SHARED] = by_shared(device, shared_bytes, &found);
    found.limiter = LIMIT_WARPS;
    for (int i = LIMIT_WARPS + 1; i < LIMIT_NONE; i++)
        if (limits[i] < limits[found.limiter])
            found.limiter = (Limiter) i;
    least = limits[found.limiter];
    found.blocks_per_sm = (int) least;
    found.warps_per_sm = (int) least * warps;
    found.share = (double) found.warps_per_sm / most_warps;
    return found;
}

const char *limiter_word(Limiter limiter)
{
    static const char *const words[] = { [LIMIT_WARPS] = "warps",
                                         [LIMIT_BLOCKS] = "blocks",
                                         [LIMIT_REGISTERS] = "registers",
                                         [LIMIT_SHARED] = "shared memory",
                                         [LIMIT_NONE] = "nothing" };

    return (unsigned) limiter <= LIMIT_NONE ? words[limiter] : "?";
}
