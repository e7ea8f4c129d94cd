/* guest_link.c - starts a guest, sends it commands, and checks its answers. */
#include "runner/guest_link.h"
#include "runner/guest_wire.h"
#include "base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* The caller measures the time until the answer arrives, so the wait spins and no wake-up is
 * included. */
static const double spin_s = 0.05;

enum { MOST_BLOCKS = SERVE_SETS * (LAB_IN + LAB_OUT + 1), MOST_REQUEST = 32 << 20 };

/* Mapping a block takes 1 to 4 ms on both sides, however small it is (H200, driver 580.159,
 * 2026-11-23), and a case may have hundreds of small arrays. They share blocks of this size, which
 * are kept for the next case. */
static const size_t slab_bytes = (size_t) 32 << 20, align_bytes = 512;

/* Memory that both sides have mapped. */
typedef struct Block {
    Share ours;
    uint64_t theirs;
    bool is_slab;
    int arrays;  /* number of arrays in it */
    size_t used; /* bytes in use, from its beginning */
} Block;

static struct {
    int socket;
    pid_t pid;
    bool loaded; /* student code is loaded there */
    bool paused;
    Block blocks[MOST_BLOCKS];
    int block_count;
    char end[SERVE_ANSWER]; /* why it ended; repeated to later callers */
} guest = { .socket = -1 };

bool (*guest_request)(int socket, const char *payload, size_t bytes);

/* ---- Starting ---- */

/* In the new process: closes everything but 0 to 2 and the socket, and makes the process die with
 * its runner. */
static void become(const char *path, int end, pid_t parent)
{
    char *const words[] = { (char *) path, NULL };
    int high = fcntl(end, F_DUPFD_CLOEXEC, GUEST_SOCKET + 1);

    if (high < 0 || dup2(high, GUEST_SOCKET) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) ||
        getppid() != parent)
        _exit(127);
    for (int fd = GUEST_SOCKET + 1; fd < 64; fd++) /* the grader's descriptors are among them */
        close(fd);
    execv(path, words);
    _exit(127);
}

static bool path_beside(const char *name, char path[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 64);
    char *slash;

    if (length <= 0)
        return false;
    path[length] = 0;
    slash = strrchr(path, '/');
    put(slash + 1, 63, "%s", name);
    return access(path, X_OK) == 0;
}

bool guest_start(const char *name)
{
    char path[PATH_MAX];
    pid_t parent = getpid();
    int ends[2];

    if (!path_beside(name, path) || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return false;
    fflush(NULL);
    guest.pid = fork();
    if (guest.pid == 0)
        become(path, ends[1], parent);
    close(ends[1]);
    guest.socket = ends[0];
    if (guest.pid > 0 && wire_send(guest.socket, GUEST_HELLO, NULL, 0, -1))
        return true;
    guest_end();
    return false;
}

pid_t guest_pid(void)
{
    return guest.pid;
}

void guest_end(void)
{
    if (guest.pid > 0) {
        kill(guest.pid, SIGKILL);
        while (waitpid(guest.pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    if (guest.socket >= 0)
        close(guest.socket);
    guest.pid = 0;
    guest.socket = -1;
}

/* ---- The guest runs only while it executes a command ----
 *
 * Otherwise it could begin with the inputs while they are filled, before it is timed, or run while
 * another kernel is timed. A process cannot refuse SIGSTOP, and only the runner resumes it. */

static void pause_guest(void)
{
    if (guest.pid > 0 && !guest.paused)
        guest.paused = !kill(guest.pid, SIGSTOP);
}

static void resume_guest(void)
{
    if (guest.paused)
        kill(guest.pid, SIGCONT);
    guest.paused = false;
}

/* A signal takes time to arrive: waits until the guest has stopped or exited. */
static void wait_until_paused(void)
{
    siginfo_t about;

    while (guest.paused && waitid(P_PID, (id_t) guest.pid, &about, WSTOPPED | WEXITED | WNOWAIT) &&
           errno == EINTR)
        ;
}

/* ---- Asking ---- */

static bool ended(char *fault, const char *kind, const char *how)
{
    guest_end();
    PUT(guest.end, "%s %s", kind, how);
    put(fault, SERVE_ANSWER, "%s", guest.end);
    return false;
}

static bool broke_the_rules(char *fault, const char *how)
{
    return ended(fault, "garbage", how);
}

/* Its socket is closed: reports how it ended. */
static bool is_gone(char *fault)
{
    int status = 0;
    char text[128];

    if (guest.pid <= 0) {
        put(fault, SERVE_ANSWER, "%s", guest.end[0] ? guest.end : "died is gone");
        return false;
    }
    for (double until_s = now_s() + 1; waitpid(guest.pid, &status, WNOHANG) == 0; sleep_s(0.001))
        if (now_s() > until_s)
            return ended(fault, "garbage.closed_channel", "closed the channel to the runner");
    guest.pid = 0;
    return ended(fault, WIFSIGNALED(status) ? "died.signal" : "died.exited",
                 end_in_words(status, text, sizeof text));
}

/* A process with student code can report any fault, so none of its faults counts as the machine's.
 */
static void take_fault(char *fault, const char *text)
{
    static const char *const its_own[] = { "launch ", "kernel ", "load " };

    for (size_t i = 0; i < sizeof its_own / sizeof *its_own; i++)
        if (!guest.loaded || !strncmp(text, its_own[i], strlen(its_own[i]))) {
            put(fault, SERVE_ANSWER, "%s", text);
            return;
        }
    put(fault, SERVE_ANSWER, "kernel %s", strchr(text, ' ') ? strchr(text, ' ') + 1 : text);
}

/* Waits for an answer of that kind; meanwhile serves the CUDA calls that the guest passes on. */
static bool await(GuestKind wanted, void *answer, size_t *room, char *fault)
{
    static char frame[MOST_REQUEST + 1];
    GuestKind kind;
    long bytes;

    for (;;) {
        bytes = wire_receive(guest.socket, &kind, frame, MOST_REQUEST, NULL, spin_s);
        if (bytes == -1)
            return is_gone(fault);
        if (bytes < 0)
            return broke_the_rules(fault, "sent the runner an answer that is too long");
        if (kind == GUEST_REQUEST && guest_request) {
            if (!guest_request(guest.socket, frame, (size_t) bytes))
                return broke_the_rules(fault,
                                       "sent the runner a call that this lab does not allow");
            continue;
        }
        break;
    }
    if (kind == GUEST_FAIL) {
        take_fault(fault, frame);
        return false;
    }
    if (kind != wanted || (size_t) bytes > (room ? *room : 0))
        return broke_the_rules(fault, "sent the runner an answer that no command requested");
    if (room) {
        memcpy(answer, frame, (size_t) bytes);
        *room = (size_t) bytes;
    }
    return true;
}

static bool tell(GuestKind kind, const void *payload, size_t bytes, int fd, char *fault)
{
    resume_guest();
    return (guest.socket >= 0 && wire_send(guest.socket, kind, payload, bytes, fd)) ||
           is_gone(fault);
}

static bool ask(GuestKind kind, const void *payload, size_t bytes, int fd, void *answer,
                size_t *room, char *fault)
{
    bool fine = tell(kind, payload, bytes, fd, fault) && await(GUEST_OK, answer, room, fault);

    pause_guest();
    return fine;
}

bool guest_ready(char *fault)
{
    bool is_up = await(GUEST_OK, NULL, NULL, fault);

    pause_guest();
    return is_up;
}

bool guest_load(const char *folder, const char *path, char *sandbox, char *fault)
{
    char text[PATH_MAX + 64], answer[64] = "";
    size_t room = sizeof answer - 1;

    guest.loaded = true;
    PUT(text, "%s %s", folder, path);
    if (!ask(GUEST_LOAD, text, strlen(text), -1, answer, &room, fault))
        return false;
    answer[room] = 0;
    if (!field(answer, "sandbox", sandbox, 24))
        return broke_the_rules(fault, "sent the runner an answer that no command requested");
    return true;
}

bool guest_settle(char *fault)
{
    if (!ask(GUEST_SETTLE, NULL, 0, -1, NULL, NULL, fault))
        return false;
    wait_until_paused();
    return true;
}

/* ---- Arrays ---- */

static bool map_there(Block *block, int fd, char *fault)
{
    const Share *share = &block->ours;
    const GuestMap map = { share->bytes, share_address(share), share->host, 0 };
    size_t room = sizeof block->theirs;
    bool mapped = ask(GUEST_MAP, &map, sizeof map, fd, &block->theirs, &room, fault);

    if (fd >= 0)
        close(fd);
    return mapped &&
           (room == sizeof block->theirs || broke_the_rules(fault, "sent the runner no address"));
}

/* If the memory becomes free when the guest is gone, student code held it. */
static void explain_lack(cudaError_t error, size_t bytes, bool host, char *fault)
{
    Share share;
    int fd;

    put(fault, SERVE_ANSWER, "%s %s %s", error == cudaErrorMemoryAllocation ? "memory" : "gpu",
        cudaGetErrorName(error), cudaGetErrorString(error));
    if (error != cudaErrorMemoryAllocation || host || !guest.loaded)
        return;
    guest_end();
    if (share_make(&share, bytes, host, &fd))
        return;
    close(fd);
    share_close(&share);
    put(fault, SERVE_ANSWER, "hoards it holds so much GPU memory that the next arrays do not fit");
}

/* Returns NULL and sets the fault on failure. */
static Block *new_block(size_t bytes, bool host, bool is_slab, char *fault)
{
    Block *block = &guest.blocks[guest.block_count];
    cudaError_t error;
    int fd;

    if (guest.block_count == MOST_BLOCKS) {
        put(fault, SERVE_ANSWER, "usage too many arrays");
        return NULL;
    }
    *block = (Block){ .is_slab = is_slab };
    if ((error = share_make(&block->ours, bytes, host, &fd))) {
        explain_lack(error, bytes, host, fault);
        return NULL;
    }
    if (!map_there(block, fd, fault)) {
        share_close(&block->ours);
        return NULL;
    }
    guest.block_count++;
    return block;
}

static void drop_block(Block *block)
{
    char fault[SERVE_ANSWER];

    if (guest.socket >= 0)
        ask(GUEST_UNMAP, &block->theirs, sizeof block->theirs, -1, NULL, NULL, fault);
    share_close(&block->ours);
    *block = guest.blocks[--guest.block_count];
}

static Block *slab_with_room(size_t bytes, char *fault)
{
    for (int i = 0; i < guest.block_count; i++)
        if (guest.blocks[i].is_slab && guest.blocks[i].used + bytes <= guest.blocks[i].ours.bytes)
            return &guest.blocks[i];
    return new_block(slab_bytes, false, true, fault);
}

bool guest_share(size_t bytes, bool host, void **data, char *fault)
{
    const bool is_small = !host && share_in_slabs && bytes <= slab_bytes / 2;
    Block *block = is_small ? slab_with_room(bytes, fault) : new_block(bytes, host, false, fault);

    if (!block)
        return false;
    *data = (char *) block->ours.data + block->used;
    block->used += (bytes + align_bytes - 1) / align_bytes * align_bytes;
    block->arrays++;
    return true;
}

/* NULL if it is in no block. */
static Block *block_of(const void *data)
{
    for (int i = 0; i < guest.block_count; i++) {
        const char *begin = guest.blocks[i].ours.data;
        if ((const char *) data >= begin &&
            (const char *) data < begin + guest.blocks[i].ours.bytes)
            return &guest.blocks[i];
    }
    return NULL;
}

void guest_unshare(void *data)
{
    Block *block = block_of(data);

    if (!block || --block->arrays)
        return;
    block->used = 0;
    if (!block->is_slab)
        drop_block(block);
}

/* The address of an array in the guest. The array is inside a block. */
static void *their_address(const void *ours)
{
    const Block *block = block_of(ours);

    return block ? (void *) (uintptr_t) (block->theirs + (uint64_t) ((const char *) ours -
                                                                     (char *) block->ours.data))
                 : NULL;
}

static void translate(Array *array)
{
    array->data = array->data ? their_address(array->data) : NULL;
    array->name = NULL; /* an address in this process */
}

/* ---- Calling ---- */

static int case_index(const Lab *lab, const Case *lab_case)
{
    int i = 0;

    while (lab->cases[i].label != lab_case->label)
        i++;
    return i;
}

static size_t write_call(char *frame, const Lab *lab, const Case *lab_case, const Arrays *sets,
                         int calls)
{
    GuestCall call = { case_index(lab, lab_case), calls, { 0 } };

    for (int d = 0; d < LAB_DIMS; d++)
        call.dim[d] = lab_case->dim[d];
    memcpy(frame, &call, sizeof call);
    for (int k = 0; k < calls; k++) {
        Arrays set = sets[k];
        for (int i = 0; i < LAB_IN; i++)
            translate(&set.in[i]);
        for (int i = 0; i < LAB_OUT; i++)
            translate(&set.out[i]);
        translate(&set.scratch);
        memcpy(frame + sizeof call + (size_t) k * sizeof set, &set, sizeof set);
    }
    return sizeof call + (size_t) calls * sizeof(Arrays);
}

static bool call_and_wait(const Arrays *last, void (*returned)(const Arrays *last), double *ms,
                          char *fault)
{
    size_t room = sizeof *ms;

    if (last->out[0].host) {
        if (!await(GUEST_RETURNED, NULL, NULL, fault))
            return false;
        returned(last);
        if (!tell(GUEST_GO_ON, NULL, 0, -1, fault))
            return false;
    }
    if (!await(GUEST_OK, ms, &room, fault))
        return false;
    return room == sizeof *ms || broke_the_rules(fault, "sent the runner no time");
}

bool guest_call(const Lab *lab, const Case *lab_case, const Arrays *sets, int calls,
                void (*returned)(const Arrays *last), double *ms, char *fault)
{
    static char frame[sizeof(GuestCall) + SERVE_SETS * sizeof(Arrays)];
    size_t bytes = write_call(frame, lab, lab_case, sets, calls);
    bool fine = tell(GUEST_CALL, frame, bytes, -1, fault) &&
                call_and_wait(&sets[calls - 1], returned, ms, fault);

    pause_guest();
    return fine;
}
