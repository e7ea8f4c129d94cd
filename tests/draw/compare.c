/* compare.c - for tests: compares a kernel's records with the counters that its report is made of,
 * and draws all kinds of pictures of it.
 *
 *     draw_compare LAB FILE...
 *
 * Prints one line per kernel, and each difference. The exit status is 1 if there is any. */
#include "base/util.h"
#include "draw/collect.h"
#include "draw/well_formed.h"
#include "learner/see/data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int differences;

static void expect(bool fine, const char *file, const char *what, double is, double expected)
{
    if (fine)
        return;
    printf("FAILED: %s: %s: %.0f, expected %.0f\n", file, what, is, expected);
    differences++;
}

/* ---- Counters ---- */

static double passes_at(const Records *r, RecordSpace space, int line)
{
    double sum = 0;

    for (int i = 0; i < r->access_count; i++)
        if (r->accesses[i].space == (int) space && r->accesses[i].line == line)
            sum += (double) r->accesses[i].all_passes;
    return sum;
}

/* The runner's answers have six digits. */
static bool same(double a, double answered)
{
    return fabs(a - answered) <= 5e-6 * answered;
}

static void compare_passes(const Records *r, RecordSpace space, int line, double expected,
                           const char *file)
{
    const double passes = passes_at(r, space, line);
    char what[60];

    expect(same(passes, expected), file,
           PUT(what, "line %d, %s", line, space == RECORD_GLOBAL ? "sectors" : "wavefronts"),
           passes, expected);
}

static void compare_line(const Records *r, const LineCost *cost, const char *file)
{
    compare_passes(r, RECORD_GLOBAL, cost->line,
                   cost->load.passes + cost->store.passes + cost->atomic.passes, file);
    compare_passes(r, RECORD_SHARED, cost->line, cost->shared.passes, file);
}

/* ---- The page of make see ---- */

/* Another run of the kernel: the data of its page must hold this run's counters, and each list of
 * accesses those of its line. */
static void compare_page(const CollectJob *job, const LineCost *costs, int count)
{
    Seen *seen = xcalloc(1, sizeof *seen);
    AccessList lists[SEE_LISTS];
    char *text, line[200];
    size_t bytes;
    FILE *to = text_open(&text, &bytes);

    *seen = (Seen){ .count = 1 };
    seen->kernels[0].id = "yours";
    see_kernel(job, &seen->kernels[0]);
    see_data(seen, to);
    text_close(to);
    for (int i = 0; i < count; i++) {
        PUT(line, "{\"line\":%d,\"ns\":%.9g,\"instructions\":%.9g,", costs[i].line,
            spent_sum(&costs[i].spent), costs[i].instructions);
        expect(strstr(text, line) != NULL, job->source, line, 0, 1);
        if (costs[i].load.requests > 0)
            expect(strstr(text, PUT(line, "\"load\":[%.9g,%.9g,%.9g]", costs[i].load.requests,
                                    costs[i].load.passes, costs[i].load.asked)) != NULL,
                   job->source, line, 0, 1);
    }
    for (int i = see_lists(seen->kernels[0].records, lists) - 1; i >= 0; i--) {
        double passes = 0;
        for (int k = 0; k < count; k++)
            if (costs[k].line == lists[i].turns[0]->line)
                passes = lists[i].turns[0]->space == RECORD_SHARED ? costs[k].shared.passes
                                                                   : see_sectors(&costs[k]);
        expect(lists[i].passes <= passes * (1 + 5e-6), job->source, "a list's passes",
               lists[i].passes, passes);
    }
    free(seen->kernels[0].records);
    free(seen);
    free(text);
}

static int compare_lines(Worker *worker, const Records *r, const CollectJob *job)
{
    static LineCost costs[SEE_LINES];
    int lines = 0;

    while (lines < SEE_LINES && worker_cost(worker, lines, &costs[lines])) {
        compare_line(r, &costs[lines], job->source);
        lines++;
    }
    compare_page(job, costs, lines);
    return lines;
}

static void compare_launches(Worker *worker, const Records *r, const char *file)
{
    Timed timed = { 0 };
    double played = 0, executed = 0;

    for (int i = 0; i < r->launch_count; i++) {
        played += (double) r->launches[i].played;
        executed += (double) r->launches[i].executed;
    }
    expect(worker_timed(worker, &timed) == PASS, file, "timed", 0, 1);
    expect(r->launch_count + (double) r->lost_launches == timed.launches, file, "launches",
           r->launch_count, timed.launches);
    if (r->lost_launches)
        return;
    expect(played == timed.timed_blocks, file, "blocks played", played, timed.timed_blocks);
    expect(executed <= timed.instructions, file, "instructions", executed, timed.instructions);
}

/* ---- Pictures ---- */

static void draw_kind(const PictureKind *kind, const Picture *picture, const char *file)
{
    Words words = { .why = "" };
    Svg svg;
    char *text;
    size_t bytes;
    FILE *to = text_open(&text, &bytes);

    svg_begin(&svg, PICTURE_WIDTH);
    if (!kind->draw(picture, &svg, &words))
        svg.height = 10;
    expect(!svg.misfits, file, kind->name, svg.misfits, 0);
    svg_write(&svg, &(SvgHead){ words.title, words.description, THEME_AUTO }, to);
    text_close(to);
    expect(is_well_formed(text), file, kind->name, 0, 1);
    free(text);
}

static void draw_all(const CollectJob *job, const Records *r, const char *failed)
{
    char *source = read_file(job->source, 256 << 10, NULL);
    const Picture picture = { .entry = job->entry,
                              .lab_case = *job->lab_case,
                              .file = "kernel.cu",
                              .source = source,
                              .failed = failed,
                              .records = r };

    for (const PictureKind *kind = picture_kinds; kind->name; kind++)
        if (kind->data == FROM_RECORDS)
            draw_kind(kind, &picture, job->source);
    free(source);
}

/* ---- A kernel ---- */

static void compare(const CollectJob *job)
{
    static Records records;
    static char failed[COLLECT_WHY];
    Worker worker;
    const bool well = collect_run(job, &(RecordFilter){ -1, -1 }, &worker, &records, failed);
    int lines = 0;

    if (well && !*failed && !records.lost_accesses && !records.lost_launches)
        lines = compare_lines(&worker, &records, job);
    /* In a lab about streams, the kernel is not in the student's file. */
    if (well && !*failed && !records.lost_launches && !records.lost_accesses &&
        !job->entry->lab->streams)
        expect(lines > 0, job->source, "lines", lines, 1);
    if (well && !*failed)
        compare_launches(&worker, &records, job->source);
    if (well)
        draw_all(job, &records, failed);
    worker_end(&worker);
    printf("%s: %d lines compared%s%.60s\n", job->source, lines, *failed ? ", " : "", failed);
}

int main(int argc, char **argv)
{
    static Session session;
    CollectJob job = { .session = &session };
    Case sized;

    if (argc < 3 || !(job.entry = lab_find(argv[1])))
        die("usage: draw_compare LAB FILE...");
    session = (Session){ .quick = true, .replayed = true, .seed = 1 };
    if (!session_open(&session, "sim"))
        die("%s", session.problem);
    sized = collect_case(collect_choose_case(job.entry->lab, NULL), &session.gpu);
    job.lab_case = &sized;
    for (int i = 2; i < argc; i++) {
        job.source = job.shown = argv[i];
        compare(&job);
    }
    session_close(&session);
    return differences > 0;
}
