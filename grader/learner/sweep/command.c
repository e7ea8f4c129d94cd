/* command.c - `warpbook sweep LAB`: measures, prints bars, writes build/sweep/LAB.svg. */
#include "base/util.h"
#include "learner/report.h"
#include "learner/submission.h"
#include "learner/sweep/sweep.h"
#include "judge/figures.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void name_place(const Session *session, Sweep *sweep)
{
    const GpuInfo *gpu = &session->gpu;
    time_t now = time(NULL);
    char date[32];

    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    if (gpu->simulated)
        PUT(sweep->where, "%s, %d SMs; times are modelled", gpu->name, gpu->gpu.sms);
    else
        PUT(sweep->where, "%s, %d SMs, %s", gpu->name, gpu->gpu.sms, date);
}

static bool read_stored(const Workbook *book, const LabEntry *entry, Sweep *stored)
{
    char path[PATH + 100];
    size_t bytes;
    bool well;
    char *text = read_file(PUT(path, "%s/docs/measured/%s.sweep.txt", book->root, entry->folder),
                           1 << 16, &bytes);

    if (!text)
        return false;
    well = sweep_read(entry, text, bytes, stored);
    free(text);
    return well;
}

static bool save(const char *path, char *text, size_t bytes)
{
    const bool saved = write_file(path, text, bytes);

    if (!saved)
        fprintf(stderr, "warpbook: cannot write %s: %s\n", path, strerror(errno));
    free(text);
    return saved;
}

static bool save_picture(const Sweep *sweep, const Sweep *stored)
{
    char folder[PATH], path[PATH + 80], *text;
    size_t bytes;
    FILE *to = text_open(&text, &bytes);

    sweep_draw(sweep, stored, to);
    text_close(to);
    if (!find_build_folder(folder, sizeof folder) || !make_folders(PUT(path, "%s/sweep", folder))) {
        fprintf(stderr, "warpbook: cannot create %s: %s\n", path, strerror(errno));
        free(text);
        return false;
    }
    PUT(path, "%s/sweep/%s.svg", folder, lab_name(sweep->entry));
    if (!save(path, text, bytes))
        return false;
    printf("\n%s%s\n", path, stored ? ", next to the stored curves of an H200" : "");
    return true;
}

static bool save_figures(const Session *session, const Sweep *sweep, const char *path)
{
    char command[100], *text;
    size_t bytes;
    FILE *to = text_open(&text, &bytes);

    figures_head(to, session,
                 PUT(command, "warpbook sweep %s --figures FILE", lab_name(sweep->entry)));
    sweep_write(sweep, to);
    text_close(to);
    return save(path, text, bytes);
}

/* Your kernel, or the name of a submission's file. */
static void name_kernel(const Options *options, const char *shown, Sweep *sweep)
{
    const char *slash = strrchr(shown, '/');

    PUT(sweep->kernel, "%.79s", options->submission ? slash ? slash + 1 : shown : "your kernel");
}

static int sweep_lab(Session *session, const Options *options)
{
    static Sweep sweep, stored;
    const LabEntry *entry = options->labs[0];
    char source[PATH], shown[PATH];
    bool has_stored;

    submission_find(&session->book, options, entry, source, shown);
    if (!sweep_measure(session, entry, source, shown, &sweep)) {
        session_clear_line();
        fprintf(stderr, "warpbook: nothing to sweep: %s\n", sweep.why);
        return sweep.is_machines ? COULD_NOT : NOT_PASSED;
    }
    name_place(session, &sweep);
    name_kernel(options, shown, &sweep);
    sweep_print(&sweep, stdout);
    has_stored = read_stored(&session->book, entry, &stored);
    if (has_stored) {
        printf("\nFor comparison, as stored:\n\n");
        sweep_print(&stored, stdout);
    }
    printf("\nResults are not checked here (make grade does).\n");
    return save_picture(&sweep, has_stored ? &stored : NULL) &&
                   (!options->figures || save_figures(session, &sweep, options->figures))
               ? DONE
               : COULD_NOT;
}

int run_sweep(Options *options)
{
    static Session session;
    int status;

    if (!submission_fits(options))
        return USAGE;
    if (!options->labs[0]->lab->sweep.what) {
        fprintf(stderr, "warpbook: lab %s has no sweep\n", lab_name(options->labs[0]));
        return NOT_PASSED;
    }
    session = (Session){ .quick = true, .live = isatty(2), .replayed = true, .seed = 1 };
    if (!session_open(&session, options->device))
        return report_could_not(&session);
    status = sweep_lab(&session, options);
    session_close(&session);
    return status;
}
