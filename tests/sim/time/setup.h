/* setup.h - what ratios.c and whatif.c have in common: a session, and the plan of a lab's timed
 * cases. */
#ifndef TESTS_SIM_TIME_SETUP_H
#define TESTS_SIM_TIME_SETUP_H

#include "judge/modelled.h"

#include <stdio.h>
#include <string.h>

/* The name as in docs/measured: the path below solutions/LAB, without .cu. */
static inline const char *name_of(const char *path, char *name, size_t size)
{
    const char *at = strstr(path, "solutions/");

    at = at ? strchr(at + strlen("solutions/"), '/') : NULL;
    put(name, size, "%s", at ? at + 1 : path);
    if (strlen(name) > 3)
        name[strlen(name) - 3] = 0;
    return name;
}

/* Plans the cases for which is_wanted() is true (NULL: all). */
static inline bool plan_all(TimingContext *j, bool (*is_wanted)(const TimingContext *j, int i),
                            const char *program)
{
    for (int i = 0; i < j->result->speeds; i++) {
        ModelledCall reference;
        if ((!is_wanted || is_wanted(j, i)) && !modelled_plan(j, i, &reference)) {
            fprintf(stderr, "%s: %s\n", program, j->result->why);
            return false;
        }
    }
    sampler_end(&j->reference);
    return true;
}

/* Opens a session on a device and lists the timed cases of a lab. Returns 0, or the exit status.
 * `program`: its name, which also fixes the inputs. */
static inline int set_up(TimingContext *j, const char *program, const char *device, const char *lab)
{
    static Session session;
    static Result result;
    static Build reference;
    static Draws random;
    FileList rungs;

    random = draws_begin(1, program, NULL);
    if (!(result.entry = lab_find(lab)))
        return 2;
    if (!session_open(&session, device)) {
        fprintf(stderr, "%s: %s\n", program, session.problem);
        return 3;
    }
    result.hash = lab_hash(&session.book, result.entry);
    list_rungs(&session.book, result.entry, &rungs);
    session_build(&session, result.entry, rungs.path[rungs.count - 1], NULL, &reference);
    *j = (TimingContext){ .session = &session,
                          .result = &result,
                          .entry = result.entry,
                          .reference_object = reference.object,
                          .random = &random,
                          .info = session.gpu };
    timing_list_cases(j);
    return rungs.count && reference.fault == BUILD_OK ? 0 : 1;
}

#endif
