/* see.c - make see: runs the kernel and, once the lab is passed, the reference; writes the page. */
#include "learner/see/see.h"
#include "base/util.h"
#include "build/stub.h"
#include "learner/progress.h"
#include "learner/report.h"
#include "learner/see/page.h"
#include "learner/submission.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The case that decided the last grading, since that is where a kernel is slow; else the first
 * timed one. */
static Case case_of(const Session *session, const LabEntry *entry, const Progress *progress)
{
    const Case *last = progress->diagnosis.lab_case;

    if (!last || (last->kind != TIMED && last->kind != CONTROL))
        last = collect_choose_case(entry->lab, NULL);
    return collect_case(last, &session->gpu);
}

static void add_roof(RooflinePoints *points, const SeenKernel *k, bool is_reference)
{
    const Limited *l = &k->limited;
    RooflinePoint *p = &points->points[points->count];

    if (!k->has_limits)
        return;
    *p = (RooflinePoint){ .at = roofline_of(&l->limits, l->fp32_tflops, l->memory_gbps),
                          .is_yours = !is_reference,
                          .is_reference = is_reference };
    PUT(p->name, "%s", is_reference ? "reference" : "your kernel");
    points->fp32_tflops = l->fp32_tflops;
    points->memory_gbps = l->memory_gbps;
    points->count++;
}

static char *text_of(const char *path)
{
    char *text = read_file(path, SEE_SOURCE, NULL);

    if (text)
        see_clean_text(text);
    return text;
}

static void run_kernel(CollectJob *job, Seen *seen, const char *name, const char *id)
{
    SeenKernel *k = &seen->kernels[seen->count++];
    const char *slash = strrchr(job->shown, '/');
    char object[PATH];

    *k = (SeenKernel){ .name = name, .id = id, .file = slash ? slash + 1 : job->shown };
    session_say(job->session, "%02d %s: %s", lab_number(job->entry), lab_name(job->entry), name);
    k->source = is_sealed(job->source, object, sizeof object) ? NULL : text_of(job->source);
    see_kernel(job, k);
    add_roof(&seen->roofline, k, seen->count > 1);
}

static void run_reference(CollectJob *job, Seen *seen)
{
    static FileList rungs;

    list_rungs(&job->session->book, job->entry, &rungs);
    if (!rungs.count)
        return;
    job->source = job->shown = rungs.path[rungs.count - 1];
    run_kernel(job, seen, "The reference", "reference");
}

static bool save(const Seen *seen)
{
    char folder[PATH], path[PATH + 80], *text;
    size_t bytes;
    FILE *to = text_open(&text, &bytes);
    bool saved;

    see_page(seen, to);
    text_close(to);
    saved = find_build_folder(folder, sizeof folder);
    PUT(path, "%s/see", folder);
    saved = saved && make_folders(path);
    PUT(path, "%s/see/%s.html", folder, lab_name(seen->entry));
    saved = saved && write_file(path, text, bytes);
    free(text);
    session_clear_line();
    if (saved)
        printf("%s\n", path);
    else
        fprintf(stderr, "warpbook: cannot write %s: %s\n", path, strerror(errno));
    return saved;
}

static int see(Session *session, const LabEntry *entry, const char *source, const char *shown)
{
    static Seen seen;
    static Build build;
    Progress progress;
    CollectJob job = { .session = session, .entry = entry, .source = source, .shown = shown };

    progress_load(session->book.progress, entry, &progress);
    session_build(session, entry, source, shown, &build);
    if (build.fault != BUILD_OK) {
        fprintf(stderr, "%s does not build:\n%s\n", shown, build.message);
        return build.fault == BUILD_MACHINE ? COULD_NOT : NOT_PASSED;
    }
    seen = (Seen){ .entry = entry, .device = session->gpu.name };
    PUT(seen.roofline.device, "%s", session->gpu.name);
    seen.lab_case = case_of(session, entry, &progress);
    job.lab_case = &seen.lab_case;
    see_findings(&job, build.object, &seen.findings);
    run_kernel(&job, &seen, "Your kernel", "yours");
    if (verdict_passed(progress.best)) {
        run_reference(&job, &seen);
        if (!measured_ladder(&session->book, entry, &seen.lab_case, &seen.ladder))
            seen.ladder.count = 0;
    }
    return save(&seen) ? DONE : COULD_NOT;
}

int see_run(Options *options)
{
    static Session session;
    char source[PATH], shown[PATH];
    const char *device = options->device;
    int status;

    if (options->count != 1) {
        fprintf(stderr, "warpbook: see needs a lab: make see LAB=%s\n", lab_name(&all_labs[0]));
        return USAGE;
    }
    if (!submission_fits(options))
        return USAGE;
    session = (Session){ .quick = true,
                         .live = isatty(2),
                         .replayed = true,
                         .seed = options->seeded ? options->seed : 1 };
    if (!session_open(&session, device && !strncmp(device, "sim", 3) ? device : "sim"))
        return report_could_not(&session);
    submission_find(&session.book, options, options->labs[0], source, shown);
    status = see(&session, options->labs[0], source, shown);
    session_close(&session);
    return status;
}
