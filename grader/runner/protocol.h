/* protocol.h - the line protocol between the grader and a runner, and the interface of a device.
 *
 * One command per line, one answer per line; both begin with the same tag. Data goes through shared
 * memory. Two programs speak the protocol: the runner (runner/main.c, on CUDA), and the tests'
 * scripted runner (tests/runner/fake_runner.c, on the host, which misbehaves on demand).
 *
 *   TAG hello
 *       ok cc:90 sms:132 l2_bytes:... free_bytes:... total_bytes:... peak_gbps:... driver:...
 *       runtime:... simulated:... uuid:... name:...
 *   TAG load LAB PATH              PATH is the rest of the line; once per process
 *       ok sandbox:... isolation:... guest:PID     sandbox: what confines student code
 *                                  (lockdown_state(), applied first); isolation: `split` (student
 *                                  code is in process PID) or `shared` (in the runner; PID is 0)
 *   TAG case CASE D0 D1 D2 D3 SETS
 *       ok bytes:...               the arrays of SETS buffer sets are allocated, with guards
 *   TAG prepare SEED POISON        SEED in hex: set k is filled from set_seed(SEED, k);
 *       ok                         outputs and scratch are filled with the byte POISON
 *   TAG go CALLS
 *       ok ms:...                  call k works on set k; the time is from CUDA events
 *   TAG window SET OUT FIRST COUNT
 *       ok                         copies those elements of out[OUT] (in:K means in[K]) to the
 *                                  beginning of the shared memory
 *   TAG guards SEED                the seed of the last prepare
 *       ok | fail stray set:0 array:out0 side:after offset:4096
 *   TAG checks ON ORDER BUDGET     ON: 1 checks for races and uninitialised reads, 0 does not;
 *       ok                         ORDER of warps and blocks: 0 forward, odd backward, else
 *                                  random, with this seed; BUDGET: the limit of warp
 *                                  instructions per launch (a simulated GPU only)
 *   TAG count COUNTER ARRAY        what the last go did: a Counter of lab.h, for in[ARRAY] or
 *       ok done:... least:...      out[ARRAY] (a simulated GPU only)
 *          requests:... line:... line_done:... line_requests:...
 *   TAG model CAUSES               from now on, go reports modelled times, and each go begins with
 *       ok                         cold caches; CAUSES: what these times leave out, a CauseSet of
 *                                  sim/base/cause.h; 0: nothing (a simulated GPU only)
 *   TAG timed                      how the last go was timed (a simulated GPU only)
 *       ok launches:... untimed:... blocks:... timed_blocks:... instructions:...
 *       kernels_ms:...
 *   TAG limits                     what limited the last go, with modelled time, in nanoseconds
 *       ok tflops:... gbps:... ns_dram:... busy_dram:... wait_far:... flops:... ...   the keys of
 *                                  sim/limiter.h; a key whose value is 0 is left out (a simulated
 *                                  GPU only)
 *   TAG cost I                     the I-th costliest source line of the last go, from 0;
 *       ok line:... sectors:... requests:... ... ns_dram:...     line:0 means no more lines
 *   TAG record BLOCK WARP          every following go keeps samples for pictures; BLOCK and
 *       ok                         WARP: a number or `any` (a simulated GPU only)
 *   TAG records                    copies them to the beginning of the shared memory, a Records of
 *       ok bytes:...               sim/base/records.h
 *   TAG trace                      every following go is traced (a simulated GPU only)
 *       ok
 *   TAG traced                     writes the trace, as text, to the beginning of the shared memory
 *       ok bytes:...
 *   TAG clock
 *       ok mhz:...
 *   TAG drop
 *       ok                         the arrays are freed
 *   TAG quit
 *       ok                         and the runner exits
 *
 * A failure is `fail KIND TEXT` or `fail KIND.CODE TEXT`; CODE is a word of diagnosis.h. A
 * simulated GPU adds the line of kernel.cu, and that of a race's other access: `fail
 * unsafe.race@27,25 TEXT`. KIND is gpu, load, memory, hoards, launch, kernel, stray or usage. It is
 * `died` if the process with student code is gone, and `garbage` if that process broke the rules of
 * guest_wire.h. A simulated GPU also reports unsafe, endless (it stopped the kernel) and limit (it
 * cannot simulate this). The failure of hello is `fail gpu REASON TEXT`; REASON is no-driver,
 * old-driver, no-device, old-gpu, busy, memory or other. For a stray write, array is in0.., out0..
 * or scratch. side is before or after, and offset is the distance in bytes from the nearest end of
 * the array (1 for the byte just before it, 0 for the byte just after it). side can also be inside;
 * offset is then the index of the first input element that changed.
 *
 * A line that is not a command (no tag, too long, cut off, or with a zero byte) makes the runner
 * exit with status 2.
 */
#ifndef RUNNER_PROTOCOL_H
#define RUNNER_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lab.h"
#include "base/random.h"

enum { SERVE_SETS = 64, SERVE_ANSWER = 900, SERVE_LINE = 1024 };

/* Guards: bytes before and after every array, which no code may write. They are set once, when the
 * array is allocated, so a later check always sees a broken guard. Each array of a set has its own
 * guard byte. A copy that overruns both of its arrays and moves guards onto guards is then visible.
 */
enum { GUARD_BYTES = 64 * 1024, GUARD_BYTE = 0xA0 };

typedef void Kernel(void);

/* Determines the contents of an array in device memory: the seed of its set, and its number among
 * the inputs. Student code may live in this process, so seeds are not kept: they exist only while
 * inputs are filled or compared, and are then wiped. */
typedef struct Source {
    uint64_t seed;
    int input;
} Source;

/* What a device can do. Each function returns true, or false with "KIND TEXT" in `fault`. Both
 * `fault` and `answer` have SERVE_ANSWER bytes. */
typedef struct Device {
    bool (*hello)(char *answer, char *fault);
    bool (*load)(const char *folder, const Lab *lab, const char *path, Kernel **kernel,
                 char *answer, char *fault);
    bool (*allocate)(Array *array, unsigned char guard, char *fault); /* guard: the guard byte */
    void (*release)(Array *array);
    bool (*fill)(const Array *array, const Source *source, char *fault);
    bool (*poison)(const Array *array, unsigned char byte, char *fault);
    bool (*settle)(char *fault); /* before arrays are filled: resets persisting L2, waits for all
                                  * work, and stops student code where that is possible */
    bool (*filled)(char *fault); /* after arrays were filled: waits until the fills are done */
    bool (*time_calls)(const Lab *lab, const Case *lab_case, Kernel *kernel, Arrays *sets,
                       int calls, double *ms, char *fault);
    bool (*fetch)(const Array *array, size_t first, size_t count, void *to, char *fault);
    /* Offset SIZE_MAX: both guards are whole. Else the nearest broken byte, counted as above. */
    bool (*guards_whole)(const Array *array, unsigned char guard, size_t *offset, bool *before,
                         char *fault);
    bool (*holds)(const Array *array, const Source *source, size_t *differs_at, bool *same,
                  char *fault);
    bool (*clock_mhz)(double *mhz, char *fault);
    /* This and the next: NULL if absent. */
    bool (*checks)(bool on, uint64_t order, uint64_t budget, char *fault);
    bool (*count)(Counter counter, const Array *array, char *answer, char *fault);
    bool (*model_time)(unsigned without, char *fault);
    bool (*timed)(char *answer, char *fault);
    bool (*limits)(char *answer, char *fault);
    bool (*cost)(int i, char *answer, char *fault);
    bool (*record)(int64_t block, int warp, char *fault); /* -1: any */
    bool (*records)(void *to, size_t room, size_t *bytes, char *fault);
    bool (*trace)(char *fault);
    bool (*traced)(void *to, size_t room, size_t *bytes, char *fault);
    void (*answered)(const char *command, const char *line); /* may be NULL; for tests */
} Device;

#endif
