/* device_sim.c - for a simulated GPU, does on the host what the runner does with kernels on a real
 * GPU. It also reports what the simulated GPU found in the student's kernels, in the words of
 * runner/protocol.h.
 *
 * Arrays are filled and compared here and copied piece by piece: simulating kernels for that would
 * take longer than simulating the student's. The arrays have no guards, because the simulated GPU
 * knows where an array ends. After each go, device_found() reports one finding: the first that
 * stopped a kernel, else the first of all (but see choose()). Whether a finding is a
 * write decides its verdict, as it would on a real GPU.
 */
#include "runner/device_cuda.h"
#include "runner/share.h"
#include "runner/sim_serve.h"
#include "base/util.h"

#include "lab.h"
#include "sim/memory/memory.h"
#include "sim/runtime/query.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 1 << 20 }; /* bytes; a whole number of FILL_SUMMED chunks */

const int device_simulated = 1;

/* ---- Contents ---- */

static void write_elements(Element type, Fill fill, FillKey key, size_t first, size_t count,
                           void *to)
{
    enum { AT_ONCE = 256 };
    const bool has_words = fill_has_words(fill);
    const size_t width = element_bytes(type);
    uint32_t words[AT_ONCE];

    if (type == AS_F32) { /* nearly all arrays; without a decision per element */
        fill_f32s(fill, key, first, 1, count, to);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (has_words && i % AT_ONCE == 0)
            fill_bits_of(key, first + i, 1, count - i < AT_ONCE ? count - i : AT_ONCE, words);
        uint64_t bits = has_words ? element_of(type, fill, words[i % AT_ONCE])
                                  : element_bits(type, fill, key, first + i);
        memcpy((char *) to + i * width, &bits, width);
    }
}

cudaError_t device_fill(Element type, Fill fill, FillKey key, void *data, size_t bytes)
{
    char *piece = xmalloc(PIECE);
    cudaError_t error = cudaSuccess;

    for (size_t at = 0; at < bytes && !error; at += PIECE) {
        size_t size = bytes - at < PIECE ? bytes - at : PIECE, width = element_bytes(type);
        write_elements(type, fill, key, at / width, size / width, piece);
        error = cudaMemcpy((char *) data + at, piece, size, cudaMemcpyDefault);
    }
    free(piece);
    return error;
}

static size_t first_difference(const char *a, const char *b, size_t size)
{
    size_t at = 0;

    while (at < size && a[at] == b[at])
        at++;
    return at;
}

cudaError_t device_find_change(Element type, Fill fill, FillKey key, const void *data, size_t bytes,
                               unsigned long long *index)
{
    char *right = xmalloc(PIECE), *is = xmalloc(PIECE);
    size_t width = element_bytes(type);
    cudaError_t error = cudaSuccess;

    *index = DEVICE_NOTHING;
    for (size_t at = 0; at < bytes && !error && *index == DEVICE_NOTHING; at += PIECE) {
        size_t size = bytes - at < PIECE ? bytes - at : PIECE;
        write_elements(type, fill, key, at / width, size / width, right);
        error = cudaMemcpy(is, (const char *) data + at, size, cudaMemcpyDefault);
        if (!error && memcmp(right, is, size))
            *index = (at + first_difference(right, is, size)) / width;
    }
    free(right);
    free(is);
    return error;
}

static int is_host(const void *data)
{
    struct cudaPointerAttributes about;

    return !cudaPointerGetAttributes(&about, data) && about.type == cudaMemoryTypeHost;
}

cudaError_t device_poison(void *data, size_t bytes, unsigned char byte)
{
    cudaError_t error;

    if (is_host(data)) { /* uninitialised host memory is not tracked */
        memset(data, byte, bytes);
        return cudaSuccess;
    }
    error = cudaMemset(data, byte, bytes);
    if (!error && !simMark(data, bytes, MARK_UNINIT))
        return cudaErrorInvalidValue;
    return error;
}

void device_name(void *data, const char *name, int i, size_t row_bytes)
{
    static const char *const names[LAB_IN + LAB_OUT + 1] = { "in",  "in[1]",  "in[2]",  "in[3]",
                                                             "out", "out[1]", "scratch" };

    simName(data, name ? name : i < LAB_IN + LAB_OUT ? names[i] : "scratch", row_bytes);
}

/* Only arrays in host memory have guards; the simulated GPU stops a kernel that writes outside any
 * other array. */
cudaError_t device_find_stray(const void *data, size_t bytes, size_t guard_bytes,
                              unsigned char whole, unsigned long long *distance, int *before)
{
    const unsigned char *first = data, *end = first + bytes;

    *distance = DEVICE_NOTHING;
    *before = 0;
    for (size_t i = 0; i < guard_bytes && *distance == DEVICE_NOTHING; i++) {
        if (end[i] != whole)
            *distance = i;
        else if (*(first - 1 - i) != whole) {
            *distance = i + 1;
            *before = 1;
        }
    }
    return cudaSuccess;
}

/* ---- The device ---- */

cudaError_t device_clock(double *mhz)
{
    int khz = 0, device;
    cudaError_t error = cudaGetDevice(&device);

    if (!error)
        error = cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, device);
    *mhz = khz / 1e3;
    return error;
}

/* Prints the likeliest reason; the process then dies as it would have without this handler. (The
 * library's own handler forks the process, which the sandbox forbids.) */
static void on_fault(int number, siginfo_t *info, void *context)
{
    static const char words[] = "host code accessed an address in GPU memory: only kernels "
                                "can do that\n";
    uint64_t at = (uint64_t) (uintptr_t) info->si_addr;

    (void) context;
    if (at >= GLOBAL_BASE && at - GLOBAL_BASE < WINDOW_BYTES &&
        write(STDERR_FILENO, words, sizeof words - 1) < 0)
        _exit(128 + number); /* no thread reads stderr */
}

/* CUDA_CHECK stops the process with CUDA's short text ("invalid argument"); the simulated GPU can
 * say more. The signal comes from abort() in the calling thread, so it interrupts no other work. */
static void on_abort(int number)
{
    Finding found;

    (void) number;
    for (int i = 0; simFinding(i, &found); i++)
        if (found.kind == FINDING_LAUNCH && dprintf(STDERR_FILENO, "%.400s\n", found.text) < 0)
            return; /* no thread reads stderr */
}

/* Needs no trial: there is no driver, and no machine code that might not fit the GPU. */
cudaError_t device_begin(int *right)
{
    struct sigaction action = { .sa_sigaction = on_fault,
                                .sa_flags = SA_SIGINFO | SA_RESETHAND | SA_ONSTACK };
    cudaError_t error = cudaFree(NULL);

    signal(SIGABRT, on_abort);
    sigaction(SIGSEGV, &action, NULL); /* after the library has installed its own */
    *right = 1;
    return error;
}

int device_checks(int on, unsigned long long order, unsigned long long budget)
{
    simChecks(on, budget);
    simSample(on ? 0 : secret());
    simOrder(!order ? SIM_FORWARD : order % 2 ? SIM_REVERSE : SIM_BY_CHANCE, order);
    return 1;
}

/* ---- The guest ---- */

static cudaEvent_t go_begin, go_end;

void device_serve(void)
{
    if (!cudaEventCreate(&go_begin) && !cudaEventCreate(&go_end))
        sim_serve_begin();
}

cudaError_t device_go(const struct Lab *lab)
{
    int sms = 0;

    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    sim_serve_launch(lab->launches ? (unsigned) sms : 0, (unsigned) lab->launches);
    sim_serve_work(lab->streams ? SERVES_STREAMS : SERVES_LAUNCHES);
    return cudaEventRecord(go_begin, 0);
}

cudaError_t device_gone(double *ms)
{
    float elapsed_ms = 0;
    cudaError_t error;

    sim_serve_work(SERVES_NO_WORK);
    if ((error = cudaDeviceSynchronize()) || (error = cudaEventRecord(go_end, 0)) ||
        (error = cudaDeviceSynchronize()) ||
        (error = cudaEventElapsedTime(&elapsed_ms, go_begin, go_end)))
        return error;
    *ms = elapsed_ms;
    return cudaSuccess;
}

/* ---- Time ---- */

static int has_time;

int device_model_time(unsigned without)
{
    has_time = 1;
    simTime(without);
    return 1;
}

int device_timed(DeviceTimed *timed)
{
    SimTimes times;

    simTimes(&times);
    *timed = (DeviceTimed){ times.launches,     times.untimed,      times.blocks,
                            times.timed_blocks, times.instructions, times.kernels_ms };
    return 1;
}

/* ---- Findings ---- */

/* The words of runner/protocol.h for each finding. NULL if it is not reported. */
static const struct {
    const char *kind, *kind_if_write;
    const char *code; /* a word of diagnosis.h, or NULL */
} words[FINDINGS] = {
    [FINDING_OUT_OF_BOUNDS] = { "unsafe", "stray", "out_of_bounds" },
    [FINDING_USE_AFTER_FREE] = { "unsafe", "stray" },
    [FINDING_MISALIGNED] = { "kernel", "kernel", "misaligned" },
    [FINDING_HOST_POINTER] = { "kernel", "kernel", "host_pointer" },
    [FINDING_FORBIDDEN] = { "kernel", "kernel" },
    [FINDING_UNINITIALISED] = { "unsafe", "unsafe", "uninitialised" },
    [FINDING_RACE] = { "unsafe", "unsafe", "race" },
    [FINDING_RACE_BLOCKS] = { "unsafe", "unsafe", "race" },
    [FINDING_BARRIER] = { "unsafe", "unsafe", "barrier" },
    [FINDING_SHUFFLE] = { "unsafe", "unsafe", "shuffle" },
    [FINDING_LAUNCH] = { "launch", "launch" },
    [FINDING_TRAP] = { "kernel", "kernel" },
    [FINDING_ASSERT] = { "kernel", "kernel" },
    [FINDING_ENDLESS] = { "endless", "endless" },
    [FINDING_STUCK] = { "endless", "endless" },
    [FINDING_UNKNOWN_INSTRUCTION] = { "limit", "limit" },
    [FINDING_UNKNOWN_CALL] = { "limit", "limit" },
    [FINDING_MODULE] = { "limit", "limit" },
    [FINDING_LIMIT] = { "limit", "limit" },
};
_Static_assert(FINDINGS == 20, "each kind of finding has a row above, or is not reported (LEAK)");

static int is_write(const Finding *found)
{
    static const char *const begins[] = { "st", "red", "atom" };
    const char *opcode = found->place.instruction;

    for (size_t i = 0; opcode && i < sizeof begins / sizeof *begins; i++)
        if (!strncmp(opcode, begins[i], strlen(begins[i])))
            return 1;
    return 0;
}

static const char *word_of(const Finding *found)
{
    if ((unsigned) found->kind >= FINDINGS)
        return "limit";
    return is_write(found) ? words[found->kind].kind_if_write : words[found->kind].kind;
}

/* Between the same two lines, a race between warps tells more than one within a warp. */
static int is_clearer(const Finding *race, const Finding *in_warp)
{
    return in_warp->place.provisional && !race->place.provisional && race->place.line &&
           race->place.line == in_warp->place.other_line &&
           race->place.other_line == in_warp->place.line;
}

/* A race explains a read of unwritten memory on one of its two lines: the write came later. */
static int explains(const Finding *race, const Finding *unwritten)
{
    const int line = unwritten->place.line;

    if (race->kind == FINDING_RACE && unwritten->kind == FINDING_RACE)
        return is_clearer(race, unwritten);
    return unwritten->kind == FINDING_UNINITIALISED && race->kind == FINDING_RACE && line &&
           (race->place.line == line || race->place.other_line == line);
}

static int is_race(const Finding *found)
{
    return found->kind == FINDING_RACE || found->kind == FINDING_RACE_BLOCKS;
}

/* The value of an unwritten element may lead to a race, and either to an index out of bounds. */
static int is_nearer_to_the_cause(const Finding *found, const Finding *chosen)
{
    if (explains(found, chosen))
        return 1;
    return found->kind == FINDING_UNINITIALISED && is_race(chosen) && !explains(chosen, found);
}

/* Chooses the finding to report: the one that stopped the kernel, else the first. What may have led
 * to the failure is reported instead: a read of uninitialised memory, unless a race explains it; or
 * a race before an access out of bounds. */
static int choose(Finding *chosen)
{
    Finding found;
    int any = 0, unwritten = 0, raced = 0; /* found so far */

    for (int i = 0; simFinding(i, &found); i++) {
        const int has_cause = unwritten || (raced && found.kind == FINDING_OUT_OF_BOUNDS);
        if (word_of(&found) && (!any || (found.fatal && !chosen->fatal && !has_cause) ||
                                is_nearer_to_the_cause(&found, chosen))) {
            *chosen = found;
            any = 1;
        }
        unwritten |= found.kind == FINDING_UNINITIALISED;
        raced |= is_race(&found);
    }
    return any;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* "reads `part[1]`, ...": the thread is the subject. */
static int begins_with_verb(const char *text)
{
    return !strncmp(text, "reads ", 6) || !strncmp(text, "writes ", 7) ||
           !strncmp(text, "updates ", 8);
}

/* The place: "@27" or "@27,25" in kernel.cu, and otherwise a part of the text. */
static void write_place(const Place *at, char *fault, size_t size)
{
    if (!at->file || strcmp(base_name(at->file), "kernel.cu") || at->line < 1)
        return;
    append(fault, size, "@%d", at->line);
    if (at->other_line > 0 && !at->other_elsewhere)
        append(fault, size, ",%d", at->other_line);
}

/* "unsafe.race@27,25 race: thread (32,0,0) of block (0,0,0) reads ... (kernel sum_kernel)" or
 * "unsafe.barrier@27 barrier: ... (kernel sum_kernel, block (0,0,0), thread (0,0,0))" */
static void write_finding(const Finding *found, char *fault, size_t size)
{
    const Place *at = &found->place;

    const char *code = (unsigned) found->kind < FINDINGS ? words[found->kind].code : NULL;
    const int is_subject = at->has_thread && begins_with_verb(found->text);

    put(fault, size, "%s%s%s", word_of(found), code ? "." : "", code ? code : "");
    write_place(at, fault, size);
    append(fault, size, " ");
    if (at->file && !strchr(fault, '@'))
        append(fault, size, "%.80s:%d: ", base_name(at->file), at->line);
    if (found->kind != FINDING_LAUNCH) /* the clause for a refused launch has this word */
        append(fault, size, "%s: ", simWord(found->kind));
    if (is_subject)
        append(fault, size, "thread (%d,%d,%d) of block (%d,%d,%d) ", at->thread[0], at->thread[1],
               at->thread[2], at->block[0], at->block[1], at->block[2]);
    append(fault, size, "%.400s", found->text);
    if (at->kernel)
        append(fault, size, " (kernel %.100s", at->kernel);
    if (at->kernel && at->has_thread && !is_subject)
        append(fault, size, ", block (%d,%d,%d), thread (%d,%d,%d)", at->block[0], at->block[1],
               at->block[2], at->thread[0], at->thread[1], at->thread[2]);
    if (at->kernel)
        append(fault, size, ")");
}

void device_watch(void)
{
    simForget();
}

static bool kernels_use_host_arrays(void)
{
    SimTraffic load, store, atomic;
    const void *array;

    for (int i = 0; (array = share_host_array(i)); i++)
        if (simArray(array, &load, &store, &atomic))
            return true;
    return false;
}

/* Only copies of host arrays have a modelled time. Host code that uses these arrays, and kernels
 * that access them across the link, would appear to take no time. */
static int works_unmodelled(char *fault, size_t size)
{
    SimTimes times;

    simTimes(&times);
    if (!has_time || !times.launches || (!share_touched() && !kernels_use_host_arrays()))
        return 0;
    put(fault, size, "limit %s; use kernels and copies instead, or grade on a real GPU",
        share_touched() ? "its host code reads or writes the arrays, and the time of host code is "
                          "not modelled"
                        : "its kernels read or write the host's arrays themselves, and the time "
                          "of such accesses is not modelled");
    return 1;
}

int device_found(char *fault, size_t size)
{
    Finding found;

    if (!choose(&found))
        return works_unmodelled(fault, size);
    write_finding(&found, fault, size);
    return 1;
}

/* ---- Counts ---- */

static double loads_of(const SimLine *line)
{
    return (double) line->global_load.requests + (double) line->shared.passes;
}

/* How much a line contributes: what it costs beyond its minimum, if that is known. */
static double waste_of(int counter, const SimLine *line)
{
    switch (counter) {
    case SHARED_WAVEFRONTS:
        return (double) (line->shared.passes - line->shared.asked);
    case WARP_BARRIERS:
        return (double) line->barriers;
    case LOADS_AN_FMA:
        return loads_of(line);
    case IDLE_LANES:
        return (double) line->instructions - (double) line->lanes / 32;
    default:
        return (double) line->global_atomic.requests;
    }
}

static void add_line(int counter, const SimLine *line, DeviceCount *count)
{
    if (counter == WARP_BARRIERS)
        count->done += line->barriers;
    if (counter == WARP_ATOMICS)
        count->done += line->global_atomic.requests;
    if (counter == LOADS_AN_FMA) {
        count->done += loads_of(line);
        count->least += (double) line->ffma_lanes / 32;
    }
    if (counter == IDLE_LANES) {
        count->done += (double) line->instructions;
        count->least += (double) line->lanes / 32;
    }
    if (counter != SHARED_WAVEFRONTS)
        return;
    count->done += line->shared.passes;
    count->least += line->shared.asked;
    count->requests += line->shared.requests;
}

static int count_lines(int counter, DeviceCount *count)
{
    double worst = 0;
    SimLine line;

    for (int i = 0; simLine(i, &line); i++) {
        double waste = waste_of(counter, &line);
        add_line(counter, &line, count);
        if (waste > worst && line.file) {
            worst = waste;
            count->line = line.line;
        }
    }
    return 1;
}

/* Each line with its accesses to this array only: most lines access several. Several kernels may
 * use the same line. The line that moves the most sectors is named, whether it reads once too often
 * or in scattered sectors. */
static int count_array(int counter, const void *data, DeviceCount *count)
{
    SimLine line;

    for (int i = 0; simArrayLine(data, i, &line); i++) {
        const SimTraffic *load = &line.global_load, *store = &line.global_store;
        const SimTraffic *atomic = &line.global_atomic;
        const bool reads = counter == SECTORS_READ;
        const unsigned long long done = reads ? load->passes : store->passes + atomic->passes;
        const unsigned long long requests =
            reads ? load->requests : store->requests + atomic->requests;
        count->done += done;
        count->requests += requests;
        if (line.file && done > count->line_done) {
            count->line = line.line;
            count->line_done = done;
            count->line_requests = requests;
        }
    }
    return 1;
}

int device_count(int counter, const void *data, DeviceCount *count)
{
    *count = (DeviceCount){ 0 };
    return data ? count_array(counter, data, count) : count_lines(counter, count);
}
