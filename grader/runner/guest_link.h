/* guest_link.h - the runner's half of the protocol with its guest (guest_wire.h).
 *
 * Each call returns true, or false with "KIND TEXT" in `fault` (SERVE_ANSWER bytes). `died` means
 * that the guest is gone, `garbage` that it broke the rules; in both cases no guest runs any more.
 */
#ifndef RUNNER_GUEST_LINK_H
#define RUNNER_GUEST_LINK_H

#include "runner/protocol.h"
#include "runner/share.h"

#include <sys/types.h>

/* Starts the guest's program, the file `name` in this program's folder, and sends HELLO. CUDA
 * starts there while the caller continues. Returns false if the program could not be started. */
bool guest_start(const char *name);

/* Waits until CUDA is up in the guest. */
bool guest_ready(char *fault);

pid_t guest_pid(void); /* 0: no guest */

/* `sandbox`: what confines the guest, as in the answer to `load`. */
bool guest_load(const char *folder, const char *path, char *sandbox, char *fault);

/* Maps an array's memory, with its guards, here and in the guest. */
bool guest_share(size_t bytes, bool host, void **data, char *fault);
void guest_unshare(void *data);

/* Waits for all of the guest's work. The guest is then paused: it runs only during a request. */
bool guest_settle(char *fault);

/* Calls the kernel once on each set. If the outputs are in host memory, `returned` is called when
 * the last call has returned, before its work is waited for. */
bool guest_call(const Lab *lab, const Case *lab_case, const Arrays *sets, int calls,
                void (*returned)(const Arrays *last), double *ms, char *fault);

/* Handles a CUDA call that a guest on a simulated GPU passes on, and answers it by
 * wire_send(GUEST_REPLY). Returns false if the guest broke the rules. */
extern bool (*guest_request)(int socket, const char *payload, size_t bytes);

void guest_end(void);

#endif
