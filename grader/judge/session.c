/* session.c - the environment of one run of the program: folders, compiler, GPU, options. */
#include "judge/session.h"
#include "build/stub.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static const char sim_default[] = "teaching";

enum { CACHED_BUILDS = 600 }; /* 0.1 MB each; more than all kernels of the workbook */

/* ---- The live line ---- */

static bool line_shown;

void session_clear_line(void)
{
    static const char blank[] = "\r\033[K";

    if (line_shown && write(2, blank, sizeof blank - 1) < 0)
        return;
    line_shown = false;
}

void session_say(const Session *session, const char *format, ...)
{
    char line[80];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (session->reports_doing && *line)
        session_event(session, "event:doing what:%s", line);
    if (!session->live)
        return;
    if (!*line) {
        session_clear_line();
        return;
    }
    line_shown = true;
    dprintf(2, "\r\033[K%s", line);
}

void session_event(const Session *session, const char *format, ...)
{
    char line[300];
    va_list arguments;

    if (session->events <= 0)
        return;
    va_start(arguments, format);
    vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    APPEND(line, "\n");
    write_all(session->events, line, strlen(line)); /* a reader that is gone misses nothing */
}

/* Returns 0 if the file cannot be read. */
static uint64_t hash_file(uint64_t hash, const char *path)
{
    size_t size;
    char *text = hash ? read_file(path, 256 << 20, &size) : NULL;

    if (!text)
        return 0;
    hash = hash_bytes(hash, text, size);
    free(text);
    return hash;
}

/* Computed per session, not per run: a course can require a different simulated GPU than the one
 * in use, and then one run uses both. */
static uint64_t simulator_hash(const Session *session)
{
    char folder[PATH * 2], description[PATH * 3];
    FileList library;
    uint64_t hash;

    PUT(folder, "%s", session->book.runner);
    *(strrchr(folder, '/') ? strrchr(folder, '/') : folder) = 0;
    if (strchr(session->device, '/'))
        PUT(description, "%s", session->device);
    else
        PUT(description, "%s/devices/%s.txt", folder, session->device);
    APPEND(folder, "/sim");
    list_files(folder, "", &library);
    hash = hash_file(hash_file(HASH_START, session->book.runner), description);
    for (int i = 0; i < library.count; i++)
        if (strstr(library.path[i], "/libcudart.so."))
            hash = hash_file(hash, library.path[i]);
    return hash;
}

char *session_device_word(const Session *session, char *word, size_t size)
{
    const char *slash = strrchr(session->device, '/');

    if (*session->simulated)
        put(word, size, "sim-%s", slash ? slash + 1 : session->device);
    else
        put(word, size, "%s", session->gpu.uuid);
    for (char *c = word; *c; c++)
        if (*c == '/')
            *c = '_';
    return word;
}

/* ---- Builds ---- */

/* A sealed file stands for a source of the workbook that a gradebook's cells may not see. It was
 * built beforehand. The students' kit (make course-kit) contains an object for all devices
 * instead, which must still be linked. */
static bool take_sealed(BuildJob *job, Build *result)
{
    char made[sizeof result->object], object[sizeof result->object];

    if (!is_sealed(job->source, made, sizeof made))
        return false;
    *result = (Build){ .fault = BUILD_OK };
    PUT(result->object, "%s", made);
    PUT(object, "%.*s.o", (int) strlen(made) - 3, made);
    if (file_exists(made))
        return true;
    if (file_exists(object)) {
        job->source = job->shown = object;
        job->linked = true;
        job->portable = false;
        build(job, result);
    } else {
        result->fault = BUILD_MACHINE;
        PUT(result->message, "%s is missing, and its source is sealed, so it cannot be built",
            made);
    }
    return true;
}

void session_build(const Session *session, const LabEntry *entry, const char *source,
                   const char *shown, Build *result)
{
    char lab_dir[PATH], common[PATH + 8];
    size_t root = strlen(session->book.root);
    BuildJob job = {
        .toolchain = &session->toolchain,
        .source = source,
        .shown = shown,
        .lab_dir = put(lab_dir, sizeof lab_dir, "%s/labs/%s", session->book.root, entry->folder),
        .common = put(common, sizeof common, "%s/common", session->book.root),
        .cache = session->book.cache,
        .lab = entry->lab,
        .cc = session->gpu.cc,
        .portable = session->portable,
    };

    if (!shown && take_sealed(&job, result))
        return;
    if (!shown) /* a workbook kernel: shown relative to the workbook's folder */
        job.shown = !strncmp(source, session->book.root, root) ? source + root + 1 : source;
    build(&job, result);
}

/* Seals one workbook kernel, for cells that may not see its source. */
static bool seal_one(const Session *session, const LabEntry *entry, const char *source,
                     const char *folder, const char *name, char *why, size_t size)
{
    Build built;

    session_build(session, entry, source, NULL, &built);
    if (built.fault != BUILD_OK)
        put(why, size, "%s", built.message);
    else if (!seal(source, built.object, session->portable ? ".o" : ".so", folder, name))
        put(why, size, "cannot write %s/%s: %s", folder, name, strerror(errno));
    else
        return true;
    return false;
}

bool session_seal(const Session *session, const LabEntry *entry, const char *folder, char *why,
                  size_t size)
{
    char path[PATH], beyond[PATH];
    FileList rungs, faster;
    size_t bytes = 0;
    char *starter;
    bool copied;

    PUT(path, "%s/solutions/%s/0_starter.cu", session->book.root, entry->folder);
    starter = read_file(path, BUILD_SOURCE_BYTES, &bytes);
    PUT(path, "%s/0_starter.cu", folder);
    PUT(beyond, "%s/beyond", folder);
    copied = starter && make_folders(beyond) && write_file(path, starter, bytes);
    free(starter);
    if (!copied) {
        put(why, size, "cannot write %s: %s", path, strerror(errno));
        return false;
    }
    list_rungs(&session->book, entry, &rungs);
    for (int i = 0; i < rungs.count; i++) /* rung 1, and the reference */
        if ((i == 0 || i == rungs.count - 1) &&
            !seal_one(session, entry, rungs.path[i], folder, strrchr(rungs.path[i], '/') + 1, why,
                      size))
            return false;
    list_solutions(&session->book, entry, "/beyond", &faster);
    for (int i = 0; i < faster.count; i++)
        if (!seal_one(session, entry, faster.path[i], beyond, strrchr(faster.path[i], '/') + 1, why,
                      size))
            return false;
    return true;
}

/* ---- The GPU ---- */

/* One grading at a time per GPU: two would disturb each other's measurements. */
static bool lock_gpu(Session *session)
{
    char path[PATH];

    session->lock_fd = open_gpu_lock(session->gpu.uuid, path, sizeof path);
    if (session->lock_fd < 0) {
        PUT(session->problem, "cannot open %s, the lock for one grading at a time: %s", path,
            strerror(errno));
        return false;
    }
    if (!flock(session->lock_fd, LOCK_EX | LOCK_NB))
        return true;
    if (errno == EWOULDBLOCK)
        fprintf(stderr, "Another grading is using this GPU; waiting for it to finish.\n");
    while (flock(session->lock_fd, LOCK_EX))
        if (errno != EINTR) {
            PUT(session->problem,
                "cannot lock %s, the lock for one grading at a time: %s; set TMPDIR to a folder on "
                "a local disk of this machine",
                path, strerror(errno));
            return false;
        }
    return true;
}

void session_prestart(Session *session)
{
    if (session->next.child.pid > 0 || *session->simulated) /* a simulated GPU starts at once */
        return;
    /* A failure here is ignored (for example, the student's process left no memory); the next
     * worker then starts anew. */
    if (worker_start(&session->next, session->book.runner, session->device, session->streams) !=
            PASS ||
        worker_hello(&session->next) != PASS)
        worker_end(&session->next);
}

/* The waiting runner, or a new one. */
static Verdict take_runner(Session *session, bool on_simulated, Worker *worker)
{
    if (on_simulated && !*session->simulated)
        return worker_start(worker, session->book.sim_runner, sim_default, session->streams);
    if (session->next.child.pid <= 0)
        return worker_start(worker, session->book.runner, session->device, session->streams);
    *worker = session->next;
    session->next = (Worker){ 0 };
    return PASS;
}

Verdict session_load(Session *session, const LabEntry *entry, const char *object,
                     const Setup *setup, Worker *worker)
{
    Verdict verdict = take_runner(session, setup->on_simulated, worker);

    if (verdict == PASS)
        verdict = worker_hello(worker);
    if (verdict == PASS)
        verdict = worker_load(worker, entry, object);
    if (verdict == PASS && setup->launch_millions)
        verdict = worker_checks(worker, false, 0, setup->launch_millions);
    if (verdict == PASS && setup->model_time)
        verdict = worker_model_time(worker, setup->without);
    return verdict;
}

/* Queries the GPU through a runner, which then waits for its kernel. */
static bool meet_gpu(Session *session)
{
    Worker *first = &session->next;
    Verdict verdict;

    if (!file_exists(session->book.runner)) {
        PUT(session->problem, "%s is missing: run make", session->book.runner);
        return false;
    }
    verdict = worker_start(first, session->book.runner, session->device, session->streams);
    if (verdict == PASS)
        verdict = worker_hello(first);
    session->gpu = first->gpu;
    if (verdict != PASS)
        PUT(session->problem, "%s", first->why);
    else if (session->gpu.simulated != (*session->simulated != 0)) {
        PUT(session->problem,
            "%s found the wrong kind of GPU (a simulated instead of a real one, or the reverse)",
            session->book.runner);
        return false;
    }
    return verdict == PASS;
}

/* ---- Choosing the GPU ---- */

/* Switches the session to the simulated GPU. */
static bool meet_simulation(Session *session, const char *name, const char *why)
{
    PUT(session->simulated, "%s", why);
    PUT(session->book.runner, "%s", session->book.sim_runner);
    PUT(session->device, "%s", *name ? name : sim_default);
    if (!meet_gpu(session))
        return false;
    session->simulator = simulator_hash(session);
    return true;
}

/* No GPU was requested: use a real one if possible, else the simulated one. */
static bool meet_any(Session *session)
{
    char why[sizeof session->simulated];

    if (meet_gpu(session))
        return true;
    worker_end(&session->next);
    if (!file_exists(session->book.sim_runner)) {
        APPEND(session->problem, "; the simulated GPU is not available either: %s is missing",
               session->book.sim_runner);
        return false;
    }
    PUT(why, "%s", session->problem);
    return meet_simulation(session, "", why);
}

static bool meet_device(Session *session, const char *device)
{
    bool simulated = device && !strncmp(device, "sim", 3) && (!device[3] || device[3] == ':');

    PUT(session->device, "%s", device ? device : "0");
    if (!device)
        return meet_any(session);
    if (!simulated)
        return meet_gpu(session);
    return meet_simulation(session, device[3] ? device + 4 : "", "as asked for");
}

/* Opens everything but the GPU. */
static bool open_folders(Session *session)
{
    session->lock_fd = -1;
    course_default(&session->course);
    if (!workbook_find(&session->book, session->problem, sizeof session->problem))
        return false;
    toolchain_find(&session->toolchain);
    if (session->toolchain.problem[0]) {
        PUT(session->problem, "%s", session->toolchain.problem);
        return false;
    }
    if (make_folders(session->book.cache))
        return true;
    PUT(session->problem,
        "cannot write %s: %s; copy the workbook to a folder you can write to, or use another "
        "build folder: make grade B=$HOME/warpbook",
        session->book.cache, strerror(errno));
    return false;
}

bool session_open_to_build(Session *session, int cc)
{
    session->gpu.cc = cc;
    return open_folders(session);
}

bool session_open(Session *session, const char *device)
{
    if (!open_folders(session))
        return false;
    /* Each process has a simulated GPU of its own, so no lock is needed. */
    if (meet_device(session, device) && (*session->simulated || lock_gpu(session)))
        return true;
    session_close(session);
    return false;
}

void session_close(Session *session)
{
    worker_end(&session->next);
    build_trim(session->book.cache, CACHED_BUILDS);
    if (session->lock_fd >= 0)
        close(session->lock_fd);
}
