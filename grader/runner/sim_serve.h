/* sim_serve.h - the runner's side of sim_calls.h: makes CUDA calls for an untrusted guest. */
#ifndef RUNNER_SIM_SERVE_H
#define RUNNER_SIM_SERVE_H

#include <stdbool.h>
#include <stddef.h>

/* From now on, guest_request (guest_link.h) is answered here. */
void sim_serve_begin(void);

/* The requests that the guest may make now. It may use the GPU only during a call, which is timed.
 * A lab about kernels gets no streams and no copies, with which host code could do part of the
 * work. Code can be registered only before the first work, so only code that was loaded runs. */
typedef enum Serves { SERVES_NO_WORK, SERVES_LAUNCHES, SERVES_STREAMS } Serves;
void sim_serve_work(Serves allowed);

/* If the lab provides the launch, only this one is allowed: that many blocks of that many threads.
 * 0, 0 allows any launch. Otherwise the student's host code could change the launch that the lab's
 * own code requests. */
void sim_serve_launch(unsigned blocks, unsigned threads);

/* Makes one call: `bytes` of `payload`. Returns false, without an answer, if the guest broke the
 * rules. */
bool sim_serve(int socket, const char *payload, size_t bytes);

#endif
