/* tool.c - `warpbook sim`: replaces a program's CUDA runtime with the simulated GPU and executes
 * the program. If findings decide the exit status, it waits for the program.
 *
 * LD_PRELOAD makes the loader look for the runtime's functions in libcudart-sim.so first. A runtime
 * inside the program (nvcc's default) is replaced by that library, too (runtime/program.c), unless
 * the program has been stripped. So the program's file is inspected first: a clear message is
 * better than error 35 from a missing driver.
 */
#include "sim/tool.h"
#include "sim/list.h"
#include "base/options.h"
#include "base/util.h"

#include "sim/device/device.h"
#include "sim/binary/elf_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { USAGE = 2, COULD_NOT = 3, CANNOT_EXECUTE = 126, NOT_FOUND = 127, PROGRAM_BYTES = 1 << 30 };

static const char usage[] =
    "usage: warpbook sim [OPTION...] [--] PROGRAM [ARGUMENT...]\n"
    "\n"
    "Runs a CUDA program on a simulated GPU, which reports faults in its kernels and counts what\n"
    "they do. Compile it with -lineinfo, so that they name lines of your source: for example,\n"
    "nvcc -lineinfo -o program program.cu\n"
    "\n"
    "  --device NAME       the GPU: teaching (if not given), another that --list names, or the "
    "path\n"
    "                      of a description\n"
    "  --list              lists the devices that can be simulated\n"
    "  --report FILE       writes all counts to it, as JSON lines (docs/simulator.md)\n"
    "  --format HOW        how findings are printed: text, gcc or github (docs/formats.md)\n"
    "  --sarif FILE        writes findings to it, as SARIF 2.1.0\n"
    "  --checks LIST       all (if not given), none, or some of races,uninitialised,leaks\n"
    "  --sched HOW         the order of blocks and warps: forward, reverse, random:SEED\n"
    "  --time HOW          models how long launches take: 1, or all (plays every block, "
    "slow)\n"
    "  --trace FILE        writes when modelled work ran, as JSON for ui.perfetto.dev\n"
    "                      (docs/simulator-time.md); implies --time 1\n"
    "  --budget N          warp instructions after which a launch is stopped; 0: no limit\n"
    "  --error-exitcode N  exits with N, 1 to 255, if there are findings and the program itself\n"
    "                      exits with 0\n"
    "  --help\n"
    "\n"
    "Exit status: that of the program (128 + N for signal N), unless --error-exitcode applies;\n"
    "2 wrong usage, 3 cannot be simulated, 126 cannot be executed, 127 not found.\n";

/* ---- Helpers ---- */

__attribute__((format(printf, 3, 4))) static bool refuse(SimPlan *plan, int status,
                                                         const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(plan->why, sizeof plan->why, format, arguments);
    va_end(arguments);
    plan->status = status;
    return false;
}

/* If a setting is given twice, the last one counts. */
static char *setting(SimPlan *plan, const char *name)
{
    for (int i = 0; i < plan->setting_count; i++)
        if (!strcmp(plan->settings[i].name, name))
            return plan->settings[i].value;
    if (plan->setting_count == SIM_SETTINGS)
        die("too many settings for the simulated GPU");
    plan->settings[plan->setting_count].name = name;
    return plan->settings[plan->setting_count++].value;
}

#define SET(plan, name, ...) put(setting(plan, name), sizeof(plan)->settings[0].value, __VA_ARGS__)

/* ---- Options ---- */

static bool set_device(void *self, const char *value)
{
    SimPlan *plan = self;
    SET(plan, "SIM_DEVICE", "%s", value);
    return *value;
}

/* Makes the path absolute, since the program may change its folder before it ends. The file is
 * created now, so that an unwritable path is reported immediately and an earlier one is deleted. */
static bool set_file(SimPlan *plan, const char *option, const char *name, const char *value)
{
    char here[SIM_PATH / 2] = "", path[SIM_PATH];
    int fd;

    if (*value != '/' && !getcwd(here, sizeof here))
        return refuse(plan, COULD_NOT, "--%s %.300s: %s", option, value, strerror(errno));
    PUT(path, "%s%s%s", here, *here ? "/" : "", value);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
    if (fd < 0)
        return refuse(plan, COULD_NOT, "--%s %.300s: %s", option, value, strerror(errno));
    close(fd);
    SET(plan, name, "%s", path);
    return true;
}

static bool set_report(void *self, const char *value)
{
    return set_file(self, "report", "SIM_REPORT", value);
}

static bool set_sarif(void *self, const char *value)
{
    return set_file(self, "sarif", "SIM_SARIF", value);
}

static bool set_trace(void *self, const char *value)
{
    return set_file(self, "trace", "SIM_TRACE", value);
}

/* True if each word of the comma-separated list is among `words`. */
static bool are_among(const char *list, const char *const *words)
{
    for (;; list++) {
        size_t length = strcspn(list, ",");
        const char *const *word = words;
        while (*word && (strlen(*word) != length || strncmp(*word, list, length)))
            word++;
        if (!*word)
            return false;
        list += length;
        if (!*list)
            return true;
    }
}

static bool set_format(void *self, const char *value)
{
    SimPlan *plan = self;
    static const char *const words[] = { "text", "gcc", "github", NULL };

    SET(plan, "SIM_FORMAT", "%s", value);
    return !strchr(value, ',') && are_among(value, words);
}

static bool set_checks(void *self, const char *value)
{
    SimPlan *plan = self;
    static const char *const whole[] = { "all", "none", NULL };
    static const char *const parts[] = { "races", "uninitialised", "leaks", NULL };

    SET(plan, "SIM_CHECKS", "%s", value);
    return (!strchr(value, ',') && are_among(value, whole)) || are_among(value, parts);
}

static bool set_sched(void *self, const char *value)
{
    SimPlan *plan = self;
    static const char *const words[] = { "forward", "reverse", NULL };
    size_t digits = strncmp(value, "random:", 7) ? 0 : strspn(value + 7, "0123456789");

    SET(plan, "SIM_SCHED", "%s", value);
    return (!strchr(value, ',') && are_among(value, words)) ||
           (digits > 0 && digits < 20 && !value[7 + digits]);
}

static bool set_budget(void *self, const char *value)
{
    SimPlan *plan = self;
    size_t digits = strspn(value, "0123456789");

    SET(plan, "SIM_BUDGET", "%s", value);
    return digits > 0 && digits < 20 && !value[digits];
}

static bool set_time(void *self, const char *value)
{
    SimPlan *plan = self;
    static const char *const words[] = { "0", "1", "all", NULL };

    SET(plan, "SIM_TIME", "%s", value);
    return !strchr(value, ',') && are_among(value, words);
}

static bool set_error_exitcode(void *self, const char *value)
{
    SimPlan *plan = self;
    char *end;
    long code = strtol(value, &end, 10);

    plan->error_exitcode = (int) code;
    return *value >= '0' && *value <= '9' && !*end && code >= 1 && code <= 255;
}

static bool set_help(void *self, const char *value)
{
    (void) value;
    return ((SimPlan *) self)->help = true;
}

static bool choose_list(void *self, const char *value)
{
    (void) value;
    return ((SimPlan *) self)->list = true;
}

static const OptionRow option_rows[] = {
    { "device", true, set_device },
    { "report", true, set_report },
    { "format", true, set_format },
    { "sarif", true, set_sarif },
    { "trace", true, set_trace },
    { "checks", true, set_checks },
    { "sched", true, set_sched },
    { "budget", true, set_budget },
    { "time", true, set_time },
    { "error-exitcode", true, set_error_exitcode },
    { "list", false, choose_list },
    { "help", false, set_help },
    { 0 },
};

/* `argv` has the words after `warpbook sim`; those before PROGRAM are options. */
static bool take_options(SimPlan *plan, int argc, char **argv)
{
    OptionReader reader = { option_rows, plan, NULL };
    int read = options_read(&reader, argc + 1, argv - 1);

    if (plan->help || plan->list)
        return true;
    if (read < 0)
        return *plan->why ? false : refuse(plan, USAGE, "%s", reader.why);
    plan->arguments = argv + read - 1;
    return read <= argc || refuse(plan, USAGE, "no PROGRAM given (see --help)");
}

/* ---- The program ---- */

static bool is_file(const char *path)
{
    struct stat about;

    return !stat(path, &about) && S_ISREG(about.st_mode);
}

/* Finds an executable file by its name, as a shell does. */
static bool find_in_path(const char *name, char *path, size_t size)
{
    const char *folders = getenv("PATH");

    for (const char *at = folders ? folders : "/usr/bin:/bin"; *name; at++) {
        size_t length = strcspn(at, ":");
        put(path, size, "%.*s/%s", length ? (int) length : 1, length ? at : ".", name);
        if (is_file(path) && !access(path, X_OK))
            return true;
        at += length;
        if (!*at)
            break;
    }
    return false;
}

static bool find_program(SimPlan *plan)
{
    const char *name = plan->arguments[0];

    if (strchr(name, '/')) {
        PUT(plan->program, "%s", name);
        return is_file(name) || refuse(plan, NOT_FOUND, "%.300s: no such file", name);
    }
    if (find_in_path(name, plan->program, sizeof plan->program))
        return true;
    if (is_file(name))
        return refuse(plan, NOT_FOUND, "%.300s: not in $PATH; did you mean ./%.300s?", name, name);
    return refuse(plan, NOT_FOUND, "%.300s: not found in $PATH", name);
}

/* Checks an ELF file. A file without a section table cannot be checked, and is run. */
static bool check_elf(SimPlan *plan, const Elf *elf)
{
    ElfHost host;
    ElfSection section;

    if (!elf_host(elf, &host))
        return true;
    if (host.has_kernels && !elf_find(elf, ".dynamic", &section))
        return refuse(plan, COULD_NOT,
                      "%.300s is linked statically as a whole, so the loader cannot give it the "
                      "simulated GPU. Link it without -static",
                      plan->program);
    if (!host.has_kernels || host.needs_libcudart || host.calls_registered || host.has_runtime)
        return true;
    return refuse(plan, COULD_NOT,
                  "%.300s contains a CUDA runtime (nvcc's default) that cannot be replaced, since "
                  "it was stripped of its symbols. Link it without -s or strip, or with nvcc "
                  "-cudart shared",
                  plan->program);
}

/* Scripts are run, too: programs that they start use the simulated GPU. */
static bool check_program(SimPlan *plan)
{
    struct stat about;
    size_t size;
    char *bytes;
    Elf elf;
    bool fine = true;

    if (access(plan->program, X_OK))
        return refuse(plan, CANNOT_EXECUTE, "%.300s cannot be executed: %s", plan->program,
                      strerror(errno));
    if (!stat(plan->program, &about) && about.st_mode & (S_ISUID | S_ISGID))
        return refuse(plan, COULD_NOT,
                      "%.300s runs as another user or group (set-user-ID), so the loader ignores "
                      "LD_PRELOAD",
                      plan->program);
    bytes = read_file(plan->program, PROGRAM_BYTES, &size);
    if (!bytes)
        return true; /* executable but not readable */
    if (elf_open(&elf, bytes, size))
        fine = check_elf(plan, &elf);
    else if (size > 4 && !memcmp(bytes, "\177ELF\1", 5))
        fine = refuse(plan, COULD_NOT, "%.300s is a 32-bit program, which CUDA does not support",
                      plan->program);
    free(bytes);
    return fine;
}

/* ---- The simulated GPU ---- */

/* Adds to a list that may already be in the environment. */
static void set_list(SimPlan *plan, const char *name, const char *first, const char *last)
{
    const char *old = getenv(name);

    SET(plan, name, "%s%s%s%s%s", first, *first && old && *old ? ":" : "", old ? old : "",
        *last && old && *old ? ":" : "", last);
}

/* This build's libraries come before the toolkit's: no driver or runtime may be installed, and
 * NVIDIA's cuBLAS needs a GPU. A sanitizer in LD_PRELOAD must remain the first; one that the
 * program is linked with comes behind, which AddressSanitizer refuses unless told not to. */
static bool find_library(SimPlan *plan, const char *build)
{
    char path[SIM_PATH];

    PUT(path, "%s/libcudart-sim.so", build);
    if (!is_file(path))
        return refuse(plan, COULD_NOT, "%.300s not found: run make first", path);
    if (strpbrk(path, ": "))
        return refuse(
            plan, COULD_NOT,
            "%.300s: the loader cannot load a path that contains a blank or a colon; build "
            "elsewhere, for example: make B=$HOME/warpbook",
            path);
    set_list(plan, "LD_PRELOAD", "", path);
    set_list(plan, "ASAN_OPTIONS", "verify_asan_link_order=0", "");
    PUT(path, "%s/sim", build);
    if (file_exists(path))
        set_list(plan, "LD_LIBRARY_PATH", path, "");
    return true;
}

static const char *chosen_device(const SimPlan *plan)
{
    const char *chosen = getenv("SIM_DEVICE");

    for (int i = 0; i < plan->setting_count; i++)
        if (!strcmp(plan->settings[i].name, "SIM_DEVICE"))
            chosen = plan->settings[i].value;
    return chosen && *chosen ? chosen : "teaching";
}

static bool find_device(SimPlan *plan, const char *build)
{
    const char *name = chosen_device(plan);
    char folder[SIM_PATH], why[500];
    Device device;

    PUT(folder, "%s/devices", build);
    if (!device_read(folder, name, &device, why, sizeof why))
        return refuse(plan, USAGE, "--device %.100s: %.600s", name, why);
    if (!strchr(name, '/'))
        SET(plan, "SIM_DEVICES", "%s", folder);
    return true;
}

/* ptxas of the toolkit, for programs without machine code for the device. Searched where
 * grader/build/toolchain.c finds nvcc. The user's own setting counts. */
static void find_ptxas(SimPlan *plan, const char *build)
{
    const char *home = getenv("CUDA_HOME");
    char in_home[SIM_PATH], in_path[SIM_PATH] = "";
    const char *const places[] = { in_home, in_path, "/usr/local/cuda/bin/ptxas" };

    if (getenv("SIM_PTXAS"))
        return;
    PUT(in_home, "%s/bin/ptxas", home ? home : "");
    find_in_path("ptxas", in_path, sizeof in_path);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (is_file(places[i]) && !access(places[i], X_OK)) {
            SET(plan, "SIM_PTXAS", "%s", places[i]);
            SET(plan, "SIM_PTXAS_CACHE", "%s/ptxas", build);
            return;
        }
}

/* ---- The command ---- */

bool sim_plan(SimPlan *plan, int argc, char **argv)
{
    char build[SIM_PATH / 2];

    *plan = (SimPlan){ 0 };
    if (!take_options(plan, argc, argv))
        return false;
    if (plan->help || plan->list)
        return true;
    if (!find_build_folder(build, sizeof build))
        return refuse(plan, COULD_NOT, "the build folder cannot be found: %s", strerror(errno));
    SET(plan, "SIM_TABLE", "1");
    SET(plan, "SIM_PROGRESS", "1");
    find_ptxas(plan, build);
    return find_program(plan) && check_program(plan) && find_library(plan, build) &&
           find_device(plan, build);
}

static void set_environment(const SimPlan *plan)
{
    for (int i = 0; i < plan->setting_count; i++)
        if (setenv(plan->settings[i].name, plan->settings[i].value, 1))
            die("cannot set the environment: %s", strerror(errno));
}

static int become(const SimPlan *plan)
{
    int error;

    set_environment(plan);
    execv(plan->program, plan->arguments);
    error = errno;
    fprintf(stderr, "warpbook: %s: %s\n", plan->program, strerror(error));
    return error == ENOENT ? NOT_FOUND : CANNOT_EXECUTE;
}

/* ---- Waiting for the program ---- */

static volatile pid_t started;

static void pass_on(int number)
{
    if (started > 0)
        kill(started, number);
}

/* A signal that stops warpbook also stops the program, which receives the terminal's signals
 * directly. */
static void mind_signals(void)
{
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    signal(SIGTERM, pass_on);
    signal(SIGHUP, pass_on);
}

static int wait_for_it(void)
{
    int status = 0;

    while (waitpid(started, &status, 0) < 0)
        if (errno != EINTR)
            die("cannot wait for the program: %s", strerror(errno));
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* The library, in the program and its children, writes findings to a temporary file. */
static int run_and_judge(SimPlan *plan)
{
    int found = memfd_create("found", 0), status;
    struct stat about = { 0 };

    if (found < 0)
        die("cannot create a file for the findings: %s", strerror(errno));
    SET(plan, "SIM_FOUND", "/proc/%d/fd/%d", (int) getpid(), found);
    started = fork();
    if (started < 0)
        die("cannot create a process for the program: %s", strerror(errno));
    if (!started)
        _exit(become(plan));
    mind_signals();
    status = wait_for_it();
    return !status && !fstat(found, &about) && about.st_size ? plan->error_exitcode : status;
}

static int list(void)
{
    char build[SIM_PATH / 2], folder[SIM_PATH];

    if (!find_build_folder(build, sizeof build))
        die("the build folder cannot be found: %s", strerror(errno));
    PUT(folder, "%s/devices", build);
    return sim_list(folder) ? 0 : COULD_NOT;
}

int sim_run(int argc, char **argv)
{
    static SimPlan plan;

    if (!sim_plan(&plan, argc, argv)) {
        fprintf(stderr, "warpbook: %s\n", plan.why);
        return plan.status;
    }
    if (plan.help)
        return fputs(usage, stdout) < 0;
    if (plan.list)
        return list();
    return plan.error_exitcode ? run_and_judge(&plan) : become(&plan);
}
