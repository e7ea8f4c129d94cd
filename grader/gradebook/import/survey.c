/* survey.c - finds out how a class is packed, from names only. */
#include "gradebook/import/survey.h"
#include "gradebook/import/lms.h"
#include "gradebook/import/source.h"
#include "base/registry.h"
#include "base/util.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char metadata_name[] = "submission_metadata.yml";

/* The kinds of names at the top, and in the only folder at the top. */
typedef struct Survey {
    char top[SUBMISSION_PATH], second[SUBMISSION_PATH];
    int tops, seconds; /* 0, 1, or 2 for more */
    bool top_folder;
    bool top_own, second_own; /* found only in a student's own folder */
    bool second_lms, second_loose;
    bool top_plain, second_plain; /* a name that no learning system writes */
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

/* A student's own lab_6_2_new.cu looks like Canvas's names, but Canvas's numbers are longer. */
static bool is_of_export(const char *name, bool is_folder)
{
    Owner owner;

    lms_owner(name, is_folder, &owner);
    if (!strcmp(owner.layout, "canvas"))
        return owner.order >= 100 && (!*owner.number || strlen(owner.number) >= 3);
    return strcmp(owner.layout, "plain") || !strcmp(name, metadata_name);
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
    survey->top_plain |= !is_of_export(top, is_folder || *rest);
    if (!*second)
        return !survey->top_own;
    is_folder |= strchr(rest, '/') != NULL;
    count_name(survey->second, &survey->seconds, second);
    survey->second_own |= is_own(second);
    survey->second_lms |= lms_knows(second, is_folder) || !strcmp(second, metadata_name);
    survey->second_loose |= !is_folder && !path_is_archive(second);
    survey->second_plain |= !is_of_export(second, is_folder);
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

static bool survey_all(const char *path, bool is_folder, Survey *survey, char *why, size_t size)
{
    *survey = (Survey){ 0 };
    if (!is_folder)
        return archive_names(path, look_at, survey, why, size);
    folder_names(path, look_at, survey, "");
    return true;
}

bool survey_wrapper(const char *path, bool is_folder, char wrapper[SUBMISSION_PATH], char *problem,
                    size_t size)
{
    Survey survey;
    char why[300];

    wrapper[0] = 0;
    if (!survey_all(path, is_folder, &survey, why, sizeof why)) {
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
        put(wrapper, SUBMISSION_PATH, "%s/", survey.top);
    return true;
}

/* ---- Several exports ---- */

/* True for a folder or archive that holds nothing but what a learning system exported. */
static bool is_export(const char *path, bool is_folder)
{
    Survey survey;
    char why[300];

    if (!survey_all(path, is_folder, &survey, why, sizeof why) || !survey.tops || survey.top_own)
        return false;
    return !survey.top_plain ||
           (survey.tops == 1 && survey.top_folder && survey.seconds && !survey.second_plain);
}

static int is_visible(const struct dirent *item)
{
    return item->d_name[0] != '.' && !path_is_junk(item->d_name);
}

int survey_exports(const char *path, struct dirent ***items)
{
    int count = scandir(path, items, is_visible, versionsort), exports = 0;
    bool all = true;

    for (int i = 0; i < count; i++) {
        char inside[4096], *name = (*items)[i]->d_name;
        struct stat about;
        bool is_folder;
        PUT(inside, "%s/%s", path, name);
        is_folder = !lstat(inside, &about) && S_ISDIR(about.st_mode);
        if (is_folder || path_is_archive(name))
            all = all && !lms_knows(name, is_folder) && is_export(inside, is_folder);
        if (all && (is_folder || path_is_archive(name)))
            (*items)[exports++] = (*items)[i];
        else
            free((*items)[i]);
    }
    for (int i = 0; i < exports && !all; i++)
        free((*items)[i]);
    if (!all || !exports)
        free(count < 0 ? NULL : *items);
    return all ? exports : 0;
}
