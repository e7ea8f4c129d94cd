/* doctor_gpu.c - are the GPUs fit to grade on? By nvidia-smi's query interface, which changes
 * nothing.
 *
 * Each version of nvidia-smi knows different fields and refuses a whole query for one unknown
 * field. That field is then queried by its older name and finally left out. A GPU reports "[N/A]"
 * or "[Not Supported]" for what it lacks; no conclusion is drawn from that.
 *
 * $GRADEBOOK_NVIDIA_SMI names another program (the tests' scripted one).
 */
#include "gradebook/doctor_gpu.h"
#include "base/number.h"
#include "base/process.h"
#include "base/util.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum {
    ANSWER_S = 30,
    SAID_BYTES = 1 << 20,
    FILE_BYTES = 1 << 20,
    HOT_C = 85,
    BUSY_PERCENT = 5,
    HELD_MIB = 1024,
    LEAST_CC = 75,
    LEAST_MIB = 2000
};

static const struct {
    const char *name, *older; /* older: what drivers before R535 or so call it */
} fields[GPU_FIELDS] = {
    [GPU_INDEX] = { "index" },
    [GPU_UUID] = { "uuid" },
    [GPU_DRIVER] = { "driver_version" },
    [GPU_CAPABILITY] = { "compute_cap" },
    [GPU_PERSISTENCE] = { "persistence_mode" },
    [GPU_COMPUTE_MODE] = { "compute_mode" },
    [GPU_MIG] = { "mig.mode.current" },
    [GPU_ECC] = { "ecc.mode.current" },
    [GPU_ECC_ERRORS] = { "ecc.errors.uncorrected.volatile.total" },
    [GPU_TEMPERATURE] = { "temperature.gpu" },
    [GPU_CLOCK] = { "clocks.sm" },
    [GPU_CLOCK_MOST] = { "clocks.max.sm" },
    [GPU_CLOCK_SET] = { "clocks.applications.graphics" },
    [GPU_CLOCK_DEFAULT] = { "clocks.default_applications.graphics" },
    [GPU_REASONS] = { "clocks_event_reasons.active", "clocks_throttle_reasons.active" },
    [GPU_USE] = { "utilization.gpu" },
    [GPU_MEMORY] = { "memory.total" },
    [GPU_MEMORY_USED] = { "memory.used" },
    [GPU_NAME] = { "name" },
};

/* ---- Parsing its output ---- */

/* One value without surrounding blanks; "" if not available. */
static void take_value(const char *from, size_t length, char value[100])
{
    static const char *const nothing[] = { "N/A",
                                           "[N/A]",
                                           "[Not Supported]",
                                           "Not Supported",
                                           "[Not Found]",
                                           "[Requested functionality has been "
                                           "deprecated]" };

    while (length && strchr(" \t\r", *from))
        from++, length--;
    while (length && strchr(" \t\r", from[length - 1]))
        length--;
    put(value, 100, "%.*s", (int) length, from);
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++)
        if (!strcmp(value, nothing[i]))
            *value = 0;
}

/* Fills the fields of one line. False if it has too few. */
static bool parse_line(const char *line, size_t length, const bool asked[GPU_FIELDS], GpuFacts *gpu)
{
    const char *end = line + length;
    int last = GPU_FIELDS - 1;

    *gpu = (GpuFacts){ 0 };
    while (last > 0 && !asked[last])
        last--;
    for (int i = 0; i <= last; i++) {
        const char *comma;
        if (!asked[i])
            continue;
        if (!line)
            return false;
        comma = i == last ? NULL : memchr(line, ',', (size_t) (end - line));
        take_value(line, (size_t) ((comma ? comma : end) - line), gpu->value[i]);
        line = comma ? comma + 1 : NULL;
    }
    return true;
}

int gpus_parse(const char *csv, const bool asked[GPU_FIELDS], GpuFacts gpus[GPUS])
{
    int count = 0;

    while (*csv && count < GPUS) {
        size_t length = strcspn(csv, "\n");
        const char *index = gpus[count].value[GPU_INDEX];
        if (parse_line(csv, length, asked, &gpus[count]) && *index &&
            strspn(index, "0123456789") == strlen(index))
            count++;
        csv += length + (csv[length] != 0);
    }
    return count;
}

void gpus_processes(const char *csv, GpuFacts gpus[GPUS], int count)
{
    while (*csv) {
        size_t length = strcspn(csv, "\n");
        char part[4][100] = { "" };
        const char *at = csv, *end = csv + length;
        for (int i = 0; i < 4 && at; i++) {
            const char *comma = memchr(at, ',', (size_t) (end - at));
            take_value(at, (size_t) ((comma ? comma : end) - at), part[i]);
            at = comma ? comma + 1 : NULL;
        }
        for (int i = 0; i < count; i++)
            if (*part[0] && *part[1] && !strcmp(gpus[i].value[GPU_UUID], part[0]) &&
                gpus[i].processes++ == 0)
                PUT(gpus[i].process, "%s %s", part[1], part[2]);
        csv += length + (csv[length] != 0);
    }
}

void gpu_cuda_version(const char *head, char version[16])
{
    const char *at = strstr(head, "CUDA Version:");

    if (!at)
        at = strstr(head, "CUDA UMD Version:");
    at = at ? strchr(at, ':') + 1 : "";
    at += strspn(at, " ");
    put(version, 16, "%.*s", (int) strspn(at, "0123456789."), at);
}

/* ---- One GPU ---- */

static bool number_of(const GpuFacts *gpu, GpuField field, double *value)
{
    return parse_number(gpu->value[field], 0, DBL_MAX, value);
}

static void look_at_state(const GpuFacts *gpu, const char *what, HealthReport *all)
{
    for (int i = 0; i < GPU_FIELDS; i++)
        if (strstr(gpu->value[i], "requires reset") || strstr(gpu->value[i], "Unknown Error") ||
            strstr(gpu->value[i], "ERR!")) {
            health_advise(
                health_row(all, HEALTH_FAIL, what, "%s: %s", fields[i].name, gpu->value[i]),
                "The driver has lost this GPU. Restart the machine, or reset the GPU while nothing "
                "uses it. If the error returns, the GPU is defective.");
            return;
        }
}

static void look_at_kind(const GpuFacts *gpu, const char *what, HealthReport *all)
{
    const char *dot = strchr(gpu->value[GPU_CAPABILITY], '.');
    int cc = dot ? atoi(gpu->value[GPU_CAPABILITY]) * 10 + atoi(dot + 1) : 0;
    double mib;

    if (cc && cc < LEAST_CC)
        health_advise(health_row(all, HEALTH_FAIL, what, "%s, compute capability %s",
                                 gpu->value[GPU_NAME], gpu->value[GPU_CAPABILITY]),
                      "The labs need 7.5 or newer. Use another GPU, or --devices sim.");
    else if (number_of(gpu, GPU_MEMORY, &mib) && mib < LEAST_MIB)
        health_advise(
            health_row(all, HEALTH_WARN, what, "%s, %.0f MiB", gpu->value[GPU_NAME], mib),
            "Little memory: labs whose arrays do not fit are graded for correctness only.");
    else
        health_row(all, HEALTH_OK, what, "%s",
                   *gpu->value[GPU_NAME] ? gpu->value[GPU_NAME] : "present");
}

static void look_at_use(const GpuFacts *gpu, const char *what, HealthReport *all)
{
    double percent = 0, mib = 0;

    number_of(gpu, GPU_USE, &percent);
    number_of(gpu, GPU_MEMORY_USED, &mib);
    if (gpu->processes)
        health_advise(health_row(all, HEALTH_FAIL, what, "no: %d process%s, first %s",
                                 gpu->processes, gpu->processes > 1 ? "es" : "", gpu->process),
                      "Speeds measured while another program uses the GPU are not reliable. Stop "
                      "that program, or grade on another GPU (--devices). A running gradebook or "
                      "warpbook does no harm: they wait for each other.");
    else if (percent > BUSY_PERCENT)
        health_advise(
            health_row(all, HEALTH_FAIL, what, "no: busy for %.0f %% of the time", percent),
            "Something not visible from here uses the GPU: a display, another container or another "
            "user. Speeds measured meanwhile are not reliable.");
    else if (mib > HELD_MIB)
        health_advise(
            health_row(all, HEALTH_WARN, what, "%.0f MiB are in use by an unknown process", mib),
            "Another container, another user or a display may use the GPU at any time. Ask who "
            "else uses this machine.");
    else
        health_row(all, HEALTH_OK, what, gpu->value[GPU_USE][0] ? "yes" : "no process found on it");
}

static void look_at_modes(const GpuFacts *gpu, const char *what, HealthReport *all)
{
    const char *index = gpu->value[GPU_INDEX], *mode = gpu->value[GPU_COMPUTE_MODE];
    char row[40];

    PUT(row, "%s: compute mode", what);
    if (*mode && strcmp(mode, "Default"))
        health_advise(health_row(all, HEALTH_FAIL, row, "%s", mode),
                      "A grading runs two processes on the GPU at the same time. An administrator "
                      "can reset the mode: nvidia-smi -i %s -c DEFAULT",
                      index);
    else if (*mode)
        health_row(all, HEALTH_OK, row, "%s", mode);
    PUT(row, "%s: persistence", what);
    if (!strcmp(gpu->value[GPU_PERSISTENCE], "Disabled"))
        health_advise(health_row(all, HEALTH_WARN, row, "off"),
                      "The driver unloads between gradings: each starts later, with other clocks. "
                      "An administrator can switch persistence on: nvidia-smi -i %s -pm 1",
                      index);
    else if (*gpu->value[GPU_PERSISTENCE])
        health_row(all, HEALTH_OK, row, "on");
    PUT(row, "%s: MIG", what);
    if (!strcmp(gpu->value[GPU_MIG], "Enabled"))
        health_advise(health_row(all, HEALTH_WARN, row, "on"),
                      "Gradings run on a slice of the GPU and measure its speed. Work on other "
                      "slices can slow it and is not visible here.");
    else if (*gpu->value[GPU_MIG])
        health_row(all, HEALTH_OK, row, "off");
}

static void look_at_memory(const GpuFacts *gpu, const char *what, HealthReport *all)
{
    double errors = 0;
    char row[40];

    PUT(row, "%s: ECC", what);
    number_of(gpu, GPU_ECC_ERRORS, &errors);
    if (errors > 0)
        health_advise(
            health_row(all, HEALTH_FAIL, row, "%.0f uncorrected errors", errors),
            "The GPU's memory has corrupted data since the driver was loaded, so a correct kernel "
            "may get a wrong result. Restart the machine; if the error returns, replace the GPU.");
    else if (*gpu->value[GPU_ECC])
        health_row(all, HEALTH_OK, row, "%s",
                   !strcmp(gpu->value[GPU_ECC], "Enabled") ? "on" : "off");
}

/* Why clocks are reduced, by NVML's bits. */
static const struct {
    unsigned long bit;
    const char *word;
    bool warn;
} reasons[] = {
    { 0x1, "idle", false },
    { 0x2, "application clocks", false },
    { 0x4, "power cap", true },
    { 0x8, "hardware slowdown", true },
    { 0x10, "sync boost", false },
    { 0x20, "heat (software)", true },
    { 0x40, "heat (hardware)", true },
    { 0x80, "power brake", true },
    { 0x100, "display clocks", true },
};

static void look_at_clocks(const GpuFacts *gpu, const char *what, HealthReport *all)
{
    unsigned long bits = strtoul(gpu->value[GPU_REASONS], NULL, 16);
    double now, most, set, standard;
    char row[40], why[200] = "", found[200] = "";
    bool warn = false;

    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (bits & reasons[i].bit) {
            APPEND(why, "%s%s", *why ? ", " : "", reasons[i].word);
            warn |= reasons[i].warn;
        }
    if (number_of(gpu, GPU_CLOCK, &now) && number_of(gpu, GPU_CLOCK_MOST, &most))
        PUT(found, "%.0f of %.0f MHz", now, most);
    if (number_of(gpu, GPU_CLOCK_SET, &set))
        APPEND(found, "%sset to %.0f", *found ? ", " : "", set);
    if (*why)
        APPEND(found, "%s%s", *found ? "; " : "", why);
    PUT(row, "%s: clocks", what);
    if (warn)
        health_advise(health_row(all, HEALTH_WARN, row, "%s", found),
                      "The clocks are reduced even now. Marks stay fair, since speeds are relative "
                      "to the reference, but more samples are dropped and gradings take longer. "
                      "Improve cooling or raise the power limit.");
    else if (number_of(gpu, GPU_CLOCK_SET, &set) && number_of(gpu, GPU_CLOCK_DEFAULT, &standard) &&
             set < standard)
        health_advise(
            health_row(all, HEALTH_WARN, row, "%s, below the default of %.0f", found, standard),
            "Marks stay fair, but the ratio of compute to memory speed is not this GPU's usual "
            "one. An administrator can reset the clocks: nvidia-smi -i %s -rac",
            gpu->value[GPU_INDEX]);
    else if (*found)
        health_row(all, HEALTH_OK, row, "%s", found);
}

static void look_at_heat(const GpuFacts *gpu, const char *what, HealthReport *all)
{
    double celsius;
    char row[40];

    PUT(row, "%s: temperature", what);
    if (!number_of(gpu, GPU_TEMPERATURE, &celsius))
        return;
    if (celsius >= HOT_C)
        health_advise(health_row(all, HEALTH_WARN, row, "%.0f C", celsius),
                      "Hot before the first grading: the clocks will drop. Improve its cooling.");
    else
        health_row(all, HEALTH_OK, row, "%.0f C", celsius);
}

void gpu_diagnose(const GpuFacts *gpu, HealthReport *all)
{
    char what[20], row[40];

    PUT(what, "GPU %.3s", gpu->value[GPU_INDEX]);
    look_at_state(gpu, what, all);
    look_at_kind(gpu, what, all);
    look_at_use(gpu, PUT(row, "%s: idle", what), all);
    look_at_modes(gpu, what, all);
    look_at_memory(gpu, what, all);
    look_at_clocks(gpu, what, all);
    look_at_heat(gpu, what, all);
}

void driver_diagnose(const char *driver, const char *toolkit, HealthReport *all)
{
    int major = 0, minor = 0, built_major = 0, built_minor = 0;
    static const char what[] = "driver and toolkit";

    if (sscanf(driver, "%d.%d", &major, &minor) != 2 ||
        sscanf(toolkit, "%d.%d", &built_major, &built_minor) != 2)
        return;
    if (major < built_major)
        health_advise(
            health_row(all, HEALTH_FAIL, what, "CUDA %s, %s", driver, toolkit),
            "The driver is older than the toolkit: programs built by this nvcc do not run. Install "
            "a newer driver, or a toolkit of CUDA %d and set CUDA_HOME to it.",
            major);
    else if (major == built_major && minor < built_minor)
        health_advise(health_row(all, HEALTH_WARN, what, "CUDA %s, %s", driver, toolkit),
                      "The driver is older than the toolkit, with the same major version: machine "
                      "code runs, its PTX does not. A newer driver is safer.");
    else
        health_row(all, HEALTH_OK, what, "CUDA %s, %s", driver, toolkit);
}

/* ---- Querying nvidia-smi ---- */

typedef struct Answer {
    Program program;
    bool fine;
    const char *text; /* what it printed */
} Answer;

static void ask(Answer *answer, const char *first, const char *second)
{
    const char *named = getenv("GRADEBOOK_NVIDIA_SMI");
    const char *smi = named && *named                              ? named
                      : file_exists("/usr/lib/wsl/lib/nvidia-smi") ? "/usr/lib/wsl/lib/nvidia-smi"
                                                                   : "nvidia-smi";
    char *const argv[] = { (char *) smi, (char *) first, (char *) second, NULL };
    Program *program = &answer->program;

    answer->fine = program_start(program, argv, NULL, NULL, ANSWER_S, SAID_BYTES, FILE_BYTES);
    while (answer->fine && !program_over(program))
        program_wait((Program *const[]){ program }, 1, 1);
    answer->fine = answer->fine && !program->late && program->status == 0;
    answer->text = program->out.text ? program->out.text : "";
}

/* The field named by the error: Field "x" is not a valid field to query. */
static int refused_field(const char *said, const bool asked[GPU_FIELDS],
                         const bool older[GPU_FIELDS])
{
    const char *at = strstr(said, "Field \"");

    for (int i = 0; at && i < GPU_FIELDS; i++) {
        const char *name = older[i] ? fields[i].older : fields[i].name;
        size_t length = strlen(name);
        if (asked[i] && !strncmp(at + 7, name, length) && at[7 + length] == '"')
            return i;
    }
    return -1;
}

/* Leaves out fields unknown to this nvidia-smi. Returns the number of GPUs, -1 without an answer.
 */
static int ask_gpus(GpuFacts gpus[GPUS], char *why, size_t size)
{
    bool asked[GPU_FIELDS], older[GPU_FIELDS] = { false };
    int count = -1;

    memset(asked, true, sizeof asked);
    for (int times = 0; times < 2 * GPU_FIELDS && count < 0; times++) {
        char query[1000] = "--query-gpu=";
        Answer answer;
        int refused;
        for (int i = 0; i < GPU_FIELDS; i++)
            if (asked[i])
                APPEND(query, "%s%s", i ? "," : "", older[i] ? fields[i].older : fields[i].name);
        ask(&answer, query, "--format=csv,noheader,nounits");
        refused = refused_field(answer.text, asked, older);
        if (answer.fine && refused < 0)
            count = gpus_parse(answer.text, asked, gpus);
        else if (refused > GPU_UUID && !older[refused] && fields[refused].older)
            older[refused] = true;
        else if (refused > GPU_UUID)
            asked[refused] = false;
        else
            times = 2 * GPU_FIELDS;
        if (count < 0 && *answer.text)
            put(why, size, "%.*s", (int) strcspn(answer.text, "\n"), answer.text);
        else if (count < 0 && WIFEXITED(answer.program.status) &&
                 WEXITSTATUS(answer.program.status) == 127 && !answer.program.late)
            put(why, size, "not installed");
        else if (count < 0)
            program_say_end(&answer.program, why, size);
        program_free(&answer.program);
    }
    return count;
}

static void ask_processes(GpuFacts gpus[GPUS], int count)
{
    Answer answer;

    ask(&answer, "--query-compute-apps=gpu_uuid,pid,process_name,used_memory",
        "--format=csv,noheader,nounits");
    if (answer.fine)
        gpus_processes(answer.text, gpus, count);
    program_free(&answer.program);
}

static void ask_driver(const char *toolkit, HealthReport *all)
{
    char version[16];
    Answer answer;

    ask(&answer, NULL, NULL);
    gpu_cuda_version(answer.text, version);
    program_free(&answer.program);
    driver_diagnose(version, toolkit, all);
}

/* ---- All of them ---- */

static const GpuFacts *gpu_of(const GpuFacts gpus[GPUS], int count, const char *device)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(gpus[i].value[GPU_INDEX], device))
            return &gpus[i];
    return NULL;
}

/* By default CUDA numbers GPUs by speed, nvidia-smi by PCI address. */
static void look_at_order(const GpuFacts gpus[GPUS], int count, HealthReport *all)
{
    const char *order = getenv("CUDA_DEVICE_ORDER"), *visible = getenv("CUDA_VISIBLE_DEVICES");
    bool differ = false;

    for (int i = 1; i < count; i++)
        differ |= strcmp(gpus[i].value[GPU_NAME], gpus[0].value[GPU_NAME]) != 0;
    if (differ && (!order || strcmp(order, "PCI_BUS_ID")))
        health_advise(health_row(all, HEALTH_WARN, "GPUs' numbers", "GPUs of different models"),
                      "CUDA numbers them by speed, these rows by PCI address. Set "
                      "CUDA_DEVICE_ORDER=PCI_BUS_ID in the environment to use the same numbers.");
    if (visible && *visible)
        health_advise(
            health_row(all, HEALTH_WARN, "GPUs' numbers", "CUDA_VISIBLE_DEVICES=%s", visible),
            "--devices numbers only these GPUs; the rows here number all GPUs.");
}

void gpus_diagnose(const char *const devices[], int count, const char *toolkit, HealthReport *all)
{
    GpuFacts *gpus = xcalloc(GPUS, sizeof *gpus);
    char why[300] = "";
    int there = ask_gpus(gpus, why, sizeof why);
    bool wanted = count > 0;

    if (there <= 0) {
        health_advise(health_row(all, wanted ? HEALTH_FAIL : HEALTH_WARN, "GPU",
                                 "not found; nvidia-smi: %s", there < 0 ? why : "lists no GPU"),
                      "Without an NVIDIA GPU and its driver, gradings run on the simulated GPU.");
        free(gpus);
        return;
    }
    ask_processes(gpus, there);
    ask_driver(toolkit, all);
    look_at_order(gpus, there, all);
    for (int i = 0; i < count; i++) {
        const GpuFacts *gpu = gpu_of(gpus, there, devices[i]);
        if (gpu)
            gpu_diagnose(gpu, all);
        else
            health_advise(health_row(all, HEALTH_FAIL, "GPU", "there is no GPU %s", devices[i]),
                          "This machine has %d, numbered from 0.", there);
    }
    if (!wanted)
        gpu_diagnose(&gpus[0], all);
    free(gpus);
}
