/* compile.c - the commands of a build: nvcc, the linker, readelf, and with which words. */
#include "compile.h"
#include "child.h"
#include "util.h"

#include <string.h>
#include <unistd.h>

enum { LINK_LIMIT_S = 60, WORDS = 49 + 2 * COMPILE_ARCHS, BEFORE_PROGRAM = 3 };

/* Words of a command, ended by NULL. */
typedef struct Command {
    const char *word[WORDS];
    int words;
} Command;

static void add(Command *command, const char *word)
{
    if (command->words < WORDS - 1)
        command->word[command->words++] = word;
}

/* Compiler messages in English, whatever the locale. Scratch files in the build's own folder, where
 * the command runs: nvcc names them by its process number, and gradebook's cells, each with process
 * numbers of its own, may share a /tmp. */
static Command begin_command(const char *program)
{
    return (Command){ { "env", "LC_ALL=C", "TMPDIR=.", program }, BEFORE_PROGRAM + 1 };
}

/* Two architectures and the host's part are compiled side by side: 0.6 s instead of 0.8 s.
 * --no-compress: the simulated GPU reads the PTX. --MD is the assembler's list of what .incbin and
 * .include read; clang's has none. */
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
    if (compile->lab->launches) { /* first, so that nothing in kernel.cu can take its place */
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

static int run_command(Command *command, const char *folder, double limit_s, char *output,
                       size_t size)
{
    char *argv[WORDS];

    for (int i = 0; i < command->words; i++)
        argv[i] = (char *) command->word[i];
    argv[command->words] = NULL;
    return child_run(argv, folder, limit_s, output, size);
}

int compile_object(const Compile *compile, const char *folder, char *output, size_t size)
{
    static const char *const names[] = { "--keep",   "--keep-dir", ".",        "-MD",      "-MF",
                                         "kernel.d", "-o",         "kernel.o", "kernel.cu" };
    Command command = compile_command(compile);

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        add(&command, names[i]);
    return run_command(&command, folder, COMPILE_LIMIT_S, output, size);
}

/* The C++ compiler links in half the time that nvcc takes, which looks for device code to link. */
int compile_link(const Compile *compile, const char *folder, char *output, size_t size)
{
    Command command = begin_command(compile->toolchain->host);
    char libraries[sizeof compile->toolchain->libraries];

    add(&command, "-shared");
    add(&command, "-Wl,-z,relro,-z,now");
    add(&command, "-o");
    add(&command, "kernel.so");
    add(&command, "kernel.o");
    PUT(libraries, "%s", compile->toolchain->libraries);
    for (char *rest = libraries, *folder; (folder = strsep(&rest, "\n"));)
        if (*folder) {
            add(&command, "-L");
            add(&command, folder);
        }
    add(&command, "-lcudart");
    return run_command(&command, folder, LINK_LIMIT_S, output, size);
}

int compile_list(const Compile *compile, const char *folder, char *listing, size_t size)
{
    Command command = begin_command(compile->toolchain->readelf);

    add(&command, "-SsW");
    add(&command, "kernel.o");
    return run_command(&command, folder, LINK_LIMIT_S, listing, size);
}

/* A word as it is typed in a shell, and a path from where we are, if it lies below. */
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
        if (!strstr(command.word[i], "kernel.asm.d"))
            type_word(text, size, command.word[i]);
}
