/* result.c - the result of one attempt, as a file from a task to the gradebook.
 *
 * The file has header lines, an empty line, the grading's standard output and standard error (their
 * lengths are in the header), and finally "end" and a newline.
 */
#include "gradebook/slurm/result.h"
#include "base/number.h"
#include "gradebook/import/submission.h"
#include "base/util.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FORMAT = 1, RESULT_BYTES = 8 << 20, HEAD_BYTES = 4096 };

/* ---- Writing ---- */

/* One line of it. */
static char *line_of(const char *text, char *line, size_t size)
{
    put(line, size, "%s", text);
    return show(line);
}

bool result_write(const char *path, const Result *result)
{
    const Program *program = &result->program;
    char device[64], trouble[160], *text = NULL;
    size_t bytes = 0;
    FILE *all = text_open(&text, &bytes);
    bool written;

    fprintf(all, "format:%d\ndevice:%s\nbegan:%lld\nseconds:%.3f\nstatus:%d\nlate:%d\n", FORMAT,
            line_of(result->device, device, sizeof device), (long long) result->began,
            result->seconds, program->status, program->late);
    fprintf(all, "trouble:%s\nprinted:%llu\nout:%zu\nerrors:%zu\n\n",
            line_of(program->trouble, trouble, sizeof trouble), program->out.bytes,
            program->out.used, program->errors.used);
    fwrite(program->out.text ? program->out.text : "", 1, program->out.used, all);
    fwrite(program->errors.text ? program->errors.text : "", 1, program->errors.used, all);
    fputs("end\n", all);
    text_close(all);
    written = write_file(path, text, bytes);
    free(text);
    return written;
}

/* ---- Reading ---- */

static Program over(void)
{
    return (Program){ .out.fd = -1,
                      .errors.fd = -1,
                      .out.text = xcalloc(1, 1), /* program_free needs it */
                      .errors.text = xcalloc(1, 1) };
}

void result_lost(Result *result, const char *device, const char *why)
{
    *result = (Result){ .began = time(NULL), .program = over() };
    PUT(result->device, "%s", device);
    PUT(result->program.trouble, "%s", why);
    show(result->program.trouble);
}

/* The value of "key:" in the header; "" if missing. */
static char *value_of(const char *head, const char *key, char *value, size_t size)
{
    size_t length = strlen(key);

    *value = 0;
    for (const char *line = head; line; line = strchr(line, '\n'), line += line != NULL)
        if (!strncmp(line, key, length) && line[length] == ':')
            return put(value, size, "%.*s", (int) strcspn(line + length + 1, "\n"),
                       line + length + 1);
    return value;
}

static bool number_of(const char *head, const char *key, double least, double most, double *value)
{
    char text[40];

    return parse_number(value_of(head, key, text, sizeof text), least, most, value);
}

/* Takes `used` bytes from *at on. */
static Printed printed_of(const char **at, size_t used, double all)
{
    Printed printed = { .fd = -1, .text = xcalloc(1, used + 1), .used = used, .size = used };

    memcpy(printed.text, *at, used);
    printed.bytes = (unsigned long long) all;
    *at += used;
    return printed;
}

static bool take(const char *text, size_t size, Result *result)
{
    const char *body = strstr(text, "\n\n");
    double format, began, seconds, status, late, printed, out, errors;
    char head[HEAD_BYTES];

    if (!body || (size_t) (body - text) + 1 >= sizeof head)
        return false;
    PUT(head, "%.*s\n", (int) (body - text), text);
    body += 2;
    if (!number_of(head, "format", FORMAT, FORMAT, &format) ||
        !number_of(head, "began", 0, 1e11, &began) ||
        !number_of(head, "seconds", 0, 1e9, &seconds) ||
        !number_of(head, "status", 0, 1 << 20, &status) || !number_of(head, "late", 0, 1, &late) ||
        !number_of(head, "out", 0, RESULT_BYTES, &out) ||
        !number_of(head, "printed", out, 1e18, &printed) ||
        !number_of(head, "errors", 0, RESULT_BYTES, &errors) ||
        (size_t) out + (size_t) errors + 4 != size - (size_t) (body - text) ||
        memcmp(text + size - 4, "end\n", 4))
        return false;
    *result = (Result){ .began = (int64_t) began, .seconds = seconds };
    show(value_of(head, "device", result->device, sizeof result->device));
    show(value_of(head, "trouble", result->program.trouble, sizeof result->program.trouble));
    result->program.status = (int) status;
    result->program.late = late != 0;
    result->program.until_s = seconds; /* from began_s, 0: the exceeded time limit */
    result->program.out = printed_of(&body, (size_t) out, printed);
    result->program.errors = printed_of(&body, (size_t) errors, errors);
    return true;
}

bool result_read(const char *path, Result *result)
{
    size_t size = 0;
    char *text = read_file(path, RESULT_BYTES, &size);

    if (!text && (errno == ENOENT || errno == ESTALE))
        return false;
    if (!text || !take(text, size, result))
        result_lost(result, "", "handed in a result that cannot be read");
    free(text);
    return true;
}
