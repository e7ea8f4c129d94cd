/* lockdown.h - what a runner gives up before student code enters it. */
#ifndef BASE_LOCKDOWN_H
#define BASE_LOCKDOWN_H

#include <stdbool.h>
#include <sys/types.h>

/* At the start of main, before CUDA opens anything: closes all descriptors but 0 to 5. */
void lockdown_begin(void);

/* Before lockdown_close(): a child process that this process may still kill afterwards. */
void lockdown_spare(pid_t child);

/* Before student code is loaded from the file `kernel`, once CUDA is up (or, with NULL, before
 * archives are read): from now on no new processes, no network, no look into other processes, no
 * change of the file system, and no file but the system's and that one, for all threads, for ever.
 * True if system calls are filtered; false where the kernel can't, and the rest is in force all the
 * same. */
bool lockdown_close(const char *kernel);

/* What lockdown_close achieved: "seccomp+landlock", "seccomp", "landlock" or "none". */
const char *lockdown_state(void);

#endif
