/* whatif.c - runs a call again without causes of slowness. */
#include "learner/whatif.h"
#include "base/util.h"

#include <unistd.h>

const double whatif_least = 1.03;
static const double call_limit_s = 60;
enum { LAUNCH_MILLIONS = 1000, MOST_AT_ONCE = 4 };

/* ---- Which causes ---- */

/* Whether the counts leave room for the cause. They cannot exclude the others. */
static bool may_have(const Limits *limits, Cause cause)
{
    static const double slightly = 1.01;

    switch (cause) {
    case CAUSE_CONFLICTS:
        return limits->wavefronts > slightly * limits->least_shared;
    case CAUSE_SECTORS:
        return limits->sectors > slightly * limits->least_sectors;
    case CAUSE_DIVERGENCE:
        return limits->lanes * slightly < 32;
    default:
        return true;
    }
}

int whatif_choose(const Limits *limits, WhatIf rows[CAUSES])
{
    int count = 0;

    for (int cause = 0; cause < CAUSES; cause++)
        if (may_have(limits, (Cause) cause))
            rows[count++] = (WhatIf){ .without = 1u << cause };
    return count;
}

/* ---- One call ---- */

static Verdict begin(Session *session, const LabEntry *entry, const char *object, const Case *sized,
                     uint64_t seed, const WhatIf *row, Worker *worker)
{
    const Setup setup = { .launch_millions = LAUNCH_MILLIONS,
                          .model_time = true,
                          .without = row->without };
    Verdict verdict = session_load(session, entry, object, &setup, worker);

    if (verdict == PASS)
        verdict = worker_case(worker, sized, 1);
    if (verdict == PASS)
        verdict = worker_prepare(worker, seed);
    return verdict == PASS ? worker_go_on(worker, 1, call_limit_s) : verdict;
}

static Verdict end(Worker *worker, WhatIf *row)
{
    Timing timing = { 0 };
    Limited limited;
    Verdict verdict = worker_went(worker, &timing);

    if (verdict == PASS)
        verdict = worker_limits(worker, &limited);
    if (verdict == PASS) {
        row->ms = timing.event_ms;
        row->limit = limits_most(&limited.limits);
    }
    return verdict;
}

/* ---- All of them ---- */

static int at_once(void)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);

    return processors < 1 ? 1 : processors < MOST_AT_ONCE ? (int) processors : MOST_AT_ONCE;
}

bool whatif_run(Session *session, const LabEntry *entry, const char *object, const Case *sized,
                uint64_t seed, WhatIf *rows, int count, char *why, size_t size)
{
    static Worker workers[MOST_AT_ONCE];
    const int most = at_once();
    bool fine = true;

    for (int first = 0; fine && first < count; first += most) {
        const int now = count - first < most ? count - first : most;
        Verdict verdicts[MOST_AT_ONCE];
        for (int i = 0; i < now; i++)
            verdicts[i] = begin(session, entry, object, sized, seed, &rows[first + i], &workers[i]);
        for (int i = 0; i < now; i++) {
            if (verdicts[i] == PASS)
                verdicts[i] = end(&workers[i], &rows[first + i]);
            if (verdicts[i] != PASS && fine)
                put(why, size, "%s", workers[i].why);
            fine &= verdicts[i] == PASS;
            worker_end(&workers[i]);
        }
    }
    return fine;
}

/* ---- What they are worth ---- */

/* Removing a cause cannot cost time, even if the model finds another order of events that does. */
static double worth_of(const WhatIf *row, double ms)
{
    return row->ms > 0 && row->ms < ms ? ms / row->ms : 1;
}

int whatif_worth(const WhatIf *rows, int count, double ms, WhatIf worth[CAUSES])
{
    int shown = 0;

    for (int i = 0; i < count; i++) {
        int at = shown;
        if (worth_of(&rows[i], ms) < whatif_least)
            continue;
        for (shown++; at > 0 && worth[at - 1].ms > rows[i].ms; at--)
            worth[at] = worth[at - 1];
        worth[at] = rows[i];
    }
    return shown;
}

static int first_cause(CauseSet set)
{
    return __builtin_ctz(set);
}

char *whatif_sentence(const WhatIf *row, double ms, char *text, size_t size)
{
    return put(text, size, "without %s at most %.2fx; then limited by %s",
               cause_words[first_cause(row->without)], worth_of(row, ms), limit_nouns[row->limit]);
}
