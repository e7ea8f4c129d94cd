/* l2.c - what the L2 holds between launches (l2.h), and what copies write to it. */
#include "sim/time/l2.h"

#include <stdlib.h>
#include <string.h>

/* MOST_WRITES: that wait. CHANGES: writes of which the model remembers what the L2 held after them.
 */
enum { MOST_WRITES = 64, CHANGES = 64 };

/* Bytes that the host or a copy has written, and those that it has read. Addresses are relative to
 * the start of GPU memory. */
typedef struct L2Write {
    uint64_t to, from, bytes, reads;
} L2Write;

typedef struct L2Change {
    Digest from, by, to;
} L2Change;

typedef struct L2Known {
    L2Contents *now;  /* before `writes`; NULL: unknown, but the model's cache holds it */
    L2Contents *held; /* by the model's cache; NULL: unknown */
    L2Write writes[MOST_WRITES];
    int write_count;
    L2Change changes[CHANGES];
    uint64_t change_count; /* so far; the last ones are kept */
    uint64_t *words;       /* room to pack it */
} L2Known;

/* ---- Contents ---- */

L2Contents *l2_use(L2Contents *contents)
{
    if (contents)
        contents->users++;
    return contents;
}

void l2_release(L2Contents *contents)
{
    if (!contents || --contents->users)
        return;
    free(contents->packed);
    free(contents);
}

static void replace(L2Contents **at, L2Contents *contents)
{
    L2Contents *before = *at;

    *at = l2_use(contents);
    l2_release(before);
}

/* What the model's cache holds; without a copy of it. NULL: out of memory. */
static L2Contents *take_contents(Gpu *gpu)
{
    L2Known *known = gpu->l2_known;
    const Cache *l2 = &gpu->memory.l2;
    L2Contents *contents = calloc(1, sizeof *contents);
    Digester digester;

    if (!known->words)
        known->words = malloc(cache_packed_words(l2) * sizeof *known->words);
    if (!contents || !known->words) {
        free(contents);
        return NULL;
    }
    contents->users = 1;
    contents->words = cache_pack(l2, known->words);
    digest_begin(&digester);
    digest_bytes(&digester, known->words, contents->words * sizeof *known->words);
    contents->digest = digest_of(&digester);
    return contents;
}

/* Right after take_contents. Returns false if out of memory. */
static bool keep_copy(const L2Known *known, L2Contents *contents)
{
    const size_t bytes = contents->words * sizeof *contents->packed;

    contents->packed = malloc(bytes);
    if (contents->packed)
        memcpy(contents->packed, known->words, bytes);
    return contents->packed;
}

void l2_set(Gpu *gpu, L2Contents *contents)
{
    replace(&gpu->l2_known->now, contents);
    gpu->l2_known->write_count = 0;
}

static void set_held(Gpu *gpu, L2Contents *contents)
{
    replace(&gpu->l2_known->held, contents);
    l2_set(gpu, contents);
}

/* ---- Writes ---- */

/* SMs of both halves of the L2 copy in turn. What is only filled takes places in its home alone:
 * reading N MiB that were just set slows down later on an H200 than if they were copied
 * (tests/sim/time/mechanisms, left). */
static void copy_line(Gpu *gpu, uint64_t to, uint64_t from, bool reads)
{
    const unsigned all = (1u << SECTORS) - 1;

    if (has_cause(gpu->without, CAUSE_SECTORS)) {
        words_store(&gpu->memory, to, UINT32_MAX, 0);
        return;
    }
    if (reads)
        memory_load(&gpu->memory, (int) (to / 2 % 2), from, all, 0);
    memory_store(&gpu->memory, reads ? (int) (to / 2 % 2) : NO_HALF, to, all, SECTOR_BYTES, 0);
}

static void play_write(Gpu *gpu, const L2Write *write)
{
    const uint64_t first = write->to / LINE_BYTES, from = write->from / LINE_BYTES;

    for (uint64_t line = first; line * LINE_BYTES < write->to + write->bytes; line++)
        copy_line(gpu, line, from + line - first, write->reads);
}

/* Makes the model's cache hold what the L2 holds. */
static void settle(Gpu *gpu)
{
    L2Known *known = gpu->l2_known;
    const int count = known->write_count;

    if (known->now && known->now != known->held) {
        cache_unpack(&gpu->memory.l2, known->now->packed);
        replace(&known->held, known->now);
    }
    if (!count)
        return;
    memory_model_begin(&gpu->memory);
    for (int i = 0; i < count; i++)
        play_write(gpu, &known->writes[i]);
    set_held(gpu, NULL);
}

/* Enters at most as many bytes as the L2 can hold. */
void gpu_written(Gpu *gpu, uint64_t to, uint64_t from, size_t bytes)
{
    L2Known *known = gpu->l2_known;
    const size_t most = (size_t) gpu->device.l2_bytes;
    const size_t left_out = bytes > most ? bytes - most : 0;
    const bool reads = from && from >= memory_base();

    if (to < memory_base())
        return;
    if (known->write_count == MOST_WRITES)
        settle(gpu);
    known->writes[known->write_count++] = (L2Write){ .to = to + left_out - memory_base(),
                                                     .from = from + left_out - memory_base(),
                                                     .bytes = bytes - left_out,
                                                     .reads = reads };
}

/* ---- Writes whose effect is known ---- */

static Digest digest_writes(const L2Known *known)
{
    Digester digester;

    digest_begin(&digester);
    digest_bytes(&digester, known->writes, (size_t) known->write_count * sizeof *known->writes);
    digest_word(&digester, (uint64_t) known->write_count);
    return digest_of(&digester);
}

static const L2Change *find_change(const L2Known *known, Digest from, Digest by)
{
    for (uint64_t i = 0; i < CHANGES && i < known->change_count; i++)
        if (digest_is(known->changes[i].from, from) && digest_is(known->changes[i].by, by))
            return &known->changes[i];
    return NULL;
}

static void remember_change(L2Known *known, Digest from, Digest by, Digest to)
{
    known->changes[known->change_count++ % CHANGES] = (L2Change){ from, by, to };
}

/* ---- Launches ---- */

/* Takes what the model's cache holds after the writes that wait. */
static bool find_out(Gpu *gpu, Digest *digest)
{
    L2Contents *contents;

    settle(gpu);
    contents = take_contents(gpu);
    if (!contents)
        return false;
    *digest = contents->digest;
    set_held(gpu, contents);
    l2_release(contents);
    return true;
}

bool l2_digest(Gpu *gpu, Digest *digest)
{
    L2Known *known = gpu->l2_known;
    const L2Change *change;
    Digest from, by;

    if (!known->now)
        return find_out(gpu, digest);
    *digest = from = known->now->digest;
    if (!known->write_count)
        return true;
    by = digest_writes(known);
    change = find_change(known, from, by);
    if (!change) {
        if (!find_out(gpu, digest))
            return false;
        remember_change(known, from, by, *digest);
        return true;
    }
    *digest = change->to;
    if (digest_is(from, change->to))
        known->write_count = 0;
    return true;
}

void l2_play(Gpu *gpu)
{
    settle(gpu);
    set_held(gpu, NULL);
}

bool l2_played(Gpu *gpu, Digest before, L2Contents **after)
{
    L2Contents *contents = take_contents(gpu);

    *after = NULL;
    if (!contents)
        return false;
    set_held(gpu, contents);
    if (digest_is(contents->digest, before)) {
        l2_release(contents);
        return true;
    }
    *after = contents;
    return keep_copy(gpu->l2_known, contents);
}

/* ---- Opening and closing ---- */

bool l2_open(Gpu *gpu)
{
    gpu->l2_known = calloc(1, sizeof *gpu->l2_known);
    return gpu->l2_known;
}

void l2_close(Gpu *gpu)
{
    L2Known *known = gpu->l2_known;

    if (!known)
        return;
    l2_release(known->now);
    l2_release(known->held);
    free(known->words);
    free(known);
    gpu->l2_known = NULL;
}
