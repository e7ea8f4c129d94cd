/* client.c - Slurm's own programs: sbatch, squeue, sacct. Bounded in time and output. */
#include "gradebook/slurm/client.h"
#include "gradebook/run/sandbox.h"
#include "gradebook/import/submission.h"
#include "base/process.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

enum { ANSWER_S = 60, SAID_BYTES = 4 << 20 };

/* sbatch passes our limits on to the tasks, so file sizes are not limited. */
static const size_t file_bytes = (size_t) -1;

/* ---- Running one of them ---- */

/* The first line of its standard error. */
static void said_of(const Program *program, const char *name, char *said, size_t size)
{
    const char *errors = program->errors.text;
    char end[200];

    if (errors && program->errors.used)
        put(said, size, "%.*s", (int) strcspn(errors, "\n"), errors);
    else
        put(said, size, "%s %s", name, (program_say_end(program, end, sizeof end), end));
    show(said);
}

/* Runs it to completion. True on success; then its output is in program->out.text. */
static bool run(Words *command, Program *program, char *said, size_t size)
{
    bool fine = program_start(program, command->word, NULL, NULL, ANSWER_S, SAID_BYTES, file_bytes);

    while (fine && !program_over(program))
        program_wait((Program *const[]){ program }, 1, 1);
    fine = fine && !program->late && program->status == 0;
    if (!fine)
        said_of(program, command->word[0], said, size);
    words_free(command);
    return fine;
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
                  char *said, size_t size)
{
    Words command = words_of((const char *const[]){ "sbatch", "--parsable", NULL });
    Program program;
    bool fine;

    for (; *options; options++)
        words_add(&command, *options);
    words_add(&command, script);
    fine = run(&command, &program, said, size);
    if (fine && !take_job(program.out.text, job, job_size)) {
        put(said, size, "sbatch printed no job number: %.100s", show(program.out.text));
        fine = false;
    }
    program_free(&program);
    return fine;
}

/* squeue's answer for a number that it does not know (any more). */
static Asked unknown(const char *said)
{
    return strstr(said, "Invalid job id") ? ASKED_NONE : ASKED_MUTE;
}

Asked slurm_find(const char *name, char *job, size_t job_size, char *said, size_t size)
{
    Words command = words_of((const char *const[]){ "squeue", "--noheader", "--me", "--states=all",
                                                    "--name", name, "--format=%F", NULL });
    Program program;
    Asked asked = ASKED_KNOWS;

    if (!run(&command, &program, said, size))
        asked = ASKED_MUTE;
    else if (!take_job(program.out.text, job, job_size))
        asked = ASKED_NONE;
    program_free(&program);
    return asked;
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

/* Copies the next part up to a '|', printable; NULL at the end of the line. */
static const char *part(const char *at, char *text, size_t size)
{
    size_t length = at ? strcspn(at, "|\n") : 0;

    put(text, size, "%.*s", (int) length, at ? at : "");
    show(text);
    return at && at[length] == '|' ? at + length + 1 : NULL;
}

bool slurm_take_line(const char *line, const char *job, TaskState *fates, int count)
{
    size_t length = strlen(job);
    char state[64];
    char *end;
    long task;
    TaskState *fate;

    while (*line == ' ')
        line++;
    if (strncmp(line, job, length) || line[length] != '_')
        return false;
    task = strtol(line + length + 1, &end, 10);
    if (end == line + length + 1 || *end != '|' || task < 0 || task >= count)
        return false;
    fate = &fates[task];
    line = part(end + 1, state, sizeof state);
    state[strcspn(state, " +")] = 0; /* sacct: "CANCELLED by 1000" */
    line = part(line, fate->node, sizeof fate->node);
    part(line, fate->reason, sizeof fate->reason);
    PUT(fate->state, "%s", state);
    if (!strncmp(fate->node, "None", 4) || *fate->node == '(')
        fate->node[0] = 0;
    fate->live = is_live(fate->state);
    fate->runs = !strcmp(fate->state, "RUNNING") || !strcmp(fate->state, "COMPLETING");
    return true;
}

static void take_lines(const char *text, const char *job, TaskState *fates, int count)
{
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
        slurm_take_line(line, job, fates, count);
}

Asked slurm_fates(const char *job, TaskState *fates, int count, char *said, size_t size)
{
    Words command =
        words_of((const char *const[]){ "squeue", "--noheader", "--array", "--states=all", "--jobs",
                                        job, "--format=%i|%T|%N|%r", NULL });
    Program program;
    Asked asked = ASKED_KNOWS;

    memset(fates, 0, (size_t) count * sizeof *fates);
    if (run(&command, &program, said, size))
        take_lines(program.out.text, job, fates, count);
    else
        asked = unknown(said);
    program_free(&program);
    return asked;
}

void slurm_recall(const char *job, TaskState *fates, int count)
{
    Words command = words_of((const char *const[]){ "sacct", "--noheader", "--parsable2",
                                                    "--allocations", "--jobs", job,
                                                    "--format=JobID,State,NodeList,Reason", NULL });
    TaskState *recalled = xcalloc((size_t) count, sizeof *recalled);
    Program program;
    char said[300];

    if (run(&command, &program, said, sizeof said))
        take_lines(program.out.text, job, recalled, count);
    for (int i = 0; i < count; i++)
        if (!fates[i].state[0] && recalled[i].state[0] && !recalled[i].live)
            fates[i] = recalled[i];
    program_free(&program);
    free(recalled);
}
