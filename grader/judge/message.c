/* message.c - describes a grading's observations to the student. */
#include "judge/message.h"
#include "judge/compare.h"
#include "sim/base/source_shape.h"

#include <stdlib.h>
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

/* The value of memory that was never written says nothing to a student. */
static bool is_poison(Type type, double value)
{
    static const unsigned char poisons[] = { POISON_EVEN, POISON_ODD };
    double memory;

    for (size_t i = 0; i < sizeof poisons; i++) {
        memset(&memory, poisons[i], sizeof memory);
        const double poison = element(type, &memory, 0);
        if (value == poison || (value != value && poison != poison))
            return true;
    }
    return false;
}

void message_wrong(const Diagnosis *d, const Array *array, const char *pattern, char *text,
                   size_t size)
{
    char place[64], got[400], want[400], is[410];

    message_place(array, d->element, place, sizeof place);
    const bool unwritten = d->saw & SAW(SAW_UNWRITTEN) && is_poison(array->type, d->got);

    put(text, size, "in %s, %s %s, expected %s; ", array->name ? array->name : "the output", place,
        unwritten ? "was never written"
                  : PUT(is, "is %s", value_text(got, sizeof got, array->type, d->got)),
        value_text(want, sizeof want, array->type, d->want));
    append(text, size, "%zu of %zu checked elements %s wrong", d->wrong, d->compared,
           d->wrong == 1 ? "is" : "are");
    if (*pattern)
        append(text, size, ": %s", pattern);
}

void message_stray(const Diagnosis *d, bool before, char *text, size_t size)
{
    if (d->saw & SAW(SAW_INPUT))
        put(text, size, "the input `%s` was changed at element %zu; inputs are read-only", d->array,
            d->element);
    else if (before)
        put(text, size, "memory %zu bytes before the start of `%s` was written", d->element,
            d->array);
    else if (d->element)
        put(text, size, "memory %zu bytes after the end of `%s` was written", d->element, d->array);
    else
        put(text, size, "memory right after the end of `%s` was written", d->array);
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

/* Modelled rates have at least three digits; measured ones vary, and are whole numbers. */
static const char *rate_in_digits(double rate, bool modelled, char text[32])
{
    return put(text, 32, modelled && rate < 100 ? "%.3g" : "%.0f", rate);
}

/* "(simulated: 53.2 of 131 GB/s)": the student's and the reference's rate. */
static void append_rates(const CaseSpeed *s, bool modelled, char *text, size_t size)
{
    const bool moves = !strcmp(case_unit(s), "B/s") || s->reference_ms <= 0;
    const double mine = moves ? s->gbps : case_rate(s);
    const double reference = moves ? s->reference_gbps : mine * s->student_ms / s->reference_ms;
    char one[32], two[32];

    append(text, size, "(%s%s of %s G%s)", modelled ? "simulated: " : "",
           rate_in_digits(mine, modelled, one), rate_in_digits(reference, modelled, two),
           moves ? "B/s" : case_unit(s));
}

void message_slow(const CaseSpeed *s, bool modelled, char *text, size_t size)
{
    put(text, size, "case %s runs at %.2f of the reference's speed ", s->lab_case->label,
        ratio_shown(s->ratio.median, s->bar, 2));
    append_rates(s, modelled, text, size);
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

void message_close(char *text, size_t size)
{
    put(text, size, "too close to the bar to decide on this machine; counted as a pass");
}

void message_idle(const Diagnosis *d, char *text, size_t size)
{
    put(text, size,
        "case %s: nothing ran on the GPU. Work on the host has no simulated time, so there is no "
        "ratio. Do the work in a kernel",
        d->lab_case->label);
}

void message_launches(double launches, double call_ms, double idle, char *text, size_t size)
{
    put(text, size,
        "the call makes %.0f launches, one per %.1f us, and no kernel runs for %.0f %% of that "
        "time: you time launches, not the work in them. Launch less often",
        launches, call_ms * 1e3 / launches, idle * 100);
}

void message_ours_failed(const char *why, char *text, size_t size)
{
    put(text, size, "the reference failed, which is not your fault: %s", why);
}

/* ---- Speeds that are not judged ---- */

/* A control case depends on what the timed cases showed. */
static void say_no_control(const Diagnosis *d, char *text, size_t size)
{
    if (d->saw & SAW(SAW_FAR_BELOW))
        put(text, size, "left out, because the kernel is already far below the bar");
    else
        put(text, size, "left out, because the machine was too noisy for a timed case");
}

static void say_noise(const Diagnosis *d, char *text, size_t size)
{
    if (d->saw & SAW(SAW_NOISY))
        put(text, size,
            "this machine is too noisy now: two copies of the reference differ by %.0f %%",
            d->value);
    else if (d->value > 0)
        put(text, size, "the GPU became %.0f %% slower during the measurement; grade again",
            d->value);
    else
        put(text, size, "GPU clock changes or another program disturbed nearly every sample");
}

static void say_no_size(const Diagnosis *d, char *text, size_t size)
{
    if (d->saw & SAW(SAW_DEVICE_MEMORY))
        put(text, size, "needs 2 x %.1f GB of GPU memory, but only %.1f GB are free", d->value,
            d->limit);
    else if (d->limit > 0)
        put(text, size, "takes less than %.1f ms at every size that was tried, too short to time",
            d->limit);
    else
        put(text, size, "its time does not grow with the amount of work");
}

static void say_too_large(const Diagnosis *d, char *text, size_t size)
{
    put(text, size, "too large to simulate");
    if (d->value > 0)
        append(text, size, ": %.0f million warp instructions", d->value);
    if (d->lab_case->kind == CONTROL)
        append(text, size, " (a control case does not affect the verdict)");
}

void message_why_not(const Diagnosis *d, char *text, size_t size)
{
    if (d->saw & SAW(SAW_FAR_BELOW) || (d->saw & SAW(SAW_NOISY) && d->lab_case->kind == CONTROL))
        say_no_control(d, text, size);
    else if (d->saw & (SAW(SAW_NOISY) | SAW(SAW_DISTURBED)))
        say_noise(d, text, size);
    else if (d->saw & (SAW(SAW_NO_SIZE) | SAW(SAW_DEVICE_MEMORY)))
        say_no_size(d, text, size);
    else if (d->saw & SAW(SAW_TOO_LARGE))
        say_too_large(d, text, size);
    else if (d->saw & SAW(SAW_UNTIMED))
        put(text, size, "%.0f of %.0f launches have no modelled time", d->value, d->limit);
    else if (d->saw & SAW(SAW_BLIND))
        put(text, size,
            "on this modelled device not even the naive kernel is clearly slow: it runs at %.2f of "
            "the reference's speed, and the bar is %.2f",
            d->value, d->limit);
    else
        put(text, size, "nothing ran on the GPU; the model does not time work on the host");
}

void message_unjudged(const Diagnosis *d, char *text, size_t size)
{
    char why_not[400];

    message_why_not(d, why_not, sizeof why_not);
    put(text, size, "case %s: %s", d->lab_case->label, why_not);
}

void message_left_out(const Diagnosis *d, char *note, size_t size)
{
    char why_not[400];

    message_why_not(d, why_not, sizeof why_not);
    append(note, size, "%s%scase %s is left out: %s", *note ? ". " : "",
           d->lab_case->kind == CONTROL ? "control " : "", d->lab_case->label, why_not);
}

void message_counters_only(const Diagnosis *d, bool bounded, char *text, size_t size)
{
    char unjudged[500];

    message_unjudged(d, unjudged, sizeof unjudged);
    put(text, size, "simulated: speed is not judged: %s%s", unjudged,
        bounded ? "; the kernel's counters meet all bounds of the lesson" : "");
}

void message_counted(bool passed, char *text, size_t size)
{
    if (passed)
        put(text, size,
            "the kernel's counters meet all bounds of the lesson; this course judges the lab by "
            "counts, not by speed");
    else
        append(text, size, "; this course judges the lab by counts, not by speed");
}

void message_above(const char *counter, char *text, size_t size)
{
    put(text, size, "Fast enough, but above a limit: %s", counter);
}

void message_samples(const CaseSpeed *s, char *note, size_t size)
{
    append(note, size, "%scase %s: timed %.0f of %.0f blocks", *note ? ". " : "",
           s->lab_case->label, s->timed_blocks, s->simulated_blocks);
}

/* ---- Counters ---- */

/* "once", "3 times", "0.5 times" */
static const char *times_text(char *text, size_t size, double times)
{
    return times > 0.95 && times < 1.05 ? "once" : put(text, size, "%.2g times", times);
}

/* The costliest line of a kernel, whose array has no bound of the lab. */
static void say_scattered(const Diagnosis *d, DiagnosisCode code, char *text, size_t size)
{
    append(
        text, size,
        "the costliest line: its %s touch %.1f sectors of 32 bytes per request, %.1fx the number "
        "that holds their data",
        code == SAW_SECTORS_READ ? "reads" : "writes", d->per_request, d->value);
}

/* All accesses are coalesced, and there are still too many of them. */
static bool is_repeated(const Diagnosis *d)
{
    return d->per_request > 0 && d->per_request <= 4.05 && d->value >= 1.9;
}

static void say_counter(const Diagnosis *d, DiagnosisCode code, char *text, size_t size)
{
    char often[32];

    switch (code) {
    case SAW_WARP_BARRIERS:
        append(text, size, "a warp waits at %.2g barriers per 32 elements of `%s`; ", d->value,
               d->array);
        append(text, size, "aim for at most %.2g", d->limit);
        return;
    case SAW_WARP_ATOMICS:
        append(text, size, "a warp updates global memory by atomics %s per 32 elements of ",
               times_text(often, sizeof often, d->value));
        append(text, size, "`%s`; aim for at most %.2g", d->array, d->limit);
        return;
    case SAW_LOADS_PER_FMA:
        append(text, size,
               "a warp executes %.2f loads from global or shared memory per multiply-add; aim "
               "for at most %.2f",
               d->value, d->limit);
        return;
    case SAW_IDLE_LANES:
        append(text, size,
               "on average %.1f of a warp's 32 lanes are active per instruction; aim for at least "
               "%.1f",
               32 / d->value, 32 / d->limit);
        return;
    case SAW_NO_SHARED:
        append(text, size,
               "the kernel does not use shared memory; one load of `%s` from global memory touches "
               "%.1f sectors of 32 bytes on average",
               d->array, d->per_request);
        return;
    case SAW_SHARED_WAVEFRONTS:
        append(text, size,
               "bank conflicts: shared memory needs %.1fx the conflict-free number of wavefronts "
               "(%.1f per access on average); aim for at most %.2fx",
               d->value, d->per_request, d->limit);
        return;
    default:
        if (!*d->array) {
            say_scattered(d, code, text, size);
            return;
        }
        if (is_repeated(d)) {
            append(text, size,
                   "`%s` is %s %.1f times, coalesced each time (%.1f sectors of 32 bytes per "
                   "request); aim for at most %.2f times",
                   d->array, code == SAW_SECTORS_READ ? "read" : "written", d->value,
                   d->per_request, d->limit);
            return;
        }
        append(text, size,
               "%s `%s` touch %.1fx the minimum number of 32-byte sectors (%.1f per request); "
               "aim for at most %.2fx",
               code == SAW_SECTORS_READ ? "reads of" : "writes to", d->array, d->value,
               d->per_request, d->limit);
    }
}

void message_counter(const Diagnosis *d, char *text, size_t size)
{
    put(text, size, "%s", "");
    if (d->line)
        append(text, size, "kernel.cu:%d: ", d->line);
    for (int code = SAW_SECTORS_READ; code <= SAW_NO_SHARED; code++)
        if (d->saw & SAW(code))
            say_counter(d, (DiagnosisCode) code, text, size);
}

/* ---- Arrays in shared memory ---- */

static void take_source_line(const char *source, int number, char *line, size_t size)
{
    *line = 0;
    for (int i = 1; i < number && source; i++) {
        source = strchr(source, '\n');
        source += source != NULL;
    }
    if (source && number > 0)
        put(line, size, "%.*s", (int) strcspn(source, "\n"), source);
}

void message_neighbour(const char *source, char *why, size_t size)
{
    const char *at = strstr(why, "kernel.cu:"), *but = strstr(why, ", but `");
    const int number = at ? atoi(at + strlen("kernel.cu:")) : 0;
    char array[80], line[400];
    long dims[SHAPE_DIMS];

    if (!but || !number || !source)
        return;
    but += strlen(", but `");
    PUT(array, "%.*s", (int) strcspn(but, "`"), but);
    take_source_line(source, number, line, sizeof line);
    if (*line && !strstr(line, array) && strstr(but, "` has ") &&
        source_shape(source, array, dims)) /* not by a pointer into global memory */
        append(why, size,
               ". Line %d does not name `%s`: it goes past the end of an array that lies before it "
               "in shared memory",
               number, array);
}
