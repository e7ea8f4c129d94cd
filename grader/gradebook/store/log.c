/* log.c - logs/LAB/KERNEL.ATTEMPT.txt: all of an attempt, for people, for Slurm and for rebuild.
 *
 * A log holds header lines up to `why:`, then warpbook's standard output and standard error, whose
 * lengths the header states. A Slurm task returns its results in this form. Next to the logs of a
 * kernel lies its source, KERNEL.cu, so that logs/ alone tells which kernel got which result
 * (rebuild.c). No log is ever overwritten.
 */
#include "gradebook/store/log.h"
#include "gradebook/import/submission.h"
#include "base/number.h"
#include "base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LOG_BYTES = 8 << 20, HEAD_BYTES = 8192 };

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

/* ---- Writing ---- */

/* The folder of a lab's logs, created if missing. */
static char *lab_folder(const Store *store, const char *lab, char folder[1000])
{
    char logs[600];

    PUT(logs, "%s/logs", store->folder);
    put(folder, 1000, "%s/%s", store->logs ? store->logs : logs, lab);
    /* A folder given by --logs must exist, so that a task of an older array cannot create it again.
     */
    if (store->logs ? mkdir(folder, 0700) && errno != EEXIST : !make_folders(folder))
        cannot_write(folder);
    return folder;
}

/* Sets the log's path and its name in the database. `copy` is 0, or distinguishes logs of the same
 * number. */
static void log_path(const Store *store, const Task *task, int copy, char log[200], char path[1200])
{
    const char *lab = all_labs[task->lab].folder;
    char folder[1000], name[100];

    PUT(name, "%lld.%d", (long long) task->kernel, task->number);
    if (copy)
        APPEND(name, "-%d", copy + 1);
    put(log, 200, "logs/%s/%s.txt", lab, name);
    put(path, 1200, "%s/%s.txt", lab_folder(store, lab, folder), name);
}

/* Terms have several lines, but a header line is one. */
static void write_terms(FILE *to, const char *terms)
{
    fputs("terms: ", to);
    for (; *terms; terms++)
        fputs((char[2]){ *terms == '\n' ? '|' : *terms, 0 }, to);
    fputc('\n', to);
}

static char *log_text(const Attempt *attempt, size_t *bytes)
{
    char *text = NULL;
    FILE *all = text_open(&text, bytes);

    fprintf(all, "outcome: %s\nhost: %s\ndevice: %s\nbegan: %lld\nseconds: %.3f\n",
            attempt->outcome, attempt->host, attempt->device, (long long) attempt->began,
            attempt->seconds);
    if (attempt->terms)
        write_terms(all, attempt->terms);
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

    log_path(store, task, 0, log, path);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EEXIST)
        return false;
    attempt_place(&attempt, device);
    text = log_text(&attempt, &bytes);
    written = fd >= 0 && write(fd, text, bytes) == (ssize_t) bytes;
    if (fd < 0 || close(fd) || !written)
        cannot_write(path);
    free(text);
    return true;
}

/* True if the file is the log of a result, or of something else that must be kept. */
static bool is_taken(const char *path)
{
    char outcome[20], *text;
    bool begun;

    if (!file_exists(path))
        return false;
    text = read_file(path, LOG_BYTES, NULL);
    begun = text && !strcmp(value_of(text, "outcome", outcome, sizeof outcome), "begun");
    free(text);
    return !begun;
}

void log_write(Store *store, const Task *task, const Attempt *attempt, char log[200])
{
    char path[1200], *text;
    size_t bytes = 0;
    int copy = 0;

    /* A file is there if gradebook was killed before it recorded the attempt, or if the database
     * was restored from a backup. */
    do
        log_path(store, task, copy, log, path);
    while (is_taken(path) && ++copy);
    text = log_text(attempt, &bytes);
    if (!write_file(path, text, bytes))
        cannot_write(path);
    free(text);
    if (!store->logs)
        log_source(store, task->kernel, all_labs[task->lab].folder);
}

void log_source(Store *store, int64_t kernel, const char *lab)
{
    char folder[1000], path[1200];
    sqlite3_stmt *row;

    PUT(path, "%s/%lld.cu", lab_folder(store, lab, folder), (long long) kernel);
    if (file_exists(path))
        return;
    row = store_ask(store, "SELECT source FROM kernels WHERE id = ?", "i", kernel);
    while (store_row(store, row))
        if (!write_file(path, sqlite3_column_blob(row, 0), (size_t) sqlite3_column_bytes(row, 0)))
            cannot_write(path);
}

void log_sources(Store *store)
{
    sqlite3_stmt *rows = store_ask(store,
                                   "SELECT id, lab FROM kernels WHERE id IN"
                                   " (SELECT kernel FROM attempts)",
                                   "");

    while (store_row(store, rows))
        log_source(store, sqlite3_column_int64(rows, 0), store_text(rows, 1));
}

/* ---- Reading ---- */

static const char *const outcomes[] = { "graded", "unsound", "died", "late", "garbled", "noisy" };

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

/* Logs of earlier versions of gradebook have no terms. */
static void take_terms(const char *head, Attempt *attempt)
{
    attempt->terms = value_of(head, "terms", attempt->own_terms, sizeof attempt->own_terms);
    for (char *at = attempt->own_terms; (at = strchr(at, '|'));)
        *at = '\n';
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
    take_terms(head, attempt);
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
