/* workbook.c - where the workbook's files are.
 *
 * All paths start in the working folder, which must be the workbook's. $WARPBOOK_BUILD sets
 * another build folder; $WARPBOOK_RUNNER and $WARPBOOK_SIM_RUNNER set other runners, such as the
 * tests' scripted one.
 */
#include "build/workbook.h"
#include "base/util.h"
#include "build/stub.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool workbook_find(Workbook *book, char *problem, size_t size)
{
    const char *build = getenv("WARPBOOK_BUILD"), *runner = getenv("WARPBOOK_RUNNER");
    const char *sim_runner = getenv("WARPBOOK_SIM_RUNNER");
    char text[PATH];

    if (!build || !*build)
        build = "build";
    if (!getcwd(text, sizeof text) || !file_exists("common/lab.h") || !file_exists("labs")) {
        put(problem, size,
            "this is not the workbook's folder: run it in the folder that contains labs/ and "
            "Makefile");
        return false;
    }
    PUT(book->root, "%s", text);
    if (*build == '/')
        PUT(text, "%s", build);
    else
        APPEND(text, "/%s", build);
    PUT(book->cache, "%s/cache", text);
    PUT(book->floors, "%s/floor", text);
    if (runner)
        PUT(book->runner, "%s", runner);
    else
        PUT(book->runner, "%s/runner", text);
    if (sim_runner)
        PUT(book->sim_runner, "%s", sim_runner);
    else
        PUT(book->sim_runner, "%s/runner-sim", text);
    PUT(book->progress, "%s/.warpbook/progress", book->root);
    return true;
}

char *lab_file(const Workbook *book, const LabEntry *entry, const char *name, char *path)
{
    return put(path, PATH, "%s/labs/%s/%s", book->root, entry->folder, name);
}

static int is_visible(const struct dirent *item)
{
    return item->d_name[0] != '.';
}

static bool has_suffix(const char *name, const char *suffix)
{
    const size_t length = strlen(name), tail = strlen(suffix);

    return length >= tail && !strcmp(name + length - tail, suffix);
}

void list_files(const char *folder, const char *suffix, FileList *list)
{
    struct dirent **items = NULL;
    int count = scandir(folder, &items, is_visible, versionsort);

    list->count = 0;
    for (int i = 0; i < count; i++) {
        const char *name = items[i]->d_name;
        if (has_suffix(name, suffix)) {
            if (list->count == FILES)
                die("%s contains more than %d files", folder, FILES);
            PUT(list->path[list->count], "%s/%s", folder, name);
            list->count++;
        }
        free(items[i]);
    }
    free(items);
}

void list_solutions(const Workbook *book, const LabEntry *entry, const char *kind, FileList *list)
{
    char folder[PATH];

    PUT(folder, "%s/solutions/%s%s", book->root, entry->folder, kind);
    list_files(folder, ".cu", list);
}

void list_rungs(const Workbook *book, const LabEntry *entry, FileList *list)
{
    int kept = 0;

    list_solutions(book, entry, "", list);
    for (int i = 0; i < list->count; i++) {
        const char *name = strrchr(list->path[i], '/') + 1;
        if (name[0] >= '1' && name[0] <= '9')
            memmove(list->path[kept++], list->path[i], PATH);
    }
    list->count = kept;
}

uint64_t lab_hash(const Workbook *book, const LabEntry *entry)
{
    static const char *const names[] = { "kernel.h", "lab.c", "launch.cpp" };
    uint64_t hash = HASH_START;
    FileList rungs;
    char path[PATH], *text;
    size_t size;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((text = read_file(lab_file(book, entry, names[i], path), 1 << 20, &size))) {
            hash = hash_bytes(hash, text, size);
            free(text);
        }
    list_rungs(book, entry, &rungs);
    if (rungs.count) {
        uint64_t reference = solution_hash(rungs.path[rungs.count - 1]);
        hash = hash_bytes(hash, &reference, sizeof reference);
    }
    return hash;
}
