/* submission.c - finds the kernel of a lab: in labs/, or in what --submission names. */
#include "learner/submission.h"
#include "base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_folder(const char *path)
{
    struct stat about;

    return !stat(path, &about) && S_ISDIR(about.st_mode);
}

/* True if the file exists and no folder on its path below `folder` is a symbolic link, which could
 * lead to another student's work. (read_file() checks the file itself.) */
static bool lies_below(const char *folder, const char *path)
{
    char part[PATH];
    int at = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC), next;

    for (const char *slash; at >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
        PUT(part, "%.*s", (int) (slash - path), path);
        next = openat(at, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        close(at);
        at = next;
    }
    if (at < 0)
        return false;
    next = faccessat(at, path, F_OK, AT_SYMLINK_NOFOLLOW);
    close(at);
    return !next;
}

void submission_find(const Workbook *book, const Options *options, const LabEntry *entry,
                     char *source, char *shown)
{
    const char *given = options->submission;

    if (!given) {
        put(shown, PATH, "labs/%s/kernel.cu", entry->folder);
        lab_file(book, entry, "kernel.cu", source);
        return;
    }
    put(source, PATH, "%s", given);
    if (is_folder(given)) {
        char below[PATH];
        PUT(below, "labs/%s/kernel.cu", entry->folder);
        if (!lies_below(given, below))
            PUT(below, "%s/kernel.cu", entry->folder);
        put(shown, PATH, "%s/%s", given, below);
        put(source, PATH, "%s", lies_below(given, below) ? shown : ""); /* empty if it has a link */
        return;
    }
    put(shown, PATH, "%s", source);
}

/* A folder without any lab's kernel is most likely the wrong folder, not an empty submission. */
static bool holds_a_kernel(const Options *options)
{
    for (const LabEntry *entry = all_labs; entry->folder; entry++) {
        char source[PATH], shown[PATH];
        submission_find(NULL, options, entry, source, shown);
        if (file_exists(source))
            return true;
    }
    return false;
}

bool submission_fits(const Options *options)
{
    if (options->submission && !is_folder(options->submission) && options->count != 1) {
        fprintf(stderr, "warpbook: --submission %s is a single file: name the LAB that it is for\n",
                options->submission);
        return false;
    }
    if (options->submission && is_folder(options->submission) && !holds_a_kernel(options)) {
        fprintf(stderr,
                "warpbook: --submission %s holds no kernel.cu; expected 06_transpose/kernel.cu "
                "or labs/06_transpose/kernel.cu (other labs likewise)\n",
                options->submission);
        return false;
    }
    if (options->submission && !file_exists(options->submission)) {
        fprintf(stderr, "warpbook: --submission %s: %s\n", options->submission, strerror(errno));
        return false;
    }
    return true;
}
