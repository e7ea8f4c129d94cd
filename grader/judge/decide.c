/* decide.c - the verdict on a correct kernel, from the measurements of its cases. */
#include "judge/decide.h"
#include "judge/message.h"
#include "base/speed.h"

/* The timed cases of a result, and the index of each in result->speed. */
typedef struct TimedCases {
    TimedCase list[GRADE_CASES];
    int at[GRADE_CASES], count;
} TimedCases;

static TimedCases timed_of(const Result *result)
{
    TimedCases timed = { .count = 0 };

    for (int i = 0; i < result->speeds; i++) {
        const CaseSpeed *s = &result->speed[i];
        if (s->lab_case->kind != TIMED)
            continue;
        timed.at[timed.count] = i;
        timed.list[timed.count++] = (TimedCase){
            .bar = s->bar, .measured = s->measured, .blind = case_is_blind(s), .ratio = s->ratio
        };
    }
    return timed;
}

const CaseSpeed *decide_slowest(const Result *result)
{
    const TimedCases timed = timed_of(result);
    int slowest = speed_slowest(timed.list, timed.count);

    return slowest >= 0 ? &result->speed[timed.at[slowest]] : NULL;
}

/* The lab's rows that are below their bars. */
static uint64_t slow_rows(const Result *result)
{
    const Case *rows = result->entry ? result->entry->lab->cases : NULL;
    uint64_t slow = 0;

    for (int i = 0; rows && i < result->speeds; i++) {
        const CaseSpeed *s = &result->speed[i];
        if (s->lab_case->kind == TIMED && s->measured && !case_is_blind(s) &&
            s->ratio.hi < s->bar && s->lab_case - rows < 64)
            slow |= 1ull << (s->lab_case - rows);
    }
    return slow;
}

static void set_slow(Result *result, const CaseSpeed *s, bool modelled)
{
    result->verdict = SLOW;
    result->diagnosis = (Diagnosis){ .lab_case = s->lab_case, .slow_cases = slow_rows(result) };
    message_slow(s, modelled, result->why, sizeof result->why);
}

static void set_unjudged(Result *result, const CaseSpeed *s)
{
    result->verdict = CORRECT_ONLY;
    result->diagnosis = s->unjudged;
    message_unjudged(&s->unjudged, result->why, sizeof result->why);
}

void decide_measured(Result *result)
{
    const TimedCases timed = timed_of(result);
    int which;

    result->verdict = speed_verdict(timed.list, timed.count, &which);
    if (result->verdict == SLOW)
        set_slow(result, &result->speed[timed.at[which]], false);
    else if (result->verdict == CORRECT_ONLY)
        set_unjudged(result, &result->speed[timed.at[which]]);
    else if (result->verdict == CLOSE)
        message_close(result->why, sizeof result->why);
}

/* Speed decides, but the lesson is not complete while a counter exceeds its limit. */
static void note_above(Result *result, const Reason *reasons)
{
    for (int i = 0; i < result->speeds && !*result->above; i++)
        if (*reasons[i].text) {
            message_above(reasons[i].text, result->above, sizeof result->above);
            result->exceeded = reasons[i].diagnosis;
        }
    if (*result->above)
        APPEND(result->note, "%s%s", *result->note ? ". " : "", result->above);
}

static void explain_slow(Result *result, const CaseSpeed *slow, const Reason *reason)
{
    set_slow(result, slow, true);
    const uint64_t slow_cases = result->diagnosis.slow_cases;

    result->diagnosis = reason->diagnosis;
    result->diagnosis.lab_case = slow->lab_case;
    result->diagnosis.slow_cases = slow_cases;
    PUT(result->cause, "%s", reason->text);
    if (*reason->text)
        APPEND(result->why, "; %s", reason->text);
}

static void note_left_out(Result *result)
{
    for (int i = 0; i < result->speeds; i++)
        if (result->speed[i].lab_case->kind == TIMED && case_is_blind(&result->speed[i])) {
            message_left_out(&result->speed[i].unjudged, result->note, sizeof result->note);
            return;
        }
}

bool decide_modelled(Result *result, const Reason *reasons)
{
    const TimedCases timed = timed_of(result);
    int which;

    result->verdict = speed_verdict(timed.list, timed.count, &which);
    if (result->verdict == CORRECT_ONLY) {
        set_unjudged(result, &result->speed[timed.at[which]]);
        return false;
    }
    if (result->verdict == SLOW) {
        explain_slow(result, &result->speed[timed.at[which]], &reasons[timed.at[which]]);
        return true;
    }
    note_above(result, reasons);
    note_left_out(result);
    return true;
}

void decide_too_fast(Result *result, const Case *lab_case, double gbps, double peak_gbps)
{
    result->verdict = SUSPECT;
    result->diagnosis = (Diagnosis){
        .saw = SAW(SAW_TOO_FAST), .lab_case = lab_case, .value = gbps, .limit = peak_gbps
    };
    message_suspect(&result->diagnosis, result->why, sizeof result->why);
}
