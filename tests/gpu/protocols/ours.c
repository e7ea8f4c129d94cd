/* ours.c - the grader's own verdict on one timed case, many times over.
 *
 *   protocols_ours make FOLDER SLOWED.cu TARGET...
 *   protocols_ours grade FOLDER TARGET GRADINGS WORD
 *
 * `make` builds the reference of lab 06 and a slowed one, which runs a share of its blocks a second
 * time. The share is a number in the object's data. Once the cost of a share is known, a copy of
 * the object with another number is a kernel of any wanted speed. So FOLDER gets an object for
 * each TARGET (of the bar), its true ratio from races of many fresh pairs of processes (truth), and
 * the size of the case (size).
 *
 * `grade` judges the speed of one of them, exactly as `warpbook grade` does: it prints one row
 * per grading, which begins with "ours", WORD and TARGET, then verdict, ratio, seconds, flags.
 */
#include "judge/grade.h"
#include "judge/message.h"
#include "judge/sampler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An unlikely number, because it is searched for in the object; protocols.sh writes the same
 * one. */
static const double placeholder = 0.12345678987654321;

enum { TRUTH_PAIRS = 7, TRUTH_BLOCKS = 20 };

/* Lab 06 with one timed case left; the others are not graded. The order stays the same, since the
 * runner has its own table and receives an index. */
static const LabEntry *one_case(void)
{
    static LabEntry entry;
    const LabEntry *whole = lab_find("transpose");
    Lab *lab;
    Case *cases;
    size_t count = 0;

    if (!whole)
        die("lab transpose not found");
    while (whole->lab->cases[count++].label)
        ;
    cases = xcalloc(count, sizeof *cases);
    memcpy(cases, whole->lab->cases, count * sizeof *cases);
    for (size_t i = 0; i + 1 < count; i++)
        if (strcmp(cases[i].label, "flat"))
            cases[i].kind = CORRECT;
    lab = xmalloc(sizeof *lab);
    memcpy(lab, whole->lab, sizeof *lab);
    lab->cases = cases;
    entry = (LabEntry){ whole->folder, lab };
    return &entry;
}

static const Case *timed_case(const LabEntry *entry)
{
    const Case *c = entry->lab->cases;

    while (c->label && c->kind != TIMED)
        c++;
    if (!c->label)
        die("lab 06 has no timed case called flat");
    return c;
}

static void must(Verdict verdict, const Sampler *side)
{
    if (verdict != PASS)
        die("%s: %s", verdict_word(verdict), side->worker.why);
}

/* ---- make: objects of known speed ---- */

/* The ratio of an object to the reference: one race of two fresh processes. */
static double ratio_of(Session *session, const LabEntry *entry, const char *reference,
                       const char *object, Plan *plan)
{
    Sampler ours, other;
    Outcome outcome;
    Diagnosis unjudged = { 0 };
    char why_not[400];
    const Setup setup = { 0 };
    Draws random = draws_begin(secret(), "protocols", NULL);

    must(sampler_start(&ours, session, entry, reference, &setup, &random), &ours);
    must(sampler_start(&other, session, entry, object, &setup, &random), &other);
    must(sampler_plan(&ours, timed_case(entry), &ours.worker.gpu, plan, &unjudged), &ours);
    if (!plan->sets) {
        message_unjudged(&unjudged, why_not, sizeof why_not);
        die("%s", why_not);
    }
    must(sampler_take_up(&ours, plan), &ours);
    must(sampler_take_up(&other, plan), &other);
    must(sampler_warm_up(&ours), &ours);
    Comparison comparison = {
        .reference = { &ours, sampler_sample },
        .student = { &other, sampler_sample },
        .least = TRUTH_BLOCKS,
        .most = TRUTH_BLOCKS,
        .random = draw(&random, DRAW_ORDER),
        .clock_mhz = sampler_clock,
        .clock_self = &ours,
    };
    compare_speed(&comparison, &outcome);
    must(outcome.verdict, outcome.student_failed ? &other : &ours);
    sampler_end(&ours);
    sampler_end(&other);
    return outcome.ratio.median;
}

/* The median over pairs of processes, with the range. */
static Interval true_ratio(Session *session, const LabEntry *entry, const char *reference,
                           const char *object, Plan *plan)
{
    double ratio[TRUTH_PAIRS];

    for (int pair = 0; pair < TRUTH_PAIRS; pair++)
        ratio[pair] = ratio_of(session, entry, reference, object, plan);
    return (Interval){ median(ratio, TRUTH_PAIRS), quantile(ratio, TRUTH_PAIRS, 0),
                       quantile(ratio, TRUTH_PAIRS, 1) };
}

static void build_or_die(const Session *session, const LabEntry *entry, const char *source,
                         char *object)
{
    Build built;

    session_build(session, entry, source, NULL, &built);
    if (built.fault != BUILD_OK)
        die("%s: %s", source, built.message);
    put(object, PATH, "%s", built.object);
}

/* Writes a copy of `object` that contains `share`. */
static void write_with_share(const char *object, double share, const char *path)
{
    size_t size, found = 0, places = 0;
    char *bytes = read_file(object, 64 << 20, &size);

    if (!bytes)
        die("cannot read %s", object);
    for (size_t i = 0; i + sizeof share <= size; i++)
        if (!memcmp(bytes + i, &placeholder, sizeof share)) {
            found = i;
            places++;
        }
    if (places != 1)
        die("%s holds the number to be replaced %zu times, not once", object, places);
    memcpy(bytes + found, &share, sizeof share);
    if (!write_file(path, bytes, size))
        die("cannot write %s", path);
    free(bytes);
}

/* The fixed cost of the second launch, as a share of the reference. */
static double cost_of_launch(Session *session, const LabEntry *entry, const char *folder,
                             const char *reference, const char *slowed, Plan *plan)
{
    char path[PATH];
    double share = 1 / timed_case(entry)->bar - 1;
    Interval ratio;

    write_with_share(slowed, share, PUT(path, "%s/trial.so", folder));
    ratio = true_ratio(session, entry, reference, path, plan);
    return 1 / ratio.median - 1 - share;
}

static void copy_file(const char *from, const char *to)
{
    size_t size;
    char *bytes = read_file(from, 64 << 20, &size);

    if (!bytes || !write_file(to, bytes, size))
        die("cannot copy %s to %s", from, to);
    free(bytes);
}

static void make(Session *session, const LabEntry *entry, const char *folder, const char *source,
                 char **targets)
{
    char built[PATH], slowed[PATH], reference[PATH], path[PATH], truth[1024] = "", size[64];
    double bar = timed_case(entry)->bar, launch;
    FileList rungs;
    Plan plan;

    list_rungs(&session->book, entry, &rungs);
    if (!rungs.count)
        die("lab 06 has no rungs");
    build_or_die(session, entry, rungs.path[rungs.count - 1], built);
    build_or_die(session, entry, source, slowed);
    copy_file(built, PUT(reference, "%s/reference.so", folder));
    launch = cost_of_launch(session, entry, folder, reference, slowed, &plan);
    for (; *targets; targets++) {
        double share = 1 / (atof(*targets) * bar) - 1 - launch;
        Interval ratio;
        write_with_share(slowed, share, PUT(path, "%s/%s.so", folder, *targets));
        ratio = true_ratio(session, entry, reference, path, &plan);
        fprintf(stderr, "%s of the bar: %.5f\n", *targets, ratio.median / bar);
        APPEND(truth, "%s %.5f %.5f %.5f %.4f\n", *targets, ratio.median, ratio.lo, ratio.hi, bar);
    }
    PUT(path, "%s/truth", folder);
    if (!write_file(path, truth, strlen(truth)))
        die("cannot write %s", path);
    PUT(path, "%s/size", folder);
    PUT(size, "%ld %ld\n", plan.sized.dim[0], plan.sized.dim[1]);
    if (!write_file(path, size, strlen(size)))
        die("cannot write %s", path);
}

/* ---- grade ---- */

static void grade_one(Session *session, const LabEntry *entry, const char *folder,
                      const char *target, const char *word)
{
    static Result result;
    char reference[PATH], object[PATH];
    const Setup setup = { 0 };
    Draws random = draws_begin(secret(), "protocols", NULL);
    double start = now_s();

    result = (Result){ .entry = entry, .verdict = PASS, .hash = lab_hash(&session->book, entry) };
    judge_speed(session, PUT(reference, "%s/reference.so", folder),
                PUT(object, "%s/%s.so", folder, target), &result, &random);
    printf("ours %s %s %s %.5f %.2f %s\n", word, target, verdict_word(result.verdict),
           result.speed[0].measured ? result.speed[0].ratio.median : 0, now_s() - start,
           result.flags);
    fflush(stdout);
    if (result.why[0] && result.verdict != SLOW && result.verdict != CLOSE)
        fprintf(stderr, "%s: %s\n", verdict_word(result.verdict), result.why);
}

int main(int count, char **words)
{
    static Session session;
    const LabEntry *entry = one_case();
    char folder[PATH], *real;
    bool making = count >= 5 && !strcmp(words[1], "make");

    if (!making && (count != 6 || strcmp(words[1], "grade")))
        die("usage: make FOLDER SLOWED.cu TARGET... | grade FOLDER TARGET GRADINGS WORD");
    if (!(real = realpath(words[2], NULL)))
        die("folder %s not found", words[2]);
    PUT(folder, "%s", real);
    free(real);
    session.seed = secret();
    if (!session_open(&session, "0"))
        die("cannot grade here: %s", session.problem);
    child_on_signals(session_clear_line);
    if (making)
        make(&session, entry, folder, words[3], words + 4);
    else
        for (int i = atoi(words[4]); i > 0; i--)
            grade_one(&session, entry, folder, words[3], words[5]);
    session_close(&session);
    return 0;
}
