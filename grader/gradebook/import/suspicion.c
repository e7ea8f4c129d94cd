/* suspicion.c - reports words in a kernel that no lab needs, for a human to check; changes no
 * verdict.
 *
 * The sandbox and warpbook prevent cheating; this only reports attempts. A student who hides such
 * words (with macros, for example) still meets the same defences.
 */
#include "gradebook/import/suspicion.h"
#include "base/tokens.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *word; /* within one token; a string or number is one token */
    const char *sentence;
} suspicions[] = {
    { "syscall", "it names syscall: direct system calls, which no lab needs" },
    { "/proc", "it names /proc: information about processes, which no lab needs" },
    { "/etc/", "it names /etc/: the machine's configuration, which no lab needs" },
    { "/dev/", "it names /dev/: devices, which no lab needs" },
    { "/home", "it names /home: other people's files" },
    { "/tmp", "it names /tmp: files outside the lab" },
    { "../", "it names ../: files outside the lab" },
    { "solutions", "it names solutions: the workbook's solutions" },
    { "sqlite", "it names sqlite: the gradebook" },
    { "incbin", "it names incbin: the assembler's way to include a file" },
    { "embed", "it names embed: the compiler's way to include a file" },
    { "__has_include", "it names __has_include: a test which files exist" },
    { "LD_PRELOAD", "it names LD_PRELOAD: a way to change other programs" },
};
enum { SUSPICIONS = sizeof suspicions / sizeof *suspicions };

static bool has_word(const char *stream, size_t size, const char *word)
{
    for (size_t at = 0; at < size; at += strlen(stream + at) + 1)
        if (strstr(stream + at, word))
            return true;
    return false;
}

const char *suspicion(const char *source, int place)
{
    size_t size;
    char *stream = token_stream(source, &size);
    const char *found = NULL;

    for (int i = 0; i < SUSPICIONS && !found; i++)
        if (has_word(stream, size, suspicions[i].word) && place-- == 0)
            found = suspicions[i].sentence;
    free(stream);
    return found;
}
