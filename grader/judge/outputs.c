/* outputs.c - compares the outputs that a runner holds with the lab's expected values.
 *
 * Outputs arrive in windows through the shared memory and are copied once before they are
 * compared. Several threads compare a large output, or the lab's own test does where there is
 * one.
 */
#include "judge/outputs.h"
#include "judge/compare.h"
#include "runner/protocol.h"
#include "judge/message.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static Inputs inputs_of(const Worker *worker, int set)
{
    return (Inputs){ &worker->arrays, set_seed(worker->seed, set) };
}

/* `how` describes the pattern of the errors in a whole array, and `saw` has its codes; or "" and
 * 0. */
static void say_wrong(Worker *worker, int out, const Difference *d, const char *how, uint64_t saw)
{
    const Array *array = &worker->arrays.out[out];

    if (!saw && d->unwritten == d->wrong)
        saw = SAW(SAW_UNWRITTEN);
    /* The poison is NaN for floats, so a NaN in memory that was never written is not the kernel's.
     */
    if (d->got != d->got && !(saw & SAW(SAW_UNWRITTEN)))
        saw |= SAW(SAW_NOT_FINITE);
    worker->diagnosis = (Diagnosis){ .saw = saw,
                                     .lab_case = worker->row,
                                     .element = d->first,
                                     .wrong = d->wrong,
                                     .compared = d->compared,
                                     .got = d->got,
                                     .want = d->want };
    PUT(worker->diagnosis.array, "%.15s", array->name ? array->name : "out");
    message_wrong(&worker->diagnosis, array, how, worker->why, sizeof worker->why);
}

enum { WINDOWS = 4, WINDOW = 1024 };

static size_t window_of(const Lab *lab)
{
    return lab->window ? (size_t) lab->window : WINDOW;
}

/* ---- Comparing on several cores: one core takes half a second for 10^8 elements ---- */

enum { THREADS = 16, LEAST_WINDOWS_A_THREAD = 64, STEP = 1 << 14 };

/* The number of threads for `count` items, if each thread should get at least `least`. */
static int threads_for(size_t count, size_t least)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t most = count / least;
    int threads = cores < 1 ? 1 : cores > THREADS ? THREADS : (int) cores;

    return (size_t) threads <= most ? threads : most ? (int) most : 1;
}

/* Calls work() for each of `count` (at most THREADS) items of `size` bytes, and waits for all. */
static void in_parallel(void *(*work)(void *), void *items, size_t size, int count)
{
    pthread_t thread[THREADS];
    bool started[THREADS] = { false };

    for (int i = 0; i < count; i++) {
        void *item = (char *) items + (size_t) i * size;
        started[i] = i + 1 < count && !pthread_create(&thread[i], NULL, work, item);
        if (!started[i])
            work(item);
    }
    for (int i = 0; i < count; i++)
        if (started[i])
            pthread_join(thread[i], NULL);
}

/* A control case does not affect the verdict. If it has more operations or more output elements
 * than this, only some elements are compared, because comparing all would take longer than running
 * the kernel. */
static const double operations_looked_at = 1e10, elements_looked_at = 1 << 24;

static double output_elements(const Lab *lab, const Case *c)
{
    Arrays arrays = { 0 };
    double elements = 0;

    lab->shape(c, &arrays);
    for (int out = 0; out < LAB_OUT; out++)
        elements += (double) arrays.out[out].rows * (double) arrays.out[out].cols;
    return elements;
}

size_t outputs_one_in(const Lab *lab, const Case *c)
{
    double operations = lab->work ? lab->work(c).flops : 0, parts;

    if (c->kind != CONTROL)
        return 1;
    parts =
        ceil(fmax(operations / operations_looked_at, output_elements(lab, c) / elements_looked_at));
    return (size_t) fmin(fmax(parts, 1), STEP);
}

typedef struct Slice {
    const Worker *worker;
    const Inputs *inputs;
    int out;
    size_t one_in;   /* 1/one_in of each STEP is compared, in one piece, */
    uint64_t random; /* at a place drawn at random from this */
    size_t first, count;
    const char *from; /* in the shared memory; each thread copies its part once */
    char *got, *want;
    double *error; /* NULL: not kept */
    Difference difference;
} Slice;

static void *compare_slice(void *argument)
{
    Slice *s = argument;
    const Worker *w = s->worker;
    const Lab *lab = w->entry->lab;
    Type type = w->arrays.out[s->out].type;
    double *own = s->error ? NULL : xmalloc(STEP * sizeof *own);

    memcpy(s->got, s->from, s->count * type_bytes(type));
    for (size_t step = 0; step < s->count; step += STEP) {
        size_t there = s->count - step < STEP ? s->count - step : STEP;
        size_t count = (there - 1) / s->one_in + 1;
        size_t at = step + next_random(&s->random) % (there - count + 1);
        size_t byte = at * type_bytes(type);
        double *error = own ? memset(own, 0, STEP * sizeof *own) : s->error + at;
        lab->truth(&w->lab_case, s->inputs, s->out, s->first + at, count, s->want + byte, error);
        compare(&s->difference, type, s->got + byte, s->want + byte, error, s->first + at, count,
                w->poison);
    }
    free(own);
    return NULL;
}

/* Adds the differences in elements that follow all those in `sum`. */
static void add_difference(Difference *sum, const Difference *part)
{
    Difference before = *sum;

    if (!sum->wrong)
        *sum = *part;
    else if (part->wrong)
        sum->last = part->last;
    sum->poison = part->poison;
    sum->compared = before.compared + part->compared;
    sum->wrong = before.wrong + part->wrong;
    sum->unwritten = before.unwritten + part->unwritten;
    sum->zeros = before.zeros + part->zeros;
}

/* Copies the shared memory into `got`, and compares it with the expected values. */
static void compare_by_threads(const Worker *worker, const Inputs *inputs, int out, size_t first,
                               size_t count, char *got, char *want, double *error, size_t one_in,
                               uint64_t random, Difference *difference)
{
    size_t width = type_bytes(worker->arrays.out[out].type), done = 0;
    int slices = threads_for(count, LEAST_WINDOWS_A_THREAD * window_of(worker->entry->lab));
    Slice slice[THREADS];

    for (int i = 0; i < slices; i++) {
        size_t part = (count - done) / (size_t) (slices - i);
        slice[i] = (Slice){ .worker = worker,
                            .inputs = inputs,
                            .out = out,
                            .one_in = one_in,
                            .random = random + first + done,
                            .first = first + done,
                            .count = part,
                            .from = (const char *) worker->child.shared + done * width,
                            .got = got + done * width,
                            .want = want + done * width,
                            .error = error ? error + done : NULL };
        done += part;
    }
    in_parallel(compare_slice, slice, sizeof *slice, slices);
    for (int i = 0; i < slices; i++)
        add_difference(difference, &slice[i].difference);
}

/* ---- Whole arrays ---- */

/* Whole arrays up to this size are kept, to search the wrong elements for a pattern. */
enum { PATTERN_BYTES = 160 << 20 };

/* A lab's own test, if there is one, checks outputs with more elements than this. */
enum { CHECKED_BY_TRUTH = 1 << 20 };

/* Checks a large output with the lab's own test. Only the range that it rejects is compared
 * element by element. */
static Verdict check_by_lab(Worker *worker, int set, int out)
{
    const Array *array = &worker->arrays.out[out];
    const Lab *lab = worker->entry->lab;
    size_t count = array->rows * array->cols, width = type_bytes(array->type), bad, bad_count;
    size_t step = WORKER_WINDOW_BYTES / width;
    Inputs inputs = inputs_of(worker, set);
    Verdict verdict = PASS;
    char *got = xmalloc(count * width);

    for (size_t first = 0; first < count && verdict == PASS; first += step) {
        size_t part = count - first < step ? count - first : step;
        verdict = worker_fetch(worker, set, out, first, part);
        if (verdict == PASS)
            memcpy(got + first * width, worker->child.shared, part * width);
    }
    if (verdict == PASS && !lab->check(&worker->lab_case, &inputs, out, got, &bad, &bad_count)) {
        char *want = xmalloc(bad_count * width);
        double *error = xcalloc(bad_count, sizeof *error);
        Difference difference = { 0 };
        lab->truth(&worker->lab_case, &inputs, out, bad, bad_count, want, error);
        compare(&difference, array->type, got + bad * width, want, error, bad, bad_count,
                worker->poison);
        say_wrong(worker, out, &difference, "", 0);
        verdict = WRONG;
        free(want);
        free(error);
    }
    free(got);
    return verdict;
}

static Verdict check_array(Worker *worker, int set, int out, Draws *random)
{
    const Array *array = &worker->arrays.out[out];
    size_t count = array->rows * array->cols, width = type_bytes(array->type);
    size_t step = WORKER_WINDOW_BYTES / width;
    size_t one_in = outputs_one_in(worker->entry->lab, &worker->lab_case);
    uint64_t places = one_in > 1 ? draw(random, DRAW_PLACES) : 0;
    bool keep = count * width <= PATTERN_BYTES && one_in == 1;
    Inputs inputs = inputs_of(worker, set);
    Difference difference = { 0 };
    Verdict verdict = PASS;
    char *got, *want;
    double *error;

    if (!count)
        return PASS;
    got = xmalloc((keep ? count : step) * width);
    want = xmalloc((keep ? count : step) * width);
    /* Pages of zeros take no memory until they are written. */
    error = keep ? xcalloc(count, sizeof *error) : NULL;
    for (size_t first = 0; first < count && verdict == PASS; first += step) {
        size_t part = count - first < step ? count - first : step;
        size_t at = keep ? first * width : 0;
        verdict = worker_fetch(worker, set, out, first, part);
        if (verdict != PASS)
            break;
        compare_by_threads(worker, &inputs, out, first, part, got + at, want + at,
                           keep ? error + at / width : NULL, one_in, places, &difference);
    }
    if (verdict == PASS && difference.wrong) {
        uint64_t saw = 0;
        const char *how = keep ? pattern(&difference, &inputs, out, got, want, error, &saw) : "";
        say_wrong(worker, out, &difference, how, saw);
        verdict = WRONG;
    }
    free(got);
    free(want);
    free(error);
    return verdict;
}

Verdict outputs_check(Worker *worker, int set, Draws *random)
{
    Verdict verdict = worker_check_guards(worker);

    for (int out = 0; out < LAB_OUT && verdict == PASS; out++) {
        const Array *array = &worker->arrays.out[out];
        bool by_lab = worker->entry->lab->check && array->rows * array->cols > CHECKED_BY_TRUTH;
        verdict = by_lab ? check_by_lab(worker, set, out) : check_array(worker, set, out, random);
    }
    return verdict;
}

/* ---- Some windows ---- */

/* `count` elements from `first` of an output of one set. */
typedef struct Window {
    const Worker *worker;
    int set, out;
    size_t first, count;
    const char *got;
    Difference difference;
} Window;

static void compare_window(Window *w)
{
    const Lab *lab = w->worker->entry->lab;
    Inputs inputs = inputs_of(w->worker, w->set);
    Type type = w->worker->arrays.out[w->out].type;
    void *want = xmalloc(w->count * type_bytes(type));
    double *error = xcalloc(w->count, sizeof *error);

    lab->truth(&w->worker->lab_case, &inputs, w->out, w->first, w->count, want, error);
    compare(&w->difference, type, w->got, want, error, w->first, w->count, w->worker->poison);
    free(want);
    free(error);
}

/* Copied once, because the child could still change the shared memory. */
static Verdict fetch_window(Worker *worker, const Window *w, char *to)
{
    Verdict verdict = worker_fetch(worker, w->set, w->out, w->first, w->count);

    if (verdict == PASS)
        memcpy(to, worker->child.shared, w->count * type_bytes(worker->arrays.out[w->out].type));
    return verdict;
}

static Verdict judge_window(Worker *worker, const Window *w)
{
    if (!w->difference.wrong)
        return PASS;
    say_wrong(worker, w->out, &w->difference, "", 0);
    return WRONG;
}

static Verdict check_window(Worker *worker, int set, int out, size_t first, size_t count)
{
    char *got = xmalloc(count * type_bytes(worker->arrays.out[out].type));
    Window w = {
        .worker = worker, .set = set, .out = out, .first = first, .count = count, .got = got
    };
    Verdict verdict = fetch_window(worker, &w, got);

    if (verdict == PASS) {
        compare_window(&w);
        verdict = judge_window(worker, &w);
    }
    free(got);
    return verdict;
}

/* The windows of one thread, one per set. */
typedef struct Share {
    Window *windows;
    int count;
} Share;

static void *compare_share(void *argument)
{
    Share *share = argument;

    for (int i = 0; i < share->count; i++)
        compare_window(&share->windows[i]);
    return NULL;
}

/* A small output is checked completely after every call. Threads share the work, because the
 * expected values may be expensive: a sum, for example. */
static Verdict check_small(Worker *worker, int calls, int out, size_t count)
{
    size_t bytes = count * type_bytes(worker->arrays.out[out].type);
    char *got = xmalloc((size_t) calls * bytes);
    Window window[SERVE_SETS] = { 0 };
    Share share[THREADS];
    int shares = threads_for((size_t) calls, 2), done = 0;
    Verdict verdict = PASS;

    for (int set = 0; set < calls && verdict == PASS; set++) {
        char *to = got + (size_t) set * bytes;
        window[set] =
            (Window){ .worker = worker, .set = set, .out = out, .count = count, .got = to };
        verdict = fetch_window(worker, &window[set], to);
    }
    if (verdict == PASS) {
        for (int i = 0; i < shares; i++) {
            share[i] = (Share){ window + done, (calls - done) / (shares - i) };
            done += share[i].count;
        }
        in_parallel(compare_share, share, sizeof *share, shares);
    }
    for (int set = 0; set < calls && verdict == PASS; set++)
        verdict = judge_window(worker, &window[set]);
    free(got);
    return verdict;
}

static Verdict check_windows(Worker *worker, int calls, int out, size_t count, Draws *random)
{
    size_t window = window_of(worker->entry->lab);
    Verdict verdict = PASS;

    for (int i = 0; i < WINDOWS && verdict == PASS; i++) {
        int set = (int) (draw(random, DRAW_PLACES) % (uint64_t) calls);
        size_t first = draw(random, DRAW_PLACES) % (count - window + 1);
        verdict = check_window(worker, set, out, first, window);
    }
    return verdict;
}

Verdict outputs_check_some(Worker *worker, int calls, Draws *random)
{
    Verdict verdict = PASS;

    for (int out = 0; out < LAB_OUT && verdict == PASS; out++) {
        const Array *array = &worker->arrays.out[out];
        size_t count = array->rows * array->cols;
        if (count > window_of(worker->entry->lab))
            verdict = check_windows(worker, calls, out, count, random);
        else if (count)
            verdict = check_small(worker, calls, out, count);
    }
    return verdict;
}
