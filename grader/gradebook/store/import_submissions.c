/* import_submissions.c - stores students, submissions and kernels as database rows.
 *
 * Identical kernels share one row and are graded once. They are found by a hash and then compared
 * byte by byte, since a hash can be forged. A weaker comparison would not be safe: code that
 * ignores comments, for example, may parse a source differently from the compiler, and then one
 * student's text would decide another student's marks.
 */
#include "gradebook/store/import_submissions.h"
#include "gradebook/store/import_losses.h"
#include "gradebook/import/lab_names.h"
#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int by_export_student_and_time(const void *a, const void *b)
{
    const Submission *x = *(Submission *const *) a, *y = *(Submission *const *) b;
    int order = strcmp(x->export, y->export);

    if (!order)
        order = strcmp(x->student, y->student);
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

/* A student without a number whose e-mail address differs from that of an earlier student of the
 * same name is another student: the address becomes the number. */
static const char *number_of(Store *store, const Submission *submission)
{
    if (*submission->number || !*submission->email)
        return submission->number;
    return store_number(store, 0,
                        "SELECT count(*) > 0 AND max(a.email = ?2 COLLATE NOCASE) = 0 FROM students"
                        " st JOIN addresses a ON a.student = st.id WHERE st.name = ?1 AND"
                        " st.number = ''",
                        "tt", submission->student, submission->email)
               ? submission->email
               : "";
}

static int64_t student_row(Store *store, const Submission *submission)
{
    const char *number = number_of(store, submission);
    int64_t student;

    store_do(store, "INSERT OR IGNORE INTO students (name, number) VALUES (?, ?)", "tt",
             submission->student, number);
    student = store_number(store, 0, "SELECT id FROM students WHERE name = ? AND number = ?", "tt",
                           submission->student, number);
    if (*submission->email)
        store_do(store, "INSERT OR IGNORE INTO addresses (student, email) VALUES (?, ?)", "it",
                 student, submission->email);
    return student;
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

static int64_t import_row(Store *store, const char *source, const char *assignment)
{
    char at[32];
    time_t now = time(NULL);

    strftime(at, sizeof at, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    store_do(store, "INSERT INTO imports (at, source, assignment) VALUES (?, ?, ?)", "ttt", at,
             source, assignment);
    return store_last(store);
}

/* One export: the submissions `from` to `to` - 1 of the class. */
typedef struct Export {
    const char *assignment;
    int from, to;
    bool from_system; /* a learning system wrote it */
    int named;        /* the lab that its name says; -1: none */
    int64_t import;
    bool has[LABS]; /* the labs of which it has kernels */
} Export;

static void add_submissions(Store *store, Class *class, const ImportRequest *request,
                            Export *export, ImportCounts *counts)
{
    int only = request->labs_named ? only_lab(request->requested) : export->named;

    for (int i = export->from; i < export->to; i++) {
        Submission *submission = class->list[i];
        Extracted found;
        int64_t id;
        extract_files(submission, request->manifest, only, &found);
        id = submission_row(store, submission, &found, counts);
        counts->refused += submission->refused;
        for (int lab = 0; lab < LABS; lab++)
            export->has[lab] |= found.kernel[lab] != NULL;
        store_do(store, "INSERT OR IGNORE INTO seen (import, submission, place) VALUES (?, ?, ?)",
                 "iii", export->import, id, (int64_t) i);
    }
}

/* Without --labs, an import counts for the labs of which it has a kernel. Otherwise one latecomer's
 * folder would put all labs into the course, and everybody's total would fall. Without any kernel,
 * it counts for all. */
static bool counts_for(const ImportRequest *request, const Export *export, int lab)
{
    bool has_any = false;

    for (int i = 0; i < LABS; i++)
        has_any |= export->has[i];
    return request->requested[lab] && (request->labs_named || export->has[lab] || !has_any);
}

static void note_labs(const ImportRequest *request, const Export *export, FILE *notes)
{
    bool all = true;
    int count = 0;

    for (int lab = 0; lab < LABS && all_labs[lab].folder; lab++)
        all &= counts_for(request, export, lab);
    for (int lab = 0; !all && lab < LABS && all_labs[lab].folder; lab++)
        if (counts_for(request, export, lab))
            fprintf(notes, "%s%s", count++ ? ", " : "Counts for the labs that it contains: ",
                    all_labs[lab].folder);
    if (count)
        fputs(". To count others as missing: --labs.\n", notes);
}

/* The labs for which an import counts. */
static void add_labs(Store *store, const ImportRequest *request, const Export *export, FILE *notes)
{
    const bool one = !request->labs_named && export->named >= 0 && export->has[export->named] &&
                     (*export->assignment || export->from_system);

    for (int lab = 0; lab < LABS && all_labs[lab].folder; lab++)
        if (one ? lab == export->named : counts_for(request, export, lab))
            store_do(store, "INSERT INTO asked (import, lab) VALUES (?, ?)", "it", export->import,
                     all_labs[lab].folder);
    if (one)
        fprintf(notes, "%s: counts for %s only, as its name says (to choose others: --labs).\n",
                *export->assignment ? export->assignment : request->source,
                all_labs[export->named].folder);
    else if (!request->labs_named && export->named >= 0 && export->has[export->named])
        fprintf(notes, "%s: a file kernel.cu counts for %s, as the name says.\n", request->source,
                all_labs[export->named].folder);
    if (!one && !request->labs_named)
        note_labs(request, export, notes);
}

/* --labs may name another lab than the export does: most likely the wrong file was chosen. */
static bool is_contradicted(const ImportRequest *request, const Export *export)
{
    int only = request->labs_named ? only_lab(request->requested) : -1;

    return only >= 0 && export->named >= 0 && export->named != only && export->from_system;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static void add_export(Store *store, Class *class, const ImportRequest *request, int from, int to,
                       ImportCounts *counts, FILE *notes)
{
    Export export = { .assignment = *request->assignment ? request->assignment
                                    : to > from          ? class->list[from]->export
                                                         : "",
                      .from = from,
                      .to = to,
                      .from_system = to > from && strcmp(class->list[from]->layout, "plain") };

    export.named = lab_in_text(*export.assignment ? export.assignment : base_name(request->source));
    export.import = import_row(store, request->source, export.assignment);
    add_submissions(store, class, request, &export, counts);
    if (is_contradicted(request, &export) && !counts->contradiction)
        counts->contradiction = all_labs[export.named].folder;
    add_labs(store, request, &export, notes);
    if (to == class->count)
        add_remarks(store, 0, export.import, class->remarks, class->remark_count);
}

/* Each export of a class is an import. */
static void add_exports(Store *store, Class *class, const ImportRequest *request,
                        ImportCounts *counts)
{
    FILE *notes = text_open(&counts->notes, &(size_t){ 0 });
    int from = 0;

    do {
        int to = from;
        while (to < class->count && !strcmp(class->list[from]->export, class->list[to]->export))
            to++;
        add_export(store, class, request, from, to, counts, notes);
        from = to;
    } while (from < class->count);
    text_close(notes);
}

bool import_submissions(Store *store, Class *class, const ImportRequest *request,
                        ImportCounts *counts)
{
    int64_t before;

    *counts = (ImportCounts){ .submissions = class->count };
    if (class->count)
        qsort(class->list, (size_t) class->count, sizeof *class->list, by_export_student_and_time);
    store_do(store, "BEGIN IMMEDIATE", "");
    losses_begin(store);
    before = store_number(store, 0, "SELECT max(id) FROM imports", "");
    add_exports(store, class, request, counts);
    counts->losses = losses_since(store);
    if ((counts->losses || counts->contradiction) && !request->replace) {
        store_do(store, "ROLLBACK", "");
        return false;
    }
    counts->students = (int) store_number(
        store, 0,
        "SELECT count(DISTINCT o.person) FROM seen JOIN submissions s ON s.id = seen.submission"
        " JOIN temp.person_of o ON o.student = s.student WHERE seen.import > ?",
        "i", before);
    counts->kernels =
        (int) store_number(store, 0, "SELECT count(DISTINCT kernel) FROM temp.handed_in", "");
    store_do(store, "COMMIT", "");
    return true;
}
