/* judge.c - how fast is a right kernel, beside the lab's reference on the same GPU, now?
 *
 * In the order of a run: the reference and its twin come up, sizes are chosen, the GPU is warmed
 * until its clock is steady, and the two race (A/A): what they differ by is what this machine can
 * resolve. The twin is killed. Only now does the student's process exist. Each timed case is a race
 * (speed.h) of reference and student; within 1 % of the bar two more races of fresh processes
 * follow, since where buffers lie in memory moves a ratio by up to 0.5 %. If the reference was
 * slower beside the student than before, the student is killed and the reference measured again: if
 * it recovers, it had been interfered with.
 */
#include "grade.h"
#include "outputs.h"
#include "side.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double near_bar = 0.01; /* of the bar: then three pairs of processes */
static const double noisy = 0.05;    /* A/A half-width at which speed is not judged */
static const double race_budget_s = 3;

/* A kernel left running beside the reference slows it by 8 % or more; the heat of an honest one by
 * up to 2.6 % (NVIDIA H200, 2026-11-21). The line lies between. */
static const double interference = 1.05;

/* Times at SM clocks that differ by more than this are not compared. */
static const double same_clock = 0.03;

/* Faster than this share of the reference: is anything that we know as fast? */
static const double remarkable = 1.3, beyond_known = 1.1;

static void add_flag(Result *result, const char *flag)
{
    if (!strstr(result->flags, flag))
        APPEND(result->flags, "%s%s", *result->flags ? " " : "", flag);
}

/* ---- One lab ---- */

typedef struct Judging {
    Session *session;
    Result *result;
    const LabEntry *entry;
    const char *reference_object, *object;
    uint64_t *random;
    GpuInfo info;
    Contestant reference;
    Plan plan[GRADE_CASES];
    /* The reference's call before the student's process existed, and the SM clock then. */
    double alone_ms[GRADE_CASES], alone_mhz[GRADE_CASES];
    const char *doing; /* for the progress line */
} Judging;

static void show_blocks(void *self, int blocks)
{
    Judging *j = self;

    session_say(j->session, "%02d %s: %s, block %d", lab_number(j->entry), lab_name(j->entry),
                j->doing, blocks);
}

/* Trouble with what is ours: the grader's fault or the machine's. */
static bool ours_failed(Judging *j, Verdict verdict, const char *who, const char *why)
{
    if (verdict == PASS)
        return false;
    j->result->verdict = UNSOUND;
    PUT(j->result->why, "%s failed, which is not your fault: %s", who, why);
    return true;
}

static Verdict start_ours(Judging *j, Contestant *side, const char *object, GpuInfo *info)
{
    return side_start(side, j->session, j->entry, object, j->random, info);
}

static void race_of(Judging *j, Contestant *student, double bar, int least, Finish *finish)
{
    Race the_race = {
        .reference = { &j->reference, side_sample },
        .student = { student, side_sample },
        .bar = bar,
        .least = least,
        .most = 120,
        .budget_s = race_budget_s,
        .random = next_random(j->random),
        .clock_mhz = side_clock,
        .clock_self = &j->reference,
        .progress = show_blocks,
        .progress_self = j,
    };
    race(&the_race, finish);
}

/* Reference against its twin on every timed case: what can this machine tell apart? */
static bool judge_machine(Judging *j, Contestant *twin)
{
    for (int i = 0; i < j->result->speeds; i++) {
        CaseSpeed *s = &j->result->speed[i];
        Finish finish;
        Verdict verdict;
        if (!j->plan[i].sets || s->lab_case->kind != TIMED)
            continue;
        j->doing = "the reference beside itself";
        if (ours_failed(j, side_take_up(&j->reference, &j->plan[i]), "the reference",
                        j->reference.worker.why))
            return false;
        verdict = side_take_up(twin, &j->plan[i]);
        if (ours_failed(j, verdict, "the reference's twin", twin->worker.why))
            return false;
        race_of(j, twin, 0, 9, &finish); /* 9: the interval leaves out the extremes */
        if (ours_failed(j, finish.trouble, "the reference",
                        finish.student_guilty ? twin->worker.why : j->reference.worker.why))
            return false;
        j->alone_ms[i] = finish.reference_ms;
        j->alone_mhz[i] = finish.mhz;
        s->resolution = fmax(fabs(finish.ratio.hi - 1), fabs(1 - finish.ratio.lo));
        if (s->resolution > noisy || finish.blocks < 9) {
            PUT(s->why_not,
                "this machine is too noisy now: the reference beside itself differs by %.0f %%",
                s->resolution * 100);
            j->plan[i].sets = 0;
        }
    }
    return true;
}

/* Faster than memory can be: the least bytes, less what L2 may have kept, at 1.05 of the peak. */
static bool impossible(const Judging *j, const Plan *plan, double call_ms)
{
    double bytes = j->entry->lab->work(&plan->sized).bytes - (double) j->info.gpu.l2_bytes;

    return j->info.peak_gbps > 0 && bytes > 0 &&
           bytes / (call_ms * 1e-3) > 1.05e9 * j->info.peak_gbps;
}

static void record(const Judging *j, const Plan *plan, const Finish *finish, CaseSpeed *s)
{
    Work work = j->entry->lab->work(&plan->sized);

    s->measured = true;
    s->ratio = finish->ratio;
    s->student_ms = finish->student_ms;
    s->reference_ms = finish->reference_ms;
    s->gbps = work.bytes / finish->student_ms * 1e-6;
    s->gflops = work.flops / finish->student_ms * 1e-6;
    s->reference_gbps = work.bytes / finish->reference_ms * 1e-6;
    s->blocks = finish->blocks;
    s->dropped = finish->disturbed + finish->unsteady;
    s->by_parent = finish->by_parent;
    s->pairs = 1;
    memcpy(s->dim, plan->sized.dim, sizeof s->dim);
}

static bool student_failed(Judging *j, Verdict verdict, const Contestant *student, const Plan *plan)
{
    if (verdict == PASS)
        return false;
    j->result->verdict = verdict;
    PUT(j->result->why, "%s%s%s", verdict == WRONG || verdict == STRAY ? "" : "case ",
        verdict == WRONG || verdict == STRAY ? "" : plan->sized.label,
        verdict == WRONG || verdict == STRAY ? "" : ": ");
    APPEND(j->result->why, "%s", student->worker.why);
    return true;
}

static bool start_student(Judging *j, Contestant *student, int i)
{
    GpuInfo info;

    return !student_failed(j,
                           side_start(student, j->session, j->entry, j->object, j->random, &info),
                           student, &j->plan[i]);
}

/* What the reference's times before, beside and after the student's process say. */
typedef enum Suspicion { NO_HARM, SLOWED_BY_STUDENT, GPU_CHANGED, REFERENCE_FAILED } Suspicion;

/* If the reference was slower beside the student: the student is killed, and the reference measured
 * once more. At another SM clock the times say nothing. */
static Suspicion who_slowed(Judging *j, Contestant *student, int i, const Finish *finish)
{
    double before_ms = j->alone_ms[i], after_ms, after_mhz;
    Verdict verdict;

    if (!before_ms || finish->reference_ms <= before_ms * interference)
        return NO_HARM;
    side_end(student);
    sleep_s(0.1); /* a killed context is gone after 60 ms; 15 ms later the GPU is clean */
    verdict = side_time_alone(&j->reference, 4, &after_ms);
    if (verdict == PASS)
        verdict = worker_clock(&j->reference.worker, &after_mhz);
    if (ours_failed(j, verdict, "the reference", j->reference.worker.why))
        return REFERENCE_FAILED;
    if (fabs(finish->mhz / j->alone_mhz[i] - 1) > same_clock ||
        fabs(after_mhz / j->alone_mhz[i] - 1) > same_clock)
        return GPU_CHANGED;
    return after_ms <= before_ms * (1 + (interference - 1) / 2) ? SLOWED_BY_STUDENT : GPU_CHANGED;
}

/* Something else may have passed by in that second: who is accused has done it twice. */
static bool interfered(Judging *j, Contestant *student, int i, const Finish *finish)
{
    Suspicion suspicion = who_slowed(j, student, i, finish);
    double slower = finish->reference_ms / j->alone_ms[i] - 1;

    if (suspicion == NO_HARM || suspicion == REFERENCE_FAILED)
        return suspicion == REFERENCE_FAILED;
    if (suspicion == SLOWED_BY_STUDENT) {
        Finish again;
        if (!start_student(j, student, i) ||
            student_failed(j, side_take_up(student, &j->plan[i]), student, &j->plan[i]))
            return true;
        race_of(j, student, 0, 5, &again);
        if (again.trouble != PASS && !again.student_guilty)
            return ours_failed(j, again.trouble, "the reference", j->reference.worker.why);
        if (student_failed(j, again.trouble, student, &j->plan[i]))
            return true;
        suspicion = who_slowed(j, student, i, &again);
    }
    if (suspicion == REFERENCE_FAILED)
        return true;
    if (suspicion == SLOWED_BY_STUDENT) {
        j->result->verdict = SUSPECT;
        PUT(j->result->why,
            "while this kernel's process existed the reference took %.0f %% longer, and recovered "
            "when it was gone, twice",
            slower * 100);
        add_flag(j->result, "interference");
        return true;
    }
    j->result->verdict = CORRECT_ONLY;
    PUT(j->result->why, "the GPU became %.0f %% slower while it was measured; grade again",
        slower * 100);
    return true;
}

/* One race of one case. False: the verdict is there. */
static bool run_race(Judging *j, Contestant *student, int i, int least, Finish *finish)
{
    const Plan *plan = &j->plan[i];
    CaseSpeed *s = &j->result->speed[i];
    int set;

    j->doing = plan->sized.label;
    if (ours_failed(j, side_take_up(&j->reference, plan), "the reference", j->reference.worker.why))
        return false;
    if (student_failed(j, side_take_up(student, plan), student, plan))
        return false;
    race_of(j, student, s->bar, least, finish);
    if (finish->trouble != PASS && !finish->student_guilty)
        return !ours_failed(j, finish->trouble, "the reference", j->reference.worker.why);
    if (student_failed(j, finish->trouble, student, plan) ||
        student_failed(j, worker_check_guards(&student->worker), student, plan))
        return false;
    session_say(j->session, "%02d %s: %s, every element", lab_number(j->entry), lab_name(j->entry),
                plan->sized.label);
    set = (int) (next_random(j->random) % (uint64_t) student->calls);
    if (student_failed(j, outputs_check(&student->worker, set), student, plan))
        return false;
    if (finish->blocks < (least < 3 ? least : 3) && !finish->cut_short) {
        PUT(s->why_not, "the GPU's clock or another program disturbed nearly every sample");
        return true;
    }
    return !interfered(j, student, i, finish);
}

/* What a race says must be possible; and a lie about time is flagged. The peak is the driver's
 * word: if the reference exceeds it, too, it is the word that is wrong. */
static bool believable(Judging *j, int i, const Finish *finish)
{
    const CaseSpeed *s = &j->result->speed[i];
    const Plan *plan = &j->plan[i];

    if (finish->by_parent)
        add_flag(j->result, "clock");
    if (!finish->blocks || !impossible(j, plan, finish->student_ms) ||
        impossible(j, plan, finish->reference_ms))
        return true;
    j->result->verdict = SUSPECT;
    PUT(j->result->why,
        "case %s: %.0f GB/s is more than this GPU's memory can do (%.0f GB/s): the work cannot "
        "have been done",
        s->lab_case->label, j->entry->lab->work(&plan->sized).bytes / finish->student_ms * 1e-6,
        j->info.peak_gbps);
    return false;
}

/* Within 1 % of the bar the place of the buffers decides: two more pairs of fresh processes, and
 * the median of the three medians, with their range as the interval. */
static bool add_pairs(Judging *j, int i)
{
    CaseSpeed *s = &j->result->speed[i];
    double medians[3] = { s->ratio.median };

    for (int pair = 1; pair < 3; pair++) {
        Contestant student = { 0 };
        Finish finish;
        bool fine;
        GpuInfo info;

        side_end(&j->reference);
        if (ours_failed(j, start_ours(j, &j->reference, j->reference_object, &info),
                        "the reference", j->reference.worker.why))
            return false;
        fine = start_student(j, &student, i) && run_race(j, &student, i, 15, &finish);
        side_end(&student);
        if (!fine || !believable(j, i, &finish))
            return false;
        if (s->why_not[0]) {
            s->measured = false;
            return true;
        }
        medians[pair] = finish.ratio.median;
        s->by_parent |= finish.by_parent;
        s->blocks += finish.blocks;
        s->dropped += finish.disturbed + finish.unsteady;
    }
    s->pairs = 3;
    s->ratio = (Interval){ median(medians, 3), quantile(medians, 3, 0), quantile(medians, 3, 1) };
    return true;
}

static bool judge_case(Judging *j, Contestant *student, int i)
{
    CaseSpeed *s = &j->result->speed[i];
    Finish finish;
    bool control = s->lab_case->kind == CONTROL;

    if (!j->plan[i].sets)
        return true;
    if (student->worker.child.pid <= 0 && !start_student(j, student, i))
        return false;
    if (!run_race(j, student, i, control || j->session->quick ? 5 : 15, &finish))
        return false;
    if (s->why_not[0])
        return true;
    record(j, &j->plan[i], &finish, s);
    if (!believable(j, i, &finish))
        return false;
    if (!control && !j->session->quick && fabs(s->ratio.median - s->bar) < near_bar * s->bar) {
        side_end(student);
        return add_pairs(j, i);
    }
    return true;
}

/* ---- Other kernels of ours beside the reference: rung 1, the fastest ---- */

/* The ratio of a kernel of ours to the reference, from a short race; 0 if it can't be had. */
static double ratio_of_ours(Judging *j, const char *source, int i)
{
    Build built;
    Contestant ours = { 0 };
    GpuInfo info;
    Finish finish = { .trouble = UNSOUND };

    session_build(j->session, j->entry, source, NULL, &built);
    if (built.fault != BUILD_OK)
        return 0;
    j->doing = j->plan[i].sized.label;
    if (start_ours(j, &ours, built.object, &info) == PASS &&
        side_take_up(&j->reference, &j->plan[i]) == PASS &&
        side_take_up(&ours, &j->plan[i]) == PASS)
        race_of(j, &ours, 0, 3, &finish);
    side_end(&ours);
    return finish.trouble == PASS && finish.blocks ? finish.ratio.median : 0;
}

/* What rung 1 reaches on this device: where marks begin. Measured once, then remembered in the
 * build folder for this GPU, driver and lab. */
static double floor_of(Judging *j, int i)
{
    const CaseSpeed *s = &j->result->speed[i];
    char path[PATH * 2], text[64], *kept;
    uint64_t key = hash_bytes(j->result->hash, j->info.driver, strlen(j->info.driver));
    double floor;
    FileList rungs;
    char *rung;

    list_rungs(j->session, j->entry, &rungs);
    if (!rungs.count)
        return 0;
    if ((rung = read_file(rungs.path[0], 1 << 20, NULL)))
        key = hash_bytes(key, rung, strlen(rung));
    free(rung);
    key = hash_bytes(key, j->session->toolchain.version, strlen(j->session->toolchain.version));
    key = hash_bytes(key, s->dim, sizeof s->dim);
    PUT(path, "%s/%s-%s-%d-%016llx", j->session->floors, j->entry->folder, j->info.uuid, i,
        (unsigned long long) key);
    if ((kept = read_file(path, 63, NULL))) {
        floor = strtod(kept, NULL);
        free(kept);
        if (floor > 0 && floor < 1)
            return floor;
    }
    floor = ratio_of_ours(j, rungs.path[0], i);
    if (floor > 0 && make_folders(j->session->floors))
        write_file(path, text, strlen(PUT(text, "%.4f\n", floor)));
    return floor;
}

static void look_at_remarkable(Judging *j, int i)
{
    CaseSpeed *s = &j->result->speed[i];
    FileList beyond;
    double fastest = 0;

    list_solutions(j->session, j->entry, "/beyond", &beyond);
    if (beyond.count)
        fastest = ratio_of_ours(j, beyond.path[beyond.count - 1], i);
    if (s->ratio.median > beyond_known * fmax(fastest, 1))
        add_flag(j->result, "faster-than-known");
}

/* ---- The verdict ---- */

static void decide(Judging *j)
{
    Result *result = j->result;
    bool slow = false, close = false, unjudged = false;

    for (int i = 0; i < result->speeds; i++) {
        CaseSpeed *s = &result->speed[i];
        if (s->lab_case->kind != TIMED)
            continue;
        if (!s->measured) {
            unjudged = true;
            PUT(result->why, "case %s: %s", s->lab_case->label, s->why_not);
        } else if (s->ratio.lo <= s->bar && s->bar <= s->ratio.hi) {
            close = true;
        } else if (s->ratio.median < s->bar) {
            if (!slow)
                PUT(result->why,
                    "case %s runs at %.2f of the reference's speed (%.0f of %.0f GB/s), the bar "
                    "is %.2f",
                    s->lab_case->label, s->ratio.median, s->gbps, s->reference_gbps, s->bar);
            slow = true;
        }
    }
    result->verdict = slow ? SLOW : unjudged ? CORRECT_ONLY : close ? CLOSE : PASS;
    if (result->verdict == CLOSE)
        PUT(result->why, "too close to the bar to tell on this machine; counts as a pass");
}

static void list_cases(Judging *j)
{
    const Case *cases = j->entry->lab->cases;

    for (int i = 0; cases[i].label; i++)
        if (cases[i].kind == TIMED || (cases[i].kind == CONTROL && !j->session->quick)) {
            if (j->result->speeds == GRADE_CASES)
                die("lab %s has more than %d timed cases", j->entry->folder, GRADE_CASES);
            j->result->speed[j->result->speeds++] =
                (CaseSpeed){ .lab_case = &cases[i], .bar = cases[i].bar };
        }
}

/* Reference and twin up, sizes chosen, GPU warm, machine judged. */
static bool prepare(Judging *j)
{
    Contestant twin = { 0 };
    GpuInfo info;
    bool with_twin = !j->session->quick, fine;

    session_say(j->session, "%02d %s: warming up the GPU", lab_number(j->entry),
                lab_name(j->entry));
    fine = !ours_failed(j, start_ours(j, &j->reference, j->reference_object, &j->info),
                        "the reference", j->reference.worker.why);
    if (fine && with_twin) {
        fine = !ours_failed(j, start_ours(j, &twin, j->reference_object, &info), "the reference",
                            twin.worker.why);
        j->info.free_bytes = fmin(j->info.free_bytes, info.free_bytes);
    }
    for (int i = 0; fine && i < j->result->speeds; i++) {
        CaseSpeed *s = &j->result->speed[i];
        fine = !ours_failed(j,
                            side_plan(&j->reference, s->lab_case, &j->info, &j->plan[i], s->why_not,
                                      sizeof s->why_not),
                            "the reference", j->reference.worker.why);
    }
    for (int i = 0; fine && i < j->result->speeds; i++)
        if (j->plan[i].sets) {
            fine = !ours_failed(j, side_take_up(&j->reference, &j->plan[i]), "the reference",
                                j->reference.worker.why) &&
                   !ours_failed(j, side_warm_up(&j->reference), "the reference",
                                j->reference.worker.why);
            break;
        }
    if (fine && with_twin)
        fine = judge_machine(j, &twin);
    if (with_twin)
        side_end(&twin);
    return fine;
}

void judge_speed(Session *session, const char *reference, const char *object, Result *result,
                 uint64_t *random)
{
    Judging j = { .session = session,
                  .result = result,
                  .entry = result->entry,
                  .reference_object = reference,
                  .object = object,
                  .random = random };
    Contestant student = { 0 };
    bool fine;

    list_cases(&j);
    fine = prepare(&j);
    for (int i = 0; fine && i < result->speeds; i++)
        fine = judge_case(&j, &student, i);
    side_end(&student);
    if (fine)
        decide(&j);
    for (int i = 0; fine && i < result->speeds; i++) {
        CaseSpeed *s = &result->speed[i];
        if (!s->measured || s->lab_case->kind != TIMED)
            continue;
        if (result->verdict == SLOW)
            s->floor = floor_of(&j, i);
        if (s->ratio.median > remarkable)
            look_at_remarkable(&j, i);
    }
    side_end(&j.reference);
}
