/* message.c - describes a grading's observations to the student. */
#include "judge/message.h"

#include <string.h>

/* ---- Wrong results ---- */

void message_place(const Array *array, size_t index, char *text, size_t size)
{
    if (array->rows > 1 && array->cols > 0)
        put(text, size, "row %zu, column %zu", index / array->cols, index % array->cols);
    else
        put(text, size, "element %zu", index);
}

static const char *value_text(char *text, size_t size, Type type, double value)
{
    if (value != value)
        return put(text, size, "NaN");
    return put(text, size, type == F32 || type == F64 ? "%.9g" : "%.0f", value);
}

void message_wrong(const Diagnosis *d, const Array *array, const char *pattern, char *text,
                   size_t size)
{
    char place[64], got[400], want[400];

    message_place(array, d->element, place, sizeof place);
    put(text, size, "in %s, %s is %s, expected %s; %zu of %zu elements checked are wrong",
        array->name ? array->name : "the output", place,
        value_text(got, sizeof got, array->type, d->got),
        value_text(want, sizeof want, array->type, d->want), d->wrong, d->compared);
    if (*pattern)
        append(text, size, ": %s", pattern);
    else if (d->saw & SAW(SAW_UNWRITTEN))
        append(text, size, ": never written");
}

/* ---- Counters ---- */

static void say_counter(const Diagnosis *d, DiagnosisCode code, char *text, size_t size)
{
    switch (code) {
    case SAW_WARP_BARRIERS:
        append(text, size, "a warp waits at %.2g barriers per 32 elements of `%s`; ", d->value,
               d->array);
        append(text, size, "the lab allows %.2g", d->limit);
        return;
    case SAW_WARP_ATOMICS:
        append(text, size, "a warp updates global memory by atomics %.2g times per 32 elements of ",
               d->value);
        append(text, size, "`%s`; the lab allows %.2g", d->array, d->limit);
        return;
    case SAW_LOADS_PER_FMA:
        append(text, size,
               "a warp executes %.2f loads from global or shared memory per multiply-add; the lab "
               "allows %.2f",
               d->value, d->limit);
        return;
    case SAW_IDLE_LANES:
        append(text, size,
               "on average %.1f of a warp's 32 lanes are active per instruction; the lab requires "
               "%.1f",
               32 / d->value, 32 / d->limit);
        return;
    case SAW_SHARED_WAVEFRONTS:
        append(text, size,
               "bank conflicts: shared memory needs %.1fx the conflict-free number of wavefronts "
               "(%.1f per access on average); the lab allows %.2fx",
               d->value, d->per_request, d->limit);
        return;
    default:
        append(text, size,
               "%s `%s` touch %.1fx the minimum number of 32-byte sectors (%.1f per request); the "
               "lab allows %.2fx",
               code == SAW_SECTORS_READ ? "reads of" : "writes to", d->array, d->value,
               d->per_request, d->limit);
    }
}

void message_counter(const Diagnosis *d, char *text, size_t size)
{
    put(text, size, "%s", "");
    if (d->line)
        append(text, size, "kernel.cu:%d: ", d->line);
    for (int code = SAW_SECTORS_READ; code <= SAW_IDLE_LANES; code++)
        if (d->saw & SAW(code))
            say_counter(d, (DiagnosisCode) code, text, size);
}
