/* decide.c - the verdict on a correct kernel, from the measurements of its cases. */
#include "judge/decide.h"
#include "judge/message.h"

const CaseSpeed *decide_slowest(const Result *result)
{
    const CaseSpeed *slowest = NULL;

    for (int i = 0; i < result->speeds; i++) {
        const CaseSpeed *s = &result->speed[i];
        if (s->lab_case->kind == TIMED && s->measured && !case_is_blind(s) &&
            s->ratio.hi < s->bar &&
            (!slowest || s->ratio.median / s->bar < slowest->ratio.median / slowest->bar))
            slowest = s;
    }
    return slowest;
}

static void set_slow(Result *result, const CaseSpeed *s, bool modelled)
{
    result->verdict = SLOW;
    result->diagnosis = (Diagnosis){ .lab_case = s->lab_case };
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
    const CaseSpeed *slow = decide_slowest(result), *unjudged = NULL;
    bool close = false;

    for (int i = 0; i < result->speeds; i++) {
        const CaseSpeed *s = &result->speed[i];
        if (s->lab_case->kind != TIMED)
            continue;
        if (!s->measured)
            unjudged = unjudged ? unjudged : s;
        else
            close |= s->ratio.lo <= s->bar && s->bar <= s->ratio.hi;
    }
    if (slow)
        set_slow(result, slow, false);
    else if (unjudged)
        set_unjudged(result, unjudged);
    else
        result->verdict = close ? CLOSE : PASS;
    if (result->verdict == CLOSE)
        message_close(result->why, sizeof result->why);
}

/* Speed decides, but the lesson is not complete while a counter exceeds its limit. */
static void note_above(Result *result, const Reason *reasons)
{
    for (int i = 0; i < result->speeds && !*result->above; i++)
        if (*reasons[i].text)
            message_above(reasons[i].text, result->above, sizeof result->above);
    if (*result->above)
        APPEND(result->note, "%s%s", *result->note ? ". " : "", result->above);
}

bool decide_modelled(Result *result, const Reason *reasons)
{
    const CaseSpeed *unjudged = NULL, *blind = NULL, *slow = decide_slowest(result);
    int judged = 0;

    for (int i = 0; i < result->speeds; i++) {
        const CaseSpeed *s = &result->speed[i];
        if (s->lab_case->kind != TIMED)
            continue;
        judged += s->measured;
        if (case_is_blind(s))
            blind = blind ? blind : s;
        else if (!s->measured)
            unjudged = unjudged ? unjudged : s;
    }
    if (!unjudged && !judged)
        unjudged = blind;
    if (slow) {
        const Reason *reason = &reasons[slow - result->speed];
        set_slow(result, slow, true);
        result->diagnosis = reason->diagnosis;
        result->diagnosis.lab_case = slow->lab_case;
        PUT(result->cause, "%s", reason->text);
        if (*reason->text)
            APPEND(result->why, "; %s", reason->text);
        return true;
    }
    if (unjudged) {
        set_unjudged(result, unjudged);
        return false;
    }
    result->verdict = PASS;
    note_above(result, reasons);
    if (blind)
        message_left_out(&blind->unjudged, result->note, sizeof result->note);
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
