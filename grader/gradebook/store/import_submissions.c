/* import_submissions.c - stores students, submissions and kernels as database rows.
 *
 * Identical kernels share one row and are graded once. They are found by a hash and then compared
 * byte by byte, since a hash can be forged. A weaker comparison would not be safe: code that
 * ignores comments, for example, may parse a source differently from the compiler, and then one
 * student's text would decide another student's marks.
 */
#include "gradebook/store/import_submissions.h"
#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int by_student_and_time(const void *a, const void *b)
{
    const Submission *x = *(Submission *const *) a, *y = *(Submission *const *) b;
    int order = strcmp(x->student, y->student);

    if (!order)
        order = strcmp(x->number, y->number);
    if (!order)
        order = (x->sent > y->sent) - (x->sent < y->sent);
    if (!order)
        order = (x->order > y->order) - (x->order < y->order);
    return order ? order : strverscmp(x->source, y->source);
}

/* ---- Kernels ---- */

static int64_t kernel_row(Store *store, const char *lab, const SubmittedFile *file)
{
    int64_t hash = (int64_t) hash_bytes(HASH_START, file->text, file->bytes), found = 0;
    sqlite3_stmt *same =
        store_ask(store, "SELECT id, source FROM kernels WHERE lab = ? AND hash = ? ORDER BY id",
                  "ti", lab, hash);

    while (store_row(store, same)) {
        size_t bytes = (size_t) sqlite3_column_bytes(same, 1);
        if (!found && bytes == file->bytes &&
            (!bytes || !memcmp(sqlite3_column_blob(same, 1), file->text, bytes)))
            found = sqlite3_column_int64(same, 0);
    }
    if (found)
        return found;
    store_do(store, "INSERT INTO kernels (lab, hash, source) VALUES (?, ?, ?)", "tib", lab, hash,
             file->text, file->bytes);
    return store_last(store);
}

/* ---- Submissions ---- */

static int64_t student_row(Store *store, const Submission *submission)
{
    store_do(store, "INSERT OR IGNORE INTO students (name, number) VALUES (?, ?)", "tt",
             submission->student, submission->number);
    return store_number(store, 0, "SELECT id FROM students WHERE name = ? AND number = ?", "tt",
                        submission->student, submission->number);
}

/* Identifies the content. The digest covers the ids of kernels that were compared byte by byte, so
 * a forged digest gains nothing. */
static void digest_of(const Submission *submission, const Extracted *found,
                      const int64_t kernels[LABS], char *text, size_t size)
{
    uint64_t hash = HASH_START;

    for (int i = 0; i < submission->count; i++) {
        const SubmittedFile *file = &submission->files[i];
        hash = hash_bytes(hash, file->path, strlen(file->path) + 1);
        hash = hash_bytes(hash, &file->bytes, sizeof file->bytes);
        hash = hash_bytes(hash, &file->hash, sizeof file->hash);
    }
    for (int i = 0; i < submission->remark_count && i < SUBMISSION_REMARKS; i++)
        hash = hash_bytes(hash, submission->remarks[i].entry,
                          strlen(submission->remarks[i].entry) + 1);
    put(text, size, "%016llx", (unsigned long long) hash);
    for (int lab = 0; lab < LABS; lab++)
        if (found->kernel[lab])
            append(text, size, " %d:%lld", lab, (long long) kernels[lab]);
}

static void add_remarks(Store *store, int64_t submission, int64_t import, const Remark *remarks,
                        int count)
{
    for (int i = 0; i < count && i < SUBMISSION_REMARKS; i++)
        store_do(store,
                 submission ? "INSERT INTO remarks (submission, kind, entry, sentence)"
                              " VALUES (?, ?, ?, ?)"
                            : "INSERT INTO remarks (import, kind, entry, sentence)"
                              " VALUES (?, ?, ?, ?)",
                 "ittt", submission ? submission : import, remarks[i].kind, remarks[i].entry,
                 remarks[i].sentence);
    if (count > SUBMISSION_REMARKS)
        store_do(store,
                 submission ? "INSERT INTO remarks (submission, kind, entry, sentence)"
                              " VALUES (?, 'note', '', 'more was found than is listed')"
                            : "INSERT INTO remarks (import, kind, entry, sentence)"
                              " VALUES (?, 'note', '', 'more was found than is listed')",
                 "i", submission ? submission : import);
}

static void add_parts(Store *store, int64_t submission, const Extracted *found,
                      const int64_t kernels[LABS])
{
    for (int lab = 0; lab < LABS && all_labs[lab].folder; lab++) {
        const SubmittedFile *guess = found->predictions[lab], *quiz = found->quiz[lab];
        if (!found->kernel[lab])
            continue;
        store_do(store,
                 "INSERT INTO parts (submission, lab, kernel, path, predictions, changed, quiz)"
                 " VALUES (?, ?, ?, ?, ?, ?, ?)",
                 "ititbib", submission, all_labs[lab].folder, kernels[lab],
                 found->kernel[lab]->path, guess ? guess->text : NULL,
                 guess ? guess->bytes : (size_t) 0, found->kernel[lab]->changed,
                 quiz ? quiz->text : NULL, quiz && quiz->text ? quiz->bytes : (size_t) 0);
    }
}

static int64_t submission_row(Store *store, Submission *submission, const Extracted *found,
                              ImportCounts *counts)
{
    char digest[40 + LABS * 24];
    int64_t student = student_row(store, submission), kernels[LABS] = { 0 }, id;

    for (int lab = 0; lab < LABS && all_labs[lab].folder; lab++)
        if (found->kernel[lab]) {
            kernels[lab] = kernel_row(store, all_labs[lab].folder, found->kernel[lab]);
            counts->parts++;
        }
    digest_of(submission, found, kernels, digest, sizeof digest);
    id = store_number(store, 0,
                      "SELECT id FROM submissions WHERE student = ? AND source = ? AND digest = ?",
                      "itt", student, submission->source, digest);
    if (id)
        return id;
    store_do(store,
             "INSERT INTO submissions (student, source, layout, late, sent, refused, digest,"
             "  timed) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
             "ittiiiti", student, submission->source, submission->layout,
             (int64_t) submission->late, submission->sent, (int64_t) submission->refused, digest,
             (int64_t) submission->timed);
    id = store_last(store);
    add_parts(store, id, found, kernels);
    add_remarks(store, id, 0, submission->remarks, submission->remark_count);
    return id;
}

/* ---- The whole import ---- */

/* The index of the only requested lab; -1 if several are requested. */
static int only_lab(const bool requested[LABS])
{
    int only = -1;

    for (int lab = 0; lab < LABS && all_labs[lab].folder; lab++)
        if (requested[lab]) {
            if (only >= 0)
                return -1;
            only = lab;
        }
    return only;
}

static int64_t import_row(Store *store, const char *source, const bool requested[LABS])
{
    char at[32];
    time_t now = time(NULL);
    int64_t import;

    strftime(at, sizeof at, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    store_do(store, "INSERT INTO imports (at, source) VALUES (?, ?)", "tt", at, source);
    import = store_last(store);
    for (int lab = 0; lab < LABS && all_labs[lab].folder; lab++)
        if (requested[lab])
            store_do(store, "INSERT INTO asked (import, lab) VALUES (?, ?)", "it", import,
                     all_labs[lab].folder);
    return import;
}

void import_submissions(Store *store, Class *class, const char *source, const bool requested[LABS],
                        const Manifest *manifest, ImportCounts *counts)
{
    int only = only_lab(requested);
    int64_t import;

    *counts = (ImportCounts){ .submissions = class->count };
    if (class->count)
        qsort(class->list, (size_t) class->count, sizeof *class->list, by_student_and_time);
    store_do(store, "BEGIN IMMEDIATE", "");
    import = import_row(store, source, requested);
    for (int i = 0; i < class->count; i++) {
        Submission *submission = class->list[i];
        Extracted found;
        int64_t id;
        extract_files(submission, manifest, only, &found);
        id = submission_row(store, submission, &found, counts);
        counts->refused += submission->refused;
        store_do(store, "INSERT OR IGNORE INTO seen (import, submission, place) VALUES (?, ?, ?)",
                 "iii", import, id, (int64_t) i);
    }
    add_remarks(store, 0, import, class->remarks, class->remark_count);
    counts->students = (int) store_number(
        store, 0,
        "SELECT count(DISTINCT s.student) FROM seen JOIN submissions s ON s.id = seen.submission"
        " WHERE seen.import = ?",
        "i", import);
    counts->kernels =
        (int) store_number(store, 0, "SELECT count(DISTINCT kernel) FROM counted", "");
    store_do(store, "COMMIT", "");
}
