/* large_cases.c - runs the large cases of a trial in two processes.
 *
 * If all of them are right, the trial continues. Otherwise it begins again with one process, so
 * that the verdict and its reason do not depend on which process was faster.
 */
#include "judge/large_cases.h"
#include "base/child.h"
#include "base/util.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the two processes share. */
typedef struct Shared {
    atomic_bool taken[MOST_CASES + 1];
    _Atomic LargeOutcome outcome[MOST_CASES + 1];
} Shared;

/* The cases of one call, in one of the processes. */
typedef struct Part {
    Trial trial;
    Draws draws; /* of case `first`, before it is run */
    const int *chosen;
    int first, last;
    bool helps; /* it belongs to the second process */
    Shared *shared;
} Part;

static const Case *row_of(const Part *part, int i)
{
    return &part->trial.entry->lab->cases[part->chosen[i]];
}

static size_t elements_of(const Part *part, int i)
{
    const Case sized = trial_sized(&part->trial, row_of(part, i));

    return trial_elements(&part->trial, &sized);
}

/* The case to try next; -1 if all are taken. The helper begins with the largest, so that both
 * processes end at about the same time. */
static int find_case(const Part *part)
{
    int found = -1;

    for (int i = part->first; i < part->last; i++)
        if (!part->shared->taken[i] &&
            (found < 0 || (part->helps && elements_of(part, i) > elements_of(part, found))))
            found = i;
    return found;
}

static int take_case(const Part *part)
{
    int i;

    while ((i = find_case(part)) >= 0 && atomic_exchange(&part->shared->taken[i], true))
        ;
    return i;
}

/* Runs case i with the draws that it would get in its turn. */
static LargeOutcome run_one(Part *part, int i)
{
    Draws draws = part->draws;
    bool skipped = false;
    Verdict verdict;

    draws.count[DRAW_CONTENTS] += (uint64_t) (i - part->first);
    part->trial.random = &draws;
    verdict = trial_run_or_give_up(&part->trial, row_of(part, i), &skipped);
    if (verdict != PASS)
        return LARGE_UNKNOWN;
    return skipped ? LARGE_SKIPPED : part->helps ? LARGE_RIGHT_ELSEWHERE : LARGE_RIGHT;
}

/* Ends at a case that is not right. */
static void run_part(Part *part)
{
    bool right = true;

    for (int i; right && (i = take_case(part)) >= 0;) {
        part->shared->outcome[i] = run_one(part, i);
        right = part->shared->outcome[i] != LARGE_UNKNOWN;
    }
}

/* In the second process, which has a worker of its own. */
static void help(Part *part)
{
    Worker worker = { 0 };

    part->helps = true;
    part->trial.worker = &worker;
    if (trial_start(&part->trial) == PASS)
        run_part(part);
    worker_end(&worker);
    _exit(0);
}

/* Returns 0 if there is none; then this process runs all cases. */
static pid_t start_helper(Part *part)
{
    const pid_t pid = child_fork();

    if (pid == 0)
        help(part);
    return pid > 0 ? pid : 0;
}

static void wait_for_helper(pid_t pid)
{
    if (!pid)
        return;
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    child_forget(pid);
}

static bool has_two_processors(void)
{
    cpu_set_t set;

    return !sched_getaffinity(0, sizeof set, &set) && CPU_COUNT(&set) > 1;
}

bool large_cases_run(Trial *trial, const int *chosen, int first, int last, LargeOutcome *outcome)
{
    Part part = {
        .trial = *trial, .draws = *trial->random, .chosen = chosen, .first = first, .last = last
    };
    bool right = true;
    pid_t helper;

    if (last - first < 2 || !has_two_processors())
        return true;
    part.shared =
        mmap(NULL, sizeof *part.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (part.shared == MAP_FAILED)
        return true;
    helper = start_helper(&part);
    run_part(&part);
    wait_for_helper(helper);
    for (int i = first; i < last; i++) {
        outcome[i] = part.shared->outcome[i];
        right &= outcome[i] != LARGE_UNKNOWN;
    }
    munmap(part.shared, sizeof *part.shared);
    return right;
}
