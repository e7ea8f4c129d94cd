/* guest_link.h - the runner's half of what it says to its guest (guest_wire.h).
 *
 * Each call returns true, or false with "KIND TEXT" in `fault` (SERVE_ANSWER bytes), where `died`
 * and `garbage` are a guest that is gone or that broke the rules; the guest is then gone for good.
 */
#ifndef RUNNER_GUEST_LINK_H
#define RUNNER_GUEST_LINK_H

#include "runner/protocol.h"
#include "runner/share.h"

#include <sys/types.h>

/* Starts the guest's program, which lies beside this one under that name, and has it bring CUDA up:
 * at once, beside whatever the caller does meanwhile. False: it could not be started. */
bool guest_start(const char *name);

/* Waits until CUDA is up there. */
bool guest_ready(char *fault);

pid_t guest_pid(void); /* 0: there is none */

/* `sandbox`: what it is confined by, as the answer to `load` has it. */
bool guest_load(const char *folder, const char *path, char *sandbox, char *fault);

/* An array's memory, with its guards: here, and in the guest. */
bool guest_share(size_t bytes, bool host, void **data, char *fault);
void guest_unshare(void *data);

/* All of its work is done; and it stands still: it runs only while it is asked something. */
bool guest_settle(char *fault);

/* Calls the kernel once on each set. `returned` is called once the last call has returned, before
 * its work is waited for, if the outputs are in the host's memory. */
bool guest_call(const Lab *lab, const Case *lab_case, const Arrays *sets, int calls,
                void (*returned)(const Arrays *last), double *ms, char *fault);

/* A CUDA call that a guest on a simulated GPU passes on: answers it by wire_send(GUEST_REPLY).
 * False: it broke the rules. */
extern bool (*guest_request)(int socket, const char *payload, size_t bytes);

void guest_end(void);

#endif
