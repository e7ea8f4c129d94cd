/* reader.c - reads all submissions of a class from a folder or archive.
 *
 * A first pass over the names (survey.c) finds out how the class is packed. Then
 * each file from the folder (gradebook/import/folder.c) or archive (gradebook/import/archive.c) is
 * added to the submission of its owner, whom the name at the top of its path identifies (lms.c). An
 * archive found there is a separate submission, unpacked in memory; an archive inside an archive is
 * not opened. A folder may also hold several exports, which are read one after the other.
 */
#include "gradebook/import/reader.h"
#include "gradebook/import/lms.h"
#include "gradebook/import/source.h"
#include "gradebook/import/survey.h"
#include "base/util.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { METADATA_BYTES = 64 << 20 };

typedef struct Reader {
    Class *class;
    char wrapper[SUBMISSION_PATH]; /* "export/", the prefix of all paths, or "" */
    char *metadata;                /* Gradescope's metadata, or NULL */
    const char *export;            /* its name, among several; or "" */
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

    if (path_is_archive(path) || path_foreign_archive(path))
        REMARK(submission, "refused", path, "an archive inside an archive is not opened");
    submission_file(submission, path, file->bytes, file->size, file->hash, file->changed);
}

static void inner_refuse(void *context, const char *path, const char *sentence)
{
    Submission *submission = context;

    REMARK(submission, "refused", path, "%s; skipped", sentence);
}

static void open_archive(Submission *submission, const char *path, const VisitedFile *file)
{
    const Visitor visitor = { submission, inner_wants, inner_file, inner_refuse };
    char entry[SUBMISSION_PATH], why[300];

    if (path_foreign_archive(path))
        submission_refuse(submission, "", "%s archives cannot be read: ask the student for a .zip",
                          path_foreign_archive(path));
    else if (!file->bytes)
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

    return (path_is_archive(place->inside) || path_foreign_archive(place->inside)) &&
           (!slash || !strchr(slash + 1, '/'));
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
    PUT(submission->export, "%s", reader->export);
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
        return path_foreign_archive(place.inside) ? 0 : ARCHIVE_BYTES;
    return path_is_wanted(path) && !place.owner.is_text ? KERNEL_BYTES : 0;
}

static bool has_no_owner(const Place *place, bool archive)
{
    return !place->is_folder && !archive && !strcmp(place->owner.layout, "plain");
}

static void add_file(Submission *submission, const Place *place, const VisitedFile *file)
{
    int before = submission->count;

    submission_file(submission, place->inside, file->bytes, file->size, file->hash, file->changed);
    if (submission->count > before)
        submission->files[before].order = place->owner.order;
}

/* A submission is as late as its archive or its latest kernel, not as the notes next to it. */
static void take_time(Submission *submission, const char *path, bool archive, int64_t changed)
{
    bool dates = archive || path_is_wanted(path);

    if (submission->dated && !dates)
        return;
    if ((dates && !submission->dated) || changed > submission->sent)
        submission->sent = changed;
    submission->dated |= dates;
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
    take_time(submission, path, archive, file->changed);
    if (place.owner.order > submission->order)
        submission->order = place.owner.order;
    if (place.owner.is_text)
        REMARK(submission, "note", place.inside, "text typed into the learning system; not used");
    else if (archive && !submission->refused)
        open_archive(submission, path, file);
    else if (!archive)
        add_file(submission, &place, file);
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

/* ---- The whole class ---- */

static bool read_one(const char *path, bool is_folder, const char *export, Class *class,
                     char *problem, size_t size)
{
    Reader reader = { .class = class, .export = export };
    const Visitor visitor = { &reader, reader_wants, reader_file, reader_refuse };
    char entry[SUBMISSION_PATH], why[400];
    bool read;

    if (!survey_wrapper(path, is_folder, reader.wrapper, why, sizeof why)) {
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
    return read;
}

/* Names the export after its file, and each submission after both. */
static bool read_export(const char *folder, const char *name, Class *class, char *problem,
                        size_t size)
{
    char path[4096], export[SUBMISSION_PATH], source[sizeof class->list[0]->source];
    Class one = { 0 };
    struct stat about;
    bool is_folder;
    Owner owner;

    PUT(path, "%s/%s", folder, name);
    is_folder = !stat(path, &about) && S_ISDIR(about.st_mode);
    lms_owner(name, is_folder, &owner); /* without .zip */
    show_apart(owner.student, export, sizeof export);
    if (!read_one(path, is_folder, export, &one, problem, size)) {
        class_free(&one);
        return false;
    }
    for (int i = 0; i < one.count; i++) {
        PUT(source, "%s/%s", export, one.list[i]->source);
        show(PUT(one.list[i]->source, "%s", source));
    }
    class_move(class, &one);
    return true;
}

bool reader_read(const char *path, Class *class, char *problem, size_t size)
{
    struct dirent **exports = NULL;
    struct stat about;
    bool is_folder, read = true;
    int count = 0;

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
    if (is_folder)
        count = survey_exports(path, &exports);
    if (!count)
        read = read_one(path, is_folder, "", class, problem, size);
    for (int i = 0; i < count; i++) {
        read = read && read_export(path, exports[i]->d_name, class, problem, size);
        free(exports[i]);
    }
    if (count)
        free(exports);
    if (read && !class->count) {
        put(problem, size,
            "%s holds no submissions: give one folder or archive per student, or an export of "
            "Moodle, Canvas or Gradescope",
            path);
        read = false;
    }
    return read;
}
