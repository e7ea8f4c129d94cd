/* sandbox_view.c - chooses what a submission sees: folders of the system and of the toolkit, and
 * environment variables. */
#include "gradebook/run/sandbox_view.h"
#include "build/toolchain.h"
#include "base/util.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

const char *const system_paths[] = { "/usr",
                                     "/bin",
                                     "/sbin",
                                     "/lib",
                                     "/lib32",
                                     "/lib64",
                                     "/etc/alternatives",
                                     "/etc/ld.so.cache",
                                     "/etc/ld.so.conf",
                                     "/etc/ld.so.conf.d",
                                     NULL };

const char *const gpu_devices[] = { "/dev/nvidia[0-9]*",
                                    "/dev/nvidiactl",
                                    "/dev/nvidia-uvm",
                                    "/dev/nvidia-uvm-tools",
                                    "/dev/nvidia-caps",
                                    "/dev/dxg",
                                    NULL };

/* The environment variables that are passed to the sandbox. */
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
static const char search_paths[] = "PATH LD_LIBRARY_PATH CPATH CPLUS_INCLUDE_PATH";
#define COUNT(array) (sizeof(array) / sizeof *(array))

static bool is_at_or_in(const char *path, const char *folder)
{
    size_t length = strlen(folder);

    return !strncmp(path, folder, length) && (!path[length] || path[length] == '/');
}

static bool is_shown(const char *path)
{
    for (int i = 0; system_paths[i]; i++)
        if (is_at_or_in(path, system_paths[i]))
            return true;
    return false;
}

/* True if the folder, or something in it, exists in the sandbox. */
static bool exists_inside(const Sandbox *sandbox, const char *folder)
{
    bool inside = is_shown(folder);

    for (int i = 0; i < sandbox->exposed.count && !inside; i++)
        inside = is_at_or_in(sandbox->exposed.word[i], folder) ||
                 is_at_or_in(folder, sandbox->exposed.word[i]);
    return inside;
}

/* The folders of a search path that exist in the sandbox: the others would only tell a submission
 * about this machine. */
static void visible_part(const Sandbox *sandbox, const char *list, char text[PATH_MAX])
{
    char folder[PATH_MAX];

    *text = 0;
    while (*list) {
        size_t length = strcspn(list, ":");
        PUT(folder, "%.*s", (int) length, list);
        if (exists_inside(sandbox, folder))
            append(text, PATH_MAX, "%s%s", *text ? ":" : "", folder);
        list += length + (list[length] != 0);
    }
}

void find_environment(Sandbox *sandbox)
{
    char text[PATH_MAX + 64], part[PATH_MAX];

    for (size_t i = 0; i < COUNT(environment_names); i++) {
        const char *value = getenv(environment_names[i]);
        if (!value || strlen(value) >= PATH_MAX)
            continue;
        if (!sandbox->trusting && is_in(search_paths, environment_names[i])) {
            visible_part(sandbox, value, part);
            value = part;
        }
        words_add(&sandbox->environment, PUT(text, "%s=%s", environment_names[i], value));
    }
    words_add(&sandbox->environment, PUT(text, "WARPBOOK_BUILD=%s", sandbox->build));
    if (!sandbox->trusting)
        words_add(&sandbox->environment, "TMPDIR=/tmp");
    else if (getenv("TMPDIR"))
        words_add(&sandbox->environment, PUT(text, "TMPDIR=%s", getenv("TMPDIR")));
}

static void expose(Sandbox *sandbox, const char *path)
{
    char *real = path && *path ? realpath(path, NULL) : NULL;

    if (real && strcmp(real, "/") && !is_shown(real) && !words_hold(&sandbox->exposed, real))
        words_add(&sandbox->exposed, real);
    if (real && *path == '/' && strcmp(path, real) && !is_shown(path) &&
        !words_hold(&sandbox->exposed, path))
        words_add(&sandbox->exposed, path);
    free(real);
}

/* True if the folder contains a toolkit or a compiler. */
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

/* Shows the toolkit that contains a program: .../cuda for .../cuda/bin/nvcc. If it is a wrapper,
 * shows only the program, since the X of X/bin/nvcc may be a home folder. */
static void expose_program(Sandbox *sandbox, const char *path)
{
    char *real = path && *path ? realpath(path, NULL) : NULL, *slash;

    if (!real)
        return;
    expose(sandbox, path);
    slash = strrchr(real, '/');
    *slash = 0;
    if (strlen(real) > 4 && !strcmp(real + strlen(real) - 4, "/bin")) {
        real[strlen(real) - 4] = 0;
        if (is_a_toolkit(real))
            expose(sandbox, real);
    }
    free(real);
}

static void expose_list(Sandbox *sandbox, const char *list)
{
    char path[PATH_MAX];

    while (*list) {
        size_t length = strcspn(list, "\n");
        PUT(path, "%.*s", (int) length, list);
        expose(sandbox, path);
        list += length + (list[length] != 0);
    }
}

bool expose_toolkit(Sandbox *sandbox, char *problem, size_t size)
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
    PUT(sandbox->compiler, "%s", toolchain.identity);
    expose_program(sandbox, toolchain.nvcc);
    expose_program(sandbox, toolchain.host);
    expose_list(sandbox, toolchain.roots);
    expose_list(sandbox, toolchain.libraries);
    for (size_t i = 0; i < COUNT(programs); i++)
        expose(sandbox, getenv(programs[i]));
    expose(sandbox, sandbox->warpbook);
    for (size_t i = 0; i < COUNT(built); i++)
        expose(sandbox, PUT(path, "%s/%s", sandbox->build, built[i]));
    return true;
}
