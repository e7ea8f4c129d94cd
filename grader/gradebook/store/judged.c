/* judged.c - stored gradings under the current bars. */
#include "gradebook/store/judged.h"
#include "base/number.h"
#include "base/speed.h"
#include "base/util.h"

#include <stdio.h>
#include <string.h>

/* ---- The stored speeds of an attempt ---- */

typedef struct StoredCase {
    const Case *lab_case; /* NULL: a label that the lab does not have */
    bool is_timed, has_rung1;
    TimedCase timed;
} StoredCase;

typedef struct Stored {
    StoredCase list[MARKED_CASES];
    TimedCase timed[MARKED_CASES]; /* the timed cases of `list`, in order */
    int at[MARKED_CASES], count;   /* of each, the index in `list` */
} Stored;

/* Takes a figure such as "case.2.floor". */
static void take_figure(Stored *stored, const LabEntry *entry, const char *name, const char *value)
{
    char what[20];
    int number;
    StoredCase *c;

    if (sscanf(name, "case.%4d.%19[a-z_]", &number, what) != 2 || number < 1 ||
        number > MARKED_CASES)
        return;
    c = &stored->list[number - 1];
    if (!strcmp(what, "label"))
        c->lab_case = case_labelled(entry->lab, value);
    else if (!strcmp(what, "kind"))
        c->is_timed = !strcmp(value, "timed");
    else if (!strcmp(what, "saw"))
        c->timed.blind = !strcmp(value, "blind");
    else if (!strcmp(what, "bar"))
        c->timed.bar = number_or_zero(value);
    else if (!strcmp(what, "ratio"))
        c->timed.ratio.median = number_or_zero(value);
    else if (!strcmp(what, "ratio_lo"))
        c->timed.ratio.lo = number_or_zero(value);
    else if (!strcmp(what, "ratio_hi"))
        c->timed.ratio.hi = number_or_zero(value);
    else if (!strcmp(what, "floor"))
        c->timed.rung1 = number_or_zero(value);
    else if (!strcmp(what, "blocks"))
        c->timed.blocks = (int) number_or_zero(value);
    else if (!strcmp(what, "pairs"))
        c->timed.pairs = (int) number_or_zero(value);
}

/* A ratio without an interval has no noise. */
static void add_timed(Stored *stored, int i)
{
    StoredCase *c = &stored->list[i];

    if (!c->is_timed)
        return;
    c->timed.measured = c->timed.ratio.median > 0;
    c->timed.spares_rung1 = c->lab_case && c->lab_case->spares_rung1;
    if (!(c->timed.ratio.lo > 0 && c->timed.ratio.hi > 0))
        c->timed.ratio.lo = c->timed.ratio.hi = c->timed.ratio.median;
    stored->at[stored->count] = i;
    stored->timed[stored->count++] = c->timed;
}

static void read_stored(Store *store, int64_t attempt, const LabEntry *entry, Stored *stored)
{
    sqlite3_stmt *rows = store_ask(store,
                                   "SELECT name, value FROM figures WHERE attempt = ?"
                                   " AND name >= 'case.' AND name < 'case/'",
                                   "i", attempt);

    *stored = (Stored){ .count = 0 };
    while (store_row(store, rows))
        take_figure(stored, entry, store_text(rows, 0), store_text(rows, 1));
    for (int i = 0; i < MARKED_CASES; i++)
        add_timed(stored, i);
}

/* The current bar of a timed case; the one that it was graded with, if the lab has no such case. */
static double bar_of(const Store *store, const LabEntry *entry, const Stored *stored, int i)
{
    const Case *lab_case = stored->list[stored->at[i]].lab_case;

    return lab_case ? course_bar(&store->course, entry, (int) (lab_case - entry->lab->cases))
                    : stored->timed[i].bar;
}

/* Rung 1's speed, of a kernel that was not slow when it was graded, is taken from other gradings of
 * the lab on the same device. Returns false if there is none. */
static bool find_rung1(Store *store, int64_t attempt, const Stored *stored, TimedCase *timed, int i)
{
    char name[40];
    sqlite3_stmt *row;

    PUT(name, "case.%d.floor", stored->at[i] + 1);
    row = store_ask(store,
                    "SELECT f.value FROM verdicts o JOIN attempts oa ON oa.id = o.attempt"
                    " JOIN kernels ok ON ok.id = oa.kernel"
                    " JOIN figures f ON f.attempt = o.attempt AND f.name = ?2"
                    " JOIN verdicts v ON v.attempt = ?1 JOIN attempts a ON a.id = v.attempt"
                    " JOIN kernels k ON k.id = a.kernel"
                    " WHERE ok.lab = k.lab AND o.device = v.device AND o.lab_hash = v.lab_hash"
                    " ORDER BY o.attempt DESC LIMIT 1",
                    "it", attempt, name);
    while (store_row(store, row))
        timed->rung1 = number_or_zero(store_text(row, 0));
    return timed->rung1 > 0;
}

/* Slow kernels get marks from rung 1's speed on. */
static bool find_all_rung1(Store *store, int64_t attempt, const Stored *stored, TimedCase *timed)
{
    for (int i = 0; i < stored->count; i++)
        if (timed[i].measured && !(timed[i].rung1 > 0) &&
            !find_rung1(store, attempt, stored, &timed[i], i))
            return false;
    return true;
}

/* ---- Judging ---- */

typedef enum Standing { AS_GRADED, JUDGED_AGAIN, UNDECIDED } Standing;

typedef struct Judgement {
    Standing standing;
    Verdict verdict;
    char why[400];
} Judgement;

static void explain(const Stored *stored, const TimedCase *timed, int which, Judgement *judgement)
{
    const TimedCase *c = &timed[which];
    const Case *lab_case = which < 0 ? NULL : stored->list[stored->at[which]].lab_case;

    if (judgement->verdict == CLOSE)
        PUT(judgement->why, "too close to the bar to decide on this machine; counted as a pass");
    else if (judgement->verdict == SLOW)
        PUT(judgement->why, "case %s runs at %.2f of the reference's speed, the bar is %.2f",
            lab_case->label, ratio_shown(c->ratio.median, c->bar, 2), c->bar);
    else if (judgement->verdict == CORRECT_ONLY)
        PUT(judgement->why, "case %s: its speed was not judged%s", lab_case->label,
            c->blind ? ", because not even a naive kernel is clearly below the bar" : "");
}

/* True if a timed case was graded with another bar than the current one. */
static bool has_other_bars(const Stored *stored, const double *bars)
{
    for (int i = 0; i < stored->count; i++)
        if (speed_bar_differs(stored->timed[i].bar, bars[i]))
            return true;
    return false;
}

static bool has_blind(const Stored *stored)
{
    for (int i = 0; i < stored->count; i++)
        if (stored->timed[i].blind)
            return true;
    return false;
}

/* Applies the bars, and judges. A case that decides `slow` is enough; otherwise all must decide. */
static void judge_bars(Store *store, int64_t attempt, const Stored *stored, const double *bars,
                       Judgement *judgement)
{
    TimedCase timed[MARKED_CASES], decided[MARKED_CASES];
    int undecided = 0, which;

    for (int i = 0; i < stored->count; i++) {
        timed[i] = stored->timed[i];
        decided[i] = timed[i];
        if (!speed_apply_bar(&timed[i], bars[i])) {
            decided[i].measured = false;
            undecided++;
        } else {
            decided[i] = timed[i];
        }
    }
    judgement->verdict = speed_verdict(decided, stored->count, &which);
    judgement->standing = undecided && judgement->verdict != SLOW ? UNDECIDED : JUDGED_AGAIN;
    if (judgement->verdict == SLOW && !find_all_rung1(store, attempt, stored, timed))
        judgement->standing = UNDECIDED;
    if (judgement->standing == JUDGED_AGAIN)
        explain(stored, timed, which, judgement);
}

static bool depends_on_bars(Verdict verdict)
{
    return verdict == PASS || verdict == CLOSE || verdict == SLOW || verdict == CORRECT_ONLY;
}

static Judgement judge(Store *store, int64_t attempt, const LabEntry *entry, Verdict verdict)
{
    Judgement judgement = { AS_GRADED, .verdict = verdict };
    double bars[MARKED_CASES];
    Stored stored;
    int which;

    if (!depends_on_bars(verdict))
        return judgement;
    read_stored(store, attempt, entry, &stored);
    for (int i = 0; i < stored.count; i++)
        bars[i] = bar_of(store, entry, &stored, i);
    if (!has_other_bars(&stored, bars))
        return judgement;
    if (speed_verdict(stored.timed, stored.count, &which) == verdict)
        judge_bars(store, attempt, &stored, bars, &judgement);
    else if (has_blind(&stored)) /* counters decided, because speed could not */
        judgement.standing = UNDECIDED;
    return judgement;
}

/* ---- All kernels ---- */

/* The latest earlier grading since people last requested one that decides; 0: none. */
static int64_t find_earlier(Store *store, int64_t latest, const LabEntry *entry,
                            Judgement *judgement)
{
    sqlite3_stmt *rows = store_ask(
        store,
        "SELECT a.id, v.verdict FROM attempts o JOIN attempts a ON a.kernel = o.kernel"
        "  AND a.id < o.id AND a.terms = o.terms JOIN verdicts v ON v.attempt = a.id"
        " WHERE o.id = ?1 AND a.number > (SELECT coalesce(max(r.after), 0) FROM regrades r"
        "  WHERE r.kernel = o.kernel AND r.bars IS NULL) ORDER BY a.id DESC",
        "i", latest);
    int64_t found = 0;
    Verdict verdict;

    while (store_row(store, rows)) {
        if (found || !verdict_from_word(store_text(rows, 1), &verdict))
            continue;
        *judgement = judge(store, sqlite3_column_int64(rows, 0), entry, verdict);
        if (judgement->standing != UNDECIDED)
            found = sqlite3_column_int64(rows, 0);
    }
    return found;
}

static void judge_kernel(Store *store, int64_t kernel, int64_t latest, const LabEntry *entry,
                         Verdict verdict)
{
    Judgement judgement = judge(store, latest, entry, verdict);
    int64_t counts = latest;

    if (judgement.standing == AS_GRADED)
        return;
    if (judgement.standing == UNDECIDED)
        counts = find_earlier(store, latest, entry, &judgement);
    if (!counts)
        store_do(store, "INSERT INTO temp.judged VALUES (?, NULL, NULL, ?)", "it", kernel,
                 "the stored speeds cannot decide about the current bars: gradebook grade will "
                 "grade this kernel again");
    else
        store_do(store, "INSERT INTO temp.judged VALUES (?, ?, ?, ?)", "iitt", kernel, counts,
                 verdict_word(judgement.verdict),
                 judgement.standing == JUDGED_AGAIN ? judgement.why : NULL);
}

void judged_find(Store *store)
{
    sqlite3_stmt *rows;

    store_scratch(store);
    store_do(store,
             "CREATE TEMP TABLE IF NOT EXISTS judged (kernel INTEGER PRIMARY KEY, attempt INTEGER,"
             " verdict TEXT, why TEXT)",
             "");
    store_do(store, "DELETE FROM temp.judged", "");
    rows = store_ask(store,
                     "SELECT p.kernel, p.latest, p.lab, v.verdict FROM progress p"
                     " JOIN verdicts v ON v.attempt = p.latest"
                     " WHERE p.kernel IN (SELECT kernel FROM counted)",
                     "");
    while (store_row(store, rows)) {
        const LabEntry *entry = lab_find(store_text(rows, 2));
        Verdict verdict;
        if (entry && verdict_from_word(store_text(rows, 3), &verdict))
            judge_kernel(store, sqlite3_column_int64(rows, 0), sqlite3_column_int64(rows, 1), entry,
                         verdict);
    }
    store_scratch_end(store);
}

int judged_request(Store *store, const char *lab)
{
    static const char undecided[] = " FROM temp.judged j JOIN progress p ON p.kernel = j.kernel"
                                    " WHERE p.lab = ?1 AND p.graded > 0 AND j.attempt IS NULL";
    char sql[500];
    int count;

    count = (int) store_number(store, 0, PUT(sql, "SELECT count(*)%s", undecided), "t", lab);
    if (count)
        store_do(store,
                 PUT(sql,
                     "INSERT INTO regrades (kernel, after, at, bars)"
                     " SELECT p.kernel, p.attempts, datetime('now'), coalesce("
                     "  (SELECT c.bars FROM current_terms c WHERE c.lab = ?1), '')%s",
                     undecided),
                 "t", lab);
    return count;
}

void judged_cases(Store *store, int64_t attempt, const LabEntry *entry, Graded *graded)
{
    Stored stored;

    read_stored(store, attempt, entry, &stored);
    for (int i = 0; i < stored.count; i++) {
        TimedCase *c = &stored.timed[i];
        speed_apply_bar(c, bar_of(store, entry, &stored, i));
        if (!c->measured)
            continue;
        if (!(c->rung1 > 0) && !strcmp(graded->state, verdict_word(SLOW)))
            find_rung1(store, attempt, &stored, c, i);
        graded->cases[graded->count++] = (MarkedCase){ .ratio = c->ratio.median,
                                                       .rung1 = c->rung1,
                                                       .bar = c->bar,
                                                       .spares_rung1 = c->spares_rung1 };
    }
}
