/* compile.c - the commands of a build: nvcc, the linker and readelf, with their arguments. */
#include "build/compile.h"
#include "base/child.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINK_LIMIT_S = 60, WORDS = 50 + 2 * COMPILE_ARCHS, BEFORE_PROGRAM = 3 };

/* The words of a command; the last one is NULL. */
typedef struct Command {
    const char *word[WORDS];
    int words;
} Command;

static void add(Command *command, const char *word)
{
    if (command->words < WORDS - 1)
        command->word[command->words++] = word;
}

/* Sets the locale, so that compiler messages are in English, and puts temporary files into the
 * build's own folder, where the command runs: nvcc names them after its process ID, and gradebook's
 * sandboxes, which each have their own process IDs, may share a /tmp. */
static Command begin_command(const char *program)
{
    return (Command){ { "env", "LC_ALL=C", "TMPDIR=.", program }, BEFORE_PROGRAM + 1 };
}

bool compile_uses_std(const char *source)
{
    return strstr(source, "std") || strstr(source, "include <") || strstr(source, "include<");
}

/* libstdc++'s Bessel functions and the like, which each nvcc includes since C++17. Their headers
 * take a third of the compiler's time: 0.41 s instead of 0.63 s. The macro is their include guard.
 */
static void leave_out_special_functions(Command *command, const Compile *compile)
{
    if (!compile->uses_std)
        add(command, "-D_GLIBCXX_BITS_SPECFUN_H");
}

/* Two architectures and the host part are compiled in parallel: 0.6 s instead of 0.8 s.
 * --no-compress: the simulated GPU reads the PTX. --MD: the assembler lists the files that .incbin
 * and .include read; clang's assembler writes no such list. */
static void add_flags(Command *command, const Compile *compile)
{
    static const char *const flags[] = { "-O3",     "-lineinfo",  "--no-compress",
                                         "-cudart", "shared",     "--threads",
                                         "2",       "-Xcompiler", "-fPIC,-fvisibility=hidden" };

    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (!compile->portable || strcmp(flags[i], "-lineinfo"))
            add(command, flags[i]);
    if (strstr(compile->toolchain->identity, "gcc version"))
        add(command, "-Xcompiler=-Xassembler,--MD,-Xassembler,kernel.asm.d");
    leave_out_special_functions(command, compile);
    if (compile->lab->launches && !compile->probes) {
        /* First, so that nothing in kernel.cu can replace it. */
        add(command, "-include");
        add(command, "kernel.h");
    }
    for (int i = 0; i < compile->gencodes; i++) {
        add(command, "-gencode");
        add(command, compile->gencode[i]);
    }
}

void compile_for(Compile *compile, const char *format, ...)
{
    va_list arguments;

    if (compile->gencodes == COMPILE_ARCHS)
        return;
    va_start(arguments, format);
    vsnprintf(compile->gencode[compile->gencodes++], sizeof compile->gencode[0], format, arguments);
    va_end(arguments);
}

static Command compile_command(const Compile *compile)
{
    Command command = begin_command(compile->toolchain->nvcc);

    add(&command, "-c");
    add_flags(&command, compile);
    add(&command, "-I");
    add(&command, compile->lab_dir);
    add(&command, "-I");
    add(&command, compile->common);
    return command;
}

void compile_write_flags(const Compile *compile, FILE *key)
{
    Command flags = { .words = 0 };

    add_flags(&flags, compile);
    for (int i = 0; i < flags.words; i++)
        fprintf(key, "%s\n", flags.word[i]);
}

/* ---- What a compiler may see: its own files, the lab's, and its working folder ---- */

static bool unconfined;

bool compile_unconfine(void)
{
    bool was_confined = !unconfined;

    unconfined = true;
    return was_confined;
}

enum { PLACES = 96 };
typedef struct Places {
    const char *path[PLACES + 1];
    int count;
} Places;

static void add_place(Places *places, const char *path)
{
    if (places->count < PLACES && *path)
        places->path[places->count++] = path;
}

/* Adds the items of a list, one per line. Modifies the list. */
static void add_places(Places *places, char *list)
{
    for (char *item; (item = strsep(&list, "\n"));)
        add_place(places, item);
}

/* Returns the toolkit's folder, X for X/bin/nvcc or X/include, if there is one. A wrapper in ~/bin
 * exposes only itself. */
static const char *toolkit_of(const char *path, int levels, char *folder)
{
    char probe[PATH_MAX + 32];
    char *real = realpath(path, folder);

    for (int i = 0; real && i < levels; i++)
        *strrchr(*real ? real : strcpy(real, "/"), '/') = 0;
    return real && *real &&
                   (file_exists(PUT(probe, "%s/include/cuda_runtime.h", real)) ||
                    file_exists(PUT(probe, "%s/nvvm/bin/cicc", real)))
               ? real
               : "";
}

static const char *folder_of(const char *path, char *folder)
{
    put(folder, PATH_MAX, "%s", path);
    if (strrchr(folder, '/'))
        *strrchr(folder, '/') = 0;
    return folder;
}

static int run_command(Command *command, const Compile *compile, const char *folder, double limit_s,
                       char *output, size_t size)
{
    static const char *const system[] = { "/usr", "/lib",  "/lib64",           "/lib32",
                                          "/bin", "/sbin", "/etc/ld.so.cache", "/etc/alternatives",
                                          "/opt" };
    static const char *const devices[] = { "/dev/null", "/dev/zero", "/dev/urandom", NULL };
    const char *const writable[] = { folder, NULL };
    const Toolchain *toolchain = compile->toolchain;
    char roots[sizeof toolchain->roots], libraries[sizeof toolchain->libraries], *argv[WORDS];
    char nvcc[PATH_MAX], host[PATH_MAX], base[PATH_MAX], other[PATH_MAX];
    Places places = { .count = 0 };

    for (size_t i = 0; i < sizeof system / sizeof *system; i++)
        add_place(&places, system[i]);
    add_place(&places, compile->lab_dir);
    add_place(&places, compile->common);
    add_place(&places, folder_of(toolchain->nvcc, nvcc));
    add_place(&places, folder_of(toolchain->host, host));
    add_place(&places, toolkit_of(toolchain->nvcc, 2, base));
    add_place(&places, toolkit_of(toolchain->include,
                                  strstr(toolchain->include, "/targets/") ? 3 : 1, other));
    add_places(&places, PUT(roots, "%s", toolchain->roots));
    add_places(&places, PUT(libraries, "%s", toolchain->libraries));
    for (int i = 0; i < command->words; i++)
        argv[i] = (char *) command->word[i];
    argv[command->words] = NULL;
    return child_run(argv, folder,
                     unconfined ? NULL : &(Confinement){ places.path, writable, devices, false },
                     limit_s, output, size);
}

int compile_object(const Compile *compile, const char *folder, char *output, size_t size)
{
    static const char *const names[] = { "--keep",   "--keep-dir", ".",        "-MD",      "-MF",
                                         "kernel.d", "-o",         "kernel.o", "kernel.cu" };
    Command command = compile_command(compile);

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        add(&command, names[i]);
    return run_command(&command, compile, folder, COMPILE_LIMIT_S, output, size);
}

/* In a lab that provides the launch, launch.cpp is compiled separately, so that kernel.cu cannot
 * change it. */
static void add_launch(Command *command, const Compile *compile, char *path)
{
    put(path, PATH_MAX + 32, "%s/launch.cpp", compile->lab_dir);
    add(command, "-Wl,-z,defs"); /* fails if the kernel that it launches is missing */
    add(command, "-O2");
    add(command, "-fPIC");
    add(command, "-I");
    add(command, compile->common);
    add(command, "-I");
    add(command, compile->toolchain->include);
    add(command, path);
}

/* The C++ compiler links in half the time of nvcc, which searches for device code to link. */
int compile_link(const Compile *compile, const char *folder, char *output, size_t size)
{
    Command command = begin_command(compile->toolchain->host);
    char libraries[sizeof compile->toolchain->libraries], launch[PATH_MAX + 32];

    add(&command, "-shared");
    add(&command, "-Wl,-z,relro,-z,now");
    add(&command, "-o");
    add(&command, "kernel.so");
    add(&command, "kernel.o");
    if (compile->lab->launches && !compile->probes)
        add_launch(&command, compile, launch);
    PUT(libraries, "%s", compile->toolchain->libraries);
    for (char *rest = libraries, *folder; (folder = strsep(&rest, "\n"));)
        if (*folder) {
            add(&command, "-L");
            add(&command, folder);
        }
    add(&command, "-lcudart");
    return run_command(&command, compile, folder, LINK_LIMIT_S, output, size);
}

int compile_list(const Compile *compile, const char *folder, char *listing, size_t size)
{
    Command command = begin_command(compile->toolchain->readelf);

    add(&command, "-SsrW");
    add(&command, "kernel.o");
    return run_command(&command, compile, folder, LINK_LIMIT_S, listing, size);
}

/* Quotes a word as typed in a shell; a path below the working folder becomes relative. */
static void type_word(char *text, size_t size, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=.,/:@%";
    char here[PATH_MAX];

    if (getcwd(here, sizeof here) && !strncmp(word, here, strlen(here)) &&
        word[strlen(here)] == '/')
        word += strlen(here) + 1;
    append(text, size, " ");
    if (*word && !word[strspn(word, plain)]) {
        append(text, size, "%s", word);
        return;
    }
    append(text, size, "'");
    for (; *word; word++)
        append(text, size, *word == '\'' ? "'\\''" : "%c", *word);
    append(text, size, "'");
}

void compile_typed(const Compile *compile, const char *source, char *text, size_t size)
{
    Command command = compile_command(compile);

    add(&command, "-o");
    add(&command, "/dev/null");
    add(&command, source);
    text[0] = 0;
    for (int i = BEFORE_PROGRAM; i < command.words; i++)
        if (!strstr(command.word[i], "kernel.asm.d") && !strstr(command.word[i], "_GLIBCXX"))
            type_word(text, size, command.word[i]);
}
