/* client.c - runs sbatch, squeue and sacct, with limits on their time and output. */
#include "gradebook/slurm/client.h"
#include "gradebook/run/sandbox.h"
#include "gradebook/import/submission.h"
#include "base/process.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

enum { ANSWER_S = 60, PRINTED_BYTES = 4 << 20 };

/* sbatch passes its own limits on to the tasks, so it runs without a limit on file sizes. */
static const size_t file_bytes = (size_t) -1;

/* ---- Running a program ---- */

/* The first line of the program's standard error. */
static void error_of(const Program *program, const char *name, char *error, size_t size)
{
    const char *errors = program->errors.text;
    char end[200];

    if (errors && program->errors.used)
        put(error, size, "%.*s", (int) strcspn(errors, "\n"), errors);
    else
        put(error, size, "%s %s", name, (program_say_end(program, end, sizeof end), end));
    show(error);
}

/* Runs a command to completion. Returns true on success; its output is then in
 * program->out.text. */
static bool run(Words *command, Program *program, char *error, size_t size)
{
    bool ok =
        program_start(program, command->word, NULL, NULL, ANSWER_S, PRINTED_BYTES, file_bytes);

    while (ok && !program_over(program))
        program_wait((Program *const[]){ program }, 1, 1);
    ok = ok && !program->late && program->status == 0;
    if (!ok)
        error_of(program, command->word[0], error, size);
    words_free(command);
    return ok;
}

static Words words_of(const char *const list[])
{
    Words words = { 0 };

    for (; *list; list++)
        words_add(&words, *list);
    return words;
}

/* ---- Submitting ---- */

/* "123" or "123;cluster" */
static bool take_job(const char *text, char *job, size_t size)
{
    size_t digits = strspn(text, "0123456789");

    if (!digits || digits >= size || (text[digits] && !strchr(";\n", text[digits])))
        return false;
    put(job, size, "%.*s", (int) digits, text);
    return true;
}

bool slurm_submit(const char *const options[], const char *script, char *job, size_t job_size,
                  char *error, size_t size)
{
    Words command = words_of((const char *const[]){ "sbatch", "--parsable", NULL });
    Program program;
    bool ok;

    for (; *options; options++)
        words_add(&command, *options);
    words_add(&command, script);
    ok = run(&command, &program, error, size);
    if (ok && !take_job(program.out.text, job, job_size)) {
        put(error, size, "sbatch printed no job number: %.100s", show(program.out.text));
        ok = false;
    }
    program_free(&program);
    return ok;
}

/* Distinguishes, by squeue's error, a job that it does not know from a missing answer. */
static Reply unknown(const char *error)
{
    return strstr(error, "Invalid job id") ? REPLY_UNKNOWN : REPLY_NONE;
}

Reply slurm_find(const char *name, char *job, size_t job_size, char *error, size_t size)
{
    Words command = words_of((const char *const[]){ "squeue", "--noheader", "--me", "--states=all",
                                                    "--name", name, "--format=%F", NULL });
    Program program;
    Reply reply = REPLY_KNOWN;

    if (!run(&command, &program, error, size))
        reply = REPLY_NONE;
    else if (!take_job(program.out.text, job, job_size))
        reply = REPLY_UNKNOWN;
    program_free(&program);
    return reply;
}

/* ---- Task states ---- */

/* Slurm's final states. */
static const char *const ended[] = { "BOOT_FAIL", "CANCELLED",     "COMPLETED",     "DEADLINE",
                                     "FAILED",    "NODE_FAIL",     "LAUNCH_FAILED", "OUT_OF_MEMORY",
                                     "PREEMPTED", "RECONFIG_FAIL", "REVOKED",       "TIMEOUT" };

static bool is_live(const char *state)
{
    for (size_t i = 0; i < sizeof ended / sizeof *ended; i++)
        if (!strcmp(state, ended[i]))
            return false;
    return *state != 0;
}

/* Copies the text up to the next '|', made printable; returns NULL at the end of the line. */
static const char *part(const char *at, char *text, size_t size)
{
    size_t length = at ? strcspn(at, "|\n") : 0;

    put(text, size, "%.*s", (int) length, at ? at : "");
    show(text);
    return at && at[length] == '|' ? at + length + 1 : NULL;
}

bool slurm_parse_line(const char *line, const char *job, TaskState *states, int count)
{
    size_t length = strlen(job);
    char word[64];
    char *end;
    long task;
    TaskState *state;

    while (*line == ' ')
        line++;
    if (strncmp(line, job, length) || line[length] != '_')
        return false;
    task = strtol(line + length + 1, &end, 10);
    if (end == line + length + 1 || *end != '|' || task < 0 || task >= count)
        return false;
    state = &states[task];
    line = part(end + 1, word, sizeof word);
    word[strcspn(word, " +")] = 0; /* sacct: "CANCELLED by 1000" */
    line = part(line, state->node, sizeof state->node);
    part(line, state->reason, sizeof state->reason);
    PUT(state->state, "%s", word);
    if (!strncmp(state->node, "None", 4) || *state->node == '(')
        state->node[0] = 0;
    state->live = is_live(state->state);
    state->runs = !strcmp(state->state, "RUNNING") || !strcmp(state->state, "COMPLETING");
    return true;
}

static void parse_lines(const char *text, const char *job, TaskState *states, int count)
{
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
        slurm_parse_line(line, job, states, count);
}

Reply slurm_states(const char *job, TaskState *states, int count, char *error, size_t size)
{
    Words command =
        words_of((const char *const[]){ "squeue", "--noheader", "--array", "--states=all", "--jobs",
                                        job, "--format=%i|%T|%N|%r", NULL });
    Program program;
    Reply reply = REPLY_KNOWN;

    memset(states, 0, (size_t) count * sizeof *states);
    if (run(&command, &program, error, size))
        parse_lines(program.out.text, job, states, count);
    else
        reply = unknown(error);
    program_free(&program);
    return reply;
}

void slurm_recall(const char *job, TaskState *states, int count)
{
    Words command = words_of((const char *const[]){ "sacct", "--noheader", "--parsable2",
                                                    "--allocations", "--jobs", job,
                                                    "--format=JobID,State,NodeList,Reason", NULL });
    TaskState *recalled = xcalloc((size_t) count, sizeof *recalled);
    Program program;
    char error[300];

    if (run(&command, &program, error, sizeof error))
        parse_lines(program.out.text, job, recalled, count);
    for (int i = 0; i < count; i++)
        if (!states[i].state[0] && recalled[i].state[0] && !recalled[i].live)
            states[i] = recalled[i];
    program_free(&program);
    free(recalled);
}
