/* correct.c - is a kernel right? Every CORRECT case, in a process of its own.
 *
 * The cases come in an order drawn at random, with one repeated, so that a kernel that is right on
 * its first calls only is seen. Each starts from fresh contents and poisoned outputs; afterwards
 * the guard zones, the inputs and every element of every output are looked at.
 */
#include "grade.h"

#include <string.h>

/* No case takes a kernel that is anything like the lab's longer than a fraction of this. */
static const double case_limit_s = 10;

static void draw_order(int *order, int count, uint64_t *random)
{
    for (int i = 0; i < count; i++) {
        int j = (int) (next_random(random) % (uint64_t) (i + 1));
        order[i] = order[j];
        order[j] = i;
    }
}

static Verdict run_case(Worker *worker, const Case *lab_case, uint64_t seed)
{
    Timing timing;
    Verdict verdict;

    if ((verdict = worker_case(worker, lab_case, 1)) != PASS ||
        (verdict = worker_prepare(worker, seed)) != PASS)
        return verdict;
    verdict = worker_go(worker, 1, case_limit_s, &timing);
    if (verdict != PASS) {
        char why[sizeof worker->why];
        PUT(why, "case %s: %s", lab_case->label, worker->why);
        PUT(worker->why, "%s", why);
        return verdict;
    }
    if ((verdict = worker_check_guards(worker)) != PASS)
        return verdict;
    return worker_check_whole(worker, 0);
}

static Verdict run_cases(Session *session, Worker *worker, const LabEntry *entry, uint64_t *random)
{
    enum { MOST = 64 };
    const Case *cases = entry->lab->cases;
    int correct[MOST + 1], order[MOST + 1], count = 0;

    for (int i = 0; cases[i].label; i++)
        if (cases[i].kind == CORRECT && count < MOST)
            correct[count++] = i;
    draw_order(order, count, random);
    order[count] = order[0]; /* the first one again, at the end */
    for (int i = 0; count && i <= count; i++) {
        Verdict verdict;
        session_say(session, "%02d %s: is it right? %d of %d", lab_number(entry), lab_name(entry),
                    i + 1, count + 1);
        verdict = run_case(worker, &cases[correct[order[i]]], next_random(random));
        if (verdict != PASS)
            return verdict;
    }
    return PASS;
}

void judge_correctness(Session *session, const char *object, Result *result, uint64_t *random)
{
    Worker worker;
    GpuInfo info;
    Verdict verdict = session_worker(session, &worker);

    if (verdict == PASS)
        verdict = worker_hello(&worker, &info);
    if (verdict == PASS)
        verdict = worker_load(&worker, result->entry, object);
    if (verdict == PASS)
        verdict = run_cases(session, &worker, result->entry, random);
    PUT(result->sandbox, "%s", worker.sandbox);
    worker_end(&worker);
    PUT(result->printed, "%.500s", worker.child.printed);
    result->verdict = verdict;
    if (verdict != PASS)
        PUT(result->why, "%s", worker.why);
}
