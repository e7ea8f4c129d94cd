/* sandbox.c - runs one `warpbook grade` in bubblewrap, which shows it only what it needs.
 *
 * The sandbox has a new root that contains only the system's programs and libraries, the CUDA
 * Toolkit, the workbook's labs/ and common/ and the grading programs, all read-only; the kernel to
 * grade; and a /tmp and a build cache in memory, limited in size and discarded afterwards. It has
 * no network and does not see the host's processes, users or environment. So a submission cannot
 * read other students' files, results or the database, and its files do not outlive the sandbox. It
 * sees the solutions only as binaries, built earlier in a sandbox without student code
 * (gradebook/run/stubs.h).
 *
 * For a real GPU a kernel is built in one sandbox without a GPU and graded in another.
 *
 * $GRADEBOOK_BWRAP and $GRADEBOOK_WARPBOOK replace bubblewrap and warpbook with other programs (in
 * the tests, scripts).
 */
#include "gradebook/run/sandbox.h"
#include "gradebook/run/sandbox_view.h"
#include "base/process.h"
#include "base/util.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    TMP_BYTES = 1 << 30, /* in /tmp, where compilers work */
    CACHE_BYTES = 256 << 20,
    SMALL_BYTES = 16 << 20,
    TRY_S = 20,
    SAID_BYTES = 4096,
};

/* ---- The command ---- */

/* Adds an option such as --ro-bind-try FROM TO. */
static void mount(Words *words, const char *how, const char *from, const char *to)
{
    words_add_all(words, (const char *const[]){ how, from, to, NULL });
}

static void add_gpu(Words *w)
{
    for (int i = 0; gpu_devices[i]; i++) {
        glob_t found;
        if (glob(gpu_devices[i], 0, NULL, &found))
            continue;
        for (size_t k = 0; k < found.gl_pathc; k++)
            mount(w, "--dev-bind-try", found.gl_pathv[k], found.gl_pathv[k]);
        globfree(&found);
    }
    mount(w, "--ro-bind-try", "/sys", "/sys");
}

/* Shows each entry of a trusted folder read-only in a writable folder. */
static void add_entries(Words *w, const char *from, const char *to)
{
    DIR *folder = opendir(from);
    struct dirent *item;

    while (folder && (item = readdir(folder))) {
        char source[PATH_MAX], target[PATH_MAX];
        if (item->d_name[0] == '.' || !strncmp(item->d_name, "tmp-", 4) ||
            strstr(item->d_name, ".new-"))
            continue;
        mount(w, "--ro-bind", PUT(source, "%s/%s", from, item->d_name),
              PUT(target, "%s/%s", to, item->d_name));
    }
    if (folder)
        closedir(folder);
}

static void add_tmpfs(const Sandbox *sandbox, Words *w, const char *path, int bytes)
{
    char text[32];

    if (sandbox->sized)
        words_add_all(w, (const char *const[]){ "--size", PUT(text, "%d", bytes), NULL });
    words_add_all(w, (const char *const[]){ "--tmpfs", path, NULL });
}

/* Builds of the grader's own kernels are kept. Students' builds are discarded, or stored in a
 * separate folder to be graded in another sandbox. */
static void add_built(const Sandbox *sandbox, Words *w, const SandboxJob *job)
{
    char kept[PATH_MAX], seen[PATH_MAX];

    if (job && job->trusted) {
        mount(w, "--bind", PUT(kept, "%s/cache", sandbox->store),
              PUT(seen, "%s/cache", sandbox->build));
        mount(w, "--bind", PUT(kept, "%s/floor", sandbox->store),
              PUT(seen, "%s/floor", sandbox->build));
        return;
    }
    PUT(seen, "%s/cache", sandbox->build);
    if (job && job->built && job->cc) {
        mount(w, "--bind", job->built, seen);
    } else {
        add_tmpfs(sandbox, w, seen, CACHE_BYTES);
        if (job && job->built)
            add_entries(w, job->built, seen);
    }
    PUT(seen, "%s/floor", sandbox->build);
    add_tmpfs(sandbox, w, seen, SMALL_BYTES);
    add_entries(w, PUT(kept, "%s/floor", sandbox->store), seen);
}

/* Only the grader's own kernels see the solutions; students' kernels see the sealed builds. */
static void add_solutions(const Sandbox *sandbox, Words *w, const SandboxJob *job)
{
    char path[PATH_MAX];

    if (job && job->trusted) {
        PUT(path, "%s/solutions", sandbox->root);
        mount(w, "--ro-bind", path, path);
        if (job->sealed)
            mount(w, "--bind", job->sealed, "/sealed");
    } else if (job && job->sealed) {
        mount(w, "--ro-bind", job->sealed, PUT(path, "%s/solutions/%s", sandbox->root, job->lab));
    }
}

static const char *lock_folder(void)
{
    const char *folder = getenv("TMPDIR");

    return folder && *folder ? folder : "/tmp";
}

/* bubblewrap's options. `job` NULL: for a test run. */
static void add_options(const Sandbox *sandbox, Words *w, const SandboxJob *job, bool gpu)
{
    static const char *const own[] = { "labs", "common" };
    char path[PATH_MAX];

    /* Run as root, bubblewrap would otherwise keep root's capabilities in its own namespaces. */
    words_add_all(w, (const char *const[]){ "--unshare-all", "--die-with-parent", "--new-session",
                                            "--cap-drop", "ALL", "--uid", "65534", "--gid", "65534",
                                            "--proc", "/proc", "--dev", "/dev", NULL });
    if (sandbox->closed)
        words_add_all(w, (const char *const[]){ "--unshare-user", "--disable-userns", NULL });
    if (job && job->trusted && job->waits && gpu) /* this folder contains the GPUs' locks */
        mount(w, "--bind", lock_folder(), "/tmp");
    else
        add_tmpfs(sandbox, w, "/tmp", TMP_BYTES);
    for (int i = 0; system_paths[i]; i++)
        mount(w, "--ro-bind-try", system_paths[i], system_paths[i]);
    if (gpu)
        add_gpu(w);
    add_tmpfs(sandbox, w, "/dev/shm", SMALL_BYTES);
    words_add_all(w, (const char *const[]){ "--remount-ro", "/dev", NULL });
    for (int i = 0; i < sandbox->exposed.count; i++)
        mount(w, "--ro-bind", sandbox->exposed.word[i], sandbox->exposed.word[i]);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        PUT(path, "%s/%s", sandbox->root, own[i]);
        mount(w, "--ro-bind", path, path);
    }
    add_solutions(sandbox, w, job);
    add_built(sandbox, w, job);
    if (job)
        mount(w, "--ro-bind", job->kernel, "/submission/kernel.cu");
    words_add_all(w, (const char *const[]){ "--remount-ro", "/", "--chdir", sandbox->root, NULL });
}

/* Returns a descriptor from which the words can be read, each with its 0 byte. */
static int open_words(const Words *words)
{
    int fd = memfd_create("bubblewrap", 0); /* the program that is started inherits it */

    for (int i = 0; i < words->count && fd >= 0; i++) {
        size_t length = strlen(words->word[i]) + 1;
        if (write(fd, words->word[i], length) != (ssize_t) length)
            die("cannot write the options of bubblewrap: %s", strerror(errno));
    }
    if (fd < 0 || lseek(fd, 0, SEEK_SET))
        die("cannot write the options of bubblewrap: %s", strerror(errno));
    return fd;
}

/* Adds bubblewrap, which reads its options from the returned descriptor: the sandbox shows its
 * command line, and paths of this machine do not belong there. */
static int add_cell(const Sandbox *sandbox, Words *w, const SandboxJob *job, bool gpu)
{
    Words options = { 0 };
    char text[16];
    int fd;

    add_options(sandbox, &options, job, gpu);
    fd = open_words(&options);
    words_add_all(
        w, (const char *const[]){ sandbox->bwrap, "--args", PUT(text, "%d", fd), "--", NULL });
    words_free(&options);
    return fd;
}

/* The warpbook part of the command. */
static void add_task(const Sandbox *sandbox, Words *w, const SandboxJob *job)
{
    const char *kernel = sandbox->trusting ? job->kernel : "/submission/kernel.cu";

    words_add_all(w, (const char *const[]){ sandbox->warpbook, job->cc ? "build" : "grade",
                                            job->lab, "--submission", kernel, NULL });
    if (job->cc) {
        words_add_all(w, (const char *const[]){ "--cc", job->cc, NULL });
        return;
    }
    words_add_all(w, (const char *const[]){ "--format", "lines", "--course", "-", NULL });
    if (job->device)
        words_add_all(w, (const char *const[]){ "--device", job->device, NULL });
    if (job->trusted && job->sealed && !sandbox->trusting)
        words_add_all(w, (const char *const[]){ "--seal", "/sealed", NULL });
    if (job->quick)
        words_add(w, "--quick");
}

int sandbox_command(const Sandbox *sandbox, const SandboxJob *job, Words *command)
{
    int options = -1;
    bool gpu = !job->cc && (!job->device || strncmp(job->device, "sim", 3) != 0);

    *command = (Words){ 0 };
    if (job->cc) /* low priority, since other gradings may be timed meanwhile */
        words_add_all(command, (const char *const[]){ "/usr/bin/env", "nice", "-n", "19", NULL });
    if (!sandbox->trusting)
        options = add_cell(sandbox, command, job, gpu);
    add_task(sandbox, command, job);
    return options;
}

/* ---- Testing bubblewrap ---- */

static bool find_bwrap(Sandbox *sandbox)
{
    const char *named = getenv("GRADEBOOK_BWRAP"), *folders = getenv("PATH");

    if (named && *named) {
        PUT(sandbox->bwrap, "%s", named);
        return access(named, X_OK) == 0;
    }
    while (folders && *folders) {
        size_t length = strcspn(folders, ":");
        PUT(sandbox->bwrap, "%.*s/bwrap", (int) length, folders);
        if (length && access(sandbox->bwrap, X_OK) == 0)
            return true;
        folders += length + (folders[length] == ':');
    }
    return false;
}

/* Runs `warpbook --version` in the sandbox. */
static bool try_sandbox(const Sandbox *sandbox, char *error, size_t size)
{
    Words command = { 0 };
    Program program;
    bool ok;
    int options = add_cell(sandbox, &command, NULL, false);

    words_add_all(&command, (const char *const[]){ sandbox->warpbook, "--version", NULL });
    ok = program_start(&program, command.word, sandbox->environment.word, "/", TRY_S, SAID_BYTES,
                       TMP_BYTES);
    close(options);
    while (ok && !program_over(&program))
        program_wait((Program *const[]){ &program }, 1, 1);
    if (!ok || program.late || program.status != 0) {
        if (ok && program.errors.used)
            put(error, size, "%.*s", (int) strcspn(program.errors.text, "\n"), program.errors.text);
        else
            program_say_end(&program, error, size);
        ok = false;
    }
    program_free(&program);
    words_free(&command);
    return ok;
}

static bool test_sandbox(Sandbox *sandbox, char *problem, size_t size)
{
    char error[300] = "";

    if (!find_bwrap(sandbox)) {
        put(problem, size,
            "bubblewrap is not installed; it isolates submissions. Install it (Debian, Ubuntu: apt "
            "install bubblewrap); or, if you trust every submission with your files and your "
            "network, use --trust-submissions");
        return false;
    }
    /* --size came with bubblewrap 0.7, --disable-userns with 0.8. */
    for (int more = 2; more >= 0; more--) {
        sandbox->closed = more > 1;
        sandbox->sized = more > 0;
        if (try_sandbox(sandbox, error, sizeof error))
            return true;
    }
    put(problem, size,
        "bubblewrap, which isolates submissions, does not work here (%s). Most likely user "
        "namespaces are disabled (sysctl kernel.unprivileged_userns_clone, "
        "user.max_user_namespaces, or AppArmor's kernel.apparmor_restrict_unprivileged_userns): an "
        "administrator can enable them. If you trust every submission with your files and your "
        "network, use --trust-submissions",
        error);
    return false;
}

/* ---- Opening ---- */

static bool find_programs(Sandbox *sandbox, char *problem, size_t size)
{
    const char *named = getenv("GRADEBOOK_WARPBOOK");
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

    if (!getcwd(sandbox->root, sizeof sandbox->root) || !file_exists("common/lab.h") ||
        !file_exists("labs")) {
        put(problem, size,
            "this is not the workbook's folder: run gradebook in the folder that contains labs/ "
            "and Makefile");
        return false;
    }
    if (length <= 0 || !find_build_folder(sandbox->build, sizeof sandbox->build)) {
        put(problem, size, "cannot find the build folder: run make");
        return false;
    }
    self[length] = 0;
    *strrchr(self, '/') = 0;
    if (named && *named) /* the tests use a script */
        PUT(sandbox->warpbook, "%s", named);
    else
        PUT(sandbox->warpbook, "%s/warpbook", self);
    if (!file_exists(sandbox->warpbook)) {
        put(problem, size, "%s is missing: run make", sandbox->warpbook);
        return false;
    }
    return true;
}

/* A folder that submissions see must not contain the gradebook. */
bool sandbox_lies_apart(const Sandbox *sandbox, char *problem, size_t size)
{
    static const char *const own[] = { "labs", "common", "solutions" };
    char shown[PATH_MAX];

    for (size_t i = 0; i <= sizeof own / sizeof *own; i++) {
        size_t length;
        if (i < sizeof own / sizeof *own)
            PUT(shown, "%s/%s", sandbox->root, own[i]);
        else
            PUT(shown, "%s", sandbox->build);
        length = strlen(shown);
        if (!strncmp(sandbox->store, shown, length) &&
            (!sandbox->store[length] || sandbox->store[length] == '/')) {
            put(problem, size,
                "--out %s is in a folder that submissions can read: choose another folder",
                sandbox->store);
            return false;
        }
    }
    return true;
}

bool sandbox_hides(const Sandbox *sandbox, const char *path, char *problem, size_t size)
{
    char *real = path && *path ? realpath(path, NULL) : NULL;
    bool hidden = true;

    for (int i = 0; real && strcmp(real, "/") && i < sandbox->exposed.count && hidden; i++) {
        const char *shown = sandbox->exposed.word[i];
        size_t length = strlen(shown);
        hidden = strncmp(real, shown, length) || (real[length] && real[length] != '/');
        if (!hidden)
            put(problem, size,
                "%s, which the compiler seems to need, contains %s, which no submission may see. "
                "Install the CUDA Toolkit in a separate folder, and set CUDA_HOME to it",
                shown, real);
    }
    free(real);
    return hidden;
}

bool sandbox_open(Sandbox *sandbox, const char *store, bool trusting, char *problem, size_t size)
{
    char path[PATH_MAX];

    *sandbox = (Sandbox){ .trusting = trusting };
    if (!find_programs(sandbox, problem, size))
        return false;
    if (!realpath(store, path)) {
        put(problem, size, "%s: %s", store, strerror(errno));
        return false;
    }
    PUT(sandbox->store, "%s", path);
    if (!make_folders(PUT(path, "%s/cache", sandbox->store)) ||
        !make_folders(PUT(path, "%s/floor", sandbox->store)) ||
        !make_folders(PUT(path, "%s/sealed", sandbox->store))) {
        put(problem, size, "cannot write %s: %s", sandbox->store, strerror(errno));
        return false;
    }
    if (!trusting &&
        (!sandbox_lies_apart(sandbox, problem, size) || !expose_toolkit(sandbox, problem, size)))
        return false;
    find_environment(sandbox);
    if (trusting)
        return true;
    return sandbox_hides(sandbox, getenv("HOME"), problem, size) &&
           sandbox_hides(sandbox, sandbox->store, problem, size) &&
           test_sandbox(sandbox, problem, size);
}

void sandbox_close(Sandbox *sandbox)
{
    words_free(&sandbox->exposed);
    words_free(&sandbox->environment);
}
