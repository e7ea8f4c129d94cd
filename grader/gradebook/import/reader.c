/* reader.c - reads all submissions of a class from a folder or archive.
 *
 * A first pass over the names finds out whether an export wraps everything in one more folder. Then
 * each file from the folder (gradebook/import/folder.c) or archive (gradebook/import/archive.c)
 * goes to its owner's submission, by its top name (lms.c). An archive found there is a separate
 * submission, unpacked in memory; an archive inside it is not opened.
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

typedef struct Intake {
    Class *class;
    char wrapper[HANDIN_PATH]; /* "export/", the prefix of all paths; or "" */
    char *metadata;            /* Gradescope's; or NULL */
} Intake;

/* ---- A student's archive ---- */

static size_t inner_wants(void *context, const char *path)
{
    (void) context;
    return path_is_wanted(path) ? HANDIN_KERNEL_BYTES : 0;
}

static void inner_file(void *context, const char *path, const SunkFile *file)
{
    Submission *handin = context;

    if (path_is_archive(path))
        REMARK(handin, "refused", path, "an archive inside an archive is not opened");
    submission_file(handin, path, file->bytes, file->size, file->hash, file->changed);
}

static void inner_refuse(void *context, const char *path, const char *sentence)
{
    Submission *handin = context;

    REMARK(handin, "refused", path, "%s: not taken", sentence);
}

static void open_archive(Submission *handin, const SunkFile *file)
{
    const Visitor sink = { handin, inner_wants, inner_file, inner_refuse };
    char entry[HANDIN_PATH], why[300];

    if (!file->bytes)
        submission_refuse(handin, "", "the archive is larger than %d MiB",
                          HANDIN_ARCHIVE_BYTES >> 20);
    else if (!archive_memory(file->bytes, file->size, &archive_student, &sink, entry, why,
                             sizeof why))
        submission_refuse(handin, entry, "%s", why);
}

/* ---- The owner ---- */

/* A parsed path: its owner, its submission and its path inside. */
typedef struct Place {
    Owner owner;
    bool is_folder;       /* it is in the owner's folder */
    const char *inside;   /* its path below that; or the name that the owner gave it */
    const char *stripped; /* its path without the wrapper */
} Place;

static void locate(const Intake *intake, const char *path, Place *place)
{
    char top[HANDIN_PATH];
    size_t wrapped = strlen(intake->wrapper), length;

    if (wrapped && !strncmp(path, intake->wrapper, wrapped))
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

/* The number of the same student's submissions, this one included. */
static int handins_of_student(const Class *class, const Submission *handin)
{
    int count = 0;

    for (int i = 0; i < class->count; i++)
        count += !strcmp(class->list[i]->student, handin->student) &&
                 !strcmp(class->list[i]->number, handin->number);
    return count;
}

/* Each archive is one submission; all loose files of a student are one together. */
static Submission *submission_at(Intake *intake, const Place *place, bool archive)
{
    char source[600];
    Submission *handin;

    if (archive)
        PUT(source, "%s", place->stripped);
    else if (place->is_folder)
        PUT(source, "%.*s", (int) strcspn(place->stripped, "/"), place->stripped);
    else
        PUT(source, "%s_%s", place->owner.student, place->owner.number);
    handin = class_handin(intake->class, show(source)); /* truncation may split a character */
    if (handin->layout)
        return handin;
    PUT(handin->student, "%s", place->owner.student);
    PUT(handin->number, "%s", place->owner.number);
    show(handin->student);
    handin->layout = place->owner.layout;
    if (handins_of_student(intake->class, handin) > HANDINS_PER_STUDENT)
        submission_refuse(handin, "", "this student already has %d submissions: not taken",
                          HANDINS_PER_STUDENT);
    return handin;
}

/* ---- Each file ---- */

static size_t reader_wants(void *context, const char *path)
{
    Place place;

    locate(context, path, &place);
    if (is_metadata(&place))
        return METADATA_BYTES;
    if (is_handed_archive(&place))
        return HANDIN_ARCHIVE_BYTES;
    return path_is_wanted(path) ? HANDIN_KERNEL_BYTES : 0;
}

static bool is_nobodys(const Place *place, bool archive)
{
    return !place->is_folder && !archive && !strcmp(place->owner.layout, "plain");
}

static void reader_file(void *context, const char *path, const SunkFile *file)
{
    Intake *intake = context;
    bool archive;
    Submission *handin;
    Place place;

    locate(intake, path, &place);
    archive = is_handed_archive(&place);
    if (is_metadata(&place)) {
        free(intake->metadata);
        intake->metadata = file->bytes ? xstrndup(file->bytes, file->size) : NULL;
        if (!intake->metadata)
            REMARK(intake->class, "refused", path,
                   "it is larger than %d MiB: the students keep the export's names",
                   METADATA_BYTES >> 20);
        return;
    }
    if (is_nobodys(&place, archive)) {
        REMARK(intake->class, "extra", path, "is not in a student's folder: not taken");
        return;
    }
    handin = submission_at(intake, &place, archive);
    handin->late |= place.owner.late;
    if (file->changed > handin->sent)
        handin->sent = file->changed;
    if (place.owner.order > handin->order)
        handin->order = place.owner.order;
    if (archive && !handin->refused)
        open_archive(handin, file);
    else if (!archive)
        submission_file(handin, place.inside, file->bytes, file->size, file->hash, file->changed);
}

static void reader_refuse(void *context, const char *path, const char *sentence)
{
    Intake *intake = context;
    Place place;

    locate(intake, path, &place);
    if (is_nobodys(&place, path_is_archive(path)))
        REMARK(intake->class, "refused", path, "%s: not taken", sentence);
    else
        REMARK(submission_at(intake, &place, is_handed_archive(&place)), "refused", place.inside,
               "%s: not taken", sentence);
}

/* ---- First pass over the names ---- */

/* The kinds of names at the top, and in the only folder there. */
typedef struct Look {
    char top[HANDIN_PATH], second[HANDIN_PATH];
    int tops, seconds; /* 0, 1, or 2: more */
    bool top_folder;
    bool top_own, second_own; /* found only in a student's own folder */
    bool second_lms, second_loose;
} Look;

/* A name that belongs inside a student's folder. */
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
        put(first, HANDIN_PATH, "%s", name);
    *count = *count ? 2 : 1;
}

static bool look_at(void *context, const char *path, bool is_folder)
{
    Look *look = context;
    char top[HANDIN_PATH], second[HANDIN_PATH];
    size_t length = strcspn(path, "/");
    const char *rest = path[length] ? path + length + 1 : "";

    PUT(top, "%.*s", (int) length, path);
    PUT(second, "%.*s", (int) strcspn(rest, "/"), rest);
    count_name(look->top, &look->tops, top);
    look->top_folder |= is_folder || *rest;
    look->top_own |= is_own(top);
    if (!*second)
        return !look->top_own;
    is_folder |= strchr(rest, '/') != NULL;
    count_name(look->second, &look->seconds, second);
    look->second_own |= is_own(second);
    look->second_lms |= lms_knows(second, is_folder) || !strcmp(second, metadata_name);
    look->second_loose |= !is_folder && !path_is_archive(second);
    return !look->top_own;
}

/* The names in a folder and in its folders. */
static bool folder_names(const char *path, NameSeen *seen, void *context, const char *above)
{
    DIR *folder = opendir(path);
    struct dirent *item;
    bool on = true;

    while (on && folder && (item = readdir(folder))) {
        char inside[4096], name[HANDIN_PATH], clean[HANDIN_PATH];
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
static bool is_wrapped(const Look *look)
{
    if (look->tops != 1 || !look->top_folder || look->second_own || lms_knows(look->top, true))
        return false;
    return look->second_lms || (look->seconds > 1 && !look->second_loose);
}

static bool look_first(const char *path, bool is_folder, Intake *intake, char *problem, size_t size)
{
    Look look = { 0 };
    char why[300];

    if (is_folder)
        folder_names(path, look_at, &look, "");
    else if (!archive_names(path, look_at, &look, why, sizeof why)) {
        put(problem, size, "%s cannot be read: %s", path, why);
        return false;
    }
    if (look.top_own) {
        put(problem, size,
            "%s looks like one student's folder (it contains %s): give the folder that contains "
            "all students' folders",
            path, look.tops == 1 ? look.top : "labs or files of the workbook");
        return false;
    }
    if (is_wrapped(&look))
        PUT(intake->wrapper, "%s/", look.top);
    return true;
}

/* ---- All of it ---- */

bool reader_read(const char *path, Class *class, char *problem, size_t size)
{
    Intake intake = { .class = class };
    const Visitor sink = { &intake, reader_wants, reader_file, reader_refuse };
    char entry[HANDIN_PATH], why[400];
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
    if (!look_first(path, is_folder, &intake, why, sizeof why)) {
        put(problem, size, "%s", why);
        return false;
    }
    read = is_folder ? walk(path, &sink, why, sizeof why)
                     : archive_file(path, &archive_class, &sink, entry, why, sizeof why);
    if (!read)
        put(problem, size, "%s cannot be read: %s", path, why);
    else if (intake.metadata)
        lms_gradescope(class, intake.metadata);
    free(intake.metadata);
    if (read && !class->count) {
        put(problem, size,
            "%s holds no submissions: give one folder or archive per student, or an export of "
            "Moodle, Canvas or Gradescope",
            path);
        read = false;
    }
    return read;
}
