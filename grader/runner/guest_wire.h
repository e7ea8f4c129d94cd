/* guest_wire.h - the protocol between a runner and its guest.
 *
 * The runner is trusted: it owns the arrays, fills and checks them, and answers the grader. The
 * guest holds the student's kernel.so and nothing else: no seed, no expected result, no channel to
 * the grader. The runner sends it commands to load, map and call. No answer of the guest decides
 * anything that the runner or the grader does not check itself.
 *
 * Frames go over a local socket: a header, its bytes of payload, and with MAP one descriptor.
 * Numbers are in the machine's byte order, since both programs come from one build on one machine.
 *
 *   HELLO                      brings CUDA up            OK
 *   LOAD    "folder path"      closes the sandbox and    OK "sandbox:..." | FAIL
 *                              loads the kernel
 *   MAP     GuestMap, fd       maps an array's memory    OK address (8 bytes) | FAIL
 *   UNMAP   address            unmaps it                 OK
 *   SETTLE                     waits for all work,       OK | FAIL
 *                              resets persisting L2
 *   CALL    GuestCall, Arrays[calls]                     RETURNED if an output is in host
 *                                                        memory, answered by GO_ON; then
 *                                                        OK milliseconds (double) | FAIL
 *
 * FAIL has "KIND TEXT", as in runner/protocol.h. REQUEST is a CUDA call that a guest on a simulated
 * GPU passes on to the runner, and REPLY is its result (sim_calls.h).
 */
#ifndef RUNNER_GUEST_WIRE_H
#define RUNNER_GUEST_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lab.h"

/* The guest's end of the socket; besides it, the guest inherits only descriptors 0 to 2. */
enum { GUEST_SOCKET = 3 };

/* The largest payload of a frame. A longer one means a broken or hostile peer. */
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
    uint64_t address; /* simulated GPU: the address in the runner, which the guest uses as well */
    uint32_t host;    /* 1: the host's pinned memory */
    uint32_t padding;
} GuestMap;

typedef struct GuestCall {
    int32_t index; /* of the case in the lab's table */
    int32_t calls;
    int64_t dim[LAB_DIMS];
} GuestCall;

/* Sends one frame, and `fd` with it unless it is negative. Returns false if the peer is gone. */
bool wire_send(int socket, GuestKind kind, const void *payload, size_t bytes, int fd);

/* Receives one frame into `payload` (`room` bytes, plus one that is set to 0 to terminate text),
 * and its descriptor into *fd (NULL: none is accepted; -1: none came). Returns the bytes of
 * payload; -1: the peer is gone; -2: it sent an invalid frame, or one larger than `room`. Spins for
 * `spin_s` before it sleeps, since a wake-up would add to a timed answer. */
long wire_receive(int socket, GuestKind *kind, void *payload, size_t room, int *fd, double spin_s);

#endif
