/* sim_serve.h - the runner's side of sim_calls.h: does CUDA calls for a guest that is not trusted.
 */
#ifndef SIM_SERVE_H
#define SIM_SERVE_H

#include <stdbool.h>
#include <stddef.h>

/* From here on guest_request (guest_link.h) is answered. */
void sim_serve_begin(void);

/* Whether the guest may put the GPU to work: only while it is called, which is timed. */
void sim_serve_work(bool allowed);

/* One call: `bytes` of `payload`. False: it broke the rules, nothing was answered. */
bool sim_serve(int socket, const char *payload, size_t bytes);

#endif
