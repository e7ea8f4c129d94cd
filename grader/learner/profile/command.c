/* command.c - `warpbook profile LAB`: builds the kernel, runs it under ncu, prints the table, and
 * keeps the raw report in build/profile/LAB.ncu-rep. */
#include "base/child.h"
#include "base/text.h"
#include "base/util.h"
#include "draw/collect.h"
#include "learner/profile/profile.h"
#include "learner/report.h"
#include "learner/submission.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAID = 4 << 20, WORDS = 40 };
static const double limit_s = 300;

typedef struct Job {
    const LabEntry *entry;
    char ncu[PATH], driver[PATH + 20], report[PATH + 80];
    char object[PATH], dims[LAB_DIMS][24];
    int device; /* -1: the first one */
} Job;

/* ---- ncu ---- */

static bool is_program(const char *path, char *to)
{
    if (access(path, X_OK))
        return false;
    put(to, PATH, "%s", path);
    return true;
}

static bool is_on_path(char *to)
{
    const char *folders = getenv("PATH");
    char path[PATH];

    for (const char *at = folders ? folders : ""; *at; at += *at == ':') {
        const size_t length = strcspn(at, ":");
        PUT(path, "%.*s/ncu", (int) (length < 400 ? length : 400), at);
        if (is_program(path, to))
            return true;
        at += length;
    }
    return false;
}

/* WARPBOOK_NCU: another program, for tests. */
static bool find_ncu(char *to)
{
    static const char *const places[] = { "/usr/local/cuda/bin/ncu", "/usr/local/cuda*/bin/ncu",
                                          "/opt/nvidia/nsight-compute/*/ncu" };
    const char *given = getenv("WARPBOOK_NCU");
    bool found = false;
    glob_t paths;

    if (given)
        return is_program(given, to);
    for (size_t i = 0; i < sizeof places / sizeof *places && !found; i++) {
        found = i == 0 && is_on_path(to);
        if (found || glob(places[i], 0, NULL, &paths))
            continue;
        for (size_t k = paths.gl_pathc; k-- && !found;) /* the newest one first */
            found = is_program(paths.gl_pathv[k], to);
        globfree(&paths);
    }
    return found;
}

/* Profiles, then prints the report's table: with --export, ncu does not print it itself. */
static int profile(const Job *job, char *said)
{
    static const char *const sections[] = { "SpeedOfLight",   "LaunchStats",
                                            "Occupancy",      "MemoryWorkloadAnalysis",
                                            "SchedulerStats", "WarpStateStats" };
    char metrics[4000];
    const char *argv[WORDS] = { job->ncu,    "--force-overwrite", "--export",
                                job->report, "--metrics",         metrics };
    int words = 6;

    profile_metrics(job->entry, metrics, sizeof metrics);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        argv[words++] = "--section";
        argv[words++] = sections[i];
    }
    argv[words++] = job->driver;
    argv[words++] = lab_name(job->entry);
    argv[words++] = job->object;
    for (int d = 0; d < LAB_DIMS; d++)
        argv[words++] = job->dims[d];
    argv[words] = NULL;
    return child_run_on_gpu((char *const *) argv, limit_s, said, SAID);
}

static int print_raw(const Job *job, char *said)
{
    const char *argv[] = { job->ncu, "--import",      job->report, "--csv", "--page",
                           "raw",    "--print-units", "base",      NULL };

    return child_run_on_gpu((char *const *) argv, limit_s, said, SAID);
}

/* ---- A trace instead of counters ---- */

/* Runs the kernel once, without ncu: CUPTI records without the permission that counters need. */
static int trace(const Job *job, const char *path)
{
    static char said[SAID];
    char library[PATH + 40];
    const char *argv[LAB_DIMS + 4] = { job->driver, lab_name(job->entry), job->object };
    int status;

    PUT(library, "%.*slibgpu-trace.so", (int) (strlen(job->driver) - strlen("profiled")),
        job->driver);
    if (access(library, R_OK)) {
        fprintf(stderr,
                "warpbook: --trace: this CUDA Toolkit had no CUPTI when Warpbook was built. "
                "Install it (package cuda-cupti-dev), then: make clean programs\n");
        return COULD_NOT;
    }
    for (int d = 0; d < LAB_DIMS; d++)
        argv[3 + d] = job->dims[d];
    setenv("WARPBOOK_TRACE", path, 1);
    status = child_run_on_gpu((char *const *) argv, limit_s, said, SAID);
    if (status) {
        fprintf(stderr, "warpbook: --trace: no trace was written:\n%s\n", said);
        return COULD_NOT;
    }
    printf("The trace is in %s: kernels and copies, by stream. Open it at\n"
           "https://ui.perfetto.dev, which reads it in your browser.\n",
           path);
    return DONE;
}

/* ---- The command ---- */

static int refuse(ProfileRefusal refusal, const char *said, const LabEntry *entry)
{
    profile_explain(refusal, said, stdout);
    printf("\nmake explain LAB=%s counts on a simulated GPU, without permissions.\n",
           lab_name(entry));
    return COULD_NOT;
}

static int show(const Job *job, const char *text)
{
    static Profiled profiled;
    char why[200];

    if (!profile_read(text, strlen(text), &profiled, why, sizeof why)) {
        fprintf(stderr, "warpbook: ncu's table cannot be read: %s\n", why);
        return COULD_NOT;
    }
    profile_print(job->entry, &profiled, stdout);
    printf("\n%s (ncu-ui opens it)\n", job->report);
    return DONE;
}

static int count(const Job *job)
{
    static char said[SAID];
    const ProfilePlace place = profile_place();
    int status = profile(job, said);
    ProfileRefusal refusal = profile_refusal(said, status, &place);

    if (refusal == PROFILE_FINE) {
        status = print_raw(job, said);
        refusal = profile_refusal(said, status, &place);
    }
    return refusal == PROFILE_FINE ? show(job, said) : refuse(refusal, said, job->entry);
}

static bool find_files(Job *job)
{
    char folder[PATH];

    if (!find_build_folder(folder, sizeof folder) ||
        !make_folders(PUT(job->report, "%s/profile", folder))) {
        fprintf(stderr, "warpbook: cannot create %s: %s\n", job->report, strerror(errno));
        return false;
    }
    PUT(job->report, "%s/profile/%s.ncu-rep", folder, lab_name(job->entry));
    PUT(job->driver, "%s/profiled", folder);
    return true;
}

/* Builds the kernel for the session's GPU and chooses the case's size. Returns the exit status. */
static int prepare(Session *session, const Options *options, Job *job)
{
    static Build build;
    const Case *lab_case = collect_choose_case(job->entry->lab, NULL);
    char source[PATH], shown[PATH];
    Case sized;

    submission_find(&session->book, options, job->entry, source, shown);
    session_build(session, job->entry, source, shown, &build);
    if (build.fault != BUILD_OK)
        fprintf(stderr, "%s does not build:\n%s\n", shown, build.message);
    if (build.fault != BUILD_OK)
        return build.fault == BUILD_MACHINE ? COULD_NOT : NOT_PASSED;
    if (!lab_case) {
        fprintf(stderr, "warpbook: lab %s has no case to profile\n", lab_name(job->entry));
        return NOT_PASSED;
    }
    sized = collect_case(lab_case, &session->gpu);
    if (options->trace && lab_case->size) /* in small chunks, launches hide what overlaps */
        lab_case->size(sized.dim, &session->gpu.gpu, 1);
    PUT(job->object, "%s", build.object);
    for (int d = 0; d < LAB_DIMS; d++)
        PUT(job->dims[d], "%ld", sized.dim[d]);
    printf("%02d %s, case %s, on the %s\n", lab_number(job->entry), lab_name(job->entry),
           lab_case->label, session->gpu.name);
    fflush(stdout);
    return DONE;
}

/* A number chooses a GPU for the driver as it does for the grader. */
static void choose_gpu(const Session *session)
{
    if (*session->gpu.uuid)
        setenv("CUDA_VISIBLE_DEVICES", session->gpu.uuid, 1);
}

int run_profile(Options *options)
{
    static Session session;
    static Job job;
    int status = COULD_NOT;
    bool is_real;

    if (!submission_fits(options))
        return USAGE;
    job = (Job){ .entry = options->labs[0] };
    session = (Session){ .quick = true, .live = isatty(2), .replayed = true, .seed = 1 };
    if (!session_open(&session, options->device))
        return report_could_not(&session);
    is_real = !session.gpu.simulated;
    if (is_real && (options->trace || find_ncu(job.ncu)) && find_files(&job))
        status = prepare(&session, options, &job);
    if (is_real)
        choose_gpu(&session);
    session_close(&session);
    if (!is_real)
        return refuse(PROFILE_NO_GPU, "", job.entry);
    if (!*job.ncu && !options->trace)
        return refuse(PROFILE_NO_NCU, "", job.entry);
    if (status != DONE)
        return status;
    return options->trace ? trace(&job, options->trace) : count(&job);
}
