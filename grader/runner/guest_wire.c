/* guest_wire.c - frames over a local socket, each with an optional descriptor. */
#include "runner/guest_wire.h"
#include "base/util.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- Sending ---- */

static bool send_all(int socket, const char *bytes, size_t count)
{
    while (count) {
        ssize_t sent = send(socket, bytes, count, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        bytes += sent;
        count -= (size_t) sent;
    }
    return true;
}

/* Sends the header in one piece, together with the descriptor. */
static bool send_header(int socket, const GuestHeader *header, int fd)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = { { 0 } };
    struct iovec piece = { (void *) header, sizeof *header };
    struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };
    ssize_t sent;

    if (fd >= 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control.bytes;
        struct cmsghdr *first = CMSG_FIRSTHDR(&message);
        first->cmsg_level = SOL_SOCKET;
        first->cmsg_type = SCM_RIGHTS;
        first->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(first), &fd, sizeof fd);
    }
    do
        sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == sizeof *header;
}

bool wire_send(int socket, GuestKind kind, const void *payload, size_t bytes, int fd)
{
    const GuestHeader header = { kind, (uint32_t) bytes };

    return bytes <= GUEST_MOST_BYTES && send_header(socket, &header, fd) &&
           send_all(socket, payload, bytes);
}

/* ---- Receiving ---- */

/* Waits for something to read: spins first, then sleeps. */
static void wait_for_input(int socket, double until_s)
{
    if (now_s() < until_s)
        sched_yield();
    else
        poll(&(struct pollfd){ socket, POLLIN, 0 }, 1, -1);
}

/* Takes the one descriptor out of a message; any more are closed. */
static void take_descriptor(struct msghdr *message, int *fd)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
        int came;
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
            c->cmsg_len < CMSG_LEN(sizeof came))
            continue;
        memcpy(&came, CMSG_DATA(c), sizeof came);
        if (fd && *fd < 0)
            *fd = came;
        else
            close(came);
    }
}

/* Reads exactly `count` bytes. 1: done, 0: the peer is gone. */
static int receive_all(int socket, void *to, size_t count, int *fd, double spin_s)
{
    const double until_s = now_s() + spin_s;
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;

    for (size_t used = 0; used < count;) {
        struct iovec piece = { (char *) to + used, count - used };
        struct msghdr message = { .msg_iov = &piece,
                                  .msg_iovlen = 1,
                                  .msg_control = control.bytes,
                                  .msg_controllen = sizeof control.bytes };
        ssize_t got = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        if (got > 0) {
            take_descriptor(&message, fd);
            used += (size_t) got;
        } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
            return 0;
        } else {
            wait_for_input(socket, until_s);
        }
    }
    return 1;
}

long wire_receive(int socket, GuestKind *kind, void *payload, size_t room, int *fd, double spin_s)
{
    GuestHeader header;

    if (fd)
        *fd = -1;
    if (!receive_all(socket, &header, sizeof header, fd, spin_s))
        return -1;
    if (header.bytes > room || header.bytes > GUEST_MOST_BYTES)
        return -2;
    if (!receive_all(socket, payload, header.bytes, NULL, spin_s))
        return -1;
    ((char *) payload)[header.bytes] = 0;
    *kind = (GuestKind) header.kind;
    return (long) header.bytes;
}
