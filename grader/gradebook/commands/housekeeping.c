/* housekeeping.c - the commands about the machine and the gradebook itself. */
#include "gradebook/commands/command.h"
#include "gradebook/doctor.h"
#include "gradebook/report/device_days.h"
#include "gradebook/store/backup.h"
#include "gradebook/store/log.h"
#include "gradebook/store/rebuild.h"
#include "base/util.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int command_doctor(Options *options)
{
    int status = doctor(&options->grading, options->out, options->trusting);

    if (fflush(stdout) || ferror(stdout))
        return say(COULD_NOT, "cannot write: %s", strerror(errno));
    return status;
}

/* ---- devices ---- */

static void print_devices(Store *store)
{
    device_days_text(store, stdout);
}

int command_devices(Options *options)
{
    return command_reading(options, print_devices);
}

/* ---- backup ---- */

int command_backup(Options *options)
{
    char problem[1800];
    Store store;
    int status = DONE;

    if (!options->to)
        return say(USAGE, "missing --to FILE: gradebook backup --to FILE --out DIR");
    if (!store_open(&store, options->out, false))
        status = say(COULD_NOT, "%s", store.problem);
    else if (!backup_write(&store, options->to, problem, sizeof problem))
        status = say(COULD_NOT, "%s", problem);
    else
        fprintf(stderr, "The backup %s is complete. logs/ and course.ini are not in it.\n",
                options->to);
    store_close(&store);
    return status;
}

/* ---- rebuild ---- */

static void print_rebuilt(const Options *options, const RebuildCounts *counts)
{
    fprintf(stderr, "%d attempts at %d kernels restored.\n", counts->attempts, counts->kernels);
    if (counts->unreadable)
        fprintf(stderr, "%d logs are incomplete or invalid and were skipped.\n",
                counts->unreadable);
    if (counts->sourceless)
        fprintf(stderr,
                "%d logs have no kernel next to them, because an older version of gradebook wrote "
                "them, and were skipped.\n",
                counts->sourceless);
    fprintf(stderr,
            "Next: gradebook grade SUBMISSIONS --out %s%s, once for each import. Kernels with "
            "results are not graded again.\n"
            "The roster, decisions and what was published are not in logs: enter them again.\n",
            options->out, counts->course ? "" : " --course COURSE_FILE");
}

/* The new gradebook gets its name when it is complete, so that part of one is never taken for all
 * of it. */
static int rebuild_into(Options *options, const char *partial)
{
    RebuildCounts counts = { 0 };
    Store store;
    int status = DONE;

    remove_tree(partial);
    if (!store_open(&store, partial, true))
        status = say(COULD_NOT, "%s", store.problem);
    else
        rebuild_from_logs(&store, options->from, &counts);
    store_close(&store);
    if (status != DONE)
        return status;
    if (!counts.attempts) {
        remove_tree(partial);
        return say(COULD_NOT, "%s/logs has no result that can be restored", options->from);
    }
    if (rename(partial, options->out))
        return say(COULD_NOT, "cannot write %s: %s", options->out, strerror(errno));
    print_rebuilt(options, &counts);
    return DONE;
}

int command_rebuild(Options *options)
{
    char partial[500], out[420];
    size_t length;

    if (!options->from)
        return say(USAGE, "missing --from DIR: gradebook rebuild --from OLD --out NEW");
    PUT(out, "%s", options->out);
    for (length = strlen(out); length > 1 && out[length - 1] == '/';)
        out[--length] = 0;
    options->out = out;
    if (file_exists(out))
        return say(USAGE, "%s exists: choose a new folder", out);
    return rebuild_into(options, PUT(partial, "%s.partial", out));
}
