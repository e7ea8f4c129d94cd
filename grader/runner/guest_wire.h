/* guest_wire.h - what a runner and its guest say to each other.
 *
 * The runner is trusted: it owns the arrays, fills and checks them, and answers the grader. The
 * guest holds the student's kernel.so and nothing else: no seed, no expected result, no channel to
 * the grader. It is told to load, to map, to call; what it answers decides nothing that the runner
 * or the grader does not check by itself.
 *
 * Frames over a local socket: a header, its bytes of payload, and with MAP one descriptor. Numbers
 * as the machine has them: both are programs of one build on one machine.
 *
 *   HELLO                      brings CUDA up            OK
 *   LOAD    "folder path"      closes the sandbox and    OK "sandbox:..." | FAIL
 *                              loads the kernel
 *   MAP     GuestMap, fd       maps an array's memory    OK address (8 bytes) | FAIL
 *   UNMAP   address            lets go of it             OK
 *   SETTLE                     all work done, persisting OK | FAIL
 *                              L2 reset
 *   CALL    GuestCall, Arrays[calls]                     RETURNED if an output is in the host's
 *                                                        memory, answered by GO_ON; then
 *                                                        OK milliseconds (double) | FAIL
 *
 * FAIL has "KIND TEXT", as in runner/protocol.h. REQUEST is a CUDA call that a guest on a simulated
 * GPU passes on to the runner, REPLY its result: sim_calls.h.
 */
#ifndef RUNNER_GUEST_WIRE_H
#define RUNNER_GUEST_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lab.h"

/* The guest's end of the socket; it inherits nothing else but 0 to 2. */
enum { GUEST_SOCKET = 3 };

/* No frame has more; what is longer is a broken or hostile peer. */
enum { GUEST_MOST_BYTES = 64 << 20 };

typedef enum GuestKind {
    GUEST_HELLO = 1,
    GUEST_LOAD,
    GUEST_MAP,
    GUEST_UNMAP,
    GUEST_SETTLE,
    GUEST_CALL,
    GUEST_GO_ON,
    GUEST_REPLY,
    GUEST_OK = 64,
    GUEST_FAIL,
    GUEST_RETURNED,
    GUEST_REQUEST,
} GuestKind;

typedef struct GuestHeader {
    uint32_t kind, bytes; /* bytes of payload that follow */
} GuestHeader;

typedef struct GuestMap {
    uint64_t bytes;
    uint64_t address; /* simulated GPU: where the runner has it, and the guest is to name it */
    uint32_t host;    /* 1: the host's pinned memory */
    uint32_t padding;
} GuestMap;

typedef struct GuestCall {
    int32_t index; /* of the case in the lab's table */
    int32_t calls;
    int64_t dim[LAB_DIMS];
} GuestCall;

/* Sends one frame; `fd` goes along unless it is negative. False: the peer is gone. */
bool wire_send(int socket, GuestKind kind, const void *payload, size_t bytes, int fd);

/* Receives one frame into `payload` (`room` bytes; one more is set to 0, so that text ends), and
 * the descriptor that came along to *fd (NULL: none is taken; -1: none came). Returns the payload's
 * bytes; -1: the peer is gone; -2: it sent what is no frame, or one larger than `room`. Spins for
 * `spin_s` before it sleeps: answers that are timed want no wake-up. */
long wire_receive(int socket, GuestKind *kind, void *payload, size_t room, int *fd, double spin_s);

#endif
