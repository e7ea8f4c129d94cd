/* counter_bounds.c - compares a kernel's counters on a simulated GPU with the bounds of its lab.
 *
 * Where speed can be judged, counter_bounds_check() only explains why a kernel is slow or what a
 * pass still exceeds, and decides nothing. Otherwise each TIMED case is called once with cold
 * caches, at the sizes in the lab's table, and its whole result is checked. The counters of that
 * call are compared with each bound of the lab's mechanism. A kernel that misses a bound is `slow`,
 * and the line that contributes most is named. A kernel that meets all bounds is `correct`: its
 * result is right, and nothing explains why it should be slow, which is weaker than a measurement.
 * If a course judges the lab by counts, such a kernel passes.
 */
#include "judge/counter_bounds.h"
#include "judge/compare.h"
#include "judge/message.h"
#include "judge/outputs.h"

#include <string.h>

static const double call_limit_s = 60;

/* Limit of warp instructions per launch, in millions; the starters take 5. */
static const int launch_millions = 500;

/* Counts all cases of one kernel. */
typedef struct Count {
    Session *session;
    Result *result;
    Worker worker;
    Draws *random;
} Count;

/* ---- The minimum of a counter ---- */

static const Array *array_of(const Arrays *arrays, const Mechanism *m)
{
    return m->counter == SECTORS_WRITTEN ? &arrays->out[m->array] : &arrays->in[m->array];
}

static double at_best(const Worker *worker, const Mechanism *m, const Counted *counted)
{
    const Array *array = array_of(&worker->arrays, m);
    double count = (double) array->rows * (double) array->cols;

    if (m->counter == SHARED_WAVEFRONTS || m->counter == LOADS_AN_FMA || m->counter == IDLE_LANES)
        return counted->least;
    if (m->counter == WARP_BARRIERS || m->counter == WARP_ATOMICS)
        return count / 32;
    return count * (double) type_bytes(array->type) / 32;
}

/* ---- All bounds ---- */

static void name_array(const Mechanism *m, const Array *array, char *text, size_t size)
{
    if (array->name) {
        put(text, size, "%s", array->name);
        return;
    }
    put(text, size, "%s", m->counter == SECTORS_WRITTEN ? "out" : "in");
    if (m->array)
        append(text, size, "[%d]", m->array);
}

/* The passes per request at the line that is named; of all requests if that line is unknown. */
static double per_request(const Counted *counted)
{
    if (counted->line_requests > 0)
        return counted->line_done / counted->line_requests;
    return counted->requests > 0 ? counted->done / counted->requests : 0;
}

static void say_missed(Worker *worker, const Mechanism *m, const Counted *counted, double ratio)
{
    static const DiagnosisCode codes[] = {
        [SECTORS_READ] = SAW_SECTORS_READ,   [SECTORS_WRITTEN] = SAW_SECTORS_WRITTEN,
        [WARP_BARRIERS] = SAW_WARP_BARRIERS, [SHARED_WAVEFRONTS] = SAW_SHARED_WAVEFRONTS,
        [WARP_ATOMICS] = SAW_WARP_ATOMICS,   [LOADS_AN_FMA] = SAW_LOADS_PER_FMA,
        [IDLE_LANES] = SAW_IDLE_LANES,
    };
    Diagnosis *d = &worker->diagnosis;

    *d = (Diagnosis){ .saw = SAW(codes[m->counter]),
                      .lab_case = worker->row,
                      .value = ratio,
                      .limit = m->most,
                      .per_request = per_request(counted),
                      .line = counted->line };
    name_array(m, array_of(&worker->arrays, m), d->array, sizeof d->array);
    message_counter(d, worker->why, sizeof worker->why);
}

/* Returns PASS, SLOW, or the verdict of a failure. */
static Verdict hold_to(Worker *worker, const Mechanism *m)
{
    Counted counted;
    Verdict verdict = worker_count(worker, m, &counted);
    double best, ratio;

    if (verdict != PASS)
        return verdict;
    best = at_best(worker, m, &counted);
    ratio = best > 0 ? counted.done / best : 0;
    if (ratio <= m->most)
        return PASS;
    say_missed(worker, m, &counted, ratio);
    return SLOW;
}

Verdict counter_bounds_check(Worker *worker)
{
    const Mechanism *m = worker->entry->lab->mechanism;
    Verdict verdict = PASS;

    for (; verdict == PASS && m->counter != NO_COUNTER; m++)
        verdict = hold_to(worker, m);
    return verdict;
}

/* ---- The costliest line ---- */

/* A line that takes this share of the time, and whose accesses touch this many times the sectors
 * that hold their data, is what the kernel waits for, whichever bound it misses first. */
static const double costly = 1.0 / 3, scattered = 2;

/* More sectors per request than the floats of a whole warp have. */
static const double whole_warp = 4.05;

static bool is_scattered(const LineTraffic *t)
{
    return t->passes > whole_warp * t->requests && t->passes > scattered * t->asked / 32;
}

/* Finds the costliest line if its accesses to global memory are scattered. */
static Counter find_scattered(Worker *worker, LineCost *cost)
{
    Limited limited;

    if (worker_limits(worker, &limited) != PASS || !worker_cost(worker, 0, cost) ||
        spent_sum(&cost->spent) < costly * spent_sum(&limited.limits.spent))
        return NO_COUNTER;
    return is_scattered(&cost->store)  ? SECTORS_WRITTEN
           : is_scattered(&cost->load) ? SECTORS_READ
                                       : NO_COUNTER;
}

/* The line accesses an array for which the lab has no bound, such as scratch. */
static Verdict say_scattered(Worker *worker, Counter counter, const LineCost *cost)
{
    const LineTraffic *t = counter == SECTORS_READ ? &cost->load : &cost->store;
    Diagnosis *d = &worker->diagnosis;

    *d = (Diagnosis){ .saw = SAW(counter == SECTORS_READ ? SAW_SECTORS_READ : SAW_SECTORS_WRITTEN),
                      .lab_case = worker->row,
                      .value = t->passes / (t->asked / 32),
                      .limit = 1,
                      .per_request = t->passes / t->requests,
                      .line = cost->line };
    message_counter(d, worker->why, sizeof worker->why);
    return SLOW;
}

/* Bounds of the kind that the costliest line violates come first. */
static Verdict explain_scattered(Worker *worker)
{
    const Mechanism *m = worker->entry->lab->mechanism;
    bool bounded = false;
    LineCost cost;
    const Counter counter = find_scattered(worker, &cost);

    for (; counter != NO_COUNTER && m->counter != NO_COUNTER; m++) {
        if (m->counter != counter)
            continue;
        bounded = true;
        const Verdict verdict = hold_to(worker, m);
        if (verdict != PASS && (verdict != SLOW || worker->diagnosis.per_request > whole_warp))
            return verdict;
    }
    return bounded ? say_scattered(worker, counter, &cost) : PASS;
}

/* ---- The explanation of a slow kernel ---- */

/* Its loads from the first input then show what the kernel does instead. */
static Verdict explain_no_shared(Worker *worker)
{
    const Mechanism reads = { .counter = SECTORS_READ };
    Counted counted;
    Verdict verdict = worker_count(worker, &reads, &counted);
    Diagnosis *d = &worker->diagnosis;

    if (verdict != PASS || counted.requests <= 0)
        return verdict;
    *d = (Diagnosis){ .saw = SAW(SAW_NO_SHARED),
                      .lab_case = worker->row,
                      .line = counted.line,
                      .per_request = per_request(&counted) };
    name_array(&reads, &worker->arrays.in[0], d->array, sizeof d->array);
    message_counter(d, worker->why, sizeof worker->why);
    return SLOW;
}

Verdict counter_bounds_explain(Worker *worker)
{
    const Mechanism *first = worker->entry->lab->mechanism;
    Verdict verdict = explain_scattered(worker);
    Counted counted;

    if (verdict == PASS)
        verdict = counter_bounds_check(worker);
    if (verdict != PASS || first->counter != SHARED_WAVEFRONTS)
        return verdict;
    verdict = worker_count(worker, first, &counted);
    return verdict == PASS && counted.requests <= 0 ? explain_no_shared(worker) : verdict;
}

/* ---- One case ---- */

static void set_failure(Count *count)
{
    worker_reason(&count->worker, count->result->why, sizeof count->result->why);
    count->result->diagnosis = count->worker.diagnosis;
}

static Verdict call_once(Count *count, const Case *c)
{
    Worker *worker = &count->worker;
    Timing timing;
    Verdict verdict =
        worker_once(worker, c, draw(count->random, DRAW_CONTENTS), call_limit_s, &timing);

    if (verdict == PASS)
        verdict = outputs_check(worker, 0, count->random);
    return verdict == PASS ? counter_bounds_check(worker) : verdict;
}

static Verdict count_case(Count *count, const Case *c)
{
    Result *result = count->result;
    Verdict verdict;

    session_say(count->session, "%02d %s: counting operations, %s", lab_number(result->entry),
                lab_name(result->entry), c->label);
    verdict = call_once(count, c);
    if (verdict != PASS)
        set_failure(count);
    return verdict;
}

/* ---- All cases ---- */

static Verdict bring_up(Count *count, const char *object, bool on_simulated)
{
    const Setup setup = { .on_simulated = on_simulated, .launch_millions = launch_millions };
    Verdict verdict =
        session_load(count->session, count->result->entry, object, &setup, &count->worker);

    if (verdict != PASS)
        set_failure(count);
    return verdict;
}

static Verdict count_all(Count *count, const char *object, bool on_simulated)
{
    const Case *cases = count->result->entry->lab->cases;
    Verdict verdict = bring_up(count, object, on_simulated);

    for (int i = 0; cases[i].label && verdict == PASS; i++)
        if (cases[i].kind == TIMED)
            verdict = count_case(count, &cases[i]);
    worker_end(&count->worker);
    return verdict;
}

void judge_mechanism(Session *session, const char *object, Result *result, Draws *random)
{
    Count count = { .session = session, .result = result, .random = random };
    const Verdict verdict = count_all(&count, object, false);

    result->verdict = verdict == PASS ? CORRECT_ONLY : verdict;
    if (verdict == PASS)
        message_counters_only(&result->diagnosis,
                              result->entry->lab->mechanism[0].counter != NO_COUNTER, result->why,
                              sizeof result->why);
}

/* A simulated GPU counts, even if the session has a real one. */
void judge_counts(Session *session, const char *object, Result *result, Draws *random)
{
    Count count = { .session = session, .result = result, .random = random };

    result->verdict = count_all(&count, object, true);
    if (result->verdict == PASS || result->verdict == SLOW)
        message_counted(result->verdict == PASS, result->why, sizeof result->why);
}
