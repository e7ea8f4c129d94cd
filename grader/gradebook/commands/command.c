/* command.c - what the commands share. */
#include "gradebook/commands/command.h"
#include "gradebook/store/people.h"
#include "gradebook/store/terms.h"
#include "base/util.h"

#include <errno.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int say(int status, const char *format, ...)
{
    va_list arguments;

    fputs("gradebook: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return status;
}

const char *author_of(const Options *options)
{
    const struct passwd *user = options->author ? NULL : getpwuid(getuid());

    return options->author ? options->author : user && *user->pw_name ? user->pw_name : "unknown";
}

void print_open_people(Store *store, const Options *options)
{
    int count = people_open(store);

    if (count)
        fprintf(stderr,
                "%d student%s not identified. To list and answer: gradebook match --out %s\n",
                count, count > 1 ? "s are" : " is", options->out);
}

/* A file that cannot be read has no mistakes of the instructor's. `done`: what follows from them.
 */
static void report_course(const char *path, const char *done, char *mistakes)
{
    if (path && strcmp(path, "-") && access(path, R_OK))
        say(0, "cannot read %s: %s", path, strerror(errno));
    else {
        say(0, "the course file has errors%s:", done);
        fprintf(stderr, "%s", mistakes);
    }
    free(mistakes);
}

/* Loads the course file. Without --devices, its device is used. */
bool take_course(Store *store, Options *options)
{
    char *mistakes;

    if (!terms_load(store, options->course, &mistakes)) {
        report_course(options->course, "; nothing was done", mistakes);
        return false;
    }
    if (!options->grading.device_count && !strncmp(store->course.device, "sim:", 4))
        options->grading.devices[options->grading.device_count++] = store->course.device;
    return true;
}

bool read_course(const char *path, Course *course, char **text)
{
    char *mistakes;

    if (course_load(path, course, text, &mistakes))
        return true;
    report_course(path, "", mistakes);
    return false;
}

int command_reading(Options *options, void (*show_it)(Store *store))
{
    Store store;
    int status = DONE;

    if (!store_open(&store, options->out, false))
        status = say(COULD_NOT, "%s", store.problem);
    else if (!take_course(&store, options))
        status = USAGE;
    else {
        store.against = options->against;
        show_it(&store);
    }
    store_close(&store);
    if (fflush(stdout) || ferror(stdout))
        status = say(COULD_NOT, "cannot write: %s", strerror(errno));
    return status;
}
