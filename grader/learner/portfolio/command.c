/* command.c - `warpbook report`: collects what is known of each lab, draws rooflines, writes the
 * page. */
#include "learner/portfolio/page.h"
#include "learner/portfolio/portfolio.h"
#include "learner/report.h"
#include "learner/state_file.h"
#include "draw/collect.h"
#include "base/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SOURCE_MOST = 256 << 10, SVG_MOST = 1 << 20 };

/* ---- What is known ---- */

static void load(const Workbook *book, const LabEntry *entry, PortfolioLab *lab)
{
    char path[PATH];

    *lab = (PortfolioLab){ .entry = entry };
    progress_load(book->progress, entry, &lab->progress);
    state_path(book->progress, "history", path, sizeof path);
    lab->gradings = history_load(path, entry, lab->history, PORTFOLIO_GRADINGS);
    state_path(book->progress, "quiz", path, sizeof path);
    quiz_load(path, entry, &lab->quiz);
    lab->prediction_count = predictions_load(lab_file(book, entry, "predictions.txt", path),
                                             entry->lab, lab->predictions);
}

/* ---- Rooflines: kept in build/report, since a run takes a second or two ---- */

/* A kernel that is correct has a place on the roofline. */
static bool has_place(const PortfolioLab *lab)
{
    const Progress *p = &lab->progress;

    return p->graded && !lab->entry->lab->streams &&
           (verdict_passed(p->latest) || p->latest == SLOW || p->latest == CORRECT_ONLY);
}

static bool add_point(const CollectJob *job, bool is_reference, RooflinePoints *points)
{
    static Records records;
    static char why[COLLECT_WHY];
    RooflinePoint *p = &points->points[points->count];
    Worker worker;
    Limited l;
    const bool well = collect_run(job, &(RecordFilter){ -1, -1 }, &worker, &records, why) &&
                      !*why && worker_limits(&worker, &l) == PASS;

    worker_end(&worker);
    if (!well)
        return false;
    *p = (RooflinePoint){ .at = roofline_of(&l.limits, l.fp32_tflops, l.memory_gbps),
                          .is_yours = !is_reference,
                          .is_reference = is_reference };
    PUT(p->name, "%s", is_reference ? "reference" : "your kernel");
    points->fp32_tflops = l.fp32_tflops;
    points->memory_gbps = l.memory_gbps;
    points->count++;
    return true;
}

static char *draw_points(const LabEntry *entry, const Case *sized, const RooflinePoints *points)
{
    const PictureKind *kind = picture_kind("roofline");
    const Picture picture = {
        .entry = entry, .lab_case = *sized, .file = "kernel.cu", .failed = "", .roofline = points
    };
    Words words = { .why = "" };
    Svg svg;
    char *text, id[PATH];
    size_t bytes;
    FILE *to = text_open(&text, &bytes);
    bool drawn;

    svg_begin(&svg, PICTURE_WIDTH);
    drawn = kind->draw(&picture, &svg, &words);
    PUT(id, "roofline-%s", entry->folder);
    svg_write(&svg, &(SvgHead){ words.title, words.description, THEME_AUTO, id }, to);
    text_close(to);
    if (drawn)
        return text;
    free(text);
    return NULL;
}

/* NULL if the student's kernel cannot be run. */
static char *run_and_draw(Session *session, const LabEntry *entry, const char *source)
{
    static FileList rungs;
    const Case sized = collect_case(collect_choose_case(entry->lab, NULL), &session->gpu);
    CollectJob job = { session, entry, &sized, source, source };
    RooflinePoints points = { .count = 0 };

    session_say(session, "%02d %s: roofline", lab_number(entry), lab_name(entry));
    PUT(points.device, "%s", session->gpu.name);
    if (!add_point(&job, false, &points))
        return NULL;
    list_rungs(&session->book, entry, &rungs);
    if (rungs.count) {
        job.source = job.shown = rungs.path[rungs.count - 1];
        add_point(&job, true, &points);
    }
    return draw_points(entry, &sized, &points);
}

/* The picture's file, named for everything that it depends on. */
static bool picture_file(const Session *session, const LabEntry *entry, const char *source,
                         char path[PATH])
{
    char folder[PATH], word[80];
    size_t size;
    char *text = read_file(source, SOURCE_MOST, &size);
    uint64_t hash = lab_hash(&session->book, entry) ^ session->simulator;

    if (text)
        hash = hash_bytes(hash, text, size);
    free(text);
    if (!text || !find_build_folder(folder, sizeof folder))
        return false;
    put(path, PATH, "%.300s/report", folder);
    if (!make_folders(path))
        return false;
    put(path, PATH, "%.300s/report/%s-%s-%016llx.svg", folder, entry->folder,
        session_device_word(session, word, sizeof word), (unsigned long long) hash);
    return true;
}

static char *roofline(Session *session, const LabEntry *entry)
{
    char source[PATH], path[PATH], *text;

    lab_file(&session->book, entry, "kernel.cu", source);
    if (!picture_file(session, entry, source, path))
        return NULL;
    text = read_file(path, SVG_MOST, NULL);
    if (text)
        return text;
    text = run_and_draw(session, entry, source);
    if (text)
        write_file(path, text, strlen(text)); /* a failure costs time, next time */
    return text;
}

static void draw_rooflines(Portfolio *portfolio, const char *device)
{
    static Session session;
    bool any = false;

    for (int i = 0; i < portfolio->count; i++)
        any |= has_place(&portfolio->labs[i]);
    if (!any)
        return;
    session = (Session){ .quick = true, .live = isatty(2), .replayed = true, .seed = 1 };
    if (!session_open(&session, device && !strncmp(device, "sim", 3) ? device : "sim")) {
        PUT(portfolio->no_roofline, "%s", session.problem);
        return;
    }
    for (int i = 0; i < portfolio->count; i++)
        if (has_place(&portfolio->labs[i]))
            portfolio->labs[i].roofline = roofline(&session, portfolio->labs[i].entry);
    session_clear_line();
    session_close(&session);
}

/* ---- The page ---- */

static bool save(const Portfolio *portfolio, char path[PATH])
{
    char folder[PATH], *text;
    size_t bytes;
    FILE *to = text_open(&text, &bytes);
    bool saved;

    portfolio_page(portfolio, to);
    text_close(to);
    saved = find_build_folder(folder, sizeof folder);
    put(path, PATH, "%.400s/report.html", folder);
    saved = saved && write_file(path, text, bytes);
    free(text);
    return saved;
}

int run_portfolio(Options *options)
{
    static Workbook book;
    static PortfolioLab labs[64];
    Portfolio portfolio = { .labs = labs };
    char problem[700], path[PATH];
    time_t now = time(NULL);
    bool saved;

    if (!workbook_find(&book, problem, sizeof problem)) {
        fprintf(stderr, "warpbook: %s\n", problem);
        return COULD_NOT;
    }
    strftime(portfolio.date, sizeof portfolio.date, "%Y-%m-%d %H:%M", localtime(&now));
    for (; portfolio.count < options->count; portfolio.count++)
        load(&book, options->labs[portfolio.count], &labs[portfolio.count]);
    draw_rooflines(&portfolio, options->device);
    saved = save(&portfolio, path);
    for (int i = 0; i < portfolio.count; i++)
        free(labs[i].roofline);
    if (saved)
        report_page("A page of your labs: verdicts, speeds, predictions, quiz.", path);
    else
        fprintf(stderr, "warpbook: cannot write %s: %s\n", path, strerror(errno));
    return saved ? DONE : COULD_NOT;
}
