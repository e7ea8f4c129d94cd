/* doctor.c - gradebook doctor: can this machine grade?
 *
 * It checks the workbook's programs, the CUDA Toolkit, bubblewrap, disk space, and the driver,
 * compute mode and other processes of each GPU. Conditions that change during a grading (clocks,
 * noise) are measured by the grading itself.
 *
 * GPU data comes from nvidia-smi's query interface. $GRADEBOOK_NVIDIA_SMI replaces nvidia-smi with
 * another program (in the tests, a script).
 */
#include "gradebook/doctor.h"
#include "gradebook/import/submission.h"
#include "gradebook/run/sandbox.h"
#include "build/toolchain.h"
#include "base/number.h"
#include "base/process.h"
#include "base/text.h"
#include "base/util.h"

#include <errno.h>
#include <float.h>
#include <linux/magic.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    COLUMNS = 80,
    WHAT_COLUMNS = 24,
    ANSWER_S = 30,
    OUTPUT_BYTES = 1 << 20,
    BUSY_PERCENT = 5,
    HELD_MIB = 1024,
};

/* ---- Rows ---- */

/* Adds a row: what was checked, what was found, and advice ("" if there is nothing to do). */
static void add_row(DoctorReport *report, Health health, const char *what, const char *advice,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));
static void add_row(DoctorReport *report, Health health, const char *what, const char *advice,
                    const char *format, ...)
{
    static const char *const words[] = { "ok", "warn", "fail" };
    char found[300], note[1300], *text = NULL;
    size_t bytes = 0;
    FILE *row = text_open(&text, &bytes);
    va_list values;
    bool fits;

    va_start(values, format);
    vsnprintf(found, sizeof found, format, values);
    va_end(values);
    show(found); /* may contain names of GPUs, processes and folders */
    show(PUT(note, "%s", advice));
    fits = 6 + WHAT_COLUMNS + 1 + strlen(found) <= COLUMNS;
    fprintf(row, "%-5s %-*s%s%s\n", words[health], fits ? WHAT_COLUMNS : 0, what, fits ? " " : "",
            fits ? found : "");
    print_wrapped_to(row, fits ? "" : found, 6, COLUMNS);
    print_wrapped_to(row, note, 6, COLUMNS);
    text_close(row);
    append(report->text, sizeof report->text, "%s", text);
    free(text);
    report->rows++;
    if (health > report->worst)
        report->worst = health;
}

/* ---- The machine ---- */

static void check_programs(DoctorReport *report)
{
    static const char *const programs[] = { "warpbook", "runner", "runner-sim" };
    char build[512], path[600];

    if (!file_exists("common/lab.h") || !find_build_folder(build, sizeof build)) {
        add_row(report, HEALTH_FAIL, "workbook",
                "Run gradebook in the folder that contains labs/ and Makefile, after make "
                "gradebook.",
                "not found here");
        return;
    }
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (!file_exists(PUT(path, "%s/%s", build, programs[i]))) {
            add_row(report, HEALTH_FAIL, "workbook",
                    "It was not built, most likely because make found no nvcc. Install nvcc, then "
                    "run make gradebook.",
                    "%s is missing", path);
            return;
        }
    add_row(report, HEALTH_OK, "workbook", "", "built in %s", build);
}

/* Sets `version` to nvcc's version, or to "" if nvcc is not usable. */
static void check_toolkit(DoctorReport *report, char *version, size_t size)
{
    Toolchain toolchain;

    toolchain_find(&toolchain);
    put(version, size, "%s", toolchain.problem[0] ? "" : toolchain.version);
    if (toolchain.problem[0])
        add_row(report, HEALTH_FAIL, "CUDA Toolkit", toolchain.problem, "not usable");
    else if (!toolchain.libraries[0])
        add_row(report, HEALTH_FAIL, "CUDA Toolkit",
                "The toolkit's runtime library is missing. Install the complete toolkit.",
                "nvcc %s, no libcudart.so", toolchain.version);
    else
        add_row(report, HEALTH_OK, "CUDA Toolkit", "", "nvcc %s", toolchain.version);
}

/* Runs warpbook in a sandbox, in a temporary folder. */
static void check_bubblewrap(DoctorReport *report, bool trusting)
{
    char store[500], problem[1200] = "";
    Sandbox sandbox = { 0 };

    if (trusting) {
        add_row(report, HEALTH_WARN, "bubblewrap",
                "A submission that escapes warpbook's own sandbox can read and write all your "
                "files.",
                "not used (--trust-submissions)");
        return;
    }
    PUT(store, "%s/warpbook-doctor-XXXXXX", temporary_folder());
    if (!mkdtemp(store)) {
        add_row(report, HEALTH_FAIL, "temporary folder",
                "$TMPDIR (or /tmp) must be a writable folder.", "%s: %s", store, strerror(errno));
        return;
    }
    if (sandbox_open(&sandbox, store, false, problem, sizeof problem))
        add_row(report, HEALTH_OK, "bubblewrap", "", "can run warpbook%s",
                sandbox.sized
                    ? ""
                    : ", but cannot limit the size of folders in memory (needs bubblewrap 0.7)");
    else
        add_row(report, HEALTH_FAIL, "bubblewrap", problem, "cannot run gradings");
    sandbox_close(&sandbox);
    remove_tree(store);
}

static void check_disk(DoctorReport *report, const char *what, const char *path, double least_gib,
                       double good_gib)
{
    struct statvfs disk;
    double free_gib;

    if (statvfs(path, &disk)) {
        add_row(report, HEALTH_FAIL, what, "", "%s: %s", path, strerror(errno));
        return;
    }
    free_gib = (double) disk.f_bavail * (double) disk.f_frsize / (1 << 30);
    if (disk.f_flag & ST_RDONLY)
        add_row(report, HEALTH_FAIL, what, "Choose another folder.", "%s is read-only", path);
    else if (free_gib < good_gib)
        add_row(report, free_gib < least_gib ? HEALTH_FAIL : HEALTH_WARN, what,
                "A course of 300 students writes several GiB of logs and builds. A full disk stops "
                "grading; no result is lost, and grading can resume once there is space.",
                "%.1f GiB free at %s", free_gib, path);
    else
        add_row(report, HEALTH_OK, what, "", "%.0f GiB free at %s", free_gib, path);
}

/* Root is not necessary, and a submission that escaped would own the machine. */
static void check_user(DoctorReport *report)
{
    const struct passwd *user = getpwuid(geteuid());

    add_row(report, geteuid() ? HEALTH_OK : HEALTH_WARN, "user",
            geteuid() ? ""
                      : "A submission that escapes its sandbox has all rights of the user who "
                        "grades. Grade as an ordinary user who owns nothing else.",
            "%s", user ? user->pw_name : "without a name");
}

/* SQLite's locks may fail on NFS. */
static void check_file_system(DoctorReport *report, const char *folder)
{
    struct statfs system;

    if (!statfs(folder, &system) && system.f_type == NFS_SUPER_MAGIC)
        add_row(report, HEALTH_WARN, "disk for results",
                "Two gradebooks may write at the same time there, which damages the database. "
                "Choose a local disk.",
                "%s is on NFS", folder);
}

/* The nearest existing folder at or above `out`. */
static void existing_folder(const char *out, char *folder, size_t size)
{
    put(folder, size, "%s", out);
    while (*folder && !file_exists(folder)) {
        char *slash = strrchr(folder, '/');
        if (!slash)
            put(folder, size, ".");
        else
            slash[slash == folder] = 0;
    }
}

/* ---- Parsing nvidia-smi's output ---- */

/* Copies the part up to a comma, without surrounding blanks; "" for "N/A" and "[N/A]". Returns the
 * text after the comma, or NULL at the end of the line. The last part may contain commas. */
static const char *next_part(const char *at, bool last, char *part, size_t size)
{
    size_t length = at ? strcspn(at, last ? "\r\n" : ",\r\n") : 0;
    const char *next = at && at[length] == ',' ? at + length + 1 : NULL;

    for (; length && *at == ' '; at++)
        length--;
    while (length && at[length - 1] == ' ')
        length--;
    put(part, size, "%.*s", (int) length, at ? at : "");
    if (!strcmp(part, "N/A") || !strcmp(part, "[N/A]") || !strcmp(part, "[Not Supported]"))
        *part = 0;
    return next;
}

static const char *next_number(const char *at, double *value)
{
    char part[40];
    const char *next = next_part(at, false, part, sizeof part);

    if (!parse_number(part, 0, DBL_MAX, value))
        *value = -1;
    return next;
}

static const char *next_of(const char *line)
{
    line += strcspn(line, "\n");
    return line + (*line != 0);
}

int gpus_parse(const char *csv, GpuState gpus[GPUS])
{
    int count = 0;

    for (const char *line = csv; *line && count < GPUS; line = next_of(line)) {
        GpuState *gpu = &gpus[count];
        const char *at = line;
        *gpu = (GpuState){ 0 };
        at = next_part(at, false, gpu->index, sizeof gpu->index);
        at = next_part(at, false, gpu->uuid, sizeof gpu->uuid);
        at = next_part(at, false, gpu->mode, sizeof gpu->mode);
        at = next_number(at, &gpu->use_percent);
        at = next_number(at, &gpu->memory_mib);
        next_part(at, true, gpu->name, sizeof gpu->name);
        count += at && *gpu->index && strspn(gpu->index, "0123456789") == strlen(gpu->index);
    }
    return count;
}

void gpus_parse_processes(const char *csv, GpuState gpus[GPUS], int count)
{
    for (const char *line = csv; *line; line = next_of(line)) {
        char uuid[80], pid[20], name[120];
        const char *at = next_part(line, false, uuid, sizeof uuid);
        at = next_part(at, false, pid, sizeof pid);
        next_part(at, true, name, sizeof name);
        for (int i = 0; i < count; i++)
            if (*uuid && *pid && !strcmp(gpus[i].uuid, uuid) && gpus[i].processes++ == 0)
                PUT(gpus[i].process, "%s %s", pid, name);
    }
}

void driver_cuda_version(const char *head, char version[16])
{
    const char *at = strstr(head, "CUDA Version:");

    if (!at)
        at = strstr(head, "CUDA UMD Version:");
    at = at ? strchr(at, ':') + 1 : "";
    at += strspn(at, " ");
    put(version, 16, "%.*s", (int) strspn(at, "0123456789."), at);
}

/* ---- GPUs ---- */

static void check_use(const GpuState *gpu, const char *what, DoctorReport *report)
{
    if (gpu->processes)
        add_row(report, HEALTH_FAIL, what,
                "Speeds measured while another program uses the GPU are not reliable. Stop that "
                "program, or grade on another GPU (--devices). A running gradebook or warpbook "
                "does no harm, because they wait for each other.",
                "no: %d process%s, first %s", gpu->processes, gpu->processes > 1 ? "es" : "",
                gpu->process);
    else if (gpu->use_percent > BUSY_PERCENT)
        add_row(report, HEALTH_FAIL, what,
                "Something not visible from here uses the GPU: a display, another container or "
                "another user. Speeds measured meanwhile are not reliable.",
                "no: busy for %.0f %% of the time", gpu->use_percent);
    else if (gpu->memory_mib > HELD_MIB)
        add_row(report, HEALTH_WARN, what,
                "Another container, another user or a display may use the GPU at any time. Ask who "
                "else uses this machine.",
                "%.0f MiB are in use by an unknown process", gpu->memory_mib);
    else
        add_row(report, HEALTH_OK, what, "", "%s",
                gpu->use_percent < 0 ? "no process found on it" : "yes");
}

void gpu_check(const GpuState *gpu, DoctorReport *report)
{
    char what[40], advice[200];

    PUT(what, "GPU %s", gpu->index);
    if (strstr(gpu->mode, "requires reset") || strstr(gpu->mode, "Unknown Error") ||
        strstr(gpu->mode, "ERR!"))
        add_row(report, HEALTH_FAIL, what,
                "The driver has lost this GPU. Restart the machine, or reset the GPU while nothing "
                "uses it. If the error returns, the GPU is defective.",
                "%s", gpu->mode);
    else
        add_row(report, HEALTH_OK, what, "", "%s", *gpu->name ? gpu->name : "present");
    PUT(what, "GPU %s: idle", gpu->index);
    check_use(gpu, what, report);
    PUT(what, "GPU %s: compute mode", gpu->index);
    PUT(advice,
        "A grading runs two processes on the GPU at the same time. An administrator can reset the "
        "mode: nvidia-smi -i %s -c DEFAULT",
        gpu->index);
    if (*gpu->mode && *gpu->mode != '[')
        add_row(report, strcmp(gpu->mode, "Default") ? HEALTH_FAIL : HEALTH_OK, what,
                strcmp(gpu->mode, "Default") ? advice : "", "%s", gpu->mode);
}

void driver_check(const char *driver, const char *toolkit, DoctorReport *report)
{
    int major = 0, minor = 0, built_major = 0, built_minor = 0;
    const char *advice = "";
    Health health = HEALTH_OK;

    if (sscanf(driver, "%d.%d", &major, &minor) != 2 ||
        sscanf(toolkit, "%d.%d", &built_major, &built_minor) != 2)
        return;
    if (major < built_major) {
        health = HEALTH_FAIL;
        advice = "The driver is older than the toolkit: programs built by this nvcc do not run. "
                 "Install a newer driver, or install an older toolkit and set CUDA_HOME to it.";
    } else if (major == built_major && minor < built_minor) {
        health = HEALTH_WARN;
        advice = "The driver is older than the toolkit, with the same major version: machine code "
                 "runs, but PTX does not. A newer driver is safer.";
    }
    add_row(report, health, "driver and toolkit", advice, "CUDA %s, %s", driver, toolkit);
}

/* Runs nvidia-smi to completion; true on success. The caller frees the program. */
static bool ask(Program *program, const char *first, const char *second)
{
    const char *named = getenv("GRADEBOOK_NVIDIA_SMI"), *wsl = "/usr/lib/wsl/lib/nvidia-smi";
    const char *smi = named && *named ? named : file_exists(wsl) ? wsl : "nvidia-smi";
    char *const argv[] = { (char *) smi, (char *) first, (char *) second, NULL };
    bool done = program_start(program, argv, NULL, NULL, ANSWER_S, OUTPUT_BYTES, OUTPUT_BYTES);

    while (done && !program_over(program))
        program_wait((Program *const[]){ program }, 1, 1);
    return done && !program->late && program->status == 0;
}

static const char *output_of(const Program *program)
{
    return program->out.text ? program->out.text : "";
}

/* Reads all GPUs and the driver's CUDA version. Returns the number of GPUs; if it is 0, `why` is
 * set. */
static int ask_gpus(GpuState gpus[GPUS], char version[16], char *why, size_t size)
{
    static const char form[] = "--format=csv,noheader,nounits";
    Program program;
    int count = 0;

    if (ask(&program, "--query-gpu=index,uuid,compute_mode,utilization.gpu,memory.used,name", form))
        count = gpus_parse(output_of(&program), gpus);
    if (WIFEXITED(program.status) && WEXITSTATUS(program.status) == 127 && !program.late)
        put(why, size, "not installed");
    else if (*output_of(&program))
        put(why, size, "%.*s", (int) strcspn(output_of(&program), "\n"), output_of(&program));
    else
        program_say_end(&program, why, size);
    program_free(&program);
    if (!count)
        return 0;
    if (ask(&program, "--query-compute-apps=gpu_uuid,pid,process_name", form))
        gpus_parse_processes(output_of(&program), gpus, count);
    program_free(&program);
    ask(&program, NULL, NULL);
    driver_cuda_version(output_of(&program), version);
    program_free(&program);
    return count;
}

static const GpuState *find_gpu(const GpuState gpus[GPUS], int count, const char *index)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(gpus[i].index, index))
            return &gpus[i];
    return NULL;
}

/* Checks these devices, or the first GPU, if any, when count is 0. */
static void check_gpus(const char *const devices[], int count, const char *toolkit,
                       DoctorReport *report)
{
    GpuState *gpus = xcalloc(GPUS, sizeof *gpus);
    char why[300] = "", version[16] = "";
    int found = ask_gpus(gpus, version, why, sizeof why);

    if (!found)
        add_row(
            report, count ? HEALTH_FAIL : HEALTH_WARN, "GPU",
            "Without an NVIDIA GPU and its driver, gradings run on a simulated GPU, whose speed is "
            "modelled. Name the device that counts in the course file: device = sim:h200",
            "not found; nvidia-smi: %s", why);
    else
        driver_check(version, toolkit, report);
    for (int i = 0; found && i < count; i++) {
        const GpuState *gpu = find_gpu(gpus, found, devices[i]);
        if (gpu)
            gpu_check(gpu, report);
        else
            add_row(report, HEALTH_FAIL, "GPU", "nvidia-smi -L lists the GPUs of this machine.",
                    "there is no GPU %s", devices[i]);
    }
    if (found && !count)
        gpu_check(&gpus[0], report);
    free(gpus);
}

int doctor(const GradingOptions *options, const char *out, bool trusting)
{
    static const int statuses[] = { [HEALTH_OK] = 0, [HEALTH_WARN] = 1, [HEALTH_FAIL] = 3 };
    static const char *const verdicts[] = {
        [HEALTH_OK] = "This machine is fit to grade.",
        [HEALTH_WARN] =
            "This machine can grade, with limitations; see the rows that begin with warn.",
        [HEALTH_FAIL] = "This machine is not fit to grade; see the rows that begin with fail.",
    };
    DoctorReport *report = xcalloc(1, sizeof *report);
    const char *gpus[DEVICES];
    char toolkit[128], folder[500];
    int count = 0, status;

    for (int i = 0; i < options->device_count; i++)
        if (strncmp(options->devices[i], "sim", 3))
            gpus[count++] = options->devices[i];
    check_programs(report);
    check_toolkit(report, toolkit, sizeof toolkit);
    check_user(report);
    check_bubblewrap(report, trusting);
    existing_folder(out ? out : ".", folder, sizeof folder);
    check_disk(report, "disk for results", folder, 1, 10);
    check_file_system(report, folder);
    check_disk(report, "disk for work", temporary_folder(), 0.5, 4);
    if (count || !options->device_count)
        check_gpus(gpus, count, toolkit, report);
    printf("%s\n%s\n", report->text, verdicts[report->worst]);
    status = statuses[report->worst];
    free(report);
    return status;
}
