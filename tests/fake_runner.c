/* fake_runner.c - a runner without a GPU that does what the source it loads tells it to.
 *
 * `load LAB PATH` reads PATH, which is the student's source itself (the tests' nvcc only copies),
 * and looks for lines with `// fake: ...`:
 *
 *   ms 2.0               a call takes that long, really (0.5 if nothing is said)
 *   ms_case 3 5.0        the same, for the lab's case number 3 only
 *   first 300            the first go takes that many ms more
 *   lie 0.1              that many ms a call are reported instead
 *   lazy 2.0             each call of a go adds that many ms to the first window fetched after it
 *   KIND at STEP         misbehaves: see misdeeds[]; steps are load, case, prepare, go, window,
 *                        guards, clock
 *   wrong HOW            spoils outputs: see spoilers[]; `wrong unwritten` never writes them
 *   stray WHERE          after, before, input: what the guards say from the first go on
 *   stop-after N         outputs are right after the first N calls, never written later
 *   launch-error, kernel-error     every go fails so
 *   unsafe, limit                  on a simulated GPU every go fails so
 *   sectors 8 24                   a simulated GPU counts that many times the fewest; line 24 is to
 * blame
 *
 * Without any it is a right and honest kernel. No array exists: an input is what its key says, and
 * what is right of an output is computed when a window of it is asked for, so that a call takes the
 * time it is told to take and no more. WARPBOOK_FAKE_GPU=none: there is no GPU.
 */
#include "contents.h"
#include "serve.h"
#include "util.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { COMMANDS = 3, ANSWERS = 4, SHARED = 5, CASES = 64, MISDEEDS = 4, SOURCE_BYTES = 1 << 20 };

typedef struct Misdeed {
    char name[16], step[16];
} Misdeed;

static struct Script {
    double ms, case_ms[CASES]; /* 0: as ms says */
    double lie_ms;             /* < 0: none */
    double lazy_ms, first_ms;
    long stop_after; /* < 0: never */
    char wrong[16], stray[16];
    bool launch_error, kernel_error, unsafe, limit;
    double sectors; /* times as many as there must be */
    int sectors_line;
    Misdeed misdeeds[MISDEEDS];
    int misdeed_count;
} script = { .ms = 0.5, .lie_ms = -1, .stop_after = -1, .sectors = 1 };
static bool simulated; /* by its argument, as runner-sim */

static long calls_made;
static double owed_ms; /* of work put off: see lazy */

/* What stands for an array's memory. */
typedef struct Held {
    bool is_input;
    uint64_t seed;
    FillKey key;
    unsigned char poison;
    bool written; /* by a call since it was poisoned: `lab_case` and the rest are set */
    bool strayed;
    const Lab *lab;
    Case lab_case;
    const Arrays *set;
    int out;
    uint64_t random;
} Held;

/* ---- The script ---- */

static bool is(const char *a, const char *b)
{
    return !strcmp(a, b);
}

static void obey(const char *line)
{
    char word[3][16] = { "", "", "" };
    int words = sscanf(line, "%15s %15s %15s", word[0], word[1], word[2]);

    if (words < 1)
        die("an empty directive");
    if (is(word[0], "ms"))
        script.ms = atof(word[1]);
    else if (is(word[0], "ms_case") && atoi(word[1]) >= 0 && atoi(word[1]) < CASES)
        script.case_ms[atoi(word[1])] = atof(word[2]);
    else if (is(word[0], "lie"))
        script.lie_ms = atof(word[1]);
    else if (is(word[0], "first"))
        script.first_ms = atof(word[1]);
    else if (is(word[0], "lazy"))
        script.lazy_ms = atof(word[1]);
    else if (is(word[0], "wrong"))
        PUT(script.wrong, "%s", word[1]);
    else if (is(word[0], "stray"))
        PUT(script.stray, "%s", word[1]);
    else if (is(word[0], "stop-after"))
        script.stop_after = atol(word[1]);
    else if (is(word[0], "launch-error"))
        script.launch_error = true;
    else if (is(word[0], "kernel-error"))
        script.kernel_error = true;
    else if (is(word[0], "unsafe"))
        script.unsafe = true;
    else if (is(word[0], "limit"))
        script.limit = true;
    else if (is(word[0], "sectors")) {
        script.sectors = atof(word[1]);
        script.sectors_line = atoi(word[2]);
    } else if (is(word[1], "at") && script.misdeed_count < MISDEEDS) {
        Misdeed *misdeed = &script.misdeeds[script.misdeed_count++];
        PUT(misdeed->name, "%s", word[0]);
        PUT(misdeed->step, "%s", word[2]);
    } else
        die("fake runner: unknown directive: %.60s", line);
}

static void read_script(const char *source)
{
    static const char mark[] = "// fake: ";

    for (const char *at = source; (at = strstr(at, mark));) {
        char line[80];
        at += strlen(mark);
        PUT(line, "%.*s", (int) strcspn(at, "\n"), at);
        obey(line);
    }
}

/* ---- Misdeeds ---- */

static void say_raw(int fd, const char *text)
{
    if (write(fd, text, strlen(text)) < 0)
        _exit(1);
}

static void silent(void)
{
    for (;;)
        pause();
}

static void hang(void)
{
    for (volatile int on = 1; on;)
        ;
}

/* Not by way of a sanitizer's handler. */
static void crash(void)
{
    signal(SIGSEGV, SIG_DFL);
    kill(getpid(), SIGSEGV);
    silent();
}

static void flood(void)
{
    for (;;)
        say_raw(ANSWERS, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
}

static void print_flood(void)
{
    for (;;)
        say_raw(STDOUT_FILENO, "All work and no play makes Jack a dull boy.\n");
}

static void leave(void)
{
    _exit(0);
}

static void garbage(void)
{
    say_raw(ANSWERS, "PASSED 100/100\n");
    silent();
}

static void wrong_tag(void)
{
    say_raw(ANSWERS, "0123456789abcdef ok ms:0.001\n");
    silent();
}

/* Holds more and more memory, as the system counts it. It is the same 64 MiB again and again, so
 * that the machine which runs the tests need not have what the limit is. */
static void memory_hog(void)
{
    const size_t piece = 64 << 20;
    int fd = memfd_create("hog", 0);

    if (fd < 0 || ftruncate(fd, (off_t) piece))
        die("no memory to hog");
    for (;;) {
        mmap(NULL, piece, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
        sleep_s(0.005);
    }
}

/* NULL: it happens once the answer has been given. */
static const struct {
    const char *name;
    void (*commit)(void);
} misdeeds[] = {
    { "silent", silent },
    { "hang", hang },
    { "crash", crash },
    { "flood", flood },
    { "print-flood", print_flood },
    { "exit", leave },
    { "garbage", garbage },
    { "wrong-tag", wrong_tag },
    { "memory-hog", memory_hog },
    { "early", NULL }, /* answers what has not been asked yet */
    { "twice", NULL }, /* says the same answer again */
};

static bool planned(const char *name, const char *step)
{
    for (int i = 0; i < script.misdeed_count; i++)
        if (is(script.misdeeds[i].name, name) && is(script.misdeeds[i].step, step))
            return true;
    return false;
}

static void misbehave(const char *step)
{
    for (size_t i = 0; i < sizeof misdeeds / sizeof *misdeeds; i++)
        if (misdeeds[i].commit && planned(misdeeds[i].name, step))
            misdeeds[i].commit();
}

static void check_misdeeds(void)
{
    for (int i = 0; i < script.misdeed_count; i++) {
        size_t k = 0;
        while (k < sizeof misdeeds / sizeof *misdeeds &&
               !is(misdeeds[k].name, script.misdeeds[i].name))
            k++;
        if (k == sizeof misdeeds / sizeof *misdeeds)
            die("fake runner: unknown misdeed: %s", script.misdeeds[i].name);
    }
}

static void answered(const char *command, const char *line)
{
    if (planned("early", command))
        say_raw(ANSWERS, "0123456789abcdef ok ms:0.001\n");
    if (planned("twice", command))
        say_raw(ANSWERS, line);
}

/* ---- Spoiled outputs ---- */

/* What an output's set was filled with: every lab has an input. */
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

/* The last few of an array that is large enough for it to be a tail. */
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

/* The right values, but row by row where they belong column by column. */
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

    if (i >= count) /* or it wrapped around: the one lies before the window */
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

static bool fake_load(const char *path, const char *function, Kernel **kernel, char *fault)
{
    char *source = read_file(path, SOURCE_BYTES, NULL);
    bool found = source && strstr(source, function);

    if (!source)
        put(fault, SERVE_ANSWER, "load %s cannot be read", path);
    else if (!found)
        put(fault, SERVE_ANSWER, "load kernel.cu defines no function %s", function);
    else
        read_script(source);
    free(source);
    check_misdeeds();
    misbehave("load");
    *kernel = found ? silent : NULL; /* never called */
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

static double call_ms(const Lab *lab, const Case *lab_case)
{
    for (int i = 0; i < CASES && lab->cases[i].label; i++)
        if (lab->cases[i].label == lab_case->label && script.case_ms[i] > 0)
            return script.case_ms[i];
    return script.ms;
}

/* Sleeping alone would end some 60 us late. */
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
            script.unsafe ? "unsafe kernel.cu:9: race: reads 4 bytes that thread (1,0,0) wrote"
                          : "limit kernel.cu:9: unknown instruction: the simulated GPU knows none");
        return false;
    }
    for (int k = 0; k < calls; k++)
        write_outputs(lab, lab_case, &sets[k]);
    pass_time(start + (calls * call_ms(lab, lab_case) + first_ms) * 1e-3);
    owed_ms = calls * script.lazy_ms;
    *ms = script.lie_ms >= 0 ? calls * script.lie_ms : (now_s() - start) * 1e3;
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

static bool fake_checks(bool on, uint64_t budget, char *fault)
{
    (void) on, (void) budget, (void) fault;
    return true;
}

static bool fake_count(Counter counter, const Array *array, char *answer, char *fault)
{
    double sectors = array ? (double) (array->rows * array->cols) / 8 * script.sectors : 0;

    (void) counter, (void) fault;
    put(answer, SERVE_ANSWER, "done:%.0f least:0 requests:%.0f line:%d", sectors, sectors / 32,
        script.sectors_line);
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
    .time_calls = fake_time_calls,
    .fetch = fake_fetch,
    .guards_whole = fake_guards_whole,
    .holds = fake_holds,
    .clock_mhz = fake_clock_mhz,
    .checks = fake_checks,
    .count = fake_count,
    .answered = answered,
};

/* Arguments are the runner's: --device and a number, or the name of a simulated GPU. */
int main(int count, char **words)
{
    simulated = count > 2 && (*words[2] < '0' || *words[2] > '9');
    return serve(&fake_device, COMMANDS, ANSWERS, SHARED);
}
