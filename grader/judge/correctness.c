/* correctness.c - checks correctness: runs every CORRECT case in a child process.
 *
 * The cases run in a random order, with one repeated, so that a kernel that is correct only on its
 * first calls is caught. Each case starts from fresh inputs and poisoned outputs. Afterwards the
 * guard zones, the inputs and every element of every output are checked.
 *
 * A simulated GPU also checks for races and uninitialised reads, and reports which access wrote
 * outside an array. It is a thousand times slower. Large cases therefore run without the race and
 * initialisation checks, and are skipped (with a note) if they take too many instructions. The
 * largest cases are left out, and some are only begun, as their rows in the lab's table say. On a
 * real GPU the small cases also run on the simulated one once all results are correct: this finds
 * races that did not show on the real GPU.
 */
#include "judge/large_cases.h"

#include <string.h>

static const Scope on_gpu = { .most = SIZE_MAX };
static const Scope on_simulated = { true, 36 << 20, 1 << 19, 50, 30 };
static const Scope after_gpu = { true, 1 << 18, 1 << 18, 20, 20 };

static void draw_order(int *order, int count, Draws *random)
{
    for (int i = 0; i < count; i++) {
        int j = (int) (draw(random, DRAW_ORDER) % (uint64_t) (i + 1));
        order[i] = order[j];
        order[j] = i;
    }
}

static bool is_large(const Trial *trial, const Case *row)
{
    const Case sized = trial_sized(trial, row);

    return trial_is_large(trial, &sized);
}

/* Chooses the cases and their order. Fully checked cases come first, so that a kernel with a
 * race gets UNSAFE rather than WRONG. The first case is repeated at the end. */
static int choose_cases(const Trial *trial, int *chosen)
{
    const Case *cases = trial->entry->lab->cases;
    int correct[MOST_CASES], order[MOST_CASES], count = 0, placed = 0;

    for (int i = 0; cases[i].label; i++) {
        Case lab_case = trial_sized(trial, &cases[i]);
        if (lab_case.kind == CORRECT && count < MOST_CASES &&
            trial_elements(trial, &lab_case) <= trial->scope->most)
            correct[count++] = i;
    }
    draw_order(order, count, trial->random);
    for (int large = 0; large <= 1; large++)
        for (int i = 0; i < count; i++)
            if (is_large(trial, &cases[correct[order[i]]]) == large)
                chosen[placed++] = correct[order[i]];
    if (count)
        chosen[placed++] = chosen[0];
    return placed;
}

static void report_cases(const Trial *trial)
{
    if (trial->scope != &after_gpu)
        session_event(trial->session, "event:cases right:%d wrong:%d skipped:%d of:%d",
                      trial->right, trial->wrong, trial->skipped, trial->all);
}

/* Counts case number `i`. The last one repeats the first. */
static void count_case(Trial *trial, int i, Verdict verdict, bool skipped)
{
    if (i < trial->all && skipped)
        trial->skipped++;
    else if (i < trial->all && verdict == PASS)
        trial->right++;
    else if (i < trial->all || verdict != PASS)
        trial->wrong++;
    report_cases(trial);
}

/* The wrong result to report. */
typedef struct WrongCase {
    char why[sizeof((Worker *) 0)->why];
    Diagnosis diagnosis;
    size_t elements;
    char printed[CHILD_PRINTED + 1];
    unsigned long long printed_bytes;
} WrongCase;

static WrongCase wrong_of(const Worker *worker)
{
    WrongCase wrong = { .diagnosis = worker->diagnosis,
                        .printed_bytes = worker->child.printed_bytes };

    PUT(wrong.why, "%s", worker->why);
    PUT(wrong.printed, "%s", worker->child.printed);
    return wrong;
}

static void restore_wrong(Worker *worker, const WrongCase *wrong)
{
    PUT(worker->why, "%s", wrong->why);
    worker->diagnosis = wrong->diagnosis;
}

/* The same, with what the worker's process had printed by then. */
static void restore_all(Worker *worker, const WrongCase *wrong)
{
    restore_wrong(worker, wrong);
    PUT(worker->child.printed, "%s", wrong->printed);
    worker->child.printed_bytes = wrong->printed_bytes;
}

/* A small case is easier to think through. But the pattern of wrong elements says more than the
 * size does, and a very small case may not show one. */
static void take_wrong(const Trial *trial, const Case *row, WrongCase *wrong)
{
    Case lab_case = trial_sized(trial, row);
    const size_t elements = trial_elements(trial, &lab_case);
    const Diagnosis *found = &trial->worker->diagnosis;
    const bool more_is_known = found->saw && !wrong->diagnosis.saw;

    if (*wrong->why && !more_is_known &&
        (elements >= wrong->elements || (!found->saw && wrong->diagnosis.saw)))
        return;
    PUT(wrong->why, "%s", trial->worker->why);
    wrong->diagnosis = *found;
    wrong->elements = elements;
}

/* Where the written elements end in wrong cases whose tail was never written. */
typedef struct WrittenPart {
    size_t elements;
    int cases;
    bool differs; /* from case to case, or something else is wrong */
} WrittenPart;

static void take_part(const Diagnosis *found, WrittenPart *part)
{
    const uint64_t unwritten_tail = SAW(SAW_TAIL) | SAW(SAW_UNWRITTEN);

    part->differs |= part->elements && part->elements != found->element;
    part->elements = found->element;
    part->cases += (found->saw & unwritten_tail) == unwritten_tail;
}

/* The same number of elements in cases of all sizes: that of one block. A grid that is rounded down
 * leaves out less than a block. */
static void append_part(const WrittenPart *part, char *why, size_t size)
{
    if (part->cases < 2 || part->differs || part->elements < 2)
        return;
    append(
        why, size,
        "; in every wrong case only the first %zu elements are written, so either only one block "
        "runs, or every block writes the same elements. Does the launch start enough blocks, "
        "and is blockIdx in the index?",
        part->elements);
}

/* Notes the outcome of row i for the student, who sees which cases are right. */
static void note_outcome(Trial *trial, int i, Verdict verdict)
{
    const uint64_t bit = i < 64 ? 1ull << i : 0;

    if (verdict == PASS)
        trial->right_cases |= bit;
    else
        trial->wrong_cases |= bit;
    trial->right_cases &= ~trial->wrong_cases; /* the repeated case may be wrong only once */
}

/* The fully checked row with the fewest elements, below `most` and not in `tried`; -1 if there is
 * none. */
static int smallest_row(const Trial *trial, uint64_t tried, size_t most)
{
    const Case *cases = trial->entry->lab->cases;
    int smallest = -1;

    for (int i = 0; i < MOST_CASES && cases[i].label; i++) {
        const Case lab_case = trial_sized(trial, &cases[i]);
        const size_t elements = trial_elements(trial, &lab_case);
        if (lab_case.kind == CORRECT && !(tried >> i & 1) && elements < most &&
            !trial_is_large(trial, &lab_case)) {
            smallest = i;
            most = elements;
        }
    }
    return smallest;
}

static bool is_unsafe(Verdict verdict)
{
    return verdict == UNSAFE || verdict == STRAY;
}

/* Runs a case as the first one of a new process. */
static Verdict run_first(Trial *trial, const Case *row)
{
    const Case lab_case = trial_sized(trial, row);
    Verdict verdict;

    worker_end(trial->worker);
    verdict = trial_start(trial);
    return verdict == PASS ? trial_run(trial, &lab_case) : verdict;
}

/* Runs the cases that are smaller than the unsafe row `failed` and have not run yet, from the
 * smallest, then `failed` itself, until one is unsafe: that one is described. So the random order
 * of the cases does not choose which fault a student reads about. Warps and blocks run forward:
 * a fault of the first thread is the easiest to understand. */
static Verdict describe_smallest(Trial *trial, int failed, Verdict verdict)
{
    const Case *cases = trial->entry->lab->cases;
    const Case first = trial_sized(trial, &cases[failed]);
    const size_t most = trial_elements(trial, &first);
    const WrongCase known = wrong_of(trial->worker);
    uint64_t tried = trial->right_cases | trial->wrong_cases | 1ull << failed;
    Verdict found = PASS;
    int row;

    trial->forward = true;
    do {
        row = smallest_row(trial, tried, most);
        tried |= row >= 0 ? 1ull << row : 0;
        found = run_first(trial, &cases[row >= 0 ? row : failed]);
    } while (row >= 0 && found != TIMEOUT && !is_unsafe(found));
    trial->forward = false;
    if (is_unsafe(found))
        return found;
    restore_all(trial->worker, &known);
    return verdict;
}

/* On a simulated GPU a crash does not stop the run either, as long as fully checked cases remain:
 * the random order must choose neither the verdict nor the case that is described. The next case
 * needs a new process. Returns false if there is none. */
static bool take_crash(Trial *trial, const Case *row, WrongCase *crash)
{
    const Case sized = trial_sized(trial, row);
    const size_t elements = trial_elements(trial, &sized);

    if (!*crash->why || elements < crash->elements) {
        worker_end(trial->worker); /* takes the rest of what was printed */
        *crash = wrong_of(trial->worker);
        crash->elements = elements;
    }
    worker_end(trial->worker);
    return trial_start(trial) == PASS;
}

/* On a real GPU further cases after a wrong one are run for this time. */
static const double after_wrong_s = 2;

/* The large cases, from chosen[i] on. The last case repeats the first one. */
static bool run_large(Trial *trial, const int *chosen, int i, LargeOutcome *known)
{
    if (!trial->two_at_a_time || !i)
        return true;
    session_say(trial->session, "%02d %s: checking correctness, large cases",
                lab_number(trial->entry), lab_name(trial->entry));
    return large_cases_run(trial, chosen, i, trial->all, known);
}

/* Each case uses its draw of contents. A case that another process ran is replaced by a repetition
 * of the first case, so that a kernel that is right on its first calls only is caught as if all
 * cases ran in one process. */
static Verdict run_in_turn(Trial *trial, const int *chosen, int i, LargeOutcome known,
                           bool *skipped)
{
    const Case *row = &trial->entry->lab->cases[chosen[i]];
    Case first;

    *skipped = known == LARGE_SKIPPED;
    if (known == LARGE_UNKNOWN)
        return trial_run_or_give_up(trial, row, skipped);
    if (known == LARGE_RIGHT_ELSEWHERE) {
        first = trial_sized(trial, &trial->entry->lab->cases[chosen[0]]);
        return trial_run(trial, &first);
    }
    draw(trial->random, DRAW_CONTENTS);
    if (*skipped)
        trial_note_skipped(trial, row);
    return PASS;
}

/* Runs all cases in chosen[]. A wrong result does not stop the run while fully checked cases
 * remain: if the kernel is unsafe, the smallest unsafe case is reported; else, if it crashes, the
 * smallest crash; else the smallest wrong case. Sets *again if the large cases ran in two processes
 * and something was wrong: then the result counts for nothing. */
static Verdict run_cases(Trial *trial, bool *again)
{
    const Case *cases = trial->entry->lab->cases;
    int chosen[MOST_CASES + 1], count = choose_cases(trial, chosen);
    LargeOutcome known[MOST_CASES + 1] = { LARGE_UNKNOWN };
    static WrongCase wrong, crash;
    WrittenPart part = { 0 };
    double first_wrong_s = 0;
    bool reached_large = false;

    wrong = crash = (WrongCase){ 0 };
    trial->all = count > 0 ? count - 1 : 0;
    report_cases(trial);
    for (int i = 0; i < count; i++) {
        Verdict verdict;
        bool skipped;
        if ((*wrong.why || *crash.why) && is_large(trial, &cases[chosen[i]]))
            break;
        if (*wrong.why && !trial->scope->simulated && now_s() - first_wrong_s > after_wrong_s)
            break;
        if (!reached_large && is_large(trial, &cases[chosen[i]])) {
            reached_large = true;
            if ((*again = !run_large(trial, chosen, i, known)))
                return PASS;
        }
        session_say(trial->session, "%02d %s: checking correctness, %d of %d",
                    lab_number(trial->entry), lab_name(trial->entry), i + 1, count);
        verdict = run_in_turn(trial, chosen, i, known[i], &skipped);
        if (verdict != PASS && reached_large && trial->two_at_a_time) {
            *again = true;
            return PASS;
        }
        count_case(trial, i, verdict, skipped);
        if (!skipped)
            note_outcome(trial, chosen[i], verdict);
        if (verdict == WRONG) {
            first_wrong_s = *wrong.why ? first_wrong_s : now_s();
            take_wrong(trial, &cases[chosen[i]], &wrong);
            take_part(&trial->worker->diagnosis, &part);
        } else if (trial->scope->simulated && is_unsafe(verdict) &&
                   !(verdict == STRAY && *wrong.why))
            return describe_smallest(trial, chosen[i], verdict);
        else if (trial->scope->simulated && verdict == CRASH) {
            if (!take_crash(trial, &cases[chosen[i]], &crash))
                break;
        } else if (verdict == UNSAFE || (verdict != PASS && !*wrong.why))
            return verdict;
        else if (verdict != PASS)
            break;
    }
    if (*crash.why) {
        worker_end(trial->worker);
        restore_all(trial->worker, &crash);
        return CRASH;
    }
    if (!*wrong.why)
        return PASS;
    restore_wrong(trial->worker, &wrong);
    append_part(&part, trial->worker->why, sizeof trial->worker->why);
    return WRONG;
}

/* A wrong case that is right in a new process, as the first call there, shows that the kernel's
 * code keeps something from one call to the next. */
static void run_alone(Trial *trial)
{
    Worker *worker = trial->worker;
    const Diagnosis diagnosis = worker->diagnosis;
    char why[sizeof worker->why];
    Verdict verdict;

    PUT(why, "%s", worker->why);
    verdict = run_first(trial, diagnosis.lab_case);
    PUT(worker->why, "%s", why);
    worker->diagnosis = diagnosis;
    if (verdict != PASS)
        return;
    worker->diagnosis.saw |= SAW(SAW_FIRST_CALL);
    APPEND(
        worker->why,
        "; the same case is right as a first call, so your code keeps something from one call to "
        "the next");
}

static Verdict run_all(Trial *trial, bool *again)
{
    Verdict verdict = trial_start(trial);

    return verdict == PASS ? run_cases(trial, again) : verdict;
}

/* Runs all cases in a new runner, at first the large ones in two. If something is wrong there, runs
 * them again, one after the other, with the same draws. */
static Verdict run_object(Trial *trial)
{
    const Trial before = *trial;
    const Draws draws = *trial->random;
    bool again = false;
    Verdict verdict = run_all(trial, &again);

    if (again) {
        worker_end(trial->worker);
        *trial = before;
        *trial->random = draws;
        trial->two_at_a_time = false;
        verdict = run_all(trial, &again);
    }
    if (verdict == WRONG && trial->worker->diagnosis.lab_case)
        run_alone(trial);
    return verdict;
}

static void add_note(Result *result, const char *before, const char *text)
{
    APPEND(result->note, "%s%s%s", *result->note ? ". " : "", before, text);
}

/* Finds errors that a real GPU may hide. Any other failure on the simulated GPU is no evidence
 * against a kernel that was right on the real one, and is only noted. */
static void check_by_simulation(Session *session, const char *object, Result *result, Draws *random)
{
    Worker worker = { 0 };
    Trial trial = { .session = session,
                    .worker = &worker,
                    .entry = result->entry,
                    .object = object,
                    .scope = &after_gpu,
                    .random = random };
    char reason[1200];
    Verdict verdict;

    if (!file_exists(session->book.sim_runner))
        return;
    verdict = run_object(&trial);
    worker_end(&worker);
    worker_reason(&worker, reason, sizeof reason);
    if (verdict == UNSAFE || verdict == STRAY) {
        result->verdict = verdict;
        PUT(result->why, "seen on the simulated GPU: %s", reason);
        result->diagnosis = worker.diagnosis;
    } else if (verdict != PASS)
        add_note(result,
                 "not checked for races, because the run on the simulated GPU failed: ", reason);
}

/* The runner's own line, which explains a signal, was not printed by the student's code. */
static void drop_runners_line(char *text)
{
    static const char words[] = "host code accessed an address in GPU memory";
    char *line = strstr(text, words);

    if (line)
        memmove(line, line + strcspn(line, "\n") + (strchr(line, '\n') != NULL),
                strlen(line + strcspn(line, "\n") + (strchr(line, '\n') != NULL)) + 1);
}

static void note_printed(const Child *child, Result *result)
{
    enum { SHOWN = 500 };

    PUT(result->printed, "%.*s", SHOWN, child->printed);
    drop_runners_line(result->printed);
    if (strlen(result->printed) == SHOWN)
        APPEND(result->printed, " ... (%llu bytes in total)", child->printed_bytes);
}

void judge_correctness(Session *session, const char *object, Result *result, Draws *random)
{
    bool simulated = *session->simulated;
    Worker worker = { 0 };
    Trial trial = { .session = session,
                    .worker = &worker,
                    .entry = result->entry,
                    .object = object,
                    .scope = simulated ? &on_simulated : &on_gpu,
                    .random = random,
                    .two_at_a_time = simulated && session->two_at_a_time };
    Verdict verdict = run_object(&trial);

    PUT(result->sandbox, "%s", worker.sandbox);
    PUT(result->isolation, "%s", worker.isolation);
    if (verdict == PASS)
        session_prestart(session);
    worker_end(&worker);
    note_printed(&worker.child, result);
    result->verdict = verdict;
    result->right_cases = trial.right_cases;
    result->wrong_cases = trial.wrong_cases;
    if (verdict != PASS) {
        worker_reason(&worker, result->why, sizeof result->why);
        result->diagnosis = worker.diagnosis;
    } else if (!simulated)
        check_by_simulation(session, object, result, random);
    if (*trial.given_up)
        add_note(result, "Skipped, too large to simulate: ", trial.given_up);
}
