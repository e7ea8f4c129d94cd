/* session.h - what one run of the program works with: folders, compiler, GPU, options. */
#ifndef JUDGE_SESSION_H
#define JUDGE_SESSION_H

#include "build/build.h"
#include "build/workbook.h"
#include "base/course.h"
#include "judge/worker.h"

typedef struct Session {
    Workbook book;
    Toolchain toolchain;
    GpuInfo gpu;         /* once a runner has said hello */
    char device[200];    /* number, or name of a simulated GPU */
    char simulated[300]; /* why the GPU is a simulated one: words; "": it is a real one */
    uint64_t simulator;  /* hash of its program, library and description; 0: it cannot be read */
    Course course; /* bars, curves, seeds; course_default, unless main puts a course's there */
    uint64_t seed; /* what all seeds of the run follow from; printed afterwards */
    bool replayed; /* it was given (--seed): all else is drawn as it was then, too */
    bool quick;
    bool ours;         /* kernels of the workbook are graded: rung 1 may equal the starter */
    bool portable;     /* ours are built for other machines: pack */
    bool live;         /* a progress line on the terminal */
    char problem[700]; /* why nothing can be graded: one sentence */
    int lock_fd;

    Worker next;  /* a runner without any kernel, for whoever needs one next */
    bool streams; /* of the lab that is graded */
} Session;

/* Finds root, compiler and runner, and asks the runner for the GPU. `device`: a number, "sim" or
 * "sim:NAME", or NULL: the first real one if it is usable, else the simulated one. False with
 * `problem` set if nothing can be graded here. Waits while another grading holds the GPU, saying
 * so. */
bool session_open(Session *session, const char *device);
void session_close(Session *session);

/* Without any GPU, to build for one of that compute capability. */
bool session_open_to_build(Session *session, int cc);

/* Brings up the runner that will be needed next, before another is ended: part of what the driver
 * sets up is there for all processes on a GPU, and goes with the last (H200, driver 580.159,
 * 2026-11-22, medians: 263 ms up and 96 ms to end, beside another process 157 and 57; see
 * docs/measurements.md). Not while something is timed: a new context disturbs. */
void session_prestart(Session *session);

/* A runner for the caller, who ends it with worker_end: the waiting one, or a new one. */
Verdict session_worker(Session *session, Worker *worker);

/* A runner on the simulated GPU, whatever this session grades on. UNSOUND where there is none. */
Verdict session_simulation(Session *session, Worker *worker);

/* The live line: "06 transpose  correctness 3 of 9". Cleared by an empty text. */
void session_say(const Session *session, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void session_clear_line(void); /* safe in a signal handler */

/* Builds a file for this lab and GPU. */
void session_build(const Session *session, const LabEntry *entry, const char *source,
                   const char *shown, Build *result);

/* The device's name in the names of files: "sim-h200", or the UUID of a real GPU. */
char *session_device_word(const Session *session, char *word, size_t size);

/* Writes to `folder` what cells with strangers' code are shown in place of solutions/LAB
 * (build/stub.h): the starter, and the built rung 1, reference and fastest kernel. False, with
 * `why`. */
bool session_seal(const Session *session, const LabEntry *entry, const char *folder, char *why,
                  size_t size);

#endif
