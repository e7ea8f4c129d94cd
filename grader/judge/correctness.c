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
#include "judge/grade.h"
#include "judge/outputs.h"

#include <string.h>

/* A kernel that resembles the lab's needs only a fraction of this time for any case. The
 * simulated GPU also has limits in instructions, which are the same on every machine. */
static const double case_limit_s = 10, large_limit_s = 8;

static void draw_order(int *order, int count, Draws *random)
{
    for (int i = 0; i < count; i++) {
        int j = (int) (draw(random, DRAW_ORDER) % (uint64_t) (i + 1));
        order[i] = order[j];
        order[j] = i;
    }
}

/* Limit of warp instructions per element for a case with very many elements: a tree in shared
 * memory needs 3.4 to add up 2^24 + 1 elements. */
static const double instructions_an_element = 3.5;

/* Limit for a case that is only begun: an impossible launch is refused before its first
 * instruction. */
static const int begun_millions = 1;

/* Which cases run, and how, by the total number of elements in their arrays. */
typedef struct Scope {
    bool simulated;
    size_t most, large; /* cases above `most` are left out; cases above `large` are large */
    int small_millions, large_millions; /* limit of warp instructions per launch, at least this */
} Scope;

static const Scope on_gpu = { .most = SIZE_MAX };
static const Scope on_simulated = { true, 36 << 20, 1 << 19, 50, 30 };
static const Scope after_gpu = { true, 1 << 18, 1 << 18, 20, 20 };

/* The cases of one submission in one worker. */
typedef struct Trial {
    Session *session;
    Worker *worker;
    const LabEntry *entry;
    const char *object;
    const Scope *scope;
    Draws *random;
    char given_up[200];             /* labels of large cases that exceeded their limit */
    int right, wrong, skipped, all; /* cases; the repeated one counts once */
    uint64_t right_cases,
        wrong_cases; /* bit i: row i of lab.cases was checked, with this outcome */
} Trial;

static size_t elements(const Array *arrays, int count)
{
    size_t sum = 0;

    for (int i = 0; i < count; i++)
        sum += arrays[i].rows * arrays[i].cols;
    return sum;
}

static size_t case_elements(const Lab *lab, const Case *lab_case)
{
    Arrays arrays = { 0 };

    lab->shape(lab_case, &arrays);
    return elements(arrays.in, LAB_IN) + elements(arrays.out, LAB_OUT) +
           elements(&arrays.scratch, 1);
}

/* A row of the lab's table, with the dims for this worker's GPU. */
static Case sized(const Trial *trial, const Case *row)
{
    Case lab_case = *row;

    if (row->size)
        row->size(lab_case.dim, &trial->worker->gpu.gpu, 1);
    return lab_case;
}

/* The limit for a launch on the simulated GPU, in millions of warp instructions. */
static int most_millions(const Trial *trial, const Case *lab_case, bool large)
{
    const double elements = (double) case_elements(trial->entry->lab, lab_case);
    const int millions = (int) (elements * instructions_an_element * 1e-6);

    if (lab_case->only_begun)
        return begun_millions;
    if (!large)
        return trial->scope->small_millions;
    return millions > trial->scope->large_millions ? millions : trial->scope->large_millions;
}

static Verdict run_case(const Trial *trial, const Case *lab_case, bool large)
{
    const Scope *scope = trial->scope;
    Worker *worker = trial->worker;
    Timing timing;
    Verdict verdict = PASS;

    if (scope->simulated)
        verdict = worker_checks(worker, !large, most_millions(trial, lab_case, large));
    if (verdict != PASS)
        return verdict;
    verdict = worker_once(worker, lab_case, draw(trial->random, DRAW_CONTENTS),
                          large ? large_limit_s : case_limit_s, &timing);
    return verdict == PASS ? outputs_check(worker, 0, trial->random) : verdict;
}

static Verdict bring_up(Trial *trial)
{
    const Setup setup = { .on_simulated = trial->scope->simulated };

    return session_load(trial->session, trial->entry, trial->object, &setup, trial->worker);
}

/* A large case exceeded its limit on a simulated GPU, which is no evidence against the kernel.
 * The launch was killed half-way, so the remaining cases need a new process. */
static Verdict give_up(Trial *trial, const Case *lab_case)
{
    if (!lab_case->only_begun)
        APPEND(trial->given_up, "%s%s", *trial->given_up ? "; " : "", lab_case->label);
    worker_end(trial->worker);
    return bring_up(trial);
}

static bool is_large_sized(const Trial *trial, const Case *lab_case)
{
    return trial->scope->simulated &&
           case_elements(trial->entry->lab, lab_case) > trial->scope->large;
}

static bool is_large(const Trial *trial, const Case *row)
{
    Case lab_case = sized(trial, row);

    return is_large_sized(trial, &lab_case);
}

static Verdict run_or_give_up(Trial *trial, const Case *row, bool *skipped)
{
    Case lab_case = sized(trial, row);
    bool large = is_large_sized(trial, &lab_case);
    Verdict verdict = run_case(trial, &lab_case, large);

    *skipped = verdict == TIMEOUT && large;
    return *skipped ? give_up(trial, row) : verdict;
}

enum { MOST_CASES = 64 };

/* Chooses the cases and their order. Fully checked cases come first, so that a kernel with a
 * race gets UNSAFE rather than WRONG. The first case is repeated at the end. */
static int choose_cases(const Trial *trial, int *chosen)
{
    const Case *cases = trial->entry->lab->cases;
    int correct[MOST_CASES], order[MOST_CASES], count = 0, placed = 0;

    for (int i = 0; cases[i].label; i++) {
        Case lab_case = sized(trial, &cases[i]);
        if (lab_case.kind == CORRECT && count < MOST_CASES &&
            case_elements(trial->entry->lab, &lab_case) <= trial->scope->most)
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
} WrongCase;

static WrongCase wrong_of(const Worker *worker)
{
    WrongCase wrong = { .diagnosis = worker->diagnosis };

    PUT(wrong.why, "%s", worker->why);
    return wrong;
}

static void restore_wrong(Worker *worker, const WrongCase *wrong)
{
    PUT(worker->why, "%s", wrong->why);
    worker->diagnosis = wrong->diagnosis;
}

/* A small case is easier to think through. But the pattern of wrong elements says more than the
 * size does, and a very small case may not show one. */
static void take_wrong(const Trial *trial, const Case *row, WrongCase *wrong)
{
    Case lab_case = sized(trial, row);
    const size_t elements = case_elements(trial->entry->lab, &lab_case);
    const Diagnosis *found = &trial->worker->diagnosis;
    const bool more_is_known = found->saw && !wrong->diagnosis.saw;

    if (*wrong->why && !more_is_known &&
        (elements >= wrong->elements || (!found->saw && wrong->diagnosis.saw)))
        return;
    PUT(wrong->why, "%s", trial->worker->why);
    wrong->diagnosis = *found;
    wrong->elements = elements;
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
        const Case lab_case = sized(trial, &cases[i]);
        const size_t elements = case_elements(trial->entry->lab, &lab_case);
        if (lab_case.kind == CORRECT && !(tried >> i & 1) && elements < most &&
            !is_large_sized(trial, &lab_case)) {
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

/* Runs the cases that are smaller than the unsafe row `failed` and have not run yet, from the
 * smallest, until one is unsafe: that one is described. So the random order of the cases does not
 * choose which fault a student reads about. */
static Verdict describe_smallest(Trial *trial, int failed, Verdict verdict)
{
    const Case *cases = trial->entry->lab->cases;
    const Case first = sized(trial, &cases[failed]);
    const size_t most = case_elements(trial->entry->lab, &first);
    const WrongCase known = wrong_of(trial->worker);
    static Child child; /* for what it printed */
    uint64_t tried = trial->right_cases | trial->wrong_cases;
    Verdict found = PASS;

    child = trial->worker->child;
    for (int row; found != TIMEOUT && (row = smallest_row(trial, tried, most)) >= 0;) {
        const Case lab_case = sized(trial, &cases[row]);
        tried |= 1ull << row;
        worker_end(trial->worker);
        found = bring_up(trial);
        if (found != PASS)
            break;
        found = run_case(trial, &lab_case, is_large_sized(trial, &lab_case));
        if (is_unsafe(found))
            return found;
    }
    restore_wrong(trial->worker, &known);
    PUT(trial->worker->child.printed, "%s", child.printed);
    trial->worker->child.printed_bytes = child.printed_bytes;
    return verdict;
}

/* On a real GPU further cases after a wrong one are run for this time. */
static const double after_wrong_s = 2;

/* Runs all cases in chosen[]. A wrong result does not stop the run while fully checked cases
 * remain: if the kernel is unsafe, the smallest unsafe case is reported, and otherwise the smallest
 * wrong case is. */
static Verdict run_cases(Trial *trial)
{
    const Case *cases = trial->entry->lab->cases;
    int chosen[MOST_CASES + 1], count = choose_cases(trial, chosen);
    static WrongCase wrong;
    double first_wrong_s = 0;

    wrong = (WrongCase){ 0 };
    trial->all = count > 0 ? count - 1 : 0;
    report_cases(trial);
    for (int i = 0; i < count && !(*wrong.why && is_large(trial, &cases[chosen[i]])); i++) {
        Verdict verdict;
        bool skipped;
        if (*wrong.why && !trial->scope->simulated && now_s() - first_wrong_s > after_wrong_s)
            break;
        session_say(trial->session, "%02d %s: checking correctness, %d of %d",
                    lab_number(trial->entry), lab_name(trial->entry), i + 1, count);
        verdict = run_or_give_up(trial, &cases[chosen[i]], &skipped);
        count_case(trial, i, verdict, skipped);
        if (!skipped)
            note_outcome(trial, chosen[i], verdict);
        if (verdict == WRONG) {
            first_wrong_s = *wrong.why ? first_wrong_s : now_s();
            take_wrong(trial, &cases[chosen[i]], &wrong);
        } else if (trial->scope->simulated && is_unsafe(verdict) &&
                   !(verdict == STRAY && *wrong.why))
            return describe_smallest(trial, chosen[i], verdict);
        else if (verdict == UNSAFE || (verdict != PASS && !*wrong.why))
            return verdict;
        else if (verdict != PASS)
            break;
    }
    if (!*wrong.why)
        return PASS;
    restore_wrong(trial->worker, &wrong);
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
    worker_end(worker);
    verdict = bring_up(trial);
    if (verdict == PASS) {
        Case lab_case = sized(trial, diagnosis.lab_case);
        verdict = run_case(trial, &lab_case, is_large_sized(trial, &lab_case));
    }
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

/* Runs all cases in a new runner. */
static Verdict run_object(Trial *trial)
{
    Verdict verdict = bring_up(trial);

    if (verdict == PASS)
        verdict = run_cases(trial);
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

static void note_printed(const Child *child, Result *result)
{
    enum { SHOWN = 500 };

    PUT(result->printed, "%.*s", SHOWN, child->printed);
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
                    .random = random };
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
