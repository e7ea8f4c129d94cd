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

void message_stray(const Diagnosis *d, bool before, char *text, size_t size)
{
    if (d->saw & SAW(SAW_INPUT))
        put(text, size, "the input was changed, at element %zu; inputs are read-only", d->element);
    else if (before)
        put(text, size, "memory in front of the %s array was written, %zu bytes before its start",
            d->array, d->element);
    else
        put(text, size,
            "memory was written past the end of the %s array, from %zu bytes after its last "
            "element",
            d->array, d->element);
}

/* ---- Processes ---- */

void message_child(const Child *child, char *text, size_t size)
{
    static const char *const texts[] = {
        [CHILD_FINE] = "its process is gone",
        [CHILD_CLOSED_CHANNEL] = "its process closed the channel to the grader",
        [CHILD_NOT_TEXT] = "its process sent the grader bytes that are not text",
        [CHILD_OUT_OF_TURN] = "its process sent the grader output that no command requested",
        [CHILD_FLOOD] = "its process sent the grader far too much output",
        [CHILD_UNTAGGED] = "its process answered the grader without the tag of the command",
        [CHILD_BAD_ANSWER] = "its process sent the grader an invalid answer",
    };
    char end[128];

    if (child->error == CHILD_NOT_STARTED)
        put(text, size, "the runner could not be started: %s", strerror(child->system_error));
    else if (child->error == CHILD_EXITED)
        put(text, size, "its process %s", end_in_words(child->status, end, sizeof end));
    else if (child->error == CHILD_NO_ANSWER)
        put(text, size, "it gave no answer within %g s and was stopped", child->limit_s);
    else if (child->error == CHILD_HOST_MEMORY)
        put(text, size, "its process held more than %.1f GiB of host memory",
            (double) child->memory_limit / 1073741824.0);
    else
        put(text, size, "%s", texts[child->error]);
}

/* ---- Speed ---- */

void message_slow(const CaseSpeed *s, bool modelled, char *text, size_t size)
{
    put(text, size, "case %s runs at %.2f of the reference's speed ", s->lab_case->label,
        ratio_shown(s->ratio.median, s->bar, 2));
    append(text, size, modelled ? "(simulated: %.3g of %.3g GB/s)" : "(%.0f of %.0f GB/s)", s->gbps,
           s->reference_gbps);
    append(text, size, ", the bar is %.2f", s->bar);
}

void message_suspect(const Diagnosis *d, char *text, size_t size)
{
    if (d->saw & SAW(SAW_TOO_FAST))
        put(text, size,
            "case %s: %.0f GB/s is more than this GPU's memory bandwidth (%.0f GB/s), so the "
            "kernel cannot have done the work",
            d->lab_case->label, d->value, d->limit);
    else
        put(text, size,
            "the reference took %.0f %% longer while this kernel's process existed, and recovered "
            "after that process was killed; this happened twice",
            d->value);
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
