/* sandbox.h - runs one `warpbook grade` in bubblewrap, which shows it only what it needs. */
#ifndef GRADEBOOK_RUN_SANDBOX_H
#define GRADEBOOK_RUN_SANDBOX_H

#include "gradebook/base/words.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct Sandbox {
    bool trusting;      /* --trust-submissions: no bubblewrap */
    bool closed;        /* bubblewrap can forbid new user namespaces inside */
    bool sized;         /* bubblewrap can limit the size of a folder in memory */
    char bwrap[512];    /* path */
    char root[512];     /* the workbook */
    char build[512];    /* its build folder: runner, runner-sim, ... */
    char warpbook[512]; /* the program */
    char store[512];    /* the gradebook's folder; cache/, floor/ and sealed/ hold trusted builds */
    char compiler[4096]; /* the compiler's identity */
    Words exposed;       /* shown read-only in addition to the system: toolkit, programs */
    Words environment;   /* NAME=VALUE */
} Sandbox;

typedef struct SandboxJob {
    const char *lab;    /* its folder's name */
    const char *kernel; /* path of the kernel.cu to grade */
    const char *device; /* "sim", "sim:t4", "0"; NULL: warpbook chooses */
    const char *sealed; /* shown instead of solutions/LAB; for the grader's own kernel, the folder
                           in which to create it (gradebook/run/stubs.h) */
    const char *built;  /* a folder for the build of this kernel, kept for its grading; or NULL */
    const char *cc;     /* "9.0": only build for this architecture, into `built`; or NULL */
    bool quick;
    bool trusted; /* the grader's own kernel: its builds are kept */
    bool waits;   /* it takes its GPU's lock itself, since gradebook does not hold it yet */
} SandboxJob;

/* Finds all programs and tests bubblewrap. On failure, returns false with a sentence in
 * `problem`. */
bool sandbox_open(Sandbox *sandbox, const char *store, bool trusting, char *problem, size_t size);
void sandbox_close(Sandbox *sandbox);

/* True if the gradebook's folder is outside all folders shown to submissions. sandbox_open checks
 * this, too. */
bool sandbox_lies_apart(const Sandbox *sandbox, char *problem, size_t size);

/* True if a file or folder is not in any folder shown to submissions. sandbox_open checks $HOME and
 * the gradebook's folder. */
bool sandbox_hides(const Sandbox *sandbox, const char *path, char *problem, size_t size);

/* The command of a grading. It reads its terms from stdin (terms_of; empty: the workbook's own).
 * Run it in sandbox->root; free it with words_free. Returns a descriptor that the command inherits,
 * or -1: close it once the command is started. */
int sandbox_command(const Sandbox *sandbox, const SandboxJob *job, Words *command);

#endif
