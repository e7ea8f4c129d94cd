/* feedback_files.c - one file per student, with safe names and an index. */
#include "gradebook/report/feedback_files.h"
#include "gradebook/report/csv.h"
#include "base/util.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { NAME = 200 };

/* Keeps letters, digits and non-ASCII characters: names are clean UTF-8
 * (gradebook/import/submission.h). */
static void file_name(const Student *student, char name[NAME])
{
    size_t used = 0;

    put(name, NAME, "%.100s%s%.40s", student->name, *student->number ? "-" : "", student->number);
    for (char *at = name; *at; at++)
        if ((unsigned char) *at >= 0x80 || strchr("-_.0123456789", *at) ||
            ((*at | 32) >= 'a' && (*at | 32) <= 'z'))
            name[used++] = *at;
        else
            name[used++] = '_';
    while (used && (name[used - 1] & 0xC0) == 0x80 && strlen(student->name) > 100)
        used--; /* a truncated character */
    name[used] = 0;
    if (!used || *name == '.')
        put(name, NAME, "student-%lld", (long long) student->id);
    if (csv_is_formula(name)) { /* index.csv would give another name */
        memmove(name + 1, name, NAME - 1);
        *name = '_';
        name[NAME - 1] = 0;
    }
}

/* Without this, the names of different students could become the same file name, ignoring case. */
static void make_distinct(Export *export, char (*names)[NAME])
{
    for (int i = 0; i < export->results.count; i++)
        for (int k = 0; k < i; k++)
            if (!strcasecmp(names[i], names[k])) {
                append(names[i], NAME, "-%lld", (long long) export->results.students[i].id);
                k = -1; /* the new name may be taken, too */
            }
}

static void write_one(Export *export, const FileKind *kind, const Student *student,
                      const char *name)
{
    char path[1200], *text = NULL;
    size_t bytes = 0;
    FILE *to = text_open(&text, &bytes);

    kind->write(export, student, to);
    text_close(to);
    PUT(path, "%s/%s%s", export->folder, name, kind->ending);
    if (!write_file(path, text, bytes))
        die("cannot write %s: %m", path);
    free(text);
}

static void write_index(Export *export, char (*names)[NAME], const FileKind *kinds)
{
    char path[1200], file[NAME + 20], *text = NULL;
    size_t bytes = 0;
    FILE *to = text_open(&text, &bytes);

    fputs("\xEF\xBB\xBFstudent,number,email,file\r\n", to);
    for (int i = 0; i < export->results.count; i++) {
        const Student *student = &export->results.students[i];
        csv_text(to, student->name);
        csv_text(to, student->number);
        csv_text(to, student->labs->email);
        csv_last(to, PUT(file, "%s%s", names[i], kinds->ending));
    }
    text_close(to);
    PUT(path, "%s/index.csv", export->folder);
    if (!write_file(path, text, bytes))
        die("cannot write %s: %m", path);
    free(text);
}

/* Removes what an export that was killed left under temporary names (write_file). */
static void remove_partial(const char *folder)
{
    DIR *list = opendir(folder);
    char path[1300];

    for (struct dirent *item; list && (item = readdir(list));) {
        const char *mark = strstr(item->d_name, ".new-");
        if (mark && mark[5] && strspn(mark + 5, "0123456789") == strlen(mark + 5))
            unlink(PUT(path, "%s/%s", folder, item->d_name));
    }
    if (list)
        closedir(list);
}

void files_write(Export *export, const FileKind *kinds, EachFile *each, void *context)
{
    char(*names)[NAME] = xcalloc((size_t) export->results.count + 1, sizeof *names);
    char file[NAME + 20];
    int written = 0;

    if (!make_folders(export->folder))
        die("cannot write %s: %m", export->folder);
    remove_partial(export->folder);
    for (int i = 0; i < export->results.count; i++)
        file_name(&export->results.students[i], names[i]);
    make_distinct(export, names);
    for (int i = 0; i < export->results.count; i++) {
        const Student *student = &export->results.students[i];
        for (const FileKind *kind = kinds; kind->ending; kind++)
            write_one(export, kind, student, names[i]);
        if (each)
            each(export, student, PUT(file, "%s%s", names[i], kinds->ending), context);
        written++;
    }
    write_index(export, names, kinds);
    free(names);
    fprintf(stderr, "Files of %d students written to %s; index.csv lists each student's file.\n",
            written, export->folder);
}
