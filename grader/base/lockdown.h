/* lockdown.h - the rights that a runner gives up before student code enters it. */
#ifndef BASE_LOCKDOWN_H
#define BASE_LOCKDOWN_H

#include <stdbool.h>
#include <sys/types.h>

/* Call at the start of main, before CUDA opens anything: closes all descriptors except 0 to 5. */
void lockdown_begin(void);

/* Call before lockdown_close(): sets a child process that this process may still kill
 * afterwards. */
void lockdown_spare(pid_t child);

/* Call once CUDA is up, before student code is loaded from the file `kernel` (with NULL: before
 * archives are read). From then on, for all threads and permanently: no new processes, no network,
 * no access to other processes, no change of the file system, and no file except the system's and
 * `kernel`. Returns true if system calls are filtered; if this kernel cannot filter them, returns
 * false, and the other restrictions still hold. */
bool lockdown_close(const char *kernel);

/* What lockdown_close achieved: "seccomp+landlock", "seccomp", "landlock" or "none". */
const char *lockdown_state(void);

#endif
