/* scheduler.h - one of an SM's schedulers: its warps, and which of them issues next (choose.c). */
#ifndef SIM_TIME_SCHEDULER_H
#define SIM_TIME_SCHEDULER_H

#include "sim/base/common.h"
#include "sim/machine/operations.h"

struct PlayedWarp;

enum { SCHEDULER_SPARE = 16 }; /* bytes after `pipe` that may be read */
enum { COMPACT = 16 };         /* warps among which a scheduler chooses at once */

/* Warps are in order of arrival. */
typedef struct Scheduler {
    uint64_t *wake; /* when the warp's next operation is ready */
    uint8_t *pipe;  /* of its next operation */
    struct PlayedWarp **warp;
    int count;
    uint64_t free; /* the next cycle in which it can issue */
    uint64_t pipe_free[PIPES];
    uint64_t port_free; /* of its own port to the load/store unit, for global and local memory */
    /* Copies of `wake` and `pipe_free` that choosing reads: cycles after `base`; 0: before it. The
     * latter has old values of the pipe used last and of those of the load/store unit. */
    uint32_t *soon, pipe_soon[COMPACT];
    uint64_t base;
    int used;         /* the pipe */
    uint64_t best_at; /* when it issues next unless something else happens first; or NEVER */
    int best;         /* the warp that issues then */
    int room;
    int last; /* the warp that issued last; -1 */
    bool has_vectors;
} Scheduler;

static inline uint32_t scheduler_soon(const Scheduler *s, uint64_t at)
{
    const uint64_t after = at > s->base ? at - s->base : 0;

    return after < UINT32_MAX ? (uint32_t) after : UINT32_MAX;
}

/* The warp is ready at `wake` and then waits for this pipe. */
static inline void scheduler_set(Scheduler *s, int i, uint64_t wake, int pipe)
{
    s->wake[i] = wake;
    s->soon[i] = scheduler_soon(s, wake);
    s->pipe[i] = (uint8_t) pipe;
}

/* The scheduler issues to this pipe, which is not shared with others. */
static inline void scheduler_use(Scheduler *s, int pipe, uint64_t until)
{
    s->pipe_soon[s->used] = scheduler_soon(s, s->pipe_free[s->used]);
    s->pipe_free[pipe] = until;
    s->used = pipe;
}

/* sim/time/choose.c. Sets `best` and `best_at`. */
void scheduler_choose(Scheduler *s);
/* The same after its last warp has issued and advanced to a step that is ready at `wake`. */
void scheduler_go_on(Scheduler *s, uint64_t wake, int pipe);
/* Moves `base`, of which no cycle to come may be more than UINT32_MAX after. */
void scheduler_rebase(Scheduler *s, uint64_t base);
bool scheduler_has_vectors(void); /* whether this processor has AVX-512, to choose faster */

#endif
