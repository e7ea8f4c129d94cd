/* see.c - make see: runs the kernel and, once the lab is passed, the reference; writes the page. */
#include "learner/see/see.h"
#include "base/util.h"
#include "build/stub.h"
#include "judge/modelled.h"
#include "learner/progress.h"
#include "learner/report.h"
#include "learner/see/page.h"
#include "learner/submission.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The case that decided the last grading, since that is where a kernel is slow; else the first
 * timed one. */
static Case case_of(Session *session, const LabEntry *entry, const Progress *progress,
                    bool *is_graded_size)
{
    const Case *last = progress->diagnosis.lab_case;
    Case sized;

    if (!last || (last->kind != TIMED && last->kind != CONTROL))
        last = collect_choose_case(entry->lab, NULL);
    *is_graded_size = modelled_size(session, entry, last, &sized);
    return *is_graded_size ? sized : collect_case(last, &session->gpu);
}

/* Products of matrices take the simulator long: a quarter of the operations shows the same. */
static bool shrink(const LabEntry *entry, const Gpu *gpu, Case *sized)
{
    static const double most_flops = 100e6, least_share = 1.0 / 4;
    const double flops = entry->lab->work(sized).flops;

    if (flops <= most_flops || !sized->size)
        return false;
    sized->size(sized->dim, gpu, fmax(most_flops / flops, least_share));
    return true;
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

/* What belongs to the reference is shown once the lab is passed. */
static void add_passed(CollectJob *job, Seen *seen)
{
    static const double rungs_limit_s = 5;

    run_reference(job, seen);
    if (roofline_any_drawable(&seen->roofline))
        seen->rungs_left_out = collect_rungs(job, rungs_limit_s, &seen->roofline);
    if (!measured_ladder(&job->session->book, job->entry, &seen->lab_case, &seen->ladder))
        seen->ladder.count = 0;
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
        report_page("A page that shows what the kernel did: accesses, arrays, costs by line, time.",
                    path);
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
    seen.lab_case = case_of(session, entry, &progress, &seen.is_graded_size);
    seen.is_shrunk = shrink(entry, &session->gpu.gpu, &seen.lab_case);
    job.lab_case = &seen.lab_case;
    see_findings(&job, build.object, &seen.findings);
    run_kernel(&job, &seen, "Your kernel", "yours");
    if (verdict_passed(progress.best))
        add_passed(&job, &seen);
    return save(&seen) ? DONE : COULD_NOT;
}

int see_run(Options *options)
{
    static Session session;
    char source[PATH], shown[PATH];
    const char *device = options->device;
    int status;

    if (!submission_fits(options))
        return USAGE;
    session = (Session){ .quick = true,
                         .live = isatty(2),
                         .replayed = true,
                         .reports_doing = true,
                         .events = options->events,
                         .seed = options->seeded ? options->seed : 1 };
    if (!session_open(&session, device && !strncmp(device, "sim", 3) ? device : "sim"))
        return report_could_not(&session);
    submission_find(&session.book, options, options->labs[0], source, shown);
    status = see(&session, options->labs[0], source, shown);
    session_close(&session);
    return status;
}
