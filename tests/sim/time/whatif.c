/* whatif.c - modelled times of a lab's kernels, as they are and without causes of slowness, for
 * whatif.sh.
 *
 *     whatif DEVICE LAB FILE CAUSES...     CAUSES: none, or keys of causes, such as divergence,tail
 *
 * It prints one line per timed case and set of causes: `NAME/CASE CAUSES MS LIMIT`.
 */
#include "learner/whatif.h"
#include "sim/time/setup.h"

#include <stdio.h>
#include <string.h>

enum { MOST_SETS = 8 };

/* Timed cases; control cases in a lab that has only these. */
static bool is_wanted(const TimingContext *j, int i)
{
    for (int k = 0; k < j->result->speeds; k++)
        if (j->result->speed[k].lab_case->kind == TIMED)
            return j->result->speed[i].lab_case->kind == TIMED;
    return true;
}

static bool print_case(TimingContext *j, int i, const char *object, const char *name, char **words,
                       int sets)
{
    const CaseSpeed *s = &j->result->speed[i];
    WhatIf rows[MOST_SETS] = { 0 };
    char why[400];

    if (!j->plan[i].sets)
        return true;
    for (int k = 0; k < sets; k++)
        if (strcmp(words[k], "none") && !causes_read(words[k], &rows[k].without)) {
            fprintf(stderr, "whatif: unknown causes: %s\n", words[k]);
            return false;
        }
    if (!whatif_run(j->session, j->entry, object, &j->plan[i].sized, 1, rows, sets, why,
                    sizeof why)) {
        fprintf(stderr, "whatif: %s/%s: %s\n", name, s->lab_case->label, why);
        return s->lab_case->kind == CONTROL;
    }
    for (int k = 0; k < sets; k++)
        printf("%s/%s\t%s\t%.6f\t%s\n", name, s->lab_case->label, words[k], rows[k].ms,
               limit_keys[rows[k].limit]);
    fflush(stdout);
    return true;
}

static bool print_kernel(TimingContext *j, const char *path, char **words, int sets)
{
    char name[200];
    Build built;
    bool fine = true;

    session_build(j->session, j->entry, path, NULL, &built);
    if (built.fault != BUILD_OK) {
        fprintf(stderr, "whatif: %s: %s\n", path, built.message);
        return false;
    }
    name_of(path, name, sizeof name);
    for (int i = 0; i < j->result->speeds && fine; i++)
        if (is_wanted(j, i))
            fine = print_case(j, i, built.object, name, words, sets);
    return fine;
}

int main(int count, char **words)
{
    static TimingContext j;
    int status = 2;
    bool fine;

    if (!(count < 5 || count > 4 + MOST_SETS))
        status = set_up(&j, "whatif", words[1], words[2]);
    if (status == 2)
        fprintf(stderr, "whatif DEVICE LAB FILE CAUSES...\n");
    if (status)
        return status;
    fine = plan_all(&j, is_wanted, "whatif") && print_kernel(&j, words[3], words + 4, count - 4);
    session_close(j.session);
    return fine ? 0 : 1;
}
