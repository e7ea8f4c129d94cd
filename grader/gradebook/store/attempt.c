/* attempt.c - an attempt at grading a kernel: its outcome, its log, its database rows.
 *
 * A verdict that warpbook gives a kernel is final. If warpbook could not judge (`unsound`), died,
 * exceeded the time limit or printed invalid output, that is a machine error, and the kernel gets
 * another attempt.
 */
#include "gradebook/store/attempt.h"
#include "gradebook/store/log.h"
#include "gradebook/store/terms.h"
#include "gradebook/import/submission.h"
#include "base/number.h"
#include "base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- The outcome ---- */

static void set_error(Attempt *attempt, const char *outcome, const char *why)
{
    attempt->outcome = outcome;
    PUT(attempt->why, "%s", why);
    show(attempt->why);
}

/* How the program ended, and its last message. */
static void describe_end(const Program *program, char *text, size_t size)
{
    const char *errors = program->errors.text ? program->errors.text : "";
    size_t length = strlen(errors), begin;

    while (length && errors[length - 1] == '\n')
        length--;
    for (begin = length; begin && errors[begin - 1] != '\n'; begin--)
        ;
    program_say_end(program, text, size);
    if (length > begin)
        append(text, size, "; last message: %.*s", (int) (length - begin), errors + begin);
}

void attempt_place(Attempt *attempt, const char *device)
{
    PUT(attempt->device, "%s", device);
    if (gethostname(attempt->host, sizeof attempt->host - 1))
        PUT(attempt->host, "?");
}

void attempt_of(const Program *program, const char *lab, const char *device, Attempt *attempt)
{
    char why[300], end[900];
    bool whole, unsound;

    *attempt = (Attempt){ .outcome = "graded",
                          .seconds = now_s() - program->began_s,
                          .out = program->out.text ? program->out.text : "",
                          .errors = program->errors.text ? program->errors.text : "" };
    attempt_place(attempt, device);
    attempt->began = time(NULL) - (int64_t) attempt->seconds;
    whole = parsed_read(attempt->out, lab, &attempt->result, why, sizeof why);
    unsound = whole && !strcmp(parsed_get(&attempt->result, "verdict"), "unsound");
    describe_end(program, end, sizeof end);
    if (program->late)
        set_error(attempt, "late", end);
    else if (program->trouble[0] || WIFSIGNALED(program->status) ||
             (!whole && WEXITSTATUS(program->status) != 0))
        set_error(attempt, "died", end);
    else if (program->out.bytes > program->out.size || !whole)
        set_error(attempt, "garbled", whole ? "its result is incomplete" : why);
    else if (unsound)
        set_error(attempt, "unsound", parsed_get(&attempt->result, "why"));
    else if (WEXITSTATUS(program->status) != 0)
        set_error(attempt, "garbled", end);
}

void attempt_lost(Attempt *attempt, const char *device, const char *why)
{
    *attempt = (Attempt){ .began = time(NULL), .out = "", .errors = "" };
    PUT(attempt->device, "%s", device);
    set_error(attempt, "died", why);
}

void attempt_free(Attempt *attempt)
{
    parsed_free(&attempt->result);
    free(attempt->text);
    attempt->text = NULL;
}

bool attempt_graded(const Attempt *attempt)
{
    return !strcmp(attempt->outcome, "graded");
}

/* ---- Recording it ---- */

static void add_verdict(Store *store, int64_t attempt, const ParsedResult *result)
{
    /* In the order of the columns of `verdicts` after marks and ratio. */
    static const char *const keys[] = { "why",        "note",      "flag",   "device",
                                        "uuid",       "simulated", "driver", "nvcc",
                                        "version",    "protocol",  "seed",   "lab_hash",
                                        "source_hash" };
    sqlite3_stmt *row = store_ask(
        store, "INSERT INTO verdicts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        "it", attempt, parsed_get(result, "verdict"));
    const char *marks = parsed_get(result, "marks"), *ratio = parsed_get(result, "ratio");

    if (*marks)
        sqlite3_bind_double(row, 3, number_or_zero(marks));
    if (*ratio)
        sqlite3_bind_double(row, 4, number_or_zero(ratio));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        sqlite3_bind_text(row, (int) i + 5, parsed_get(result, keys[i]), -1, SQLITE_TRANSIENT);
    while (store_row(store, row))
        ;
    for (int i = 0; i < result->count; i++) {
        const Pair *pair = &result->pairs[i];
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

void attempt_add(Store *store, const Task *task, const Attempt *attempt, const char *log)
{
    time_t began = (time_t) attempt->began;
    char at[32];

    strftime(at, sizeof at, "%Y-%m-%dT%H:%M:%SZ", gmtime(&began));
    store_do(store,
             "INSERT INTO attempts (kernel, number, device, began, seconds, outcome, why, log,"
             "  terms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
             "iittdtttt", task->kernel, (int64_t) task->number, attempt->device, at,
             attempt->seconds, attempt->outcome, attempt->why, log, attempt->terms);
    if (attempt_graded(attempt))
        add_verdict(store, store_last(store), &attempt->result);
}

void attempt_record(Store *store, const Task *task, const Attempt *attempt)
{
    Attempt complete = *attempt;
    char log[200], *terms = NULL;

    if (!complete.terms)
        complete.terms = terms = terms_of(store, all_labs[task->lab].folder);
    log_write(store, task, &complete, log);
    store_do(store, "BEGIN IMMEDIATE", "");
    attempt_add(store, task, &complete, log);
    store_do(store, "COMMIT", "");
    free(terms);
}
