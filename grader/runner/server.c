/* server.c - the runner's half of the protocol: reads lines, runs commands, answers.
 *
 * A line is a tag, a command and its words. The answer is the same tag and the command's result.
 * The grader measures the time from command to answer. To keep wake-ups out of it, the runner spins
 * for the next command for a few milliseconds after each answer before it sleeps.
 */
#include "runner/server.h"
#include "runner/handlers.h"
#include "base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const double spin_s = 0.005;

enum { STACK_BYTES = 16 << 10 };

typedef struct Talk {
    Server server;
    int in, out;
    char line[SERVE_LINE];
    size_t used; /* bytes read into `line`, perhaps more than one line */
} Talk;

/* ---- Words ---- */

static const Command *find_command(const char *name)
{
    for (const Command *command = commands; command->name; command++)
        if (!strcmp(command->name, name))
            return command;
    return NULL;
}

/* Cuts the text at its first blank; returns what follows, or NULL if nothing does. */
static char *cut_word(char *text)
{
    char *blank = text ? strchr(text, ' ') : NULL;

    if (!blank)
        return NULL;
    *blank = 0;
    return blank[1] ? blank + 1 : NULL;
}

/* words[0] is the command's name; its arguments follow. */
static bool run(Server *server, char *text, char **words, char *answer, char *fault)
{
    char *rest = cut_word(text);
    const Command *command = find_command(text);
    int count = 0;

    words[0] = text;
    if (!command)
        return command_usage(fault, "unknown command");
    while (count < command->words && rest) {
        words[++count] = rest;
        rest = count < command->words ? cut_word(rest) : NULL;
    }
    if (rest || count < command->words)
        return command_usage(fault, "wrong number of arguments");
    return command->run(server, words, answer, fault);
}

/* A device's text may contain anything, but an answer is one line. */
static void keep_to_one_line(char *text)
{
    for (; *text; text++)
        if ((unsigned char) *text < ' ' || *text == 127)
            *text = ' ';
}

/* ---- Lines ---- */

/* Returns false, which ends the conversation, if the line was not a command or nothing reads the
 * answers. */
static bool answer_line(Talk *talk, char *line)
{
    char fields[SERVE_ANSWER] = "", fault[SERVE_ANSWER] = "", reply[SERVE_LINE];
    char *text = cut_word(line), *words[COMMAND_WORDS] = { "" };
    bool ok;

    if (!*line || strlen(line) > 32)
        return false;
    ok = text ? run(&talk->server, text, words, fields, fault) : command_usage(fault, "no command");
    keep_to_one_line(ok ? fields : fault);
    if (ok)
        PUT(reply, "%s ok%s%s\n", line, *fields ? " " : "", fields);
    else
        PUT(reply, "%s fail %s\n", line, *fault ? fault : "gpu no reason was given");
    if (!write_all(talk->out, reply, strlen(reply)))
        return false;
    if (talk->server.device->answered)
        talk->server.device->answered(words[0], reply);
    return true;
}

/* Reads some bytes; spins at first, then sleeps. 0: end of input; negative: error. */
static ssize_t read_some(Talk *talk)
{
    double until = now_s() + spin_s;
    size_t room = talk->used < SERVE_LINE ? SERVE_LINE - talk->used : 0;

    for (;;) {
        ssize_t got = read(talk->in, talk->line + SERVE_LINE - room, room);
        if (got >= 0)
            return got;
        if (errno != EAGAIN && errno != EINTR)
            return -1;
        if (now_s() < until)
            sched_yield();
        else
            poll(&(struct pollfd){ talk->in, POLLIN, 0 }, 1, -1);
    }
}

/* Takes the first whole line out of the buffer. Returns NULL if there is no whole line yet. */
static char *next_command(Talk *talk, char *line)
{
    char *end = memchr(talk->line, '\n', talk->used);
    size_t length;

    if (!end)
        return NULL;
    length = (size_t) (end - talk->line);
    memcpy(line, talk->line, length);
    line[length] = 0;
    talk->used -= length + 1;
    memmove(talk->line, end + 1, talk->used);
    return strlen(line) == length ? line : put(line, SERVE_LINE, "%s", ""); /* invalid: has a 0 */
}

/* Seeds come in these lines, and student code must not find them later. This wipes the line, the
 * bytes that were read along with it, and what the functions that worked with seeds left on the
 * stack below. (The driver may keep copies from launches, which cannot be wiped:
 * docs/integrity.md.) */
static __attribute__((noinline)) void forget(Talk *talk, char *line)
{
    char below[STACK_BYTES];

    explicit_bzero(below, sizeof below);
    explicit_bzero(line, SERVE_LINE);
    explicit_bzero(talk->line + talk->used, SERVE_LINE - talk->used);
}

static int converse(Talk *talk)
{
    char line[SERVE_LINE];

    while (!talk->server.done) {
        char *text = next_command(talk, line);
        ssize_t got;
        if (text) {
            bool on = answer_line(talk, text);
            forget(talk, line);
            if (!on)
                return 2;
            continue;
        }
        if (talk->used == SERVE_LINE || (got = read_some(talk)) < 0)
            return 2;
        if (got == 0)
            return talk->used ? 2 : 0;
        talk->used += (size_t) got;
    }
    return 0;
}

int serve(const Device *device, int in, int out, int shared_fd)
{
    Talk *talk = calloc(1, sizeof *talk);
    Server *server;
    struct stat about;
    int status;

    if (!talk || fstat(shared_fd, &about) || about.st_size <= 0 ||
        fcntl(in, F_SETFL, fcntl(in, F_GETFL) | O_NONBLOCK) < 0) {
        free(talk);
        return 2;
    }
    *talk = (Talk){ .server = { .device = device }, .in = in, .out = out };
    server = &talk->server;
    server->shared_bytes = (size_t) about.st_size;
    server->shared =
        mmap(NULL, server->shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, shared_fd, 0);
    status = server->shared == MAP_FAILED ? 2 : converse(talk);
    command_drop_sets(server);
    if (server->shared != MAP_FAILED)
        munmap(server->shared, server->shared_bytes);
    free(talk);
    return status;
}
