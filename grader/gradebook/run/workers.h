/* workers.h - the devices in service, the workers on them where one warpbook each runs, and all
 * else that a marking holds. */
#ifndef GRADEBOOK_RUN_WORKERS_H
#define GRADEBOOK_RUN_WORKERS_H

#include "gradebook/run/sandbox.h"
#include "gradebook/run/cgroup.h"
#include "gradebook/run/limits.h"
#include "gradebook/run/scheduler_options.h"
#include "gradebook/run/progress.h"
#include "gradebook/store/queue.h"
#include "gradebook/run/devices.h"
#include "gradebook/store/store.h"
#include "base/process.h"

typedef enum Doing { NOTHING, PREPARES, BUILDS, GRADES } Doing;

typedef struct Worker {
    Device *gpu; /* NULL: here only builds run */
    Doing doing;
    Program program;
    Task *task; /* NULL: it prepares `lab` */
    int lab;
    char folder[600]; /* its own, below work/ */
    char kernel[620]; /* path of the source being graded */
    char built[620];  /* where the build of its task is kept; "" */
} Worker;

typedef struct Marking {
    Store *store;
    const Sandbox *cell;
    const MarkingOptions *options;
    Queue queue;
    Device gpus[DEVICES];
    int gpu_count;
    uint64_t digest[LABS]; /* sealed_digest, once it was wanted */
    Worker workers[SLOTS];
    int worker_count;
    int waiting; /* GPUs that others hold */
    Limits fence;
    Cgroup cgroup;
    double looked_s;
    Progress pace;
} Marking;

/* All devices that were asked for, a worker on each; and what a grading may take. */
void slots_open(Marking *m);
void slots_close(Marking *m); /* ends what runs in them */

/* Out of service, which is told. */
void gpu_take_out(Marking *m, Device *gpu, const char *why);
int gpus_in_service(const Marking *m);

/* Is it ours alone? In trust every warpbook takes the lock itself. False: it is waited for, or
 * taken out. */
bool gpu_have_lock(Marking *m, Device *gpu);

/* The lab is ready on it if what its cells are shown is there, from now or an earlier run. */
bool gpu_find_sealed(Marking *m, Device *gpu, int lab);
uint64_t lab_digest(Marking *m, int lab); /* sealed_digest, worked out once */

/* A real GPU on which that lab can be graded, or NULL. */
Device *gpu_to_build_for(Marking *m, int lab);

/* It has shown that it can grade: which one is it, and how many gradings may run on it? The first
 * time it gets its workers, unless it is not the one that counts, or another one's double. */
void gpu_meet(Marking *m, Device *gpu, const ParsedResult *reading, const char *printed);

/* Ends the program, with what to do. */
void __attribute__((noreturn)) cannot_write(const char *path);

#endif
