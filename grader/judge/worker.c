/* worker.c - a typed interface to a runner with one kernel (runner/protocol.h). */
#include "judge/worker.h"
#include "base/number.h"
#include "judge/compare.h"
#include "judge/message.h"
#include "runner/protocol.h"
#include "base/util.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* Starting CUDA on a machine with many GPUs is slow, and so is compiling PTX for a new GPU. */
static const double start_limit_s = 60, load_limit_s = 60, chore_limit_s = 20;

/* No lab needs this much host memory. */
static const size_t host_memory_limit = (size_t) 6 << 30;
static const size_t simulated_memory_limit = (size_t) 2
                                             << 30; /* includes the simulated GPU's memory */

/* The verdict for each kind of failure, given the kernel that was loaded. */
static const struct {
    const char *kind;
    Verdict verdict;
    const char *clause;
    uint64_t saw;
} faults[] = {
    { "gpu", UNSOUND, "" },
    { "load", CRASH, "the kernel could not be loaded: ", SAW(SAW_LOAD) },
    { "memory", UNSOUND, "not enough memory on the GPU: " },
    { "hoards", CRASH, "", SAW(SAW_DEVICE_MEMORY) },
    { "launch", CRASH, "a kernel could not be launched: ", SAW(SAW_LAUNCH) },
    { "kernel", CRASH, "a kernel failed while running: " },
    { "stray", STRAY, "" },
    { "unsafe", UNSAFE, "" },
    { "endless", TIMEOUT, "", SAW(SAW_ENDLESS) },
    { "died", CRASH, "its process " },
    { "garbage", SUSPECT, "its process ", SAW(SAW_GARBAGE) },
    { "limit", UNSUPPORTED, "the simulated GPU does not support this kernel: " },
};

/* Adds the likely mistake in the host code if a signal killed its process. The words are the
 * runner's (guest/work.c, device_sim.c). */
static void explain_signal(Worker *worker)
{
    static const char words[] = "host code accessed an address in GPU memory";

    if (worker->diagnosis.saw & SAW(SAW_SIGNAL) && strstr(worker->child.printed, words))
        PUT(worker->why,
            "its process was killed by signal 11 (SIGSEGV): host code used a pointer to the GPU's "
            "memory, which only kernels may use");
}

/* Parses "@LINE" or "@LINE,OTHER", the place of a fault. */
static void take_place(Diagnosis *diagnosis, const char *at, const char *text)
{
    int line = 0, other = 0;

    if (*at != '@' || sscanf(at, "@%6d,%6d", &line, &other) < 1 || line < 1)
        return;
    diagnosis->line = line;
    diagnosis->other_line = other > 0 ? other : 0;
    PUT(diagnosis->text, "%s", text);
}

/* Parses "KIND TEXT", "KIND.CODE TEXT" or "KIND.CODE@PLACE TEXT". */
static Verdict from_fault(Worker *worker, const char *fault)
{
    size_t length = strcspn(fault, " "), kind = strcspn(fault, ".@ "), word = strcspn(fault, "@ ");
    const char *text = fault + length + (fault[length] == ' ');
    char place[40] = "";

    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (kind == strlen(faults[i].kind) && !memcmp(fault, faults[i].kind, kind)) {
            take_place(&worker->diagnosis, fault + word, text);
            if (worker->diagnosis.line)
                PUT(place, "kernel.cu:%d: ", worker->diagnosis.line);
            PUT(worker->why, "%s%s%s", faults[i].clause, place, text);
            worker->diagnosis.saw =
                kind < word ? diagnosis_bit(fault + kind + 1, word - kind - 1) : faults[i].saw;
            if (faults[i].verdict == CRASH) /* CUDA's own words for its errors */
                worker->diagnosis.saw |= diagnosis_printed(text);
            explain_signal(worker);
            return faults[i].verdict;
        }
    PUT(worker->why, "the runner did not understand the grader: %s", fault);
    return UNSOUND;
}

static uint64_t saw_of(const Child *child)
{
    static const DiagnosisCode codes[] = {
        [CHILD_EXITED] = SAW_EXITED,           [CHILD_NO_ANSWER] = SAW_NO_ANSWER,
        [CHILD_HOST_MEMORY] = SAW_HOST_MEMORY, [CHILD_CLOSED_CHANNEL] = SAW_CLOSED_CHANNEL,
        [CHILD_NOT_TEXT] = SAW_GARBAGE,        [CHILD_OUT_OF_TURN] = SAW_OUT_OF_TURN,
        [CHILD_FLOOD] = SAW_GARBAGE,           [CHILD_UNTAGGED] = SAW_UNTAGGED,
        [CHILD_BAD_ANSWER] = SAW_GARBAGE,
    };

    if (child->error == CHILD_EXITED && WIFSIGNALED(child->status))
        return SAW(SAW_SIGNAL);
    return child->error > CHILD_NOT_STARTED ? SAW(codes[child->error]) : 0;
}

static Verdict from_reply(Worker *worker, Reply reply, const char *answer)
{
    if (reply == REPLY_OK)
        return PASS;
    worker->diagnosis = (Diagnosis){ .lab_case = worker->row };
    if (reply == REPLY_FAIL)
        return from_fault(worker, answer + strlen("fail "));
    worker->diagnosis.saw = saw_of(&worker->child);
    message_child(&worker->child, worker->why, sizeof worker->why);
    explain_signal(worker);
    return reply == REPLY_LATE ? TIMEOUT : reply == REPLY_GONE ? CRASH : SUSPECT;
}

/* Reports an answer whose `what` cannot be right. */
static Verdict invalid(Worker *worker, const char *what, const char *answer)
{
    worker->diagnosis = (Diagnosis){ .saw = SAW(SAW_GARBAGE), .lab_case = worker->row };
    PUT(worker->why, "its process reported invalid %s: %.60s", what, answer);
    return SUSPECT;
}

/* $WARPBOOK_PATIENCE multiplies all time limits, for very slow machines and for tests that
 * should not wait. */
static double patience(void)
{
    const char *text = getenv("WARPBOOK_PATIENCE");
    double factor = text ? number_or_zero(text) : 1;

    return factor > 0 && factor < 1e6 ? factor : 1;
}

#define ASK(worker, limit_s, answer, ...)                                                          \
    from_reply(worker, child_ask(&(worker)->child, (limit_s) *patience(), answer, __VA_ARGS__),    \
               answer)

Verdict worker_start(Worker *worker, const char *runner, const char *device, bool streams)
{
    char *const argv[] = { (char *) runner, "--device", (char *) device,
                           streams ? "--streams" : NULL, NULL };
    const bool real = isdigit((unsigned char) *device);

    *worker = (Worker){ .child.memory_limit = real ? host_memory_limit : simulated_memory_limit };
    if (child_start(&worker->child, argv, WORKER_WINDOW_BYTES)) {
        worker->child.patient = !real;
        return PASS;
    }
    message_child(&worker->child, worker->why, sizeof worker->why);
    return UNSOUND;
}

Verdict worker_hello(Worker *worker)
{
    GpuInfo *info = &worker->gpu;
    char answer[CHILD_LINE], printed[200];
    double cc, sms, l2_bytes, simulated = 0;
    Verdict verdict = ASK(worker, start_limit_s, answer, "hello");

    if (verdict == UNSOUND) { /* "REASON text": the word is for programs, the text for people */
        const char *text = strchr(worker->why, ' ');
        if (text)
            memmove(worker->why, text + 1, strlen(text + 1) + 1);
        return UNSOUND;
    }
    if (verdict != PASS) {
        child_end(&worker->child);
        PUT(printed, "%s", worker->child.printed);
        APPEND(worker->why, " before it reached the GPU%s%s", *printed ? ": " : "", printed);
        return UNSOUND;
    }
    *info = (GpuInfo){ 0 };
    if (!field_double(answer, "cc", &cc) || !field_double(answer, "sms", &sms) ||
        !field_double(answer, "l2_bytes", &l2_bytes) ||
        !field_double(answer, "free_bytes", &info->free_bytes) ||
        !field_double(answer, "total_bytes", &info->total_bytes) ||
        !field_double(answer, "peak_gbps", &info->peak_gbps) ||
        !field(answer, "driver", info->driver, sizeof info->driver) ||
        !field(answer, "runtime", info->runtime, sizeof info->runtime) ||
        !field(answer, "uuid", info->uuid, sizeof info->uuid) ||
        !field(answer, "name", info->name, sizeof info->name) || sms < 1 || cc < 10) {
        PUT(worker->why, "the runner's description of the GPU cannot be read");
        return UNSOUND;
    }
    field_double(answer, "simulated", &simulated); /* absent: a real GPU */
    info->simulated = simulated != 0;
    info->cc = (int) cc;
    info->gpu = (Gpu){ (int) sms, (size_t) l2_bytes };
    return PASS;
}

Verdict worker_load(Worker *worker, const LabEntry *entry, const char *object)
{
    char answer[CHILD_LINE];
    double guest;
    Verdict verdict;

    worker->entry = entry;
    verdict = ASK(worker, load_limit_s, answer, "load %s %s", entry->folder, object);
    if (verdict != PASS)
        return verdict;
    if (!field(answer, "sandbox", worker->sandbox, sizeof worker->sandbox))
        PUT(worker->sandbox, "none");
    if (!field(answer, "isolation", worker->isolation, sizeof worker->isolation))
        PUT(worker->isolation, "shared");
    if (field_double(answer, "guest", &guest) && guest > 0 && guest < 1e9)
        worker->child.guest = (pid_t) guest;
    return PASS;
}

/* The case's index in the lab's table. The label identifies it, because its dims may differ. */
static int case_index(const Lab *lab, const Case *lab_case)
{
    for (int i = 0; lab->cases[i].label; i++)
        if (lab->cases[i].label == lab_case->label)
            return i;
    die("a case is missing from the lab's table");
}

Verdict worker_case(Worker *worker, const Case *lab_case, int sets)
{
    char answer[CHILD_LINE];
    const long *d = lab_case->dim;

    worker->lab_case = *lab_case;
    worker->row = &worker->entry->lab->cases[case_index(worker->entry->lab, lab_case)];
    worker->sets = sets;
    worker->arrays = (Arrays){ 0 };
    worker->entry->lab->shape(lab_case, &worker->arrays);
    return ASK(worker, chore_limit_s, answer, "case %d %ld %ld %ld %ld %d",
               (int) (worker->row - worker->entry->lab->cases), d[0], d[1], d[2], d[3], sets);
}

Verdict worker_prepare(Worker *worker, uint64_t seed)
{
    char answer[CHILD_LINE];
    Verdict verdict;

    worker->seed = seed;
    worker->poison = seed & 1 ? POISON_ODD : POISON_EVEN;
    verdict = ASK(worker, chore_limit_s, answer, "prepare %016llx %d", (unsigned long long) seed,
                  worker->poison);
    worker->prepare_ms = (worker->child.answered_s - worker->child.asked_s) * 1e3;
    return verdict;
}

Verdict worker_go_on(Worker *worker, int calls, double limit_s)
{
    return from_reply(worker, child_send(&worker->child, limit_s * patience(), "go %d", calls), "");
}

Verdict worker_went(Worker *worker, Timing *timing)
{
    char answer[CHILD_LINE];
    Verdict verdict = from_reply(worker, child_receive(&worker->child, answer), answer);

    if (verdict != PASS)
        return verdict;
    worker->go_s = worker->child.asked_s;
    worker->seen_ms = 0;
    timing->parent_ms = (worker->child.answered_s - worker->go_s) * 1e3;
    if (!field_double(answer, "ms", &timing->event_ms) || !(timing->event_ms >= 0) ||
        !(timing->event_ms < 1e9))
        return invalid(worker, "times", answer);
    return PASS;
}

Verdict worker_go(Worker *worker, int calls, double limit_s, Timing *timing)
{
    Verdict verdict = worker_go_on(worker, calls, limit_s);

    return verdict == PASS ? worker_went(worker, timing) : verdict;
}

Verdict worker_run(Worker *worker, uint64_t seed, int calls, double limit_s, Timing *timing)
{
    Verdict verdict = worker_prepare(worker, seed);

    return verdict == PASS ? worker_go(worker, calls, limit_s, timing) : verdict;
}

Verdict worker_once(Worker *worker, const Case *lab_case, uint64_t seed, double limit_s,
                    Timing *timing)
{
    Verdict verdict = worker_case(worker, lab_case, 1);

    return verdict == PASS ? worker_run(worker, seed, 1, limit_s, timing) : verdict;
}

Verdict worker_fetch(Worker *worker, int set, int out, size_t first, size_t count)
{
    char answer[CHILD_LINE];
    Verdict verdict =
        ASK(worker, chore_limit_s, answer, "window %d %d %zu %zu", set, out, first, count);

    if (!worker->seen_ms)
        worker->seen_ms = (worker->child.answered_s - worker->go_s) * 1e3;
    return verdict;
}

/* The name in kernel.h for "in1", or "input". */
static void name_array(const Worker *worker, const char *array, char *name, size_t size)
{
    const Arrays *all = &worker->arrays;
    bool in = !strncmp(array, "in", 2), out = !strncmp(array, "out", 3);
    size_t i = in || out ? strtoul(array + (in ? 2 : 3), NULL, 10) : 0;
    const Array *one = in && i < LAB_IN     ? &all->in[i]
                       : out && i < LAB_OUT ? &all->out[i]
                                            : &all->scratch;

    put(name, size, "%s", one->name ? one->name : in ? "in" : out ? "out" : array);
}

Verdict worker_check_guards(Worker *worker)
{
    char answer[CHILD_LINE], array[16] = "", side[16] = "", name[32] = "";
    Diagnosis *diagnosis = &worker->diagnosis;
    double at = 0;
    Verdict verdict =
        ASK(worker, chore_limit_s, answer, "guards %016llx", (unsigned long long) worker->seed);

    if (verdict != STRAY)
        return verdict;
    field(answer, "array", array, sizeof array);
    field(answer, "side", side, sizeof side);
    field_double(answer, "offset", &at);
    name_array(worker, array, name, sizeof name);
    if (!strcmp(side, "inside"))
        diagnosis->saw = SAW(SAW_INPUT);
    PUT(diagnosis->array, "%.15s", name);
    diagnosis->element = at < 1e15 ? (size_t) at : 0;
    message_stray(diagnosis, !strcmp(side, "before"), worker->why, sizeof worker->why);
    return STRAY;
}

void worker_reason(const Worker *worker, char *text, size_t size)
{
    const Case *lab_case = worker->diagnosis.lab_case;

    if (lab_case)
        put(text, size, "case %s: %s", lab_case->label, worker->why);
    else
        put(text, size, "%s", worker->why);
}

Verdict worker_checks(Worker *worker, bool on, int order, int millions)
{
    char answer[CHILD_LINE];

    return ASK(worker, chore_limit_s, answer, "checks %d %d %d000000", on, order, millions);
}

Verdict worker_count(Worker *worker, const Mechanism *mechanism, Counted *counted)
{
    char answer[CHILD_LINE];
    double line;
    Verdict verdict =
        ASK(worker, chore_limit_s, answer, "count %d %d", mechanism->counter, mechanism->array);

    if (verdict != PASS)
        return verdict;
    if (!field_double(answer, "done", &counted->done) ||
        !field_double(answer, "least", &counted->least) ||
        !field_double(answer, "requests", &counted->requests) ||
        !field_double(answer, "line", &line) || !(line >= 0 && line < 1e9) ||
        !field_double(answer, "line_done", &counted->line_done) ||
        !field_double(answer, "line_requests", &counted->line_requests))
        return invalid(worker, "counts", answer);
    counted->line = (int) line;
    return PASS;
}

Verdict worker_model_time(Worker *worker, CauseSet without)
{
    char answer[CHILD_LINE];

    return ASK(worker, chore_limit_s, answer, "model %u", without);
}

Verdict worker_timed(Worker *worker, Timed *timed)
{
    char answer[CHILD_LINE];
    const struct {
        const char *key;
        double *value;
    } fields[] = {
        { "launches", &timed->launches },
        { "untimed", &timed->untimed },
        { "blocks", &timed->blocks },
        { "timed_blocks", &timed->timed_blocks },
        { "instructions", &timed->instructions },
        { "kernels_ms", &timed->kernels_ms },
    };
    Verdict verdict = ASK(worker, chore_limit_s, answer, "timed");

    for (size_t i = 0; i < sizeof fields / sizeof *fields && verdict == PASS; i++)
        if (!field_double(answer, fields[i].key, fields[i].value) || !(*fields[i].value >= 0) ||
            !(*fields[i].value < 1e15))
            verdict = invalid(worker, "times", answer);
    return verdict;
}

/* Reads an optional number, 0 if absent. Returns false if it is invalid. */
static bool take_figure(const char *answer, const char *prefix, const char *key, double *value)
{
    char name[40];

    *value = 0;
    field_double(answer, PUT(name, "%s%s", prefix, key), value);
    return *value >= 0 && *value < 1e18;
}

static bool take_spent(const char *answer, Spent *spent)
{
    bool well = true;

    for (int i = 0; i < LIMITS; i++)
        well &= take_figure(answer, "ns_", limit_keys[i], &spent->at[i]);
    return well;
}

Verdict worker_limits(Worker *worker, Limited *limited)
{
    char answer[CHILD_LINE];
    Limits *limits = &limited->limits;
    Verdict verdict = ASK(worker, chore_limit_s, answer, "limits");
    bool well;

    *limited = (Limited){ 0 };
    if (verdict != PASS)
        return verdict;
    well = take_figure(answer, "", "tflops", &limited->fp32_tflops) &&
           take_figure(answer, "", "gbps", &limited->memory_gbps) &&
           take_spent(answer, &limits->spent);
    for (int i = 0; i < LIMITS; i++)
        well &= take_figure(answer, "busy_", limit_keys[i], &limits->busy[i]);
    for (int i = 0; i < WAITS; i++)
        well &= take_figure(answer, "wait_", wait_keys[i], &limits->waits[i]);
    for (int i = 0; i < LIMIT_COUNTS; i++)
        well &= take_figure(answer, "", limit_counts[i].key, limit_count(limits, i));
    if (well && spent_sum(&limits->spent) > 0 && limited->fp32_tflops > 0 &&
        limited->memory_gbps > 0)
        return PASS;
    return invalid(worker, "limits", answer);
}

void worker_limiter(Worker *worker, char *text, size_t size)
{
    char why[sizeof worker->why];
    Limited limited;

    PUT(why, "%s", worker->why); /* a failure here is not reported */
    *text = 0;
    if (worker_limits(worker, &limited) == PASS)
        limits_sentence(&limited.limits, text, size);
    PUT(worker->why, "%s", why);
}

static bool take_traffic(const char *answer, const char *prefix, LineTraffic *traffic)
{
    return take_figure(answer, prefix, "requests", &traffic->requests) &&
           take_figure(answer, prefix, "passes", &traffic->passes) &&
           take_figure(answer, prefix, "asked", &traffic->asked);
}

bool worker_cost(Worker *worker, int i, LineCost *cost)
{
    char answer[CHILD_LINE];
    double line;

    *cost = (LineCost){ 0 };
    if (ASK(worker, chore_limit_s, answer, "cost %d", i) != PASS ||
        !take_figure(answer, "", "line", &line) || line < 1 || line > 1e6)
        return false;
    cost->line = (int) line;
    return take_figure(answer, "", "instructions", &cost->instructions) &&
           take_figure(answer, "", "lanes", &cost->lanes) &&
           take_figure(answer, "", "barriers", &cost->barriers) &&
           take_traffic(answer, "load_", &cost->load) &&
           take_traffic(answer, "store_", &cost->store) &&
           take_traffic(answer, "atomic_", &cost->atomic) &&
           take_traffic(answer, "shared_", &cost->shared) && take_spent(answer, &cost->spent);
}

static const char *number_or_any(int64_t number, char *text, size_t size)
{
    return number < 0 ? "any" : put(text, size, "%lld", (long long) number);
}

Verdict worker_record(Worker *worker, const RecordFilter *filter)
{
    char answer[CHILD_LINE], block[24], warp[24];

    return ASK(worker, chore_limit_s, answer, "record %s %s",
               number_or_any(filter->block, block, sizeof block),
               number_or_any(filter->warp, warp, sizeof warp));
}

/* The child may still write to the memory, so a copy is checked. */
Verdict worker_records(Worker *worker, Records *records)
{
    char answer[CHILD_LINE], why[200];
    double bytes;
    Verdict verdict = ASK(worker, chore_limit_s, answer, "records");

    if (verdict != PASS)
        return verdict;
    _Static_assert(sizeof *records <= WORKER_WINDOW_BYTES, "records fit the shared memory");
    if (!field_double(answer, "bytes", &bytes) || bytes != (double) sizeof *records) {
        PUT(worker->why, "its process reported records of the wrong size: %.40s", answer);
        return SUSPECT;
    }
    memcpy(records, worker->child.shared, sizeof *records);
    if (records_check(records, why, sizeof why))
        return PASS;
    PUT(worker->why, "its process reported invalid records: %s", why);
    return SUSPECT;
}

Verdict worker_trace(Worker *worker)
{
    char answer[CHILD_LINE];

    return ASK(worker, chore_limit_s, answer, "trace");
}

Verdict worker_traced(Worker *worker, const char **text, size_t *bytes)
{
    char answer[CHILD_LINE];
    double length;
    Verdict verdict = ASK(worker, chore_limit_s, answer, "traced");

    if (verdict != PASS)
        return verdict;
    if (!field_double(answer, "bytes", &length) || length < 1 || length > WORKER_WINDOW_BYTES) {
        PUT(worker->why, "its process reported a trace of the wrong size: %.40s", answer);
        return SUSPECT;
    }
    *text = worker->child.shared;
    *bytes = (size_t) length;
    return PASS;
}

Verdict worker_clock(Worker *worker, double *mhz)
{
    char answer[CHILD_LINE];
    Verdict verdict = ASK(worker, chore_limit_s, answer, "clock");

    if (verdict == PASS && !field_double(answer, "mhz", mhz)) {
        PUT(worker->why, "the runner did not report the SM clock");
        return UNSOUND;
    }
    return verdict;
}

void worker_drop(Worker *worker)
{
    char answer[CHILD_LINE];

    if (worker->child.pid > 0)
        child_ask(&worker->child, chore_limit_s, answer, "drop");
}

void worker_end(Worker *worker)
{
    child_end(&worker->child);
}
