/* fake_runner.c - a runner without a GPU that follows a script in the source it loads.
 *
 * fake_script.h lists the directives. They are lines of the source that `load LAB PATH` names; it
 * is the student's own source, since the tests' nvcc only copies. fake_misdeeds.c breaks the
 * protocol; this file is the device.
 *
 * Without directives it is a correct and honest kernel. No array exists: an input follows from its
 * key, and the elements of an output are computed when a window of it is fetched. So a call takes
 * exactly the time in the script. WARPBOOK_FAKE_GPU=none: no GPU. WARPBOOK_FAKE_NOISE: a noisy one.
 */
#include "base/child.h"
#include "runner/contents.h"
#include "runner/fake_misdeeds.h"
#include "runner/fake_script.h"
#include "runner/server.h"
#include "base/util.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SOURCE_BYTES = 1 << 20, RUNG1_MS = 5 };

static bool simulated; /* set by its argument, as in runner-sim */

static unsigned left_out; /* of modelled times */
static long calls_made;
static double owed_ms; /* postponed work: see lazy */

/* Stands in for an array's memory. */
typedef struct Held {
    bool is_input;
    uint64_t seed;
    FillKey key;
    unsigned char poison;
    bool written; /* by a call since it was poisoned; then `lab_case` and the rest are set */
    bool strayed;
    const Lab *lab;
    Case lab_case;
    const Arrays *set;
    int out;
    uint64_t random;
} Held;

/* ---- Spoiled outputs ---- */

/* The inputs that an output's set was filled with: every lab has an input. */
static Inputs inputs_of(const Held *held)
{
    const Held *first = held->set->in[0].data;

    return (Inputs){ held->set, first->seed };
}

static void spoil_zero(const Array *array, size_t first, size_t count, char *to)
{
    (void) first;
    memset(to, 0, count * element_bytes((Element) array->type));
}

static void spoil_unwritten(const Array *array, size_t first, size_t count, char *to)
{
    (void) first;
    memset(to, ((Held *) array->data)->poison, count * element_bytes((Element) array->type));
}

/* Spoils the last few elements of an array that is large enough to have a tail. */
static void spoil_tail(const Array *array, size_t first, size_t count, char *to)
{
    size_t all = array->rows * array->cols, width = element_bytes((Element) array->type);

    for (size_t i = 0; i < count; i++)
        if (all > 64 && first + i >= all - 5)
            memset(to + i * width, ((Held *) array->data)->poison, width);
}

static void spoil_nan(const Array *array, size_t first, size_t count, char *to)
{
    (void) first;
    for (size_t i = 0; i < count; i++)
        if (array->type == F32)
            ((float *) to)[i] = nanf("");
        else if (array->type == F64)
            ((double *) to)[i] = nan("");
}

/* The right values, but stored row by row instead of column by column. */
static void spoil_transposed(const Array *array, size_t first, size_t count, char *to)
{
    const Held *held = array->data;
    const Inputs inputs = inputs_of(held);
    size_t width = element_bytes((Element) array->type);
    double error = 0;

    for (size_t i = first; i < first + count; i++) {
        size_t from = i % array->cols * array->rows + i / array->cols;
        held->lab->truth(&held->lab_case, &inputs, held->out, from, 1, to + (i - first) * width,
                         &error);
    }
}

static void spoil_one(const Array *array, size_t first, size_t count, char *to)
{
    const Held *held = array->data;
    size_t i = (size_t) (held->random % (array->rows * array->cols)) - first;

    if (i >= count) /* out of range or wrapped around: that element is not in the window */
        return;
    if (array->type == F32)
        ((float *) to)[i] += 1 + fabsf(((float *) to)[i]);
    else if (array->type == F64)
        ((double *) to)[i] += 1 + fabs(((double *) to)[i]);
    else
        to[i * element_bytes((Element) array->type)] ^= 1;
}

static const struct {
    const char *name;
    void (*spoil)(const Array *array, size_t first, size_t count, char *to);
} spoilers[] = {
    { "zero", spoil_zero }, { "unwritten", spoil_unwritten },   { "tail", spoil_tail },
    { "nan", spoil_nan },   { "transposed", spoil_transposed }, { "one", spoil_one },
};

static void spoil(const Array *array, size_t first, size_t count, char *to)
{
    if (!*script.wrong)
        return;
    for (size_t i = 0; i < sizeof spoilers / sizeof *spoilers; i++)
        if (is(spoilers[i].name, script.wrong)) {
            spoilers[i].spoil(array, first, count, to);
            return;
        }
    die("fake runner: unknown way to be wrong: %s", script.wrong);
}

/* ---- Limits ---- */

/* A single limit takes all of a call's time. Limits can also be invalid. */
static bool fake_limits(char *answer, char *fault)
{
    const char *limit = *script.limited ? script.limited : "dram";

    (void) fault;
    if (is(limit, "nan"))
        put(answer, SERVE_ANSWER, "tflops:10 gbps:100 ns_dram:nan");
    else if (is(limit, "minus"))
        put(answer, SERVE_ANSWER, "tflops:10 gbps:100 ns_dram:5 ns_l2:-3");
    else if (is(limit, "nothing"))
        put(answer, SERVE_ANSWER, "tflops:10 gbps:100");
    else
        put(answer, SERVE_ANSWER,
            "tflops:10 gbps:100 ns_%s:%.0f busy_%s:%.0f bytes:1000 wavefronts:32 least_shared:1 "
            "lanes:32",
            limit, script.ms * 1e6, limit, script.ms * 9e5);
    return true;
}

static bool fake_cost(int i, char *answer, char *fault)
{
    (void) fault;
    if (i || !script.limited_line)
        put(answer, SERVE_ANSWER, "line:0");
    else
        put(answer, SERVE_ANSWER,
            "line:%d ns_shared:%.0f shared_requests:1 shared_passes:32 shared_asked:1",
            script.limited_line, script.ms * 5e5);
    return true;
}

/* ---- The device ---- */

static bool fake_hello(char *answer, char *fault)
{
    const char *gpu = getenv("WARPBOOK_FAKE_GPU");

    if (gpu && is(gpu, "none") && !simulated) {
        put(fault, SERVE_ANSWER, "gpu no-device no NVIDIA GPU is visible here");
        return false;
    }
    put(answer, SERVE_ANSWER,
        "cc:90 sms:4 l2_bytes:65536 free_bytes:%ld total_bytes:%ld peak_gbps:1e6 driver:580.0 "
        "runtime:13.0 simulated:%d uuid:GPU-00000000-0000-0000-0000-000000000000 name:Scripted "
        "runner",
        1L << 30, 1L << 30, simulated);
    return true;
}

static void never_called(void)
{
}

/* The number of processes that have loaded this file so far, this one included. */
static long loads_of(const char *path)
{
    char counter[PATH_MAX];
    FILE *file;
    long loads;

    PUT(counter, "%s.loads", path);
    file = fopen(counter, "a");
    if (!file || fputc('.', file) == EOF)
        die("fake runner: cannot write %s", counter);
    loads = ftell(file);
    fclose(file);
    return loads;
}

static bool fake_load(const char *folder, const Lab *lab, const char *path, Kernel **kernel,
                      char *answer, char *fault)
{
    char *source = read_file(path, SOURCE_BYTES, NULL);
    bool found = source && strstr(source, lab->function);

    (void) folder;
    if (!source)
        put(fault, SERVE_ANSWER, "load %s cannot be read", path);
    else if (!found)
        put(fault, SERVE_ANSWER, "load kernel.cu defines no function %s", lab->function);
    else
        script_read(source);
    if (found && script.lazy_loads && loads_of(path) > script.lazy_loads)
        script.lazy_ms = 0;
    if (simulated && found && strstr(source, "// rung: 1,")) /* where marks begin */
        script.ms = RUNG1_MS;
    free(source);
    misdeeds_check();
    misbehave("load");
    put(answer, SERVE_ANSWER, "sandbox:none isolation:%s guest:0",
        script.shared ? "shared" : "split");
    *kernel = found ? never_called : NULL;
    return found;
}

static bool fake_allocate(Array *array, unsigned char guard, char *fault)
{
    (void) guard, (void) fault;
    misbehave("case");
    array->data = xmalloc(sizeof(Held));
    *(Held *) array->data = (Held){ 0 };
    return true;
}

static void fake_release(Array *array)
{
    free(array->data);
}

static bool fake_fill(const Array *array, const Source *source, char *fault)
{
    Held *held = array->data;

    (void) fault;
    held->is_input = true;
    held->seed = source->seed;
    held->key = fill_key(source->seed, source->input);
    return true;
}

static bool fake_poison(const Array *array, unsigned char byte, char *fault)
{
    Held *held = array->data;

    (void) fault;
    held->poison = byte;
    held->written = false;
    return true;
}

static bool fake_settle(char *fault)
{
    (void) fault;
    misbehave("prepare");
    return true;
}

static bool fake_filled(char *fault)
{
    (void) fault;
    return true;
}

static int case_number(const Lab *lab, const Case *lab_case)
{
    int i = 0;

    while (i < SCRIPT_CASES - 1 && lab->cases[i].label && lab->cases[i].label != lab_case->label)
        i++;
    return i;
}

static double call_ms(const Lab *lab, const Case *lab_case)
{
    double ms = script.case_ms[case_number(lab, lab_case)];

    return ms > 0 ? ms : script.ms;
}

/* How many times as fast a modelled call is because of the causes left out. */
static double worth(void)
{
    return left_out & script.worth_cause ? script.worth : 1;
}

/* Waits until then; sleeping alone would overshoot by some 60 us. */
static void pass_time(double until_s)
{
    double left_s = until_s - now_s();

    if (left_s > 0.0005)
        sleep_s(left_s - 0.0003);
    while (now_s() < until_s)
        ;
}

static void write_outputs(const Lab *lab, const Case *lab_case, Arrays *set)
{
    for (int out = 0; out < LAB_OUT; out++) {
        Held *held = set->out[out].data;
        if (!held)
            continue;
        held->written = script.stop_after < 0 || calls_made < script.stop_after;
        held->strayed = *script.stray;
        held->lab = lab;
        held->lab_case = *lab_case;
        held->set = set;
        held->out = out;
        held->random = secret();
    }
    for (int in = 0; in < LAB_IN; in++)
        if (set->in[in].data)
            ((Held *) set->in[in].data)->strayed = is(script.stray, "input");
    calls_made++;
}

/* WARPBOOK_FAKE_NOISE: each go, of any kernel, takes 1, 2, 4 or 8 times as long; with a number
 * above 1, only so many in each process. */
static double noise(void)
{
    static long goes;
    const char *text = getenv("WARPBOOK_FAKE_NOISE");
    const long most = text ? atol(text) : 0;

    return most == 1 || goes++ < most ? 1 << secret() % 4 : 1;
}

/* WARPBOOK_FAKE_RATE: a call on a simulated GPU takes so many ms per million inputs. */
static double modelled_ms(const Lab *lab, const Case *lab_case, const Arrays *set)
{
    const char *text = getenv("WARPBOOK_FAKE_RATE");
    const double inputs = (double) set->in[0].rows * (double) set->in[0].cols;

    return text ? atof(text) * inputs * 1e-6 : call_ms(lab, lab_case) / worth();
}

static bool fake_time_calls(const Lab *lab, const Case *lab_case, Kernel *kernel, Arrays *sets,
                            int calls, double *ms, char *fault)
{
    double start = now_s(), first_ms = calls_made ? 0 : script.first_ms;

    (void) kernel;
    misbehave("go");
    if (script.launch_error || script.kernel_error) {
        put(fault, SERVE_ANSWER, "%s",
            script.launch_error
                ? "launch cudaErrorInvalidConfiguration invalid configuration argument"
                : "kernel cudaErrorIllegalAddress an illegal memory access was encountered");
        return false;
    }
    if (simulated && (script.unsafe || script.limit)) {
        put(fault, SERVE_ANSWER, "%s",
            script.unsafe ? "unsafe.race@9,7 race: reads 4 bytes that thread (1,0,0) wrote"
                          : "limit kernel.cu:9: unknown instruction: the simulated GPU knows none");
        return false;
    }
    if (simulated && script.endless[case_number(lab, lab_case)]) {
        put(fault, SERVE_ANSWER, "endless kernel.cu:9: the kernel was stopped");
        return false;
    }
    for (int k = 0; k < calls; k++)
        write_outputs(lab, lab_case, &sets[k]);
    pass_time(start + (calls * call_ms(lab, lab_case) * noise() + first_ms) * 1e-3);
    owed_ms = calls * script.lazy_ms;
    *ms = script.lie_ms >= 0 ? calls * script.lie_ms
          : simulated        ? calls * modelled_ms(lab, lab_case, &sets[0])
                             : (now_s() - start) * 1e3;
    return true;
}

static bool fake_fetch(const Array *array, size_t first, size_t count, void *to, char *fault)
{
    const Held *held = array->data;
    size_t width = element_bytes((Element) array->type);
    Inputs inputs;
    double *error;

    (void) fault;
    misbehave("window");
    pass_time(now_s() + owed_ms * 1e-3);
    owed_ms = 0;
    if (held->is_input) {
        for (size_t i = 0; i < count; i++) {
            uint64_t bits = element_bits((Element) array->type, array->fill, held->key, first + i);
            memcpy((char *) to + i * width, &bits, width);
        }
        return true;
    }
    if (!held->written) {
        memset(to, held->poison, count * width);
        return true;
    }
    error = xcalloc(count, sizeof *error);
    inputs = inputs_of(held);
    held->lab->truth(&held->lab_case, &inputs, held->out, first, count, to, error);
    free(error);
    spoil(array, first, count, to);
    return true;
}

static bool fake_guards_whole(const Array *array, unsigned char guard, size_t *offset, bool *before,
                              char *fault)
{
    const Held *held = array->data;

    (void) guard, (void) fault;
    misbehave("guards");
    *before = is(script.stray, "before");
    *offset = SIZE_MAX;
    if (held->strayed && !held->is_input && (*before || is(script.stray, "after")))
        *offset = *before ? 4 : 4096;
    return true;
}

static bool fake_holds(const Array *array, const Source *source, size_t *differs_at, bool *same,
                       char *fault)
{
    const Held *held = array->data;

    (void) fault;
    *same = !held->strayed && source->seed == held->seed;
    *differs_at = 0;
    return true;
}

static bool fake_clock_mhz(double *mhz, char *fault)
{
    (void) fault;
    misbehave("clock");
    *mhz = 1000;
    return true;
}

static bool fake_checks(bool on, uint64_t order, uint64_t budget, char *fault)
{
    (void) on, (void) order, (void) budget, (void) fault;
    return true;
}

static bool fake_count(Counter counter, const Array *array, char *answer, char *fault)
{
    double sectors = array ? (double) (array->rows * array->cols) / 8 * script.sectors : 0;

    (void) counter, (void) fault;
    put(answer, SERVE_ANSWER,
        "done:%.0f least:0 requests:%.0f line:%d line_done:%.0f line_requests:%.0f", sectors,
        sectors / 32, script.sectors_line, sectors, sectors / 32);
    return true;
}

static bool fake_model_time(unsigned without, char *fault)
{
    (void) fault;
    left_out = without;
    return true;
}

/* A call has a hundred blocks, which are all timed unless the script says otherwise. */
static bool fake_timed(char *answer, char *fault)
{
    (void) fault;
    put(answer, SERVE_ANSWER,
        "launches:1 untimed:%d blocks:100 timed_blocks:%d instructions:1000 "
        "kernels_ms:%.9g",
        script.untimed, script.sampled ? script.sampled : 100, script.ms);
    return true;
}

static const Device fake_device = {
    .hello = fake_hello,
    .load = fake_load,
    .allocate = fake_allocate,
    .release = fake_release,
    .fill = fake_fill,
    .poison = fake_poison,
    .settle = fake_settle,
    .filled = fake_filled,
    .time_calls = fake_time_calls,
    .fetch = fake_fetch,
    .guards_whole = fake_guards_whole,
    .holds = fake_holds,
    .clock_mhz = fake_clock_mhz,
    .limits = fake_limits,
    .cost = fake_cost,
    .checks = fake_checks,
    .count = fake_count,
    .model_time = fake_model_time,
    .timed = fake_timed,
    .answered = misdeeds_answered,
};

/* Arguments are the runner's: --device and a number, or the name of a simulated GPU. */
int main(int count, char **words)
{
    simulated = count > 2 && (*words[2] < '0' || *words[2] > '9');
    return serve(&fake_device, CHILD_IN, CHILD_OUT, CHILD_SHARED);
}
