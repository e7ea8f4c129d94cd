/* rogue_guest.c - a guest (guest_wire.h) that breaks the protocol in one way, as student code that
 * has taken over its process could. tests/runner/guest.sh installs it instead of the real guest;
 * the environment variable WARPBOOK_ROGUE selects the violation.
 */
#include "runner/guest_wire.h"
#include "runner/sim_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static union {
    char bytes[GUEST_MOST_BYTES + 1];
    GuestMap map;
} came;

static uint64_t last_array; /* its address in the runner */

static void answer(const void *payload, size_t bytes)
{
    wire_send(GUEST_SOCKET, GUEST_OK, payload, bytes, -1);
}

/* Makes a call with these words and bytes. Returns its error; exits if the runner does not
 * answer. */
static int64_t ask(uint64_t kind, const uint64_t word[SIM_WORDS], const void *bytes, size_t count)
{
    static char frame[sizeof(SimCall) + 4096], reply[sizeof(SimReply) + (1 << 20) + 1];
    SimCall call = { .kind = kind };
    SimReply said;
    GuestKind got;
    int fd;

    memcpy(call.word, word, sizeof call.word);
    memcpy(frame, &call, sizeof call);
    memcpy(frame + sizeof call, bytes, count);
    wire_send(GUEST_SOCKET, GUEST_REQUEST, frame, sizeof call + count, -1);
    if (wire_receive(GUEST_SOCKET, &got, reply, sizeof reply - 1, &fd, 0) < (long) sizeof said)
        _exit(9);
    memcpy(&said, reply, sizeof said);
    return said.error;
}

#define WORDS(...) ((uint64_t[SIM_WORDS]){ __VA_ARGS__ })

/* ---- Violations, each at the first command of its kind in the table below ---- */

static void exits(void)
{
    _exit(7);
}

static void hangs_up(void)
{
    close(GUEST_SOCKET);
    pause();
}

static void is_silent(void)
{
    pause();
}

static void claims_no_time(void)
{
    answer(&(double){ 1e-9 }, sizeof(double));
}

static void answers_with_nothing(void)
{
    answer(NULL, 0);
}

static void answers_with_too_much(void)
{
    answer(came.bytes, 4096);
}

static void says_what_no_guest_says(void)
{
    wire_send(GUEST_SOCKET, GUEST_CALL, NULL, 0, -1);
}

static void announces_four_gigabytes(void)
{
    const GuestHeader header = { GUEST_OK, UINT32_MAX };

    if (write(GUEST_SOCKET, &header, sizeof header) > 0)
        pause();
}

static void sends_half_a_frame(void)
{
    const GuestHeader header = { GUEST_OK, sizeof(double) };

    if (write(GUEST_SOCKET, &header, sizeof header) > 0)
        _exit(0);
}

static void blames_the_gpu(void)
{
    wire_send(GUEST_SOCKET, GUEST_FAIL, "gpu cudaErrorDevicesUnavailable", 31, -1);
}

static void fails_without_words(void)
{
    wire_send(GUEST_SOCKET, GUEST_FAIL, NULL, 0, -1);
}

static void asks_for_no_call(void)
{
    ask(SIM_CALLS + 7, WORDS(0), NULL, 0);
}

static void asks_in_half(void)
{
    wire_send(GUEST_SOCKET, GUEST_REQUEST, "half", 4, -1);
    pause();
}

static void brings_half_a_program(void)
{
    static const char header[] = { 0x50, (char) 0xed, 0x55, (char) 0xba, 1, 0, 16, 0,
                                   127,  127,         127,  0,           0, 0, 0,  0 };

    ask(CALL_MODULE, WORDS(1), header, sizeof header);
}

static void names_a_module_that_is_none(void)
{
    ask(CALL_FUNCTION, WORDS(12345), "kernel", 6);
}

/* An unchecked address would be read from here on: none of the guest's arrays is there. */
static void reads_the_runners_memory(void)
{
    const uint64_t places[] = { 0x400000, (uintptr_t) &came, 0x7fff00000000, 8, UINT64_MAX - 64 };

    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        for (uint64_t kind = 0; kind < 6; kind++)
            if (!ask(CALL_COPY, WORDS(0x1000, places[i], 64, kind, 0, COPY_BLOCKS | COPY_TO_GUEST),
                     NULL, 0))
                abort();
    claims_no_time();
}

static void writes_the_runners_memory(void)
{
    static const char bytes[64];

    for (uint64_t kind = 0; kind < 6; kind++)
        if (!ask(CALL_COPY,
                 WORDS((uintptr_t) &came, 0x1000, 64, kind, 0, COPY_BLOCKS | COPY_FROM_GUEST),
                 bytes, sizeof bytes))
            abort();
    claims_no_time();
}

static void reads_beyond_an_array(void)
{
    if (!ask(CALL_COPY, WORDS(0x1000, last_array, 1 << 20, 2, 0, COPY_BLOCKS | COPY_TO_GUEST), NULL,
             0))
        abort();
    claims_no_time();
}

static void copies_more_than_came(void)
{
    ask(CALL_COPY, WORDS(last_array, 0x1000, 64, 1, 0, COPY_BLOCKS | COPY_FROM_GUEST), "few", 3);
}

static void touches_what_is_no_array(void)
{
    if (!ask(CALL_TOUCH, WORDS((uintptr_t) &came, 1), NULL, 0) ||
        !ask(CALL_TOUCH, WORDS(last_array, 1), NULL, 0))
        abort();
    claims_no_time();
}

/* Makes existing calls with random numbers. The runner may or may not kill the guest for it. */
static void asks_anything(void)
{
    srandom(20261123);
    for (int i = 0; i < 3000; i++) {
        const uint64_t some[] = { 0,
                                  1,
                                  2,
                                  3,
                                  16,
                                  17,
                                  64,
                                  1u << 20,
                                  last_array,
                                  UINT64_MAX,
                                  (uint64_t) random() << 32 | (uint64_t) random() };
        uint64_t word[SIM_WORDS];
        char bytes[64];
        for (int w = 0; w < SIM_WORDS; w++)
            word[w] = some[(size_t) random() % (sizeof some / sizeof *some)];
        for (size_t b = 0; b < sizeof bytes; b++)
            bytes[b] = (char) random();
        ask((uint64_t) random() % (SIM_CALLS - 1) + 1, word, bytes,
            random() % 2 ? (size_t) random() % sizeof bytes : 0);
    }
    claims_no_time();
}

static const struct {
    const char *name;
    GuestKind when;
    void (*act)(void);
} deeds[] = {
    { "exits-at-hello", GUEST_HELLO, exits },
    { "exits-at-load", GUEST_LOAD, exits },
    { "exits", GUEST_CALL, exits },
    { "hangs-up", GUEST_CALL, hangs_up },
    { "is-silent", GUEST_CALL, is_silent },
    { "claims-no-time", GUEST_CALL, claims_no_time },
    { "answers-with-nothing", GUEST_CALL, answers_with_nothing },
    { "answers-with-too-much", GUEST_CALL, answers_with_too_much },
    { "says-what-no-guest-says", GUEST_CALL, says_what_no_guest_says },
    { "announces-four-gigabytes", GUEST_CALL, announces_four_gigabytes },
    { "sends-half-a-frame", GUEST_CALL, sends_half_a_frame },
    { "blames-the-gpu", GUEST_CALL, blames_the_gpu },
    { "fails-without-words", GUEST_CALL, fails_without_words },
    { "asks-for-no-call", GUEST_CALL, asks_for_no_call },
    { "asks-in-half", GUEST_CALL, asks_in_half },
    { "brings-half-a-program", GUEST_CALL, brings_half_a_program },
    { "names-a-module-that-is-none", GUEST_CALL, names_a_module_that_is_none },
    { "reads-the-runners-memory", GUEST_CALL, reads_the_runners_memory },
    { "writes-the-runners-memory", GUEST_CALL, writes_the_runners_memory },
    { "reads-beyond-an-array", GUEST_CALL, reads_beyond_an_array },
    { "copies-more-than-came", GUEST_CALL, copies_more_than_came },
    { "copies-before-it-is-called", GUEST_SETTLE, copies_more_than_came },
    { "touches-what-is-no-array", GUEST_CALL, touches_what_is_no_array },
    { "asks-anything", GUEST_CALL, asks_anything },
};

static void keep_the_rules(GuestKind kind)
{
    if (kind == GUEST_LOAD)
        answer("sandbox:none", 12);
    else if (kind == GUEST_MAP) {
        last_array = came.map.address;
        answer(&last_array, sizeof last_array);
    } else if (kind == GUEST_CALL)
        claims_no_time();
    else
        answer(NULL, 0);
}

int main(void)
{
    const char *deed = getenv("WARPBOOK_ROGUE");
    GuestKind kind;
    int fd;

    while (deed &&
           wire_receive(GUEST_SOCKET, &kind, came.bytes, sizeof came.bytes - 1, &fd, 0) >= 0) {
        size_t i = 0;
        while (i < sizeof deeds / sizeof *deeds &&
               (kind != deeds[i].when || strcmp(deed, deeds[i].name)))
            i++;
        if (fd >= 0)
            close(fd);
        if (i < sizeof deeds / sizeof *deeds)
            deeds[i].act();
        else
            keep_the_rules(kind);
    }
    return 0;
}
