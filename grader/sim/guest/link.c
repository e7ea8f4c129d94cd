/* link.c - sends one call at a time to the runner and waits for its answer. */
#include "sim/guest/link.h"
#include "runner/guest_wire.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* Longer than most calls take, so that they need no wake-up. */
static const double spin_s = 0.02;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local cudaError_t last;

static union {
    SimReply reply;
    char bytes[sizeof(SimReply) + SIM_MOST_BYTES + 1];
} incoming;

static char outgoing[sizeof(SimCall) + SIM_MOST_BYTES];

/* Without a runner the process cannot continue. */
static size_t exchange(SimCallKind kind, const uint64_t word[SIM_WORDS], const void *payload,
                       size_t bytes, int *fd)
{
    SimCall call = { .kind = kind };
    GuestKind came;
    long got;

    memcpy(call.word, word, sizeof call.word);
    memcpy(outgoing, &call, sizeof call);
    if (bytes)
        memcpy(outgoing + sizeof call, payload, bytes);
    if (!wire_send(GUEST_SOCKET, GUEST_REQUEST, outgoing, sizeof call + bytes, -1))
        _exit(1);
    got = wire_receive(GUEST_SOCKET, &came, incoming.bytes, sizeof incoming.bytes - 1, fd, spin_s);
    if (got < (long) sizeof(SimReply) || came != GUEST_REPLY)
        _exit(1);
    return (size_t) got - sizeof(SimReply);
}

cudaError_t keep_error(cudaError_t error)
{
    if (error && error != cudaErrorNotReady)
        last = error;
    return error;
}

cudaError_t ask(SimCallKind kind, const uint64_t word[SIM_WORDS], const void *payload, size_t bytes,
                uint64_t answer[2], void *to, size_t room, size_t *got)
{
    cudaError_t error;
    size_t count;

    if (bytes > SIM_MOST_BYTES)
        return keep_error(cudaErrorMemoryAllocation);
    pthread_mutex_lock(&lock);
    count = exchange(kind, word, payload, bytes, NULL);
    count = count < room ? count : room;
    if (answer)
        memcpy(answer, incoming.reply.word, sizeof incoming.reply.word);
    if (count)
        memcpy(to, incoming.bytes + sizeof(SimReply), count);
    if (got)
        *got = count;
    error = (cudaError_t) incoming.reply.error;
    pthread_mutex_unlock(&lock);
    return keep_error(error);
}

cudaError_t ask_words(SimCallKind kind, const uint64_t word[SIM_WORDS], uint64_t answer[2])
{
    return ask(kind, word, NULL, 0, answer, NULL, 0, NULL);
}

/* Does not deadlock: the library itself never touches a host array while it holds the lock. */
int ask_touch(uint64_t address, bool writes, uint64_t answer[2])
{
    int fd = -1;

    pthread_mutex_lock(&lock);
    exchange(CALL_TOUCH, WORDS(address, writes), NULL, 0, &fd);
    memcpy(answer, incoming.reply.word, sizeof incoming.reply.word);
    pthread_mutex_unlock(&lock);
    return fd;
}

API cudaError_t cudaGetLastError(void)
{
    cudaError_t error = last;

    last = cudaSuccess;
    return error;
}

API cudaError_t cudaPeekAtLastError(void)
{
    return last;
}
