/* advice.c - notes about three mistakes that leave a program running and its results wrong. None of
 * them is certain, so each is a note with a question, printed once, and no finding:
 *
 * - a copy that brings a quarter or an eighth of an array, the rest of which nothing ever touches:
 *   it may count elements where cudaMemcpy counts bytes;
 * - a copy to the host of an array of which a launch has written all but the end, one element for
 *   each of its threads: its grid may be rounded down;
 * - a launch that was refused, in a program that never asks for the error.
 */
#include "sim/base/bits.h"
#include "sim/runtime/runtime.h"

#include <stdio.h>
#include <string.h>

enum { MOST_COPIES = 64, MOST_SHAPES = 16, MOST_NOTES = 8, POINTER = 8 };

/* ---- Notes ---- */

#define NOTE(...)                                                                                  \
    do {                                                                                           \
        char text_of_note[700];                                                                    \
        snprintf(text_of_note, sizeof text_of_note, __VA_ARGS__);                                  \
        note(text_of_note);                                                                        \
    } while (0)

static void note(const char *text)
{
    static int notes;

    if (!rt.sticky && notes++ < MOST_NOTES) /* after a failure, all else may follow from it */
        finding_note(text);
}

/* ---- Launches ---- */

/* The latest different launches. */
typedef struct Shape {
    char kernel[80];
    int grid[3], block[3];
} Shape;

static Shape shapes[MOST_SHAPES];
static int shape_count, next_shape;

void advice_launch(const char *kernel, const int grid[3], const int block[3])
{
    Shape shape = { .kernel = "" };

    snprintf(shape.kernel, sizeof shape.kernel, "%s", kernel);
    memcpy(shape.grid, grid, sizeof shape.grid);
    memcpy(shape.block, block, sizeof shape.block);
    for (int i = 0; i < shape_count; i++)
        if (!memcmp(&shapes[i], &shape, sizeof shape))
            return;
    shapes[next_shape] = shape;
    next_shape = (next_shape + 1) % MOST_SHAPES;
    shape_count += shape_count < MOST_SHAPES;
}

static uint64_t product(const int size[3])
{
    return (uint64_t) size[0] * (uint64_t) size[1] * (uint64_t) size[2];
}

/* One of them has a thread for each of `count` elements, rounded up. */
static bool is_launched_for(size_t count)
{
    for (int i = 0; i < shape_count; i++) {
        const uint64_t threads = product(shapes[i].grid) * product(shapes[i].block);
        if (threads >= count && threads - count < product(shapes[i].block))
            return true;
    }
    return false;
}

/* ---- Copies that may count elements ---- */

/* What was copied between the host, or another array, and the beginning of one allocation. */
typedef struct Copied {
    int number; /* of the allocation */
    bool from;  /* copied from it, to the host */
    size_t bytes;
    bool other; /* there were other copies, too: this one is no mistake */
} Copied;

static Copied copies[MOST_COPIES];
static int copy_count;

static Copied *find_copied(const Allocation *a, bool from)
{
    for (int i = 0; i < copy_count; i++)
        if (copies[i].number == a->number && copies[i].from == from)
            return &copies[i];
    return NULL;
}

/* Elements of 4 or 8 bytes, or the size of a pointer to the array. */
static bool may_count_elements(const Allocation *a, size_t bytes, bool from)
{
    enum { LEAST = 64 };

    if (!from && bytes == POINTER)
        return a->bytes >= LEAST;
    return bytes >= LEAST && (bytes * 4 == a->bytes || bytes * 8 == a->bytes);
}

static void remember(const Allocation *a, uint64_t at, size_t bytes, bool from)
{
    Copied *copied = find_copied(a, from);
    const bool is_odd = at == a->base && may_count_elements(a, bytes, from);

    if (copied)
        copied->other |= !is_odd || copied->bytes != bytes;
    else if (copy_count < MOST_COPIES)
        copies[copy_count++] = (Copied){ a->number, from, bytes, !is_odd };
}

static void forget(const Copied *copied)
{
    const int i = (int) (copied - copies);

    memmove(&copies[i], &copies[i + 1], (size_t) (--copy_count - i) * sizeof *copies);
}

static void advise_to(const Allocation *a, size_t bytes)
{
    char name[200];

    if (bits_other(a->written, bytes, a->bytes - bytes, false) < a->bytes)
        return;
    memory_name(a, name, sizeof name);
    if (bytes == POINTER)
        NOTE("the only copy to %s has 8 bytes, the size of a pointer, and nothing has written the "
             "rest. Does its size come from sizeof of a pointer?",
             name);
    else
        NOTE("the only copy to %s has %zu bytes, and nothing has written the rest. Does it count "
             "elements? cudaMemcpy counts bytes: n * sizeof(element)",
             name, bytes);
}

static void advise_from(const Allocation *a, size_t bytes)
{
    char name[200];

    if (!is_launched_for(bytes) || !bits_all(a->written, 0, a->bytes, true))
        return;
    memory_name(a, name, sizeof name);
    NOTE("%s was written completely, and only its first %zu bytes were copied from it. Does the "
         "copy count elements? cudaMemcpy counts bytes: n * sizeof(element)",
         name, bytes);
}

void advice_free(const Allocation *a)
{
    for (int from = 0; from <= 1; from++) {
        const Copied *copied = find_copied(a, from);
        if (!copied)
            continue;
        if (!copied->other && a->written)
            (from ? advise_from : advise_to)(a, copied->bytes);
        forget(copied);
    }
}

static void advise_at_end(const Allocation *a, void *self)
{
    (void) self;
    advice_free(a);
}

/* ---- Grids that may be rounded down ---- */

/* The bytes per thread if `written` bytes are those of `threads` threads, one element each; 0 if
 * not. */
static uint64_t bytes_each(uint64_t written, uint64_t threads)
{
    for (uint64_t each = 1; each <= 16; each *= 2)
        if (written == threads * each)
            return each;
    return 0;
}

/* All threads wrote one element each, and the rest would take less than one more block. */
static bool misses_end(const Shape *s, size_t written, size_t bytes)
{
    const uint64_t each = bytes_each(written, product(s->grid) * product(s->block));

    return each && bytes - written < product(s->block) * each && (bytes - written) % each == 0;
}

/* The same for the last rows of a matrix. */
static bool misses_rows(const Shape *s, size_t written, size_t bytes)
{
    const uint64_t rows = (uint64_t) s->grid[1] * (uint64_t) s->block[1];
    const uint64_t row = written / rows, missing = bytes - written;
    const uint64_t across = (uint64_t) s->grid[0] * (uint64_t) s->block[0];

    if (rows < 2 || written % rows || missing % row || missing / row >= (uint64_t) s->block[1])
        return false;
    for (uint64_t each = 1; each <= 16; each *= 2)
        if (row % each == 0 && row / each <= across && row / each > across - (uint64_t) s->block[0])
            return true;
    return false;
}

/* The last columns of each row: `written` bytes, then a gap up to `row`. */
static bool misses_columns(const Shape *s, const Allocation *a, size_t written, size_t row)
{
    const uint64_t each = bytes_each(written, (uint64_t) s->grid[0] * (uint64_t) s->block[0]);

    if (!each || row - written >= (uint64_t) s->block[0] * each || a->bytes % row ||
        (uint64_t) s->grid[1] * (uint64_t) s->block[1] < 2)
        return false;
    for (size_t at = row; at < a->bytes && at < 4 * row; at += row)
        if (bits_other(a->written, at, row, true) != at + written &&
            bits_other(a->written, at, row, false) != at + row)
            return false;
    return true;
}

static void advise_rounded(const Allocation *a, const Shape *s, const char *where)
{
    char name[200];

    memory_name(a, name, sizeof name);
    NOTE("%s was copied to the host, but nothing has written %s. They begin where the threads of "
         "%.79s end: grid (%d,%d,%d), block (%d,%d,%d). Is the grid rounded down? (n + threads - "
         "1) / "
         "threads rounds up",
         name, where, s->kernel, s->grid[0], s->grid[1], s->grid[2], s->block[0], s->block[1],
         s->block[2]);
}

static void check_whole(const Allocation *a)
{
    static int told; /* the allocation's number: it may be copied in a loop */
    const size_t written = bits_other(a->written, 0, a->bytes, true);
    const size_t row = bits_other(a->written, written, a->bytes - written, false);
    const bool is_end = row == a->bytes;
    char where[100];

    if (!written || written == a->bytes || a->number == told)
        return;
    for (int i = 0; i < shape_count; i++) {
        const Shape *s = &shapes[i];
        if (is_end && (misses_end(s, written, a->bytes) || misses_rows(s, written, a->bytes)))
            snprintf(where, sizeof where, "its last %zu bytes", a->bytes - written);
        else if (!is_end && misses_columns(s, a, written, row))
            snprintf(where, sizeof where, "the last %zu of each %zu bytes", row - written, row);
        else
            continue;
        told = a->number;
        advise_rounded(a, s, where);
        return;
    }
}

/* ---- Copies ---- */

static const Allocation *tracked(uint64_t address)
{
    const Allocation *a = memory_find(address);

    return a && a->written && a->kind == ALLOCATED ? a : NULL;
}

void advice_copy(const CopyWork *copy)
{
    const Allocation *to = copy->to_device ? tracked(copy->to) : NULL;
    const Allocation *from = copy->from_device ? tracked(copy->from) : NULL;
    const size_t bytes = copy->height * copy->depth == 1 ? copy->width : 0;

    if (to)
        remember(to, copy->to, bytes, false);
    if (from)
        remember(from, copy->from, bytes, true);
    if (from && !copy->to_device && copy->from == from->base && bytes == from->bytes)
        check_whole(from);
}

/* ---- Errors without a check ---- */

static _Thread_local bool is_unseen; /* in this thread, since it last asked */
static struct {
    _Atomic int count;
    cudaError_t error;
    char kernel[80];
} refused; /* launches, in threads that have not asked since */

void advice_refused(const char *kernel, cudaError_t error)
{
    is_unseen = true;
    if (!refused.count++) {
        refused.error = error;
        snprintf(refused.kernel, sizeof refused.kernel, "%s", kernel);
    }
}

void advice_asked(void)
{
    if (is_unseen)
        refused.count = 0;
    is_unseen = false;
}

/* ---- The end ---- */

void advice_free_all(void)
{
    memory_each(advise_at_end, NULL);
}

void advice_end(void)
{
    const int count = refused.count;

    advice_free_all();
    if (count)
        NOTE("%d launch%s refused, the first of %s (%s), and the program did not ask for the "
             "error. Nothing else reports it on a GPU: check cudaGetLastError() after each launch",
             count, count == 1 ? " was" : "es were", refused.kernel,
             cudaGetErrorString(refused.error));
}
