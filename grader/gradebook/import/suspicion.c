/* suspicion.c - what no lab needs, in a kernel's text: for a human to look at. Decides nothing.
 *
 * What an attempt gains is decided by cells and by warpbook. Who tries should be known all the
 * same, and whoever hides such words (by macros, say) is met by the same defences.
 */
#include "gradebook/import/suspicion.h"
#include "base/tokens.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *word; /* in one token: strings and numbers are one each */
    const char *sentence;
} suspicions[] = {
    { "syscall", "it names syscall: calls to the system by itself, which no lab needs" },
    { "/proc", "it names /proc: processes, which are none of a lab's business" },
    { "/etc/", "it names /etc/: the machine's files, which are none of a lab's business" },
    { "/dev/", "it names /dev/: devices, which are none of a lab's business" },
    { "/home", "it names /home: files of others" },
    { "/tmp", "it names /tmp: files beside the lab's" },
    { "../", "it names ../: files beside the lab's" },
    { "solutions", "it names solutions: ours" },
    { "sqlite", "it names sqlite: the gradebook" },
    { "incbin", "it names incbin: the assembler's way to take in a file" },
    { "embed", "it names embed: the compiler's way to take in a file" },
    { "__has_include", "it names __has_include: a question which files there are" },
    { "LD_PRELOAD", "it names LD_PRELOAD: a way into other programs" },
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
