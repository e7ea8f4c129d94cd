/* base/lockdown.h - where one `warpbook grade` runs: in bubblewrap, which shows it what it needs
 * and no more. */
#ifndef GRADEBOOK_RUN_SANDBOX_H
#define GRADEBOOK_RUN_SANDBOX_H

#include "gradebook/base/words.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct Sandbox {
    bool trusting;       /* --trust-submissions: no bubblewrap */
    bool closed;         /* it can keep those inside from making user namespaces of their own */
    bool sized;          /* this bubblewrap can limit the size of a folder in memory */
    char bwrap[512];     /* path */
    char root[512];      /* the workbook */
    char build[512];     /* its build folder: runner, runner-sim, ... */
    char warpbook[512];  /* the program */
    char store[512];     /* the gradebook's folder: cache/, floor/, sealed/ are trusted builds' */
    char compiler[4096]; /* what it says of itself */
    Words exposed;       /* what is shown read-only beside the system: toolkit, programs */
    Words environment;   /* NAME=VALUE */
} Sandbox;

typedef struct CellJob {
    const char *lab;    /* its folder's name */
    const char *kernel; /* path of the kernel.cu to be graded */
    const char *device; /* "sim", "sim:t4", "0"; NULL: warpbook chooses */
    const char *sealed; /* shown in place of solutions/LAB; of our own kernel: a folder to make it
                           in (gradebook/run/stubs.h) */
    const char *built;  /* a folder for the build of this kernel, kept for its grading; or NULL */
    const char *cc;     /* "9.0": it is only built, into `built`, for such GPUs; or NULL */
    bool quick;
    bool ours;  /* our own kernel: what is built is kept for all */
    bool waits; /* it takes the lock of its GPU itself: nobody does so for it yet */
} CellJob;

/* Finds everything, and tries whether bubblewrap works. False, with a sentence in `problem`. */
bool sandbox_open(Sandbox *cell, const char *store, bool trusting, char *problem, size_t size);
void sandbox_close(Sandbox *cell);

/* Does the gradebook's folder lie outside of all that submissions are shown? (sandbox_open asks,
 * too.)
 */
bool sandbox_lies_apart(const Sandbox *cell, char *problem, size_t size);

/* Is that file or folder not in any that submissions are shown? (sandbox_open asks for $HOME and
 * the gradebook's.) */
bool sandbox_hides(const Sandbox *cell, const char *path, char *problem, size_t size);

/* The command that grades, by the terms on its stdin (terms_of; none: the workbook's own). Free it
 * with words_free. It is run in cell->root. */
void sandbox_command(const Sandbox *cell, const CellJob *job, Words *command);

#endif
