/* toolchain.c - finds nvcc, and asks it for what a build needs.
 *
 * nvcc --version prints its version, --list-gpu-arch its architectures, and --dryrun, without
 * compiling, which C++ compiler it calls and where the toolkit's headers and libraries are. That
 * compiler then prints where its own headers are. The four calls take 20 ms.
 */
#include "build/toolchain.h"
#include "base/child.h"
#include "base/util.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OUTPUT_BYTES = 32 << 10, CALL_LIMIT_S = 30 };

/* ---- Faults of the machine ---- */

/* What a compiler prints, what it means and what to do. Searched only in the output of a compiler
 * that failed on a file of the workbook: a student can print any of these. */
static const struct Fault {
    const char *printed, *meaning;
} faults[] = {
#define OLDER_COMPILER                                                                             \
    "the C++ compiler is newer than this nvcc supports: install an older one and select it, "      \
    "for example: export NVCC_PREPEND_FLAGS='-ccbin g++-12'"
    { "unsupported GNU version", OLDER_COMPILER },
    { "unsupported clang version", OLDER_COMPILER },
    { "Failed to preprocess host compiler", "nvcc cannot find a C++ compiler that it supports: "
                                            "install one (Debian, Ubuntu: apt install g++)" },
    { "cc1plus", "the C++ compiler is incomplete: install it (Debian, Ubuntu: apt install g++)" },
    { "Unsupported gpu architecture", "this nvcc does not compile for this GPU: use another CUDA "
                                      "Toolkit" },
#define NO_PLACE                                                                                   \
    "nvcc cannot write to the build folder; use another one: make grade B=$HOME/warpbook"
    { "No space left on device",
      "the disk is full; free some space, or build on another disk: make grade B=..." },
    { "Disk quota exceeded",
      "the disk quota is used up; free some space, or build elsewhere: make grade B=..." },
    { "Could not open output file", NO_PLACE },
    { "Could not open input file",
      NO_PLACE }, /* one of nvcc's own files, since the source exists */
    { "Read-only file system", NO_PLACE },
    { "Cannot allocate memory", "the compiler ran out of memory" },
    { "out of memory", "the compiler ran out of memory" },
    { "terminated program", "the compiler was killed: most likely the machine ran out of memory" },
    { "cannot find -lcudart", "the CUDA Toolkit is incomplete: libcudart.so is missing; install "
                              "cuda-cudart-dev" },
    { "cannot find -l",
      "the C++ compiler's libraries are missing (Debian, Ubuntu: apt install g++)" },
    { "cuda_runtime.h", "the CUDA Toolkit is incomplete: cuda_runtime.h is missing; install "
                        "cuda-cudart-dev" },
    { "No such file or directory",
      "nvcc or a compiler that it calls is missing; reinstall the CUDA Toolkit and g++" },
};

const char *toolchain_fault(const char *output)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (strstr(output, faults[i].printed))
            return faults[i].meaning;
    return NULL;
}

/* ---- Helpers ---- */

/* Runs a program and keeps the first OUTPUT_BYTES of its output, in English whatever the locale. */
static int call(char *const arguments[], char *output)
{
    char *argv[16] = { "env", "LC_ALL=C" };

    for (int i = 0; arguments[i]; i++)
        argv[2 + i] = arguments[i];
    return child_run(argv, NULL, NULL, CALL_LIMIT_S, output, OUTPUT_BYTES);
}

static void add_item(char *list, size_t size, const char *item)
{
    if (*item && strlen(list) + strlen(item) + 2 <= size)
        append(list, size, "%s\n", item);
}

static void add_folder(char *list, size_t size, const char *path)
{
    char *real = realpath(path, NULL);

    if (real)
        add_item(list, size, real);
    free(real);
}

/* Makes the path absolute, because builds run in another folder. */
static void make_absolute(char *path, size_t size)
{
    char here[400], given[512];

    if (*path == '/' || !strchr(path, '/') || !getcwd(here, sizeof here))
        return;
    PUT(given, "%s", path);
    put(path, size, "%s/%s", here, given);
}

/* The next word of a shell command without its quotes: "/usr/bin"/g++ is one word. NULL at the
 * end. */
static const char *next_word(const char *at, char *word, size_t size)
{
    size_t used = 0;
    bool quoted = false;

    at += strspn(at, " ");
    if (!*at || *at == '\n')
        return NULL;
    for (; *at && *at != '\n' && (quoted || *at != ' '); at++) {
        if (*at == '"')
            quoted = !quoted;
        else if (used + 1 < size)
            word[used++] = *at;
    }
    word[used] = 0;
    return at;
}

/* The last line of `text` that contains `what`, after its "#$ ", or NULL. */
static const char *last_line(const char *text, const char *what)
{
    const char *found = NULL;

    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (memmem(line, strcspn(line, "\n"), what, strlen(what)))
            found = line;
    }
    return found;
}

/* ---- Finding ---- */

static bool find_nvcc(Toolchain *toolchain)
{
    const char *named = getenv("WARPBOOK_NVCC"), *home = getenv("CUDA_HOME");
    const char *folders = getenv("PATH");

    if (named && *named) {
        PUT(toolchain->nvcc, "%s", named);
        if (access(named, X_OK) == 0)
            return true;
        PUT(toolchain->problem, "WARPBOOK_NVCC is %.300s, which cannot be run: %s", named,
            strerror(errno));
        return false;
    }
    if (home && *home && access(PUT(toolchain->nvcc, "%s/bin/nvcc", home), X_OK) == 0)
        return true;
    while (folders && *folders) {
        size_t length = strcspn(folders, ":");
        PUT(toolchain->nvcc, "%.*s/nvcc", (int) length, folders);
        if (length && access(toolchain->nvcc, X_OK) == 0)
            return true;
        folders += length + (folders[length] == ':');
    }
    if (access(PUT(toolchain->nvcc, "/usr/local/cuda/bin/nvcc"), X_OK) == 0)
        return true;
    PUT(toolchain->problem,
        "no nvcc found: install the CUDA Toolkit, or set CUDA_HOME to the folder "
        "that contains bin/nvcc");
    toolchain->nvcc[0] = 0;
    return false;
}

/* "... release 13.0, V13.0.88": the version after the V. */
static bool ask_version(Toolchain *toolchain, char *output)
{
    char *argv[] = { toolchain->nvcc, "--version", NULL };
    const char *at;

    make_absolute(toolchain->nvcc, sizeof toolchain->nvcc);
    if (call(argv, output) != 0 || !(at = strstr(output, ", V"))) {
        PUT(toolchain->problem, "%.300s does not run: `nvcc --version` prints no version",
            toolchain->nvcc);
        return false;
    }
    at += 3;
    PUT(toolchain->version, "%.*s", (int) strspn(at, "0123456789."), at);
    PUT(toolchain->identity, "%.1000s", output);
    return true;
}

static bool ask_archs(Toolchain *toolchain, char *output)
{
    char *argv[] = { toolchain->nvcc, "--list-gpu-arch", NULL };

    if (call(argv, output) != 0)
        output[0] = 0;
    for (const char *at = output; (at = strstr(at, "compute_")); at++) {
        const char *digits = at + 8;
        size_t length = strspn(digits, "0123456789");
        if (length && length < 4 && digits[length] == '\n') /* skips 90a and 120f */
            APPEND(toolchain->archs, " %.*s", (int) length, digits);
    }
    if (toolchain->archs[0])
        return true;
    PUT(toolchain->problem, "%.300s %s is too old: install CUDA 12 or later", toolchain->nvcc,
        toolchain->version);
    return false;
}

/* Takes the folders after -I, -L or -isystem from a line of assignments. */
static void take_folders(const char *output, const char *variable, const char *option, char *list,
                         size_t size)
{
    const char *at = strstr(output, variable);
    char word[1024];

    if (!at)
        return;
    at += strlen(variable);
    while ((at = next_word(at, word, sizeof word))) {
        const char *path = !strncmp(word, option, 2) ? word + 2 : word;
        if (*path == '/')
            add_folder(list, size, path);
    }
}

/* Parses the command that would link, to find which compiler is called and where the libraries
 * are. */
static bool ask_dryrun(Toolchain *toolchain, char *output)
{
    char *argv[] = { toolchain->nvcc, "--dryrun", "-shared", "-cudart", "shared", "-o",
                     "none.so",       "none.cu",  NULL };
    int status = call(argv, output);
    const char *link = last_line(output, "--start-group");

    if (status != 0 || !link || !next_word(link + 2, toolchain->host, sizeof toolchain->host)) {
        const char *fault = toolchain_fault(output);
        PUT(toolchain->problem, "%.150s cannot compile: %s", toolchain->nvcc,
            fault ? fault : "it does not report which C++ compiler it calls");
        return false;
    }
    take_folders(output, "#$ INCLUDES=", "-I", toolchain->roots, sizeof toolchain->roots);
    take_folders(output, "#$ SYSTEM_INCLUDES=", "-I", toolchain->roots, sizeof toolchain->roots);
    take_folders(output, "#$ LIBRARIES=", "-L", toolchain->libraries, sizeof toolchain->libraries);
    PUT(toolchain->include, "%.*s", (int) strcspn(toolchain->roots, "\n"), toolchain->roots);
    return true;
}

/* Parses "gcc version 12.2.0 (Debian 12.2.0-14)" and the folders of the compiler's headers.
 * /usr/local/include is left out: no compiler keeps its headers there, but anything else may be
 * there. */
static bool ask_host(Toolchain *toolchain, char *output)
{
    char *argv[] = { toolchain->host, "-E", "-v", "-x", "c++", "/dev/null", NULL };
    int status = call(argv, output);
    const char *version = strstr(output, " version "), *at = strstr(output, "#include <...>");
    char path[1024];

    if (status != 0 || !at) {
        PUT(toolchain->problem,
            "the C++ compiler %.300s does not run: install it (Debian, Ubuntu: "
            "apt install g++)",
            toolchain->host);
        return false;
    }
    while ((at = strchr(at, '\n')) && *++at == ' ') {
        PUT(path, "%.*s", (int) strcspn(at + 1, "\n"), at + 1);
        if (strcmp(path, "/usr/local/include"))
            add_folder(toolchain->roots, sizeof toolchain->roots, path);
    }
    while (version && version > output && version[-1] != '\n')
        version--;
    if (version)
        APPEND(toolchain->identity, "%.*s\n", (int) strcspn(version, "\n"), version);
    return true;
}

/* Flags from the environment, if this nvcc needs any; they change the build. */
static void add_flags(Toolchain *toolchain)
{
    static const char *const names[] = { "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "CPATH",
                                         "CPLUS_INCLUDE_PATH" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]))
            APPEND(toolchain->identity, "%s=%.300s\n", names[i], getenv(names[i]));
    APPEND(toolchain->identity, "%s\n%s", toolchain->host, toolchain->roots);
}

void toolchain_find(Toolchain *toolchain)
{
    const char *readelf = getenv("WARPBOOK_READELF");
    char *output = xmalloc(OUTPUT_BYTES);

    *toolchain = (Toolchain){ 0 };
    PUT(toolchain->readelf, "%s", readelf && *readelf ? readelf : "readelf");
    make_absolute(toolchain->readelf, sizeof toolchain->readelf);
    if (find_nvcc(toolchain) && ask_version(toolchain, output) && ask_archs(toolchain, output) &&
        ask_dryrun(toolchain, output) && ask_host(toolchain, output))
        add_flags(toolchain);
    free(output);
}

/* ---- Architectures ---- */

bool toolchain_archs(const Toolchain *toolchain, int cc, int *ptx, int *sm, char *note, size_t size)
{
    int oldest = 0, newest = 0, below_80 = 0, below = 0, arch, used;

    for (const char *at = toolchain->archs; sscanf(at, "%d%n", &arch, &used) == 1; at += used) {
        oldest = !oldest || arch < oldest ? arch : oldest;
        newest = arch > newest ? arch : newest;
        below = arch <= cc && arch > below ? arch : below;
        below_80 = arch <= cc && arch <= 80 && arch > below_80 ? arch : below_80;
    }
    note[0] = 0;
    if (cc < oldest) {
        put(note, size,
            "this nvcc (%s) no longer supports this GPU (compute capability %d.%d): use "
            "CUDA 12",
            toolchain->version, cc / 10, cc % 10);
        return false;
    }
    *sm = below == cc ? cc : 0;
    *ptx = *sm && below_80 ? below_80 : below;
    if (!*sm)
        put(note, size,
            "this GPU (compute capability %d.%d) is %s this nvcc (%s): compiled for %d.%d, "
            "and the driver translates it",
            cc / 10, cc % 10, cc > newest ? "newer than" : "unknown to", toolchain->version,
            below / 10, below % 10);
    return true;
}
