/* workers.h - the devices in service, their workers (each runs one warpbook), and the rest of a
 * grading run's state. */
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

typedef enum Activity { IDLE, TESTING, BUILDING, GRADING } Activity;

typedef struct Worker {
    Device *gpu; /* NULL: this worker only builds */
    Activity activity;
    Program program;
    Task *task; /* NULL while it prepares `lab` */
    int lab;
    char folder[600]; /* its own folder in work/ */
    char kernel[620]; /* path of the source being graded */
    char built[620];  /* where its task's build is kept; or "" */
} Worker;

typedef struct Scheduler {
    Store *store;
    const Sandbox *sandbox;
    const GradingOptions *options;
    Queue queue;
    Device gpus[DEVICES];
    int gpu_count;
    uint64_t digest[LABS]; /* stub_digest, computed on demand */
    Worker workers[MOST_WORKERS];
    int worker_count;
    int waiting; /* GPUs locked by other processes */
    Limits limits;
    Cgroup cgroup;
    double checked_s;
    Progress progress;
} Scheduler;

/* Opens all requested devices, with one worker each, and sets the limits of a grading. */
void workers_open(Scheduler *s);
void workers_close(Scheduler *s); /* kills their programs */

/* Takes a device out of service and reports why. */
void gpu_retire(Scheduler *s, Device *gpu, const char *why);
int gpus_in_service(const Scheduler *s);

/* True if gradebook holds the GPU's lock; with --trust-submissions, each warpbook takes the lock
 * itself. Returns false while another process holds it, or if the GPU is out of service. */
bool gpu_lock(Scheduler *s, Device *gpu);

/* Marks the lab as ready if its sealed folder exists, from this or an earlier run. */
bool gpu_find_stub(Scheduler *s, Device *gpu, int lab);
uint64_t lab_digest(Scheduler *s, int lab); /* stub_digest, computed once */

/* A real GPU on which that lab can be graded, or NULL. */
Device *gpu_to_build_for(Scheduler *s, int lab);

/* Call this when a device has shown that it can grade. The first time, it gets its workers, unless
 * it is not the course's device or is listed twice. */
void gpu_proved(Scheduler *s, Device *gpu, const ParsedResult *result, const char *printed);

#endif
