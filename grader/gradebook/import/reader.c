/* reader.c - reads all submissions of a class from a folder or archive.
 *
 * A first pass over the names finds out whether an export wraps everything in one more folder. Then
 * each file from the folder (gradebook/import/folder.c) or archive (gradebook/import/archive.c) is
 * added to the submission of its owner, whom the name at the top of its path identifies (lms.c). An
 * archive found there is a separate submission, unpacked in memory; an archive inside an archive is
 * not opened.
 */
#include "gradebook/import/reader.h"
#include "gradebook/import/lms.h"
#include "gradebook/import/source.h"
#include "base/registry.h"
#include "base/util.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { METADATA_BYTES = 64 << 20 };
static const char metadata_name[] = "submission_metadata.yml";

typedef struct Reader {
    Class *class;
    char wrapper[SUBMISSION_PATH]; /* "export/", the prefix of all paths, or "" */
    char *metadata;                /* Gradescope's metadata, or NULL */
} Reader;

/* ---- A student's archive ---- */

static size_t inner_wants(void *context, const char *path)
{
    (void) context;
    return path_is_wanted(path) ? KERNEL_BYTES : 0;
}

static void inner_file(void *context, const char *path, const VisitedFile *file)
{
    Submission *submission = context;

    if (path_is_archive(path))
        REMARK(submission, "refused", path, "an archive inside an archive is not opened");
    submission_file(submission, path, file->bytes, file->size, file->hash, file->changed);
}

static void inner_refuse(void *context, const char *path, const char *sentence)
{
    Submission *submission = context;

    REMARK(submission, "refused", path, "%s; skipped", sentence);
}

static void open_archive(Submission *submission, const VisitedFile *file)
{
    const Visitor visitor = { submission, inner_wants, inner_file, inner_refuse };
    char entry[SUBMISSION_PATH], why[300];

    if (!file->bytes)
        submission_refuse(submission, "", "the archive is larger than %d MiB", ARCHIVE_BYTES >> 20);
    else if (!archive_memory(file->bytes, file->size, &archive_student, &visitor, entry, why,
                             sizeof why))
        submission_refuse(submission, entry, "%s", why);
}

/* ---- The owner ---- */

/* A parsed path: the owner, the submission and the path inside it. */
typedef struct Place {
    Owner owner;
    bool is_folder;       /* the file is in the owner's folder */
    const char *inside;   /* its path in that folder, or the name that the owner gave it */
    const char *stripped; /* its path without the wrapper */
} Place;

static void locate(const Reader *reader, const char *path, Place *place)
{
    char top[SUBMISSION_PATH];
    size_t wrapped = strlen(reader->wrapper), length;

    if (wrapped && !strncmp(path, reader->wrapper, wrapped))
        path += wrapped;
    length = strcspn(path, "/");
    PUT(top, "%.*s", (int) length, path);
    place->stripped = path;
    place->is_folder = path[length] == '/';
    lms_owner(top, place->is_folder, &place->owner);
    place->inside =
        place->is_folder ? path + length + 1 : path + length - strlen(place->owner.file);
    if (!place->is_folder && !strcmp(place->owner.layout, "plain"))
        place->inside = path;
}

/* Only archives near the top are submissions; deeper ones are ordinary files. */
static bool is_handed_archive(const Place *place)
{
    const char *slash = strchr(place->inside, '/');

    return path_is_archive(place->inside) && (!slash || !strchr(slash + 1, '/'));
}

static bool is_metadata(const Place *place)
{
    return !place->is_folder && !strcmp(place->stripped, metadata_name);
}

/* The number of submissions of the same student, including this one. */
static int submissions_of_student(const Class *class, const Submission *submission)
{
    int count = 0;

    for (int i = 0; i < class->count; i++)
        count += !strcmp(class->list[i]->student, submission->student) &&
                 !strcmp(class->list[i]->number, submission->number);
    return count;
}

/* Each archive is one submission; all loose files of a student together form another. */
static Submission *submission_at(Reader *reader, const Place *place, bool archive)
{
    char source[600];
    Submission *submission;

    if (archive)
        PUT(source, "%s", place->stripped);
    else if (place->is_folder)
        PUT(source, "%.*s", (int) strcspn(place->stripped, "/"), place->stripped);
    else
        PUT(source, "%s_%s", place->owner.student, place->owner.number);
    submission =
        class_submission(reader->class, show(source)); /* truncation may split a character */
    if (submission->layout)
        return submission;
    PUT(submission->student, "%s", place->owner.student);
    PUT(submission->number, "%s", place->owner.number);
    show(submission->student);
    submission->layout = place->owner.layout;
    if (submissions_of_student(reader->class, submission) > SUBMISSIONS_PER_STUDENT)
        submission_refuse(submission, "", "skipped: this student already has %d submissions",
                          SUBMISSIONS_PER_STUDENT);
    return submission;
}

/* ---- Each file ---- */

static size_t reader_wants(void *context, const char *path)
{
    Place place;

    locate(context, path, &place);
    if (is_metadata(&place))
        return METADATA_BYTES;
    if (is_handed_archive(&place))
        return ARCHIVE_BYTES;
    return path_is_wanted(path) ? KERNEL_BYTES : 0;
}

static bool has_no_owner(const Place *place, bool archive)
{
    return !place->is_folder && !archive && !strcmp(place->owner.layout, "plain");
}

static void reader_file(void *context, const char *path, const VisitedFile *file)
{
    Reader *reader = context;
    bool archive;
    Submission *submission;
    Place place;

    locate(reader, path, &place);
    archive = is_handed_archive(&place);
    if (is_metadata(&place)) {
        free(reader->metadata);
        reader->metadata = file->bytes ? xstrndup(file->bytes, file->size) : NULL;
        if (!reader->metadata)
            REMARK(reader->class, "refused", path,
                   "it is larger than %d MiB and was not read: students have the names of their "
                   "folders",
                   METADATA_BYTES >> 20);
        return;
    }
    if (has_no_owner(&place, archive)) {
        REMARK(reader->class, "extra", path, "skipped: it is not in a student's folder");
        return;
    }
    submission = submission_at(reader, &place, archive);
    submission->late |= place.owner.late;
    if (file->changed > submission->sent)
        submission->sent = file->changed;
    if (place.owner.order > submission->order)
        submission->order = place.owner.order;
    if (archive && !submission->refused)
        open_archive(submission, file);
    else if (!archive)
        submission_file(submission, place.inside, file->bytes, file->size, file->hash,
                        file->changed);
}

static void reader_refuse(void *context, const char *path, const char *sentence)
{
    Reader *reader = context;
    Place place;

    locate(reader, path, &place);
    if (has_no_owner(&place, path_is_archive(path)))
        REMARK(reader->class, "refused", path, "%s; skipped", sentence);
    else
        REMARK(submission_at(reader, &place, is_handed_archive(&place)), "refused", place.inside,
               "%s; skipped", sentence);
}

/* ---- First pass over the names ---- */

/* The kinds of names at the top, and in the only folder at the top. */
typedef struct Survey {
    char top[SUBMISSION_PATH], second[SUBMISSION_PATH];
    int tops, seconds; /* 0, 1, or 2 for more */
    bool top_folder;
    bool top_own, second_own; /* found only in a student's own folder */
    bool second_lms, second_loose;
} Survey;

/* True for a name that belongs inside a student's folder. */
static bool is_own(const char *name)
{
    static const char *const names[] = { "labs",      "common",   "grader",
                                         "solutions", "tests",    "docs",
                                         "slides",    "Makefile", "predictions.txt",
                                         "kernel.cu" };

    for (const LabEntry *entry = all_labs; entry->folder; entry++)
        if (!strcmp(name, entry->folder))
            return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

static void count_name(char *first, int *count, const char *name)
{
    if (*count && !strcmp(first, name))
        return;
    if (!*count)
        put(first, SUBMISSION_PATH, "%s", name);
    *count = *count ? 2 : 1;
}

static bool look_at(void *context, const char *path, bool is_folder)
{
    Survey *survey = context;
    char top[SUBMISSION_PATH], second[SUBMISSION_PATH];
    size_t length = strcspn(path, "/");
    const char *rest = path[length] ? path + length + 1 : "";

    PUT(top, "%.*s", (int) length, path);
    PUT(second, "%.*s", (int) strcspn(rest, "/"), rest);
    count_name(survey->top, &survey->tops, top);
    survey->top_folder |= is_folder || *rest;
    survey->top_own |= is_own(top);
    if (!*second)
        return !survey->top_own;
    is_folder |= strchr(rest, '/') != NULL;
    count_name(survey->second, &survey->seconds, second);
    survey->second_own |= is_own(second);
    survey->second_lms |= lms_knows(second, is_folder) || !strcmp(second, metadata_name);
    survey->second_loose |= !is_folder && !path_is_archive(second);
    return !survey->top_own;
}

/* Visits the names in a folder and in its subfolders. */
static bool folder_names(const char *path, NameVisitor *seen, void *context, const char *above)
{
    DIR *folder = opendir(path);
    struct dirent *item;
    bool on = true;

    while (on && folder && (item = readdir(folder))) {
        char inside[4096], name[SUBMISSION_PATH], clean[SUBMISSION_PATH];
        struct stat about;
        if (!strcmp(item->d_name, ".") || !strcmp(item->d_name, ".."))
            continue;
        PUT(inside, "%s/%s", path, item->d_name);
        PUT(name, "%s%s", above, item->d_name);
        if (path_clean(name, clean) || path_is_junk(clean) || lstat(inside, &about))
            continue;
        on = seen(context, clean, S_ISDIR(about.st_mode));
        if (on && S_ISDIR(about.st_mode) && !*above) {
            APPEND(clean, "/");
            on = folder_names(inside, seen, context, clean);
        }
    }
    if (folder)
        closedir(folder);
    return on;
}

/* True if one folder wraps all students. */
static bool is_wrapped(const Survey *survey)
{
    if (survey->tops != 1 || !survey->top_folder || survey->second_own ||
        lms_knows(survey->top, true))
        return false;
    return survey->second_lms || (survey->seconds > 1 && !survey->second_loose);
}

static bool survey_names(const char *path, bool is_folder, Reader *reader, char *problem,
                         size_t size)
{
    Survey survey = { 0 };
    char why[300];

    if (is_folder)
        folder_names(path, look_at, &survey, "");
    else if (!archive_names(path, look_at, &survey, why, sizeof why)) {
        put(problem, size, "%s cannot be read: %s", path, why);
        return false;
    }
    if (survey.top_own) {
        put(problem, size,
            "%s looks like one student's folder (it contains %s): give the folder that contains "
            "all students' folders",
            path, survey.tops == 1 ? survey.top : "labs or files of the workbook");
        return false;
    }
    if (is_wrapped(&survey))
        PUT(reader->wrapper, "%s/", survey.top);
    return true;
}

/* ---- The whole class ---- */

bool reader_read(const char *path, Class *class, char *problem, size_t size)
{
    Reader reader = { .class = class };
    const Visitor visitor = { &reader, reader_wants, reader_file, reader_refuse };
    char entry[SUBMISSION_PATH], why[400];
    struct stat about;
    bool is_folder, read;

    *class = (Class){ 0 };
    if (stat(path, &about)) {
        put(problem, size, "%s: %s", path, strerror(errno));
        return false;
    }
    is_folder = S_ISDIR(about.st_mode);
    if (!is_folder && !path_is_archive(path)) {
        put(problem, size, "%s is neither a folder nor an archive (.zip, .tar, .tar.gz, ...)",
            path);
        return false;
    }
    if (!survey_names(path, is_folder, &reader, why, sizeof why)) {
        put(problem, size, "%s", why);
        return false;
    }
    read = is_folder ? walk(path, &visitor, why, sizeof why)
                     : archive_file(path, &archive_class, &visitor, entry, why, sizeof why);
    if (!read)
        put(problem, size, "%s cannot be read: %s", path, why);
    else if (reader.metadata)
        lms_gradescope(class, reader.metadata);
    free(reader.metadata);
    if (read && !class->count) {
        put(problem, size,
            "%s holds no submissions: give one folder or archive per student, or an export of "
            "Moodle, Canvas or Gradescope",
            path);
        read = false;
    }
    return read;
}
