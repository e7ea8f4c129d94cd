/* ratios.c - modelled speeds of a lab's kernels relative to the reference, for agree.sh.
 *
 *     ratios DEVICE LAB FILE...       FILE: a kernel's path; correctness is not checked
 *
 * It prints one line per timed or control case: `NAME/CASE ratio N bar N`. NAME is as in
 * docs/measured (a path below solutions/LAB, without .cu); the bar of a control case is 0.
 */
#include "sim/time/setup.h"

#include <stdio.h>
#include <string.h>

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

int main(int count, char **words)
{
    static TimingContext j;
    int status = 2;
    bool fine;

    if (!(count < 4))
        status = set_up(&j, "ratios", words[1], words[2]);
    if (status == 2)
        fprintf(stderr, "ratios DEVICE LAB FILE...\n");
    if (status)
        return status;
    fine = plan_all(&j, NULL, "ratios");
    for (int i = 3; i < count && fine; i++)
        fine = print_ratios(&j, words[i]);
    session_close(j.session);
    return fine ? 0 : 1;
}
