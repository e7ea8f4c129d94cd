/* guest.c - the process that holds a student's kernel: loads it, and calls it on command.
 *
 * Nothing in this process is trusted, and it holds no secret: no seed, no expected result, no
 * channel to the grader. The runner owns the arrays (guest_link.c is its half) and fills and checks
 * them. guest_wire.h defines the messages between the two.
 */
#include "runner/caller.h"
#include "runner/guest_wire.h"
#include "base/registry.h"
#include "base/lockdown.h"
#include "runner/share.h"
#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { MOST_SHARES = SERVE_SETS * (LAB_IN + LAB_OUT + 1) };

/* longer than the fills between two calls, because the runner measures the time until the answer */
static const double spin_s = 0.02;

static struct {
    const Lab *lab;
    Kernel *kernel;
    Share shares[MOST_SHARES];
    int share_count;
} guest;

/* The payload received; large enough for a call on all sets. */
static union {
    char bytes[sizeof(GuestCall) + SERVE_SETS * sizeof(Arrays) + 1];
    struct {
        GuestCall call;
        Arrays sets[SERVE_SETS];
    };
    GuestMap map;
    uint64_t address;
} frame;

_Static_assert(sizeof(GuestCall) % _Alignof(Arrays) == 0, "sets follow the call without a gap");

/* ---- Answers ---- */

static bool answer(const void *payload, size_t bytes)
{
    return wire_send(GUEST_SOCKET, GUEST_OK, payload, bytes, -1);
}

static bool fail(const char *fault)
{
    return wire_send(GUEST_SOCKET, GUEST_FAIL, fault, strlen(fault), -1);
}

static bool fail_error(const char *kind, cudaError_t error)
{
    char fault[SERVE_ANSWER];

    caller_say(fault, kind, error);
    return fail(fault);
}

/* ---- Commands: each returns false if the runner no longer listens ---- */

static bool hello(long bytes, int fd)
{
    cudaError_t error;

    (void) bytes;
    (void) fd;
    if ((error = cudaSetDeviceFlags(cudaDeviceScheduleSpin)) || (error = cudaSetDevice(0)) ||
        (error = caller_begin()))
        return fail_error("gpu", error);
    if (!share_possible())
        return fail("gpu memory cannot be shared between processes here");
    return answer(NULL, 0);
}

static bool load(long bytes, int fd)
{
    char fault[SERVE_ANSWER], text[64], *path = strchr(frame.bytes, ' ');
    const LabEntry *entry;

    (void) bytes;
    (void) fd;
    if (!path || guest.kernel)
        return fail("usage expected a lab and a path, once");
    *path++ = 0;
    entry = lab_find(frame.bytes);
    if (!entry)
        return fail("usage no such lab");
    guest.lab = entry->lab;
    if (!caller_load(path, entry->lab->function, &guest.kernel, fault))
        return fail(fault);
    PUT(text, "sandbox:%s", lockdown_state());
    return answer(text, strlen(text));
}

static bool map(long bytes, int fd)
{
    Share *share = &guest.shares[guest.share_count];
    cudaError_t error;

    if (bytes != sizeof frame.map || guest.share_count == MOST_SHARES) {
        if (fd >= 0)
            close(fd);
        return fail("usage expected a mapping");
    }
    error = share_open(share, frame.map.bytes, frame.map.host, fd, frame.map.address);
    if (error)
        return fail_error("memory", error);
    guest.share_count++;
    return answer(&(uint64_t){ (uintptr_t) share->data }, sizeof(uint64_t));
}

static bool unmap(long bytes, int fd)
{
    (void) bytes;
    (void) fd;
    for (int i = 0; i < guest.share_count; i++)
        if ((uintptr_t) guest.shares[i].data == frame.address) {
            share_close(&guest.shares[i]);
            guest.shares[i] = guest.shares[--guest.share_count];
            return answer(NULL, 0);
        }
    return fail("usage no such mapping");
}

static bool settle(long bytes, int fd)
{
    char fault[SERVE_ANSWER];

    (void) bytes;
    (void) fd;
    return caller_settle(fault) ? answer(NULL, 0) : fail(fault);
}

/* The runner copies the ends of outputs in host memory before it waits for their work to finish. */
static bool wait_for_runner(void *self)
{
    GuestKind kind;
    char none[2];

    (void) self;
    return wire_send(GUEST_SOCKET, GUEST_RETURNED, NULL, 0, -1) &&
           wire_receive(GUEST_SOCKET, &kind, none, 1, NULL, spin_s) == 0 && kind == GUEST_GO_ON;
}

static bool call(long bytes, int fd)
{
    const GuestCall *wanted = &frame.call;
    char fault[SERVE_ANSWER];
    Case lab_case;
    double ms;

    (void) fd;
    if (!guest.kernel || wanted->calls < 1 || wanted->calls > SERVE_SETS ||
        bytes != (long) (sizeof *wanted + (size_t) wanted->calls * sizeof(Arrays)))
        return fail("usage expected a call, after a kernel was loaded");
    lab_case = guest.lab->cases[wanted->index];
    for (int d = 0; d < LAB_DIMS; d++)
        lab_case.dim[d] = (long) wanted->dim[d];
    if (!caller_call(guest.lab, &lab_case, guest.kernel, frame.sets, wanted->calls,
                     frame.sets[0].out[0].host ? wait_for_runner : NULL, NULL, &ms, fault))
        return fail(fault);
    return answer(&ms, sizeof ms);
}

static const struct {
    GuestKind kind;
    bool (*run)(long bytes, int fd);
} orders[] = {
    { GUEST_HELLO, hello }, { GUEST_LOAD, load },     { GUEST_MAP, map },
    { GUEST_UNMAP, unmap }, { GUEST_SETTLE, settle }, { GUEST_CALL, call },
};

/* ---- main ---- */

static bool obey(GuestKind kind, long bytes, int fd)
{
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        if (orders[i].kind == kind)
            return orders[i].run(bytes, fd);
    return false;
}

int main(void)
{
    GuestKind kind;
    long bytes;
    int fd;

    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    while ((bytes = wire_receive(GUEST_SOCKET, &kind, frame.bytes, sizeof frame.bytes - 1, &fd,
                                 spin_s)) >= 0)
        if (!obey(kind, bytes, fd))
            break;
    fflush(stdout);
    _exit(0); /* skips the destructors of student code and of CUDA, which may wait forever */
}
