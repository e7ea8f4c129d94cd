/* serialize.c - a class as bytes, to send it from one process to another.
 *
 * A number takes 8 bytes; a text is its length followed by its bytes. In a list, a 1 precedes each
 * element and a 0 marks the end. Constant words (layouts, kinds of remarks) are sent as indices
 * into a table.
 */
#include "gradebook/import/serialize.h"
#include "base/util.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char *const constants[] = { "moodle",  "canvas", "gradescope", "plain", "refused",
                                         "changed", "extra",  "ambiguous",  "note",  "matched" };
enum { CONSTANTS = sizeof constants / sizeof *constants, MOST_HANDINS = 200000 };
static const char magic[] = "gradebook parcel 3";

/* ---- Writing ---- */

static void put_number(FILE *to, uint64_t number)
{
    fwrite(&number, sizeof number, 1, to);
}

static void put_text(FILE *to, const char *text, size_t size)
{
    put_number(to, size);
    fwrite(text, 1, size, to);
}

static void put_string(FILE *to, const char *text)
{
    put_text(to, text, strlen(text));
}

static void put_constant(FILE *to, const char *text)
{
    uint64_t place = 0;

    while (place < CONSTANTS && strcmp(constants[place], text))
        place++;
    put_number(to, place);
}

static void put_remarks(FILE *to, const Remark *remarks, int count)
{
    for (int i = 0; i < count && i < SUBMISSION_REMARKS; i++) {
        put_number(to, 1);
        put_constant(to, remarks[i].kind);
        put_string(to, remarks[i].entry);
        put_string(to, remarks[i].sentence);
    }
    put_number(to, 0);
    put_number(to, (uint64_t) count);
}

static void put_files(FILE *to, const Submission *submission)
{
    for (int i = 0; i < submission->count; i++) {
        const SubmittedFile *file = &submission->files[i];
        put_number(to, 1);
        put_string(to, file->path);
        put_number(to, file->bytes);
        put_number(to, file->hash);
        put_number(to, (uint64_t) file->changed);
        put_number(to, (uint64_t) file->order);
        put_number(to, file->text != NULL);
        if (file->text)
            put_text(to, file->text, file->bytes);
    }
    put_number(to, 0);
}

bool serialize(const Class *class, FILE *to)
{
    put_string(to, magic);
    for (int i = 0; i < class->count; i++) {
        const Submission *submission = class->list[i];
        put_number(to, 1);
        put_string(to, submission->student);
        put_string(to, submission->number);
        put_string(to, submission->email);
        put_string(to, submission->source);
        put_string(to, submission->export);
        put_constant(to, submission->layout);
        put_number(to, submission->late);
        put_number(to, (uint64_t) submission->sent);
        put_number(to, submission->timed);
        put_number(to, (uint64_t) submission->order);
        put_number(to, submission->refused);
        put_files(to, submission);
        put_remarks(to, submission->remarks, submission->remark_count);
    }
    put_number(to, 0);
    put_remarks(to, class->remarks, class->remark_count);
    put_string(to, magic);
    return !fflush(to) && !ferror(to);
}

/* ---- Reading ---- */

static bool get_number(FILE *from, uint64_t most, uint64_t *number)
{
    return fread(number, sizeof *number, 1, from) == 1 && *number <= most;
}

/* The caller frees the text; NULL if it is missing or longer than `most` bytes. */
static char *get_text(FILE *from, size_t most, size_t *size)
{
    uint64_t length;
    char *text;

    if (!get_number(from, most, &length))
        return NULL;
    text = xcalloc(1, (size_t) length + 1);
    if (fread(text, 1, (size_t) length, from) != length) {
        free(text);
        return NULL;
    }
    if (size)
        *size = (size_t) length;
    return text;
}

static bool get_string(FILE *from, char *to, size_t size)
{
    char *text = get_text(from, size - 1, NULL);

    if (text)
        put(to, size, "%s", show(text));
    free(text);
    return text;
}

static bool get_constant(FILE *from, const char **constant)
{
    uint64_t place;

    if (!get_number(from, CONSTANTS - 1, &place))
        return false;
    *constant = constants[place];
    return true;
}

static bool get_remarks(FILE *from, Remark *remarks, int *count)
{
    uint64_t more, all;
    const char *kind;
    char entry[SUBMISSION_PATH * 2], sentence[1000];

    while (get_number(from, 1, &more) && more) {
        if (!get_constant(from, &kind) || !get_string(from, entry, sizeof entry) ||
            !get_string(from, sentence, sizeof sentence))
            return false;
        remark(remarks, count, kind, entry, "%s", sentence);
    }
    if (more || !get_number(from, INT32_MAX, &all))
        return false;
    if ((int) all > *count)
        *count = *count < SUBMISSION_REMARKS ? *count : (int) all;
    return true;
}

/* The path is cleaned again, since the sender is not trusted. */
static bool get_file(FILE *from, Submission *submission)
{
    char path[SUBMISSION_PATH], clean[SUBMISSION_PATH];
    uint64_t bytes, hash, changed, order, kept;
    char *text = NULL;
    size_t size = 0;

    if (!get_string(from, path, sizeof path) || path_clean(path, clean) ||
        !get_number(from, SUBMISSION_BYTES, &bytes) || !get_number(from, UINT64_MAX, &hash) ||
        !get_number(from, UINT64_MAX, &changed) || !get_number(from, UINT64_MAX, &order) ||
        !get_number(from, 1, &kept))
        return false;
    if (kept && (!(text = get_text(from, KERNEL_BYTES, &size)) || size != bytes)) {
        free(text);
        return false;
    }
    submission_file(submission, clean, text, (size_t) bytes, hash, (int64_t) changed);
    if (submission->count)
        submission->files[submission->count - 1].order = (int64_t) order;
    free(text);
    return true;
}

static bool get_files(FILE *from, Submission *submission)
{
    uint64_t more;

    while (get_number(from, 1, &more) && more)
        if (!get_file(from, submission))
            return false;
    return !more;
}

static bool get_submission(FILE *from, Class *class)
{
    uint64_t late, sent, timed, order, refused;
    Submission *submission = class_add(class);

    submission->layout = "plain";
    if (!get_string(from, submission->student, sizeof submission->student) ||
        !get_string(from, submission->number, sizeof submission->number) ||
        !get_string(from, submission->email, sizeof submission->email) ||
        !get_string(from, submission->source, sizeof submission->source) ||
        !get_string(from, submission->export, sizeof submission->export) ||
        !get_constant(from, &submission->layout) || !get_number(from, 1, &late) ||
        !get_number(from, UINT64_MAX, &sent) || !get_number(from, 1, &timed) ||
        !get_number(from, UINT64_MAX, &order) || !get_number(from, 1, &refused) ||
        !get_files(from, submission) ||
        !get_remarks(from, submission->remarks, &submission->remark_count))
        return false;
    submission->late = late;
    submission->sent = (int64_t) sent;
    submission->timed = timed;
    submission->order = (int64_t) order;
    submission->refused |= refused != 0;
    return true;
}

static bool get_magic(FILE *from)
{
    char text[sizeof magic];

    return get_string(from, text, sizeof text) && !strcmp(text, magic);
}

bool deserialize(FILE *from, Class *class)
{
    uint64_t more = 1;

    *class = (Class){ 0 };
    if (!get_magic(from))
        return false;
    while (get_number(from, 1, &more) && more)
        if (class->count == MOST_HANDINS || !get_submission(from, class))
            return false;
    return !more && get_remarks(from, class->remarks, &class->remark_count) && get_magic(from);
}
