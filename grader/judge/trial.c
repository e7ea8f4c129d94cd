/* trial.c - runs the cases of one submission in one worker. */
#include "judge/trial.h"
#include "judge/outputs.h"

/* A kernel that resembles the lab's needs only a fraction of this time for any case. The
 * simulated GPU also has limits in instructions, which are the same on every machine. */
static const double case_limit_s = 10, large_limit_s = 8;

/* Limit of warp instructions per element for a case with very many elements: a tree in shared
 * memory needs 3.4 to add up 2^24 + 1 elements. */
static const double instructions_an_element = 3.5;

/* Limit for a case that is only begun: an impossible launch is refused before its first
 * instruction. */
static const int begun_millions = 1;

static size_t elements(const Array *arrays, int count)
{
    size_t sum = 0;

    for (int i = 0; i < count; i++)
        sum += arrays[i].rows * arrays[i].cols;
    return sum;
}

size_t trial_elements(const Trial *trial, const Case *sized)
{
    Arrays arrays = { 0 };

    trial->entry->lab->shape(sized, &arrays);
    return elements(arrays.in, LAB_IN) + elements(arrays.out, LAB_OUT) +
           elements(&arrays.scratch, 1);
}

Case trial_sized(const Trial *trial, const Case *row)
{
    Case lab_case = *row;

    if (row->size)
        row->size(lab_case.dim, &trial->worker->gpu.gpu, 1);
    return lab_case;
}

bool trial_is_large(const Trial *trial, const Case *sized)
{
    return trial->scope->simulated && trial_elements(trial, sized) > trial->scope->large;
}

/* The limit for a launch on the simulated GPU, in millions of warp instructions. */
static int most_millions(const Trial *trial, const Case *lab_case, bool large)
{
    const double elements = (double) trial_elements(trial, lab_case);
    const int millions = (int) (elements * instructions_an_element * 1e-6);

    if (lab_case->only_begun)
        return begun_millions;
    if (!large)
        return trial->scope->small_millions;
    return millions > trial->scope->large_millions ? millions : trial->scope->large_millions;
}

/* The order in which a case's warps and blocks run on a simulated GPU, as worker_checks() takes it:
 * backward in every other row of the lab's table, else random. A kernel can depend on the usual
 * order without a race, for example by atomics; only the timed cases run in that order. A case that
 * runs again gets the same order, whichever process runs it. */
static int order_of(const Trial *trial, const Case *sized)
{
    const Case *cases = trial->entry->lab->cases;
    int row = 0;

    if (trial->forward)
        return 0;
    while (cases[row].label && cases[row].label != sized->label)
        row++;
    return row + 2;
}

Verdict trial_run(const Trial *trial, const Case *sized)
{
    const bool large = trial_is_large(trial, sized);
    Worker *worker = trial->worker;
    Timing timing;
    Verdict verdict = PASS;

    if (trial->scope->simulated)
        verdict = worker_checks(worker, !large, order_of(trial, sized),
                                most_millions(trial, sized, large));
    if (verdict != PASS)
        return verdict;
    verdict = worker_once(worker, sized, draw(trial->random, DRAW_CONTENTS),
                          large ? large_limit_s : case_limit_s, &timing);
    return verdict == PASS ? outputs_check(worker, 0, trial->random) : verdict;
}

Verdict trial_start(Trial *trial)
{
    const Setup setup = { .on_simulated = trial->scope->simulated };

    return session_load(trial->session, trial->entry, trial->object, &setup, trial->worker);
}

void trial_note_skipped(Trial *trial, const Case *row)
{
    if (!row->only_begun)
        APPEND(trial->given_up, "%s%s", *trial->given_up ? "; " : "", row->label);
}

/* A large case exceeded its limit on a simulated GPU, which is no evidence against the kernel.
 * The launch was killed half-way, so the remaining cases need a new process. */
static Verdict give_up(Trial *trial, const Case *row)
{
    trial_note_skipped(trial, row);
    worker_end(trial->worker);
    return trial_start(trial);
}

Verdict trial_run_or_give_up(Trial *trial, const Case *row, bool *skipped)
{
    Case lab_case = trial_sized(trial, row);
    Verdict verdict = trial_run(trial, &lab_case);

    *skipped = verdict == TIMEOUT && trial_is_large(trial, &lab_case);
    return *skipped ? give_up(trial, row) : verdict;
}
