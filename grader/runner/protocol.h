/* protocol.h - what grader and runner say to each other, and what a runner's device can do.
 *
 * One command a line, one answer a line, both begin with the same tag; data goes through shared
 * memory. Two programs speak it: the runner (runner/main.c, on CUDA), and the tests' scripted
 * runner (tests/runner/fake_runner.c, on the host, misbehaving on demand).
 *
 *   TAG hello
 *       ok cc:90 sms:132 l2_bytes:... free_bytes:... total_bytes:... peak_gbps:... driver:...
 *       runtime:... simulated:... uuid:... name:...
 *   TAG load LAB PATH              PATH takes the rest of the line; once a process
 *       ok sandbox:... isolation:... guest:PID     what student code is confined by
 *                                  (lockdown_state(), closed before); `split`: it lies in a process
 *                                  of its own, that one, `shared`: in the runner's, and guest is 0
 *   TAG case CASE D0 D1 D2 D3 SETS
 *       ok bytes:...               arrays of SETS buffer sets exist, guarded
 *   TAG prepare SEED POISON        SEED in hex: set k is filled from set_seed(SEED, k),
 *       ok                         outputs and scratch are poisoned with that byte
 *   TAG go CALLS
 *       ok ms:...                  call k on set k, by CUDA events
 *   TAG window SET OUT FIRST COUNT
 *       ok                         those elements of out[OUT] (or in[K]: in:K) lie at the
 *                                  beginning of the shared memory
 *   TAG guards SEED                the seed of the last prepare
 *       ok | fail stray set:0 array:out0 side:after offset:4096
 *   TAG checks ON BUDGET           1: races and uninitialised reads are looked for, 0: not; and the
 *       ok                         warp instructions a launch may execute (a simulated GPU only)
 *   TAG count COUNTER ARRAY        what the last go did: a Counter of lab.h, of in[ARRAY] or
 *       ok done:... least:... requests:... line:...     out[ARRAY] (a simulated GPU only)
 *   TAG model                      from here on the times of go are modelled, each go begins with
 *       ok                         cold caches (a simulated GPU only)
 *   TAG timed                      how the last go was (a simulated GPU only)
 *       ok launches:... untimed:... blocks:... timed_blocks:... instructions:...
 *       kernels_ms:...
 *   TAG limits                     what limited the last go, with its time modelled: nanoseconds by
 *       ok tflops:... gbps:... ns_dram:... busy_dram:... wait_far:... flops:... ...   the keys of
 *                                  sim/limiter.h; what is 0 is left out (a simulated GPU only)
 *   TAG cost I                     its I-th costliest source line, from 0 on; line 0: no more
 *       ok line:... sectors:... requests:... ... ns_dram:...
 *   TAG clock
 *       ok mhz:...
 *   TAG drop
 *       ok                         the arrays are freed
 *   TAG quit
 *       ok                         and ends
 *
 * A failure is `fail KIND TEXT` or `fail KIND.CODE TEXT`, CODE a word of diagnosis.h; KIND is gpu,
 * load, memory, hoards, launch, kernel, stray or usage; `died` if the process with student code is
 * gone, `garbage` if it broke the rules of guest_wire.h; of what a simulated GPU sees, too, unsafe,
 * endless (it was stopped) or limit (it can't be simulated). To hello: `fail gpu REASON TEXT`,
 * REASON being no-driver, old-driver, no-device, old-gpu, busy, memory or other. Of a stray, array
 * is in0.., out0.. or scratch; side is before or after, with the offset in bytes from the array's
 * nearest end (the bytes next to it are 1 before and 0 after), or inside, with the index of the
 * first input element that is not what it was filled with.
 *
 * What is no command at all (no tag, too long, a 0 in it, cut off) ends the process with status 2.
 */
#ifndef RUNNER_PROTOCOL_H
#define RUNNER_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lab.h"
#include "base/random.h"

enum { SERVE_SETS = 64, SERVE_ANSWER = 900, SERVE_LINE = 1024 };

/* Bytes before and after every array that nobody may write. Set once, when an array is allocated:
 * what breaks them is seen whenever we look. Each array of a set has a byte of its own, so that
 * guards copied onto guards, by a copy that goes too far in both its arrays, are seen as well. */
enum { GUARD_BYTES = 64 * 1024, GUARD_BYTE = 0xA0 };

typedef void Kernel(void);

/* What an array in device memory is filled with: seed of its set, number among the inputs. Student
 * code lives in the same process as what we keep, so seeds are not kept: they are there while
 * inputs are filled or compared, and wiped then. */
typedef struct Source {
    uint64_t seed;
    int input;
} Source;

/* What a device can do. Each returns true, or false with "KIND TEXT" in `fault` (SERVE_ANSWER
 * bytes). `answer` has SERVE_ANSWER bytes, too. */
typedef struct Device {
    bool (*hello)(char *answer, char *fault);
    bool (*load)(const char *folder, const Lab *lab, const char *path, Kernel **kernel,
                 char *answer, char *fault);
    bool (*allocate)(Array *array, unsigned char guard, char *fault); /* guards of that byte */
    void (*release)(Array *array);
    bool (*fill)(const Array *array, const Source *source, char *fault);
    bool (*poison)(const Array *array, unsigned char byte, char *fault);
    bool (*settle)(char *fault); /* before arrays are filled: persisting L2 reset, all work done,
                                  * and student code stands still where it can be stopped */
    bool (*filled)(char *fault); /* afterwards: they hold what they were filled with */
    bool (*time_calls)(const Lab *lab, const Case *lab_case, Kernel *kernel, Arrays *sets,
                       int calls, double *ms, char *fault);
    bool (*fetch)(const Array *array, size_t first, size_t count, void *to, char *fault);
    /* Offset SIZE_MAX: both are whole. Else the nearest broken byte, counted as above. */
    bool (*guards_whole)(const Array *array, unsigned char guard, size_t *offset, bool *before,
                         char *fault);
    bool (*holds)(const Array *array, const Source *source, size_t *differs_at, bool *same,
                  char *fault);
    bool (*clock_mhz)(double *mhz, char *fault);
    bool (*checks)(bool on, uint64_t budget, char *fault); /* NULL, and so are the next: no */
    bool (*count)(Counter counter, const Array *array, char *answer, char *fault);
    bool (*model_time)(char *fault);
    bool (*timed)(char *answer, char *fault);
    bool (*limits)(char *answer, char *fault);
    bool (*cost)(int i, char *answer, char *fault);
    void (*answered)(const char *command, const char *line); /* may be NULL; for tests */
} Device;

#endif
