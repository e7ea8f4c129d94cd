/* tool.h - `warpbook sim`: runs any CUDA program on the simulated GPU. */
#ifndef SIM_TOOL_H
#define SIM_TOOL_H

#include <stdbool.h>
#include <stddef.h>

enum { SIM_PATH = 4096, SIM_SETTINGS = 16 };

/* The program to run, and its environment. */
typedef struct SimPlan {
    char program[SIM_PATH]; /* where it was found */
    char **arguments;       /* its argv, NULL at the end */
    struct {
        const char *name;
        char value[2 * SIM_PATH];
    } settings[SIM_SETTINGS];
    int setting_count;
    bool help, list;    /* only this option was requested */
    int error_exitcode; /* exit status if there are findings; 0: findings do not affect it */
    int status;         /* exit status if the program cannot be run */
    char why[800];      /* the error, and what to do */
} SimPlan;

/* Fills the plan from the words after `warpbook sim`. On failure, returns false and sets plan->why
 * and plan->status. */
bool sim_plan(SimPlan *plan, int argc, char **argv);

/* Plans, and becomes the program. Returns only if that fails, with the exit status. */
int sim_run(int argc, char **argv);

#endif
