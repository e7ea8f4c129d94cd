/* fake_script.h - the script of the scripted runner.
 *
 * The directives are lines with `// fake: ...` in the source that it loads:
 *
 *   ms 2.0               a call really takes that long (default: 0.5)
 *   ms_case 3 5.0        the same, for the lab's case number 3 only
 *   first 300            the first go takes that many ms more
 *   lie 0.1              reports that many ms per call instead
 *   lazy 2.0 [N]         each call of a go adds that many ms to the first window fetched after it;
 *                        N: only in the first N processes that load it
 *   KIND at STEP         misbehaves: see misdeeds[] of fake_misdeeds.c
 *                        (steps: load, case, prepare, go, window, guards, clock)
 *   wrong HOW            spoils outputs: see spoilers[] of fake_runner.c; `wrong unwritten` never
 *                        writes them
 *   stray WHERE          after, before, input: what the guards report after the first go
 *   stop-after N         outputs are right after the first N calls, never written later
 *   launch-error         every go fails in this way; also kernel-error, unsafe and limit
 *                        (the last two on a simulated GPU)
 *   sectors 8 24         a simulated GPU counts 8 times the minimum, and blames line 24
 *   limited shared 24    a simulated GPU reports this limit, a key of sim/base/limiter.h, in line
 *                        24; `nan`, `minus` or `nothing` is an invalid answer
 *   worth 0 4.0          without cause number 0 of sim/base/cause.h a modelled call is 4 times as
 *                        fast
 *   shared               the kernel was loaded into the runner's own process
 *   untimed              a simulated GPU cannot time a launch
 *   endless 15           it stops the lab's case number 15 as endless
 *   sampled 12           it timed 12 of a hundred blocks
 */
#ifndef RUNNER_FAKE_SCRIPT_H
#define RUNNER_FAKE_SCRIPT_H

#include <stdbool.h>
#include <string.h>

enum { SCRIPT_CASES = 64, SCRIPT_MISDEEDS = 4 };

typedef struct Misdeed {
    char name[16], step[16];
} Misdeed;

typedef struct Script {
    double ms, case_ms[SCRIPT_CASES]; /* 0: as ms says */
    double lie_ms;                    /* < 0: reports the real time */
    double lazy_ms, first_ms;
    long lazy_loads; /* 0: all processes are lazy */
    long stop_after; /* < 0: never */
    char wrong[16], stray[16];
    char limited[16]; /* "": dram */
    int limited_line;
    unsigned worth_cause; /* a CauseSet; 0: none */
    double worth;
    bool launch_error, kernel_error, unsafe, limit;
    double sectors; /* as a multiple of the minimum number */
    int sectors_line;
    bool shared, untimed, endless[SCRIPT_CASES];
    int sampled; /* 0: all */
    Misdeed misdeeds[SCRIPT_MISDEEDS];
    int misdeed_count;
} Script;

extern Script script;

/* Ends the program if a directive is unknown. */
void script_read(const char *source);

static inline bool is(const char *a, const char *b)
{
    return !strcmp(a, b);
}

#endif
