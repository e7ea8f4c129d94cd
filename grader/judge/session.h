/* session.h - the environment of one run of the program: folders, compiler, GPU, options. */
#ifndef JUDGE_SESSION_H
#define JUDGE_SESSION_H

#include "build/build.h"
#include "build/workbook.h"
#include "base/course.h"
#include "judge/worker.h"

typedef struct Session {
    Workbook book;
    Toolchain toolchain;
    GpuInfo gpu;         /* set once a runner has answered "hello" */
    char device[200];    /* a number, or the name of a simulated GPU */
    char simulated[300]; /* why the GPU is simulated, in words; "": it is real */
    uint64_t simulator;  /* hash of its program, library and description; 0: unreadable */
    Course course;       /* bars, curves, seeds; course_default() unless main replaces it */
    uint64_t seed;       /* all seeds of the run derive from it; printed afterwards */
    bool replayed; /* the seed was given (--seed): everything else is also drawn as it was then */
    bool quick;
    bool ours;          /* grades kernels of the workbook: rung 1 may equal the starter */
    bool portable;      /* builds workbook kernels for other machines (pack) */
    bool live;          /* shows a progress line on the terminal */
    bool two_at_a_time; /* runs the large cases for correctness in two processes, if simulated */
    bool verbose;       /* explain: also how busy each unit is */
    bool reports_doing; /* session_say() also goes to `events` */
    int events;         /* a descriptor for session_event(); 0: none */
    char problem[700];  /* why nothing can be graded: one sentence */
    int lock_fd;

    Worker next;  /* a runner without a kernel, for the next caller that needs one */
    bool streams; /* of the lab being graded */
} Session;

/* Finds root, compiler and runner, and queries the GPU through the runner. `device`: a number,
 * "sim" or "sim:NAME", or NULL for the first real GPU if it is usable, else the simulated one.
 * Returns false, with `problem` set, if nothing can be graded here. If another grading holds the
 * GPU, prints a message and waits. */
bool session_open(Session *session, const char *device);
void session_close(Session *session);

/* Opens a session without a GPU, to build for that compute capability. */
bool session_open_to_build(Session *session, int cc);

/* Starts the next runner before the current one is killed. Part of the driver's setup is shared
 * by all processes on a GPU and is lost with the last one, so an overlap saves time (H200,
 * driver 580.159, 2026-11-22, medians: 263 ms to start and 96 ms to stop; 157 and 57 with
 * another process running; see docs/measurements.md). Do not call this during a measurement:
 * creating a context disturbs it. */
void session_prestart(Session *session);

/* What a runner does with a kernel besides running it. All zero: nothing. */
typedef struct Setup {
    bool on_simulated;   /* on the simulated GPU, even if the session grades on a real one */
    int launch_millions; /* simulated GPU: without its checks, and with this limit of warp
                            instructions per launch, in millions; 0: the runner's default */
    bool model_time;     /* simulated GPU: worker_go() reports modelled times */
    CauseSet without;    /* left out of these times */
} Setup;

/* Gives the caller the waiting runner, or a new one, with this kernel loaded. The caller ends it
 * with worker_end(), also after a failure. */
Verdict session_load(Session *session, const LabEntry *entry, const char *object,
                     const Setup *setup, Worker *worker);

/* Shows a progress line such as "06 transpose  correctness 3 of 9". An empty text clears it. */
void session_say(const Session *session, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void session_clear_line(void); /* safe in a signal handler */

/* Writes one line to the descriptor of --events, while the grading runs (docs/lines.md). */
void session_event(const Session *session, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Builds a file for this lab and GPU. */
void session_build(const Session *session, const LabEntry *entry, const char *source,
                   const char *shown, Build *result);

/* The device's name for use in file names: "sim-h200", or the UUID of a real GPU. */
char *session_device_word(const Session *session, char *word, size_t size);

/* Writes to `folder` what cells with students' code may see instead of solutions/LAB
 * (build/stub.h): the starter, and the built rung 1, reference and faster kernels. On failure
 * returns false and sets `why`. */
bool session_seal(const Session *session, const LabEntry *entry, const char *folder, char *why,
                  size_t size);

#endif
