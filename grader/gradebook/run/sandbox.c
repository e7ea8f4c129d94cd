/* sandbox.c - runs one `warpbook grade` in bubblewrap, which shows it only what it needs.
 *
 * The sandbox has a new root with only: the system's programs and libraries, the CUDA Toolkit, the
 * workbook's labs/ and common/ and the grading programs, all read-only; the one kernel to grade; a
 * /tmp and a build cache in memory, limited in size and discarded afterwards. It has no network and
 * none of our processes, users or environment. So it sees no other student, result or database, and
 * nothing that it writes remains. It sees our solutions only as binaries, built earlier in a
 * sandbox without student code (gradebook/run/stubs.h).
 *
 * For a real GPU a kernel is built in one sandbox without a GPU and graded in another.
 *
 * $GRADEBOOK_BWRAP and $GRADEBOOK_WARPBOOK name other programs (the tests' scripted ones).
 */
#include "gradebook/run/sandbox.h"
#include "base/process.h"
#include "build/toolchain.h"
#include "base/util.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    TMP_BYTES = 1 << 30, /* in /tmp, where compilers work */
    CACHE_BYTES = 256 << 20,
    SMALL_BYTES = 16 << 20,
    TRY_S = 20,
    SAID_BYTES = 4096,
};

/* ---- What is shown ---- */

/* Shown read-only where they exist. */
static const char *const system_paths[] = { "/usr",
                                            "/bin",
                                            "/sbin",
                                            "/lib",
                                            "/lib32",
                                            "/lib64",
                                            "/etc/alternatives",
                                            "/etc/ld.so.cache",
                                            "/etc/ld.so.conf",
                                            "/etc/ld.so.conf.d" };

/* Device files of a real GPU (the last is WSL's), and what CUDA reads about it. */
static const char *const gpu_devices[] = { "/dev/nvidia[0-9]*", "/dev/nvidiactl",
                                           "/dev/nvidia-uvm",   "/dev/nvidia-uvm-tools",
                                           "/dev/nvidia-caps",  "/dev/dxg" };

/* The part of our environment that is passed on. */
static const char *const environment_names[] = { "PATH",
                                                 "LANG",
                                                 "LD_LIBRARY_PATH",
                                                 "CUDA_HOME",
                                                 "CUDA_PATH",
                                                 "CPATH",
                                                 "CPLUS_INCLUDE_PATH",
                                                 "NVCC_PREPEND_FLAGS",
                                                 "NVCC_APPEND_FLAGS",
                                                 "CUDA_DEVICE_ORDER",
                                                 "CUDA_VISIBLE_DEVICES",
                                                 "WARPBOOK_NVCC",
                                                 "WARPBOOK_READELF",
                                                 "WARPBOOK_RUNNER",
                                                 "WARPBOOK_SIM_RUNNER",
                                                 "WARPBOOK_PATIENCE",
                                                 "WARPBOOK_FAKE_GPU",
                                                 "ASAN_OPTIONS",
                                                 "UBSAN_OPTIONS" };
#define COUNT(array) (sizeof(array) / sizeof *(array))

static void find_environment(Sandbox *cell)
{
    char text[PATH_MAX + 64];

    for (size_t i = 0; i < COUNT(environment_names); i++) {
        const char *value = getenv(environment_names[i]);
        if (value && strlen(value) < PATH_MAX)
            words_add(&cell->environment, PUT(text, "%s=%s", environment_names[i], value));
    }
    words_add(&cell->environment, PUT(text, "WARPBOOK_BUILD=%s", cell->build));
    if (!cell->trusting)
        words_add(&cell->environment, "TMPDIR=/tmp");
    else if (getenv("TMPDIR"))
        words_add(&cell->environment, PUT(text, "TMPDIR=%s", getenv("TMPDIR")));
}

static bool is_shown(const char *path)
{
    for (size_t i = 0; i < COUNT(system_paths); i++) {
        size_t length = strlen(system_paths[i]);
        if (!strncmp(path, system_paths[i], length) && (!path[length] || path[length] == '/'))
            return true;
    }
    return false;
}

static void expose(Sandbox *cell, const char *path)
{
    char *real = path && *path ? realpath(path, NULL) : NULL;

    if (real && strcmp(real, "/") && !is_shown(real) && !words_hold(&cell->exposed, real))
        words_add(&cell->exposed, real);
    if (real && *path == '/' && strcmp(path, real) && !is_shown(path) &&
        !words_hold(&cell->exposed, path))
        words_add(&cell->exposed, path);
    free(real);
}

/* True if the folder's contents are those of a toolkit or a compiler. */
static bool is_a_toolkit(const char *folder)
{
    static const char *const signs[] = { "include/cuda_runtime.h", "nvvm/bin/cicc", "lib/gcc",
                                         "libexec/gcc", "lib/clang" };
    char path[PATH_MAX + 32];

    for (size_t i = 0; i < COUNT(signs); i++)
        if (file_exists(PUT(path, "%s/%s", folder, signs[i])))
            return true;
    return false;
}

/* Shows the toolkit that contains a program: .../cuda for .../cuda/bin/nvcc. For a wrapper, only
 * the program: the X of X/bin/nvcc may be a home folder. */
static void expose_program(Sandbox *cell, const char *path)
{
    char *real = path && *path ? realpath(path, NULL) : NULL, *slash;

    if (!real)
        return;
    expose(cell, path);
    slash = strrchr(real, '/');
    *slash = 0;
    if (strlen(real) > 4 && !strcmp(real + strlen(real) - 4, "/bin")) {
        real[strlen(real) - 4] = 0;
        if (is_a_toolkit(real))
            expose(cell, real);
    }
    free(real);
}

static void expose_list(Sandbox *cell, const char *list)
{
    char path[PATH_MAX];

    while (*list) {
        size_t length = strcspn(list, "\n");
        PUT(path, "%.*s", (int) length, list);
        expose(cell, path);
        list += length + (list[length] != 0);
    }
}

static bool expose_toolkit(Sandbox *cell, char *problem, size_t size)
{
    static const char *const programs[] = { "WARPBOOK_NVCC", "WARPBOOK_READELF", "WARPBOOK_RUNNER",
                                            "WARPBOOK_SIM_RUNNER" };
    static const char *const built[] = { "runner", "guest",     "runner-sim", "guest-sim",
                                         "sim",    "guest-lib", "devices" };
    char path[PATH_MAX];
    Toolchain toolchain;

    toolchain_find(&toolchain);
    if (toolchain.problem[0]) {
        put(problem, size, "%s", toolchain.problem);
        return false;
    }
    PUT(cell->compiler, "%s", toolchain.identity);
    expose_program(cell, toolchain.nvcc);
    expose_program(cell, toolchain.host);
    expose_list(cell, toolchain.roots);
    expose_list(cell, toolchain.libraries);
    for (size_t i = 0; i < COUNT(programs); i++)
        expose(cell, getenv(programs[i]));
    expose(cell, cell->warpbook);
    for (size_t i = 0; i < COUNT(built); i++)
        expose(cell, PUT(path, "%s/%s", cell->build, built[i]));
    return true;
}

/* ---- The command ---- */

/* Adds an option such as --ro-bind-try FROM TO. */
static void mount(Words *words, const char *how, const char *from, const char *to)
{
    words_add_all(words, (const char *const[]){ how, from, to, NULL });
}

static void add_gpu(Words *w)
{
    for (size_t i = 0; i < COUNT(gpu_devices); i++) {
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

static void add_tmpfs(const Sandbox *cell, Words *w, const char *path, int bytes)
{
    char text[32];

    if (cell->sized)
        words_add_all(w, (const char *const[]){ "--size", PUT(text, "%d", bytes), NULL });
    words_add_all(w, (const char *const[]){ "--tmpfs", path, NULL });
}

/* Builds of our own kernels are kept. Students' builds are discarded, or stored in a separate
 * folder to be graded in another sandbox. */
static void add_built(const Sandbox *cell, Words *w, const CellJob *job)
{
    char kept[PATH_MAX], seen[PATH_MAX];

    if (job && job->ours) {
        mount(w, "--bind", PUT(kept, "%s/cache", cell->store), PUT(seen, "%s/cache", cell->build));
        mount(w, "--bind", PUT(kept, "%s/floor", cell->store), PUT(seen, "%s/floor", cell->build));
        return;
    }
    PUT(seen, "%s/cache", cell->build);
    if (job && job->built && job->cc) {
        mount(w, "--bind", job->built, seen);
    } else {
        add_tmpfs(cell, w, seen, CACHE_BYTES);
        if (job && job->built)
            add_entries(w, job->built, seen);
    }
    PUT(seen, "%s/floor", cell->build);
    add_tmpfs(cell, w, seen, SMALL_BYTES);
    add_entries(w, PUT(kept, "%s/floor", cell->store), seen);
}

/* Only our own kernels see the solutions; students' kernels see the sealed builds. */
static void add_solutions(const Sandbox *cell, Words *w, const CellJob *job)
{
    char path[PATH_MAX];

    if (job && job->ours) {
        PUT(path, "%s/solutions", cell->root);
        mount(w, "--ro-bind", path, path);
        if (job->sealed)
            mount(w, "--bind", job->sealed, "/sealed");
    } else if (job && job->sealed) {
        mount(w, "--ro-bind", job->sealed, PUT(path, "%s/solutions/%s", cell->root, job->lab));
    }
}

static const char *lock_folder(void)
{
    const char *folder = getenv("TMPDIR");

    return folder && *folder ? folder : "/tmp";
}

/* All of bubblewrap's arguments before the program. `job` NULL: for a test run. */
static void add_cell(const Sandbox *cell, Words *w, const CellJob *job, bool gpu)
{
    static const char *const own[] = { "labs", "common" };
    char path[PATH_MAX];

    /* Run as root, bubblewrap would otherwise keep root's capabilities in its own namespaces. */
    words_add_all(w, (const char *const[]){ cell->bwrap, "--unshare-all", "--die-with-parent",
                                            "--new-session", "--cap-drop", "ALL", "--uid", "65534",
                                            "--gid", "65534", "--proc", "/proc", "--dev", "/dev",
                                            NULL });
    if (cell->closed)
        words_add_all(w, (const char *const[]){ "--unshare-user", "--disable-userns", NULL });
    if (job && job->ours && job->waits && gpu) /* it contains the GPUs' locks */
        mount(w, "--bind", lock_folder(), "/tmp");
    else
        add_tmpfs(cell, w, "/tmp", TMP_BYTES);
    for (size_t i = 0; i < COUNT(system_paths); i++)
        mount(w, "--ro-bind-try", system_paths[i], system_paths[i]);
    if (gpu)
        add_gpu(w);
    add_tmpfs(cell, w, "/dev/shm", SMALL_BYTES);
    words_add_all(w, (const char *const[]){ "--remount-ro", "/dev", NULL });
    for (int i = 0; i < cell->exposed.count; i++)
        mount(w, "--ro-bind", cell->exposed.word[i], cell->exposed.word[i]);
    for (size_t i = 0; i < COUNT(own); i++) {
        PUT(path, "%s/%s", cell->root, own[i]);
        mount(w, "--ro-bind", path, path);
    }
    add_solutions(cell, w, job);
    add_built(cell, w, job);
    if (job)
        mount(w, "--ro-bind", job->kernel, "/submission/kernel.cu");
    words_add_all(w,
                  (const char *const[]){ "--remount-ro", "/", "--chdir", cell->root, "--", NULL });
}

/* The warpbook part of the command. */
static void add_task(const Sandbox *cell, Words *w, const CellJob *job)
{
    const char *kernel = cell->trusting ? job->kernel : "/submission/kernel.cu";

    words_add_all(w, (const char *const[]){ cell->warpbook, job->cc ? "build" : "grade", job->lab,
                                            "--submission", kernel, NULL });
    if (job->cc) {
        words_add_all(w, (const char *const[]){ "--cc", job->cc, NULL });
        return;
    }
    words_add_all(w, (const char *const[]){ "--format", "lines", "--course", "-", NULL });
    if (job->device)
        words_add_all(w, (const char *const[]){ "--device", job->device, NULL });
    if (job->ours && job->sealed && !cell->trusting)
        words_add_all(w, (const char *const[]){ "--seal", "/sealed", NULL });
    if (job->quick)
        words_add(w, "--quick");
}

void sandbox_command(const Sandbox *cell, const CellJob *job, Words *command)
{
    bool gpu = !job->cc && (!job->device || strncmp(job->device, "sim", 3) != 0);

    *command = (Words){ 0 };
    if (job->cc) /* other gradings are being measured */
        words_add_all(command, (const char *const[]){ "/usr/bin/env", "nice", "-n", "19", NULL });
    if (!cell->trusting)
        add_cell(cell, command, job, gpu);
    add_task(cell, command, job);
}

/* ---- Does it work here? ---- */

static bool find_bwrap(Sandbox *cell)
{
    const char *named = getenv("GRADEBOOK_BWRAP"), *folders = getenv("PATH");

    if (named && *named) {
        PUT(cell->bwrap, "%s", named);
        return access(named, X_OK) == 0;
    }
    while (folders && *folders) {
        size_t length = strcspn(folders, ":");
        PUT(cell->bwrap, "%.*s/bwrap", (int) length, folders);
        if (length && access(cell->bwrap, X_OK) == 0)
            return true;
        folders += length + (folders[length] == ':');
    }
    return false;
}

/* Runs `warpbook --version` in the sandbox. */
static bool try_cell(const Sandbox *cell, char *said, size_t size)
{
    Words command = { 0 };
    Program program;
    bool fine;

    add_cell(cell, &command, NULL, false);
    words_add_all(&command, (const char *const[]){ cell->warpbook, "--version", NULL });
    fine = program_start(&program, command.word, cell->environment.word, "/", TRY_S, SAID_BYTES,
                         TMP_BYTES);
    while (fine && !program_over(&program))
        program_wait((Program *const[]){ &program }, 1, 1);
    if (!fine || program.late || program.status != 0) {
        if (fine && program.errors.used)
            put(said, size, "%.*s", (int) strcspn(program.errors.text, "\n"), program.errors.text);
        else
            program_say_end(&program, said, size);
        fine = false;
    }
    program_free(&program);
    words_free(&command);
    return fine;
}

static bool prove_cell(Sandbox *cell, char *problem, size_t size)
{
    char said[300] = "";

    if (!find_bwrap(cell)) {
        put(problem, size,
            "bubblewrap is not installed; it isolates submissions. Install it (Debian, Ubuntu: apt "
            "install bubblewrap); or, if you trust every submission with your files and your "
            "network, use --trust-submissions");
        return false;
    }
    /* --size came with bubblewrap 0.7, --disable-userns with 0.8. */
    for (int more = 2; more >= 0; more--) {
        cell->closed = more > 1;
        cell->sized = more > 0;
        if (try_cell(cell, said, sizeof said))
            return true;
    }
    put(problem, size,
        "bubblewrap, which isolates submissions, does not work here (%s). Most likely user "
        "namespaces are disabled (sysctl kernel.unprivileged_userns_clone, "
        "user.max_user_namespaces, or AppArmor's kernel.apparmor_restrict_unprivileged_userns): an "
        "administrator can enable them. If you trust every submission with your files and your "
        "network, use --trust-submissions",
        said);
    return false;
}

/* ---- Opening ---- */

static bool find_programs(Sandbox *cell, char *problem, size_t size)
{
    const char *named = getenv("GRADEBOOK_WARPBOOK");
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

    if (!getcwd(cell->root, sizeof cell->root) || !file_exists("common/lab.h") ||
        !file_exists("labs")) {
        put(problem, size,
            "this is not the workbook's folder: run gradebook in the folder that contains labs/ "
            "and Makefile");
        return false;
    }
    if (length <= 0 || !find_build_folder(cell->build, sizeof cell->build)) {
        put(problem, size, "cannot find the build folder: run make");
        return false;
    }
    self[length] = 0;
    *strrchr(self, '/') = 0;
    if (named && *named) /* the tests' scripted one */
        PUT(cell->warpbook, "%s", named);
    else
        PUT(cell->warpbook, "%s/warpbook", self);
    if (!file_exists(cell->warpbook)) {
        put(problem, size, "%s is missing: run make", cell->warpbook);
        return false;
    }
    return true;
}

/* Folders shown to a submission must not contain the gradebook, nor the reverse. */
bool sandbox_lies_apart(const Sandbox *cell, char *problem, size_t size)
{
    static const char *const own[] = { "labs", "common", "solutions" };
    char shown[PATH_MAX];

    for (size_t i = 0; i <= COUNT(own); i++) {
        size_t length;
        if (i < COUNT(own))
            PUT(shown, "%s/%s", cell->root, own[i]);
        else
            PUT(shown, "%s", cell->build);
        length = strlen(shown);
        if (!strncmp(cell->store, shown, length) &&
            (!cell->store[length] || cell->store[length] == '/')) {
            put(problem, size,
                "--out %s is in a folder that submissions can see: choose another folder",
                cell->store);
            return false;
        }
    }
    return true;
}

bool sandbox_hides(const Sandbox *cell, const char *path, char *problem, size_t size)
{
    char *real = path && *path ? realpath(path, NULL) : NULL;
    bool hidden = true;

    for (int i = 0; real && strcmp(real, "/") && i < cell->exposed.count && hidden; i++) {
        const char *shown = cell->exposed.word[i];
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

bool sandbox_open(Sandbox *cell, const char *store, bool trusting, char *problem, size_t size)
{
    char path[PATH_MAX];

    *cell = (Sandbox){ .trusting = trusting };
    if (!find_programs(cell, problem, size))
        return false;
    if (!realpath(store, path)) {
        put(problem, size, "%s: %s", store, strerror(errno));
        return false;
    }
    PUT(cell->store, "%s", path);
    if (!make_folders(PUT(path, "%s/cache", cell->store)) ||
        !make_folders(PUT(path, "%s/floor", cell->store)) ||
        !make_folders(PUT(path, "%s/sealed", cell->store))) {
        put(problem, size, "cannot write %s: %s", cell->store, strerror(errno));
        return false;
    }
    find_environment(cell);
    if (trusting)
        return true;
    return sandbox_lies_apart(cell, problem, size) && expose_toolkit(cell, problem, size) &&
           sandbox_hides(cell, getenv("HOME"), problem, size) &&
           sandbox_hides(cell, cell->store, problem, size) && prove_cell(cell, problem, size);
}

void sandbox_close(Sandbox *cell)
{
    words_free(&cell->exposed);
    words_free(&cell->environment);
}
