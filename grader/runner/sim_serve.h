/* sim_serve.h - the runner's side of sim_calls.h: does CUDA calls for a guest that is not trusted.
 */
#ifndef RUNNER_SIM_SERVE_H
#define RUNNER_SIM_SERVE_H

#include <stdbool.h>
#include <stddef.h>

/* From here on guest_request (guest_link.h) is answered. */
void sim_serve_begin(void);

/* What the guest may ask for now. It puts the GPU to work only while it is called, which is timed;
 * and a lab about kernels gets no streams and no copies, with which host code could take part.
 * Code is registered before the first work only: what runs is what was loaded. */
typedef enum Serves { SERVES_NO_WORK, SERVES_LAUNCHES, SERVES_STREAMS } Serves;
void sim_serve_work(Serves allowed);

/* The only launch that is done, where the lab gives it: so many blocks of so many threads. 0, 0:
 * any is. Host code of the student's cannot be kept from changing what the lab's own code asks for.
 */
void sim_serve_launch(unsigned blocks, unsigned threads);

/* One call: `bytes` of `payload`. False: it broke the rules, nothing was answered. */
bool sim_serve(int socket, const char *payload, size_t bytes);

#endif
