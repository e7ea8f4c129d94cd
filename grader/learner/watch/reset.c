/* reset.c - make reset: puts a lab's starter back, and keeps a copy of the student's kernel. */
#include "learner/watch/reset.h"
#include "base/util.h"
#include "build/build.h"
#include "learner/submission.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BACKUPS = 999, NAME = 80 };

/* Creates the first kernel.cu.N that does not exist. Returns N, or 0 with errno set. A copy that
 * is not complete is removed. */
static int keep_copy(const char *path, const char *text, size_t bytes)
{
    char copy[PATH + 16];
    int fd = -1, number = 0;

    while (fd < 0 && number < BACKUPS && (!number || errno == EEXIST))
        fd =
            open(PUT(copy, "%s.%d", path, ++number), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return 0;
    if (write_all(fd, text, bytes) && !fsync(fd) && !close(fd))
        return number;
    int why = errno;
    close(fd);
    unlink(copy);
    errno = why;
    return 0;
}

static ResetResult failed(char *message, size_t size, const char *what, const char *path)
{
    put(message, size, "Nothing was changed: cannot %s %s: %s.\n", what, path, strerror(errno));
    return RESET_FAILED;
}

/* The copy comes first: if the disk is full, the student's kernel stays where it is. */
static ResetResult replace(const LabEntry *entry, const char *path, const char *starter,
                           size_t starter_bytes, char *message, size_t size)
{
    size_t bytes = 0;
    char *kernel = read_file(path, SIZE_MAX >> 1, &bytes);
    bool missing = !kernel && errno == ENOENT;
    int number = 0;

    if (!kernel && !missing)
        return failed(message, size, "read", path);
    if (kernel && bytes == starter_bytes && !memcmp(kernel, starter, bytes)) {
        free(kernel);
        put(message, size, "labs/%s/kernel.cu is the starter already.\n", entry->folder);
        return RESET_NOTHING;
    }
    if (kernel && !(number = keep_copy(path, kernel, bytes))) {
        free(kernel);
        return failed(message, size, "keep a copy of", path);
    }
    free(kernel);
    if (!write_file(path, starter, starter_bytes))
        return failed(message, size, "write", path);
    put(message, size, "labs/%s/kernel.cu is the starter again.\n", entry->folder);
    if (number)
        append(message, size,
               "Your kernel was kept. To get it back:\n    cp labs/%s/kernel.cu.%d "
               "labs/%s/kernel.cu\n",
               entry->folder, number, entry->folder);
    return RESET_DONE;
}

ResetResult reset_lab(const Workbook *book, const LabEntry *entry, char *message, size_t size)
{
    char path[PATH], starter_path[PATH + 200];
    size_t bytes;
    char *starter;
    ResetResult result;

    PUT(starter_path, "%s/solutions/%s/0_starter.cu", book->root, entry->folder);
    starter = read_file(starter_path, BUILD_SOURCE_BYTES, &bytes);
    if (!starter)
        return failed(message, size, "read", starter_path);
    result =
        replace(entry, lab_file(book, entry, "kernel.cu", path), starter, bytes, message, size);
    free(starter);
    return result;
}

/* ---- The command ---- */

static bool confirmed(const LabEntry *entry)
{
    char answer[16] = "";

    printf("A copy of your kernel is kept.\nPut the starter back as labs/%s/kernel.cu? [y/N] ",
           entry->folder);
    fflush(stdout);
    return fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

int run_reset(Options *options)
{
    char message[3 * PATH], problem[PATH + 200];
    Workbook book;
    ResetResult result;

    if (options->count != 1) {
        fprintf(stderr, "warpbook: reset needs a lab: make reset LAB=%s\n", lab_name(&all_labs[0]));
        return USAGE;
    }
    if (!options->yes && !(isatty(0) && isatty(1))) {
        fprintf(stderr,
                "warpbook: reset asks before it changes anything, and this is not a "
                "terminal: make reset LAB=%s FLAGS=--yes\n",
                lab_name(options->labs[0]));
        return USAGE;
    }
    if (!workbook_find(&book, problem, sizeof problem)) {
        fprintf(stderr, "warpbook: %s\n", problem);
        return COULD_NOT;
    }
    if (!options->yes && !confirmed(options->labs[0])) {
        printf("Nothing was changed.\n");
        return DONE;
    }
    result = reset_lab(&book, options->labs[0], message, sizeof message);
    fputs(message, result == RESET_FAILED ? stderr : stdout);
    return result == RESET_FAILED ? COULD_NOT : DONE;
}
