/* ratios.c - modelled speeds of a lab's kernels relative to the reference, for agree.sh.
 *
 *     ratios DEVICE LAB FILE...       FILE: a kernel's path; correctness is not checked
 *
 * It prints one line per timed or control case: `NAME/CASE ratio N bar N`. NAME is as in
 * docs/measured (a path below solutions/LAB, without .cu); the bar of a control case is 0.
 */
#include "judge/modelled.h"

#include <stdio.h>
#include <string.h>

static const char *name_of(const char *path, char *name, size_t size)
{
    const char *at = strstr(path, "solutions/");

    at = at ? strchr(at + strlen("solutions/"), '/') : NULL;
    put(name, size, "%s", at ? at + 1 : path);
    if (strlen(name) > 3)
        name[strlen(name) - 3] = 0;
    return name;
}

/* Returns false if the kernel could not be built, or a case of the reference could not be timed. */
static bool print_ratios(TimingContext *j, const char *path)
{
    char name[200];
    Build built;

    session_build(j->session, j->entry, path, NULL, &built);
    if (built.fault != BUILD_OK) {
        fprintf(stderr, "ratios: %s: %s\n", path, built.message);
        return false;
    }
    name_of(path, name, sizeof name);
    for (int i = 0; i < j->result->speeds; i++) {
        const CaseSpeed *s = &j->result->speed[i];
        printf("%s/%s ratio %.4f bar %.2f\n", name, s->lab_case->label,
               j->plan[i].sets ? modelled_ratio(j, built.object, i) : 0, s->bar);
    }
    fflush(stdout);
    return true;
}

static bool plan_all(TimingContext *j)
{
    for (int i = 0; i < j->result->speeds; i++) {
        ModelledCall reference;
        if (!modelled_plan(j, i, &reference)) {
            fprintf(stderr, "ratios: %s\n", j->result->why);
            return false;
        }
    }
    sampler_end(&j->reference);
    return true;
}

int main(int count, char **words)
{
    static Session session;
    static Result result;
    static Build reference;
    Draws random = draws_begin(1, "ratios", NULL);
    FileList rungs;
    bool fine;

    if (count < 4 || !(result.entry = lab_find(words[2]))) {
        fprintf(stderr, "ratios DEVICE LAB FILE...\n");
        return 2;
    }
    if (!session_open(&session, words[1])) {
        fprintf(stderr, "ratios: %s\n", session.problem);
        return 3;
    }
    result.hash = lab_hash(&session.book, result.entry);
    list_rungs(&session.book, result.entry, &rungs);
    session_build(&session, result.entry, rungs.path[rungs.count - 1], NULL, &reference);
    TimingContext j = { .session = &session,
                        .result = &result,
                        .entry = result.entry,
                        .reference_object = reference.object,
                        .random = &random,
                        .info = session.gpu };
    timing_list_cases(&j);
    fine = rungs.count && reference.fault == BUILD_OK && plan_all(&j);
    for (int i = 3; i < count && fine; i++)
        fine = print_ratios(&j, words[i]);
    session_close(&session);
    return fine ? 0 : 1;
}
