/* attempt.c - records a finished attempt as database rows and a log.
 *
 * A verdict of warpbook about a kernel is final. If warpbook could not judge (`unsound`), died,
 * exceeded the time limit or printed invalid output, that is a machine error, and the kernel gets
 * another attempt.
 */
#include "gradebook/store/attempt.h"
#include "base/number.h"
#include "gradebook/import/submission.h"
#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

/* ---- The outcome ---- */

static void fault(Ended *ended, const char *outcome, const char *why)
{
    ended->outcome = outcome;
    PUT(ended->why, "%s", why);
    show(ended->why);
}

/* How the program ended, and its last message. */
static void last_words(const Program *program, char *text, size_t size)
{
    const char *said = program->errors.text ? program->errors.text : "";
    size_t length = strlen(said), begin;

    while (length && said[length - 1] == '\n')
        length--;
    for (begin = length; begin && said[begin - 1] != '\n'; begin--)
        ;
    program_say_end(program, text, size);
    if (length > begin)
        append(text, size, "; last message: %.*s", (int) (length - begin), said + begin);
}

void ended_of(const Program *program, const char *lab, Ended *ended)
{
    const char *text = program->out.text ? program->out.text : "";
    char why[300], said[900];
    bool whole, unsound;

    *ended = (Ended){ .outcome = "graded", .seconds = now_s() - program->began_s };
    ended->began = time(NULL) - (int64_t) ended->seconds;
    whole = parsed_take(text, lab, &ended->reading, why, sizeof why);
    unsound = whole && !strcmp(parsed_get(&ended->reading, "verdict"), "unsound");
    last_words(program, said, sizeof said);
    if (program->late)
        fault(ended, "late", said);
    else if (program->trouble[0] || WIFSIGNALED(program->status) ||
             (!whole && WEXITSTATUS(program->status) != 0))
        fault(ended, "died", said);
    else if (program->out.bytes > program->out.size || !whole)
        fault(ended, "garbled", whole ? "its result is incomplete" : why);
    else if (unsound)
        fault(ended, "unsound", parsed_get(&ended->reading, "why"));
    else if (WEXITSTATUS(program->status) != 0)
        fault(ended, "garbled", said);
}

void ended_free(Ended *ended)
{
    parsed_free(&ended->reading);
}

bool ended_graded(const Ended *ended)
{
    return !strcmp(ended->outcome, "graded");
}

/* ---- Recording it ---- */

/* All of the output, for people: logs/06_transpose/17.1.txt */
static void write_log(Store *store, const Task *task, const Program *program, const Ended *ended,
                      char *log, size_t size)
{
    const char *out = program->out.text ? program->out.text : "";
    const char *errors = program->errors.text ? program->errors.text : "";
    char folder[600], path[700], *text = NULL;
    size_t bytes = 0;
    FILE *all = text_open(&text, &bytes);

    fprintf(all, "outcome: %s\nwhy: %s\n---- result ----\n%s---- said ----\n%s", ended->outcome,
            ended->why, out, errors);
    text_close(all);
    put(log, size, "logs/%s/%lld.%d.txt", all_labs[task->lab].folder, (long long) task->kernel,
        task->number);
    PUT(folder, "%s/logs/%s", store->folder, all_labs[task->lab].folder);
    PUT(path, "%s/%s", store->folder, log);
    if (!make_folders(folder) || !write_file(path, text, bytes))
        die("cannot write %s: %m. Make room, and give the same command again; results so far are "
            "kept",
            path);
    free(text);
}

static void add_verdict(Store *store, int64_t attempt, const ParsedResult *reading)
{
    /* As the columns of `verdicts` after marks and ratio. */
    static const char *const keys[] = { "why",        "note",      "flag",   "device",
                                        "uuid",       "simulated", "driver", "nvcc",
                                        "version",    "protocol",  "seed",   "lab_hash",
                                        "source_hash" };
    sqlite3_stmt *row = store_ask(
        store, "INSERT INTO verdicts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        "it", attempt, parsed_get(reading, "verdict"));
    const char *marks = parsed_get(reading, "marks"), *ratio = parsed_get(reading, "ratio");

    if (*marks)
        sqlite3_bind_double(row, 3, number_or_zero(marks));
    if (*ratio)
        sqlite3_bind_double(row, 4, number_or_zero(ratio));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        sqlite3_bind_text(row, (int) i + 5, parsed_get(reading, keys[i]), -1, SQLITE_TRANSIENT);
    while (store_row(store, row))
        ;
    for (int i = 0; i < reading->count; i++) {
        const Pair *pair = &reading->pairs[i];
        bool kept = !pair->of_lab || !strcmp(pair->key, "lab") || !strcmp(pair->key, "end") ||
                    !strcmp(pair->key, "verdict") || !strcmp(pair->key, "marks") ||
                    !strcmp(pair->key, "ratio");
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            kept |= !strcmp(pair->key, keys[k]);
        if (!kept)
            store_do(store, "INSERT INTO figures (attempt, name, value) VALUES (?, ?, ?)", "itt",
                     attempt, pair->key, pair->value);
    }
}

void take_over(Store *store, const Task *task, const char *device, const Program *program,
               const Ended *ended)
{
    time_t began = (time_t) ended->began;
    char at[32], log[200];

    write_log(store, task, program, ended, log, sizeof log);
    strftime(at, sizeof at, "%Y-%m-%dT%H:%M:%SZ", gmtime(&began));
    store_do(store, "BEGIN IMMEDIATE", "");
    store_do(store,
             "INSERT INTO attempts (kernel, number, device, began, seconds, outcome, why, log,"
             "  terms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8,"
             "  coalesce(?9, (SELECT c.text FROM current_terms c JOIN kernels k ON k.lab = c.lab"
             "   WHERE k.id = ?1), ''))",
             "iittdtttt", task->kernel, (int64_t) task->number, device, at, ended->seconds,
             ended->outcome, ended->why, log, ended->terms);
    if (ended_graded(ended))
        add_verdict(store, store_last(store), &ended->reading);
    store_do(store, "COMMIT", "");
}
