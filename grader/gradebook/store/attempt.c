/* attempt.c - an attempt at grading a kernel: its outcome, its log, its database rows.
 *
 * A verdict that warpbook gives a kernel is final. If warpbook could not judge (`unsound`), died,
 * exceeded the time limit or printed invalid output, that is a machine error, and the kernel gets
 * another attempt.
 *
 * A log, such as logs/06_transpose/17.1.txt, is written for people; a Slurm task also returns its
 * results in this form. It holds header lines up to `why:`, then warpbook's standard output and
 * standard error, whose lengths the header states.
 */
#include "gradebook/store/attempt.h"
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

enum { LOG_BYTES = 8 << 20, HEAD_BYTES = 4096 };

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

static void set_place(Attempt *attempt, const char *device)
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
    set_place(attempt, device);
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

/* ---- Writing its log ---- */

/* Sets the log's path and its name in the database, and creates its folder. */
static void log_path(Store *store, const Task *task, char log[200], char path[1200])
{
    const char *lab = all_labs[task->lab].folder;
    char logs[600], folder[1000];

    PUT(logs, "%s/logs", store->folder);
    PUT(folder, "%s/%s", store->logs ? store->logs : logs, lab);
    put(log, 200, "logs/%s/%lld.%d.txt", lab, (long long) task->kernel, task->number);
    put(path, 1200, "%s/%lld.%d.txt", folder, (long long) task->kernel, task->number);
    /* A folder given by --logs must exist, so that a task of an older array cannot create it again.
     */
    if (store->logs ? mkdir(folder, 0700) && errno != EEXIST : !make_folders(folder))
        cannot_write(path);
}

static char *log_text(const Attempt *attempt, size_t *bytes)
{
    char *text = NULL;
    FILE *all = text_open(&text, bytes);

    fprintf(all, "outcome: %s\nhost: %s\ndevice: %s\nbegan: %lld\nseconds: %.3f\n",
            attempt->outcome, attempt->host, attempt->device, (long long) attempt->began,
            attempt->seconds);
    fprintf(all, "stdout_bytes: %zu\nstderr_bytes: %zu\nwhy: %s\n", strlen(attempt->out),
            strlen(attempt->errors), attempt->why);
    fprintf(all, "---- stdout ----\n%s---- stderr ----\n%s", attempt->out, attempt->errors);
    text_close(all);
    return text;
}

bool attempt_begin(Store *store, const Task *task, const char *device)
{
    Attempt attempt = { .outcome = "begun", .began = time(NULL), .out = "", .errors = "" };
    char log[200], path[1200], *text;
    size_t bytes = 0;
    bool written;
    int fd;

    log_path(store, task, log, path);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EEXIST)
        return false;
    set_place(&attempt, device);
    text = log_text(&attempt, &bytes);
    written = fd >= 0 && write(fd, text, bytes) == (ssize_t) bytes;
    if (fd < 0 || close(fd) || !written)
        cannot_write(path);
    free(text);
    return true;
}

static void write_log(Store *store, const Task *task, const Attempt *attempt, char log[200])
{
    char path[1200], *text;
    size_t bytes = 0;

    log_path(store, task, log, path);
    text = log_text(attempt, &bytes);
    if (!write_file(path, text, bytes))
        cannot_write(path);
    free(text);
}

/* ---- Reading a log ---- */

static const char *const outcomes[] = { "graded", "unsound", "died", "late", "garbled", "noisy" };

/* The value of "key: " in the header; "" if missing. */
static char *value_of(const char *head, const char *key, char *value, size_t size)
{
    size_t length = strlen(key);

    *value = 0;
    for (const char *line = head; line; line = strchr(line, '\n'), line += line != NULL)
        if (!strncmp(line, key, length) && !strncmp(line + length, ": ", 2))
            return show(put(value, size, "%.*s", (int) strcspn(line + length + 2, "\n"),
                            line + length + 2));
    return value;
}

static bool number_of(const char *head, const char *key, double most, double *value)
{
    char text[40];

    return parse_number(value_of(head, key, text, sizeof text), 0, most, value);
}

/* Skips `mark` at *at; returns false if it is not there. */
static bool skip(char **at, const char *end, const char *mark)
{
    size_t length = strlen(mark);

    if ((size_t) (end - *at) < length || memcmp(*at, mark, length))
        return false;
    *at += length;
    return true;
}

/* Splits the text into the header and the two outputs, each terminated by a 0. */
static bool split_log(char *text, size_t size, Attempt *attempt, char head[HEAD_BYTES])
{
    static const char out_mark[] = "---- stdout ----\n", errors_mark[] = "---- stderr ----\n";
    char *at = strstr(text, out_mark), *end = text + size, *out;
    double out_bytes, errors_bytes;

    if (strlen(text) != size || !at || at - text >= HEAD_BYTES)
        return false;
    put(head, HEAD_BYTES, "%.*s", (int) (at - text), text);
    at += strlen(out_mark);
    if (!number_of(head, "stdout_bytes", LOG_BYTES, &out_bytes) ||
        !number_of(head, "stderr_bytes", LOG_BYTES, &errors_bytes) ||
        out_bytes > (double) (end - at))
        return false;
    out = at;
    at += (size_t) out_bytes;
    if (!skip(&at, end, errors_mark) || (size_t) (end - at) != (size_t) errors_bytes)
        return false;
    out[(size_t) out_bytes] = 0;
    attempt->out = out;
    attempt->errors = at;
    return true;
}

static bool take_head(const char *head, Attempt *attempt)
{
    char word[20];
    double began;

    value_of(head, "outcome", word, sizeof word);
    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++)
        if (!strcmp(word, outcomes[i]))
            attempt->outcome = outcomes[i];
    value_of(head, "host", attempt->host, sizeof attempt->host);
    value_of(head, "device", attempt->device, sizeof attempt->device);
    value_of(head, "why", attempt->why, sizeof attempt->why);
    if (!attempt->outcome || !number_of(head, "began", 1e11, &began) ||
        !number_of(head, "seconds", 1e9, &attempt->seconds))
        return false;
    attempt->began = (int64_t) began;
    return true;
}

bool attempt_read_log(const char *path, const char *lab, Attempt *attempt)
{
    char head[HEAD_BYTES], why[300];
    size_t size = 0;
    bool whole;

    *attempt = (Attempt){ .text = read_file(path, LOG_BYTES, &size) };
    if (attempt->text && split_log(attempt->text, size, attempt, head) &&
        take_head(head, attempt)) {
        whole = parsed_read(attempt->out, lab, &attempt->result, why, sizeof why) &&
                strcmp(parsed_get(&attempt->result, "verdict"), "unsound");
        if (whole || !attempt_graded(attempt))
            return true;
    }
    attempt_free(attempt);
    return false;
}

char *attempt_log_host(const char *path, char *host, size_t size)
{
    char *text = read_file(path, LOG_BYTES, NULL);

    value_of(text ? text : "", "host", host, size);
    free(text);
    return host;
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

void attempt_record(Store *store, const Task *task, const Attempt *attempt)
{
    time_t began = (time_t) attempt->began;
    char at[32], log[200];

    write_log(store, task, attempt, log);
    strftime(at, sizeof at, "%Y-%m-%dT%H:%M:%SZ", gmtime(&began));
    store_do(store, "BEGIN IMMEDIATE", "");
    store_do(store,
             "INSERT INTO attempts (kernel, number, device, began, seconds, outcome, why, log,"
             "  terms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8,"
             "  coalesce(?9, (SELECT c.text FROM current_terms c JOIN kernels k ON k.lab = c.lab"
             "   WHERE k.id = ?1), ''))",
             "iittdtttt", task->kernel, (int64_t) task->number, attempt->device, at,
             attempt->seconds, attempt->outcome, attempt->why, log, attempt->terms);
    if (attempt_graded(attempt))
        add_verdict(store, store_last(store), &attempt->result);
    store_do(store, "COMMIT", "");
}
