/* test_serve.c - invalid and impossible commands, and the seeds that a server must not keep.
 *
 * serve() runs in a child with a tiny device on the host: arrays come from calloc, and calls do
 * nothing. Each row of a table is sent to a new server.
 */
#include "runner/contents.h"
#include "base/registry.h"
#include "runner/server.h"
#include "base/util.h"

#include <CUnit/CUnit.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SHARED_BYTES = 4096 };

/* ---- A device that is only memory ---- */

static size_t bytes_of(const Array *array)
{
    return array->rows * array->cols * element_bytes((Element) array->type);
}

static bool mini_hello(char *answer, char *fault)
{
    (void) fault;
    put(answer, SERVE_ANSWER, "name:two\nlines");
    return true;
}

static void no_kernel(void)
{
}

static bool mini_load(const char *folder, const Lab *lab, const char *path, Kernel **kernel,
                      char *answer, char *fault)
{
    (void) folder;
    (void) lab;
    put(answer, SERVE_ANSWER, "sandbox:none isolation:shared guest:0");
    put(fault, SERVE_ANSWER, "load [%s]", path);
    *kernel = no_kernel;
    return strcmp(path, "bad path");
}

static int allocations, releases;

static bool mini_allocate(Array *array, unsigned char guard, char *fault)
{
    (void) guard;
    put(fault, SERVE_ANSWER, "memory none left");
    if (bytes_of(array) > 1 << 24)
        return false;
    allocations++;
    array->data = calloc(1, bytes_of(array));
    return array->data;
}

static void mini_release(Array *array)
{
    releases++;
    free(array->data);
}

static bool mini_fill(const Array *array, const Source *source, char *fault)
{
    FillKey key = fill_key(source->seed, source->input);
    size_t width = element_bytes((Element) array->type);

    (void) fault;
    for (size_t i = 0; i < array->rows * array->cols; i++) {
        uint64_t bits = element_bits((Element) array->type, array->fill, key, i);
        memcpy((char *) array->data + i * width, &bits, width);
    }
    return true;
}

static bool mini_poison(const Array *array, unsigned char byte, char *fault)
{
    (void) fault;
    memset(array->data, byte, bytes_of(array));
    return true;
}

static bool mini_settle(char *fault)
{
    (void) fault;
    return true;
}

static bool mini_filled(char *fault)
{
    (void) fault;
    return true;
}

/* Reads memory that a sanitizer would not let us read. */
__attribute__((no_sanitize("address"), noinline)) static void peek(char *to, const char *from)
{
    for (volatile int i = 0; i < 16; i++)
        to[i] = from[i];
}

/* Acts as a thief would: tries each word of a piece of memory, and each 16 hex digits, as the seed
 * of array 0, whose first elements are known. */
static int seeds_in(const char *from, const char *to, const Array *array)
{
    int found = 0;

    for (const char *at = from; at + 16 < to; at++) {
        uint64_t word, bits;
        char digits[17] = "", *end;
        bool same = true;
        peek(digits, at);
        memcpy(&word, digits, sizeof word);
        if (strspn(digits, "0123456789abcdef") == 16)
            word = set_seed(strtoull(digits, &end, 16), 0);
        for (size_t i = 0; i < 4 && same; i++) {
            bits = element_bits((Element) array->type, array->fill, fill_key(word, 0), i);
            same = !memcmp((char *) array->data + i * element_bytes((Element) array->type), &bits,
                           element_bytes((Element) array->type));
        }
        found += same;
    }
    return found;
}

/* Searches the stack and the heap of this process, as far as they can be found. */
static int seeds_in_reach(const Array *array)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    int found = 0;

    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        if ((strstr(line, "[stack]") || strstr(line, "[heap]")) &&
            sscanf(line, "%lx-%lx rw", &from, &to) == 2)
            found += seeds_in((const char *) from, (const char *) to, array);
    }
    if (maps)
        fclose(maps);
    return found;
}

static bool look_for_seeds, tell_allocations;

/* A time of N ms means N seeds found, or 100 for each array allocated and 1 for each array
 * freed. */
static bool mini_time_calls(const Lab *lab, const Case *lab_case, Kernel *kernel, Arrays *sets,
                            int calls, double *ms, char *fault)
{
    (void) lab, (void) lab_case, (void) kernel, (void) fault;
    *ms = look_for_seeds     ? seeds_in_reach(&sets[0].in[0])
          : tell_allocations ? 100 * allocations + releases
                             : calls;
    return true;
}

static bool mini_fetch(const Array *array, size_t first, size_t count, void *to, char *fault)
{
    size_t width = element_bytes((Element) array->type);

    (void) fault;
    memcpy(to, (char *) array->data + first * width, count * width);
    return true;
}

static bool mini_guards_whole(const Array *array, unsigned char guard, size_t *offset, bool *before,
                              char *fault)
{
    (void) array, (void) guard, (void) fault;
    *offset = SIZE_MAX;
    *before = false;
    return true;
}

static bool mini_holds(const Array *array, const Source *source, size_t *differs_at, bool *same,
                       char *fault)
{
    (void) array, (void) source, (void) fault;
    *differs_at = 7;
    *same = false;
    return true;
}

/* Of block 7 nothing can be recorded. */
static bool mini_record(int64_t block, int warp, char *fault)
{
    put(fault, SERVE_ANSWER, "memory for block %lld, warp %d", (long long) block, warp);
    return block != 7;
}

static bool mini_records(void *to, size_t room, size_t *bytes, char *fault)
{
    (void) fault;
    memset(to, 1, room);
    *bytes = room;
    return true;
}

static bool mini_clock(double *mhz, char *fault)
{
    (void) mhz;
    memset(fault, 'y', SERVE_ANSWER - 1); /* the longest possible */
    return false;
}

static const Device mini = {
    .hello = mini_hello,
    .load = mini_load,
    .allocate = mini_allocate,
    .release = mini_release,
    .fill = mini_fill,
    .poison = mini_poison,
    .settle = mini_settle,
    .filled = mini_filled,
    .time_calls = mini_time_calls,
    .fetch = mini_fetch,
    .guards_whole = mini_guards_whole,
    .holds = mini_holds,
    .clock_mhz = mini_clock,
    .record = mini_record,
    .records = mini_records,
};

/* ---- Sending commands ---- */

/* Collects the output of a child from a pipe until the child ends; returns how it ended. */
static int collect(pid_t pid, int from, char *said, size_t size)
{
    size_t used = 0;
    ssize_t got;
    int status = 0;

    while (used < size - 1 && (got = read(from, said + used, size - 1 - used)) > 0)
        used += (size_t) got;
    said[used] = 0;
    close(from);
    waitpid(pid, &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Sends bytes to a new serve(), then the end of input. If `shared` is not NULL, it receives the
 * contents of the shared memory afterwards. */
static int converse(const char *bytes, size_t size, char *said, size_t room, void *shared)
{
    int to[2], from[2], memory = memfd_create("test", MFD_CLOEXEC), status;
    pid_t pid;

    signal(SIGPIPE, SIG_IGN);
    if (memory < 0 || ftruncate(memory, SHARED_BYTES) || pipe(to) || pipe(from) ||
        (pid = fork()) < 0)
        return -1;
    if (pid == 0) {
        close(to[1]);
        close(from[0]);
        alarm(20);
        _exit(serve(&mini, to[0], from[1], memory));
    }
    close(to[0]);
    close(from[1]);
    if (write(to[1], bytes, size) < 0)
        room = 1;
    close(to[1]);
    status = collect(pid, from[0], said, room);
    if (shared && pread(memory, shared, SHARED_BYTES, 0) != SHARED_BYTES)
        status = -1;
    close(memory);
    return status;
}

/* The sizes in the rows are those of this lab. */
static const char *const square_lab = "transpose";

/* Checks a command after `load` and `case` have succeeded. */
static void expect(const char *command, const char *answer)
{
    char bytes[2048], said[8192], *last;
    const char *lab = lab_find(square_lab)->folder;
    int status;

    PUT(bytes, "a load %s p\nb case 0 4 4 4 4 2\nc prepare ff 255\nt %s\n", lab, command);
    status = converse(bytes, strlen(bytes), said, sizeof said, NULL);
    CU_ASSERT_EQUAL(status, 0);
    last = strstr(said, "\nt ");
    if (!last || strncmp(last + 3, answer, strlen(answer))) {
        printf("\n    %s: %s\n", command, said);
        CU_FAIL("an answer is not as expected");
    }
}

static void commands_are_checked(void)
{
    static const struct {
        const char *command, *answer;
    } rows[] = {
        { "hello", "ok name:two lines\n" },
        { "hello there", "fail usage" },
        { "hello ", "ok" },
        { " hello", "fail usage" },
        { "Hello", "fail usage" },
        { "", "fail usage" },
        { "load transpose other", "fail usage a kernel" },
        { "case", "fail usage" },
        { "case 0 4 4 4 4", "fail usage" },
        { "case 0 4 4 4 4 2 2", "fail usage" },
        { "case 999 4 4 4 4 2", "fail usage" },
        { "case -1 4 4 4 4 2", "fail usage" },
        { "case 18446744073709551615 4 4 4 4 2", "fail usage" },
        { "case 18446744073709551616 4 4 4 4 2", "fail usage" },
        { "case 0x0 4 4 4 4 2", "fail usage" },
        { "case 0 -4 4 4 4 2", "fail usage" },
        { "case 0 4 4 4 99999999999999999999 2", "fail usage" },
        { "case 0 99999999999 4 4 4 2", "fail usage" },
        { "case 0 4 4 4 4 0", "fail usage" },
        { "case 0 4 4 4 4 65", "fail usage" },
        { "case 0 4 4 4 4 2.5", "fail usage" },
        { "case 0 4  4 4 4 2", "fail usage" },
        { "case 0 4 4 4 4 64", "ok bytes:" },
        { "case 0 68719476736 68719476736 68719476736 68719476736 1", "fail usage" },
        { "case 0 65536 65536 1 1 64", "fail memory none left" },
        { "prepare", "fail usage" },
        { "prepare ff", "fail usage" },
        { "prepare ff 256", "fail usage" },
        { "prepare -1 255", "fail usage" },
        { "prepare xyz 255", "fail usage" },
        { "prepare 0x12 255", "fail usage" },
        { "prepare 11112222333344445 255", "fail usage" },
        { "prepare ffffffffffffffff 0", "ok\n" },
        { "go 0", "fail usage" },
        { "go 3", "fail usage" },
        { "go -1", "fail usage" },
        { "go", "fail usage" },
        { "go 2", "ok ms:2\n" },
        { "window 0 0 0 1", "ok\n" },
        { "window 2 0 0 1", "fail usage" },
        { "window -1 0 0 1", "fail usage" },
        { "window 0 2 0 1", "fail usage" },
        { "window 0 -1 0 1", "fail usage" },
        { "window 0 in:4 0 1", "fail usage" },
        { "window 0 in: 0 1", "fail usage" },
        { "window 0 in:-1 0 1", "fail usage" },
        { "window 0 in:0 0 1", "ok\n" },
        { "window 0 0 0 0", "fail usage" },
        { "window 0 0 0 99999999", "fail usage" },
        { "window 0 0 99999999 1", "fail usage" },
        { "window 0 0 18446744073709551615 2", "fail usage" },
        { "window 0 0 1 18446744073709551615", "fail usage" },
        { "guards", "fail usage" },
        { "guards xyz", "fail usage" },
        { "guards ff", "fail stray set:0 array:in0 side:inside offset:7\n" },
        { "record any any", "ok\n" },
        { "record 0 31", "ok\n" },
        { "record 9223372036854775807 any", "ok\n" },
        { "record 7 any", "fail memory for block 7, warp -1\n" },
        { "record 0 32", "fail usage" },
        { "record -1 0", "fail usage" },
        { "record 9223372036854775808 0", "fail usage" },
        { "record any", "fail usage" },
        { "records", "ok bytes:4096\n" },
        { "clock", "fail yyyyyy" },
        { "drop", "ok\n" },
        { "drop\nt go 1", "ok\nt fail usage nothing is prepared" },
        { "case 0 4 4 4 4 1\nt go 1", "ok bytes:" },
        { "case 0 4 4 4 4 2\nt go 1", "ok bytes:256\nt fail usage nothing is prepared" }, /* kept */
        { "case 0 -4 4 4 4 1\nt window 0 0 0 1", "fail usage a dimension is out of range\nt fail" },
        { "quit\nt hello", "ok\n" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect(rows[i].command, rows[i].answer);
}

/* Two sets of two arrays exist; allocating a gigabyte of pinned memory takes half a second. */
static void arrays_are_kept(void)
{
    tell_allocations = true;
    expect("prepare ff 255\nt go 1", "ok\nt ok ms:400\n");
    expect("case 0 4 4 4 4 3\nt prepare ff 255\nt go 1", "ok bytes:384\nt ok\nt ok ms:600\n");
    expect("case 0 4 4 4 4 1\nt prepare ff 255\nt go 1", "ok bytes:128\nt ok\nt ok ms:402\n");
    expect("case 0 4 5 4 4 2\nt prepare ff 255\nt go 1", "ok bytes:320\nt ok\nt ok ms:804\n");
    tell_allocations = false;
}

/* Lines sent verbatim from the start of a conversation. */
static void lines_are_checked(void)
{
    static char long_line[4096], longest[SERVE_LINE + 1], long_tag[64];
    static const struct {
        const char *name, *bytes;
        size_t size; /* 0: length of the text */
        int status;
        const char *said;
    } rows[] = {
        { "end of input", "", 0, 0, "" },
        { "truncated line", "t hello", 0, 2, "" },
        { "no tag", " hello\n", 0, 2, "" },
        { "empty line", "\n", 0, 2, "" },
        { "tag alone", "t\n", 0, 0, "t fail usage no command\n" },
        { "a 0 in a line", "t hel\0lo\n", 9, 2, "" },
        { "a 0 in the tag", "\0t hello\n", 9, 2, "" },
        { "two lines at once", "t hello\nu hello\n", 0, 0, "t ok name:two lines\nu ok name:" },
        { "a good line, then half", "t hello\nu hel", 0, 2, "t ok name:two lines\n" },
        { "too long", long_line, sizeof long_line, 2, "" },
        { "as long as may be", longest, SERVE_LINE, 0, "t fail usage unknown command\n" },
        { "too long a tag", long_tag, 0, 2, "" },
        { "before load",
          "t case 0 1 1 1 1 1\nt prepare 1 1\nt go 1\nt window 0 0 0 1\nt guards 1\n", 0, 0,
          "t fail usage no kernel is loaded\nt fail usage there are no arrays\nt fail usage" },
        { "no such lab", "t load nothing_like_it p\n", 0, 0, "t fail usage no such lab\n" },
        { "load of nothing", "t load\nt load x\nt load x \n", 0, 0,
          "t fail usage wrong number of arguments\nt fail usage wrong number of arguments\nt "
          "fail" },
        { "escape", "t \033[31mhello\n", 0, 0, "t fail usage unknown command\n" },
    };

    memset(long_line, 'x', sizeof long_line - 1);
    long_line[1] = ' ';
    memset(longest, 'x', SERVE_LINE);
    memcpy(longest, "t ", 2);
    longest[SERVE_LINE - 1] = '\n';
    memset(long_tag, 'x', sizeof long_tag - 1);
    memcpy(long_tag + 50, " hello\n", 8);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char said[8192];
        size_t size = rows[i].size ? rows[i].size : strlen(rows[i].bytes);
        int status = converse(rows[i].bytes, size, said, sizeof said, NULL);
        if (status != rows[i].status || strncmp(said, rows[i].said, strlen(rows[i].said)) ||
            (!*rows[i].said && *said)) {
            printf("\n    %s: %d %.200s\n", rows[i].name, status, said);
            CU_FAIL("a line is not answered as expected");
        }
    }
}

static void paths_may_have_blanks(void)
{
    char bytes[256], said[1024];

    PUT(bytes, "t load %s bad path\n", all_labs[0].folder);
    CU_ASSERT_EQUAL(converse(bytes, strlen(bytes), said, sizeof said, NULL), 0);
    CU_ASSERT_STRING_EQUAL(said, "t fail load [bad path]\n");
}

/* The input of set 1, fetched through shared memory, follows from the seed alone. */
static void inputs_follow_from_the_seed(void)
{
    char bytes[256], said[1024];
    uint64_t shared[SHARED_BYTES / 8];
    const Lab *lab = all_labs[0].lab;
    Case lab_case = lab->cases[0];
    Arrays arrays = { 0 };
    uint64_t right;

    lab_case.dim[0] = lab_case.dim[1] = lab_case.dim[2] = lab_case.dim[3] = 4;
    lab->shape(&lab_case, &arrays);
    right = element_bits((Element) arrays.in[0].type, arrays.in[0].fill,
                         fill_key(set_seed(0xfeedfacecafef00d, 1), 0), 2);
    PUT(bytes,
        "a load %s p\nb case 0 4 4 4 4 2\nc prepare feedfacecafef00d 255\nd window 1 in:0 2 1\n",
        all_labs[0].folder);
    CU_ASSERT_EQUAL(converse(bytes, strlen(bytes), said, sizeof said, shared), 0);
    CU_ASSERT(!memcmp(shared, &right, element_bytes((Element) arrays.in[0].type)));
}

/* The seed is drawn by a process that serves nothing, so no memory copied by a fork contains it. */
static void send_secretly(int to)
{
    char bytes[256];

    if (fork())
        return;
    PUT(bytes, "a load %s p\nb case 0 4 4 4 4 2\nc prepare %016llx 255\n",
        lab_find(square_lab)->folder, (unsigned long long) secret());
    APPEND(bytes, "d go 1\ne quit\n");
    _exit(write(to, bytes, strlen(bytes)) < 0);
}

static void no_seed_is_left_in_reach(void)
{
    int to[2], from[2], memory = memfd_create("test", MFD_CLOEXEC);
    char said[1024];
    pid_t pid;

    if (memory < 0 || ftruncate(memory, SHARED_BYTES) || pipe(to) || pipe(from)) {
        CU_FAIL_FATAL("no pipes");
    }
    look_for_seeds = true;
    send_secretly(to[1]);
    close(to[1]);
    if (!(pid = fork())) {
        alarm(20);
        _exit(serve(&mini, to[0], from[1], memory));
    }
    look_for_seeds = false;
    close(to[0]);
    close(from[1]);
    CU_ASSERT_EQUAL(collect(pid, from[0], said, sizeof said), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(said, "\nd ok ms:0\n"));
    close(memory);
    wait(NULL);
}

CU_SuiteInfo test_serve = {
    "serve",
    .pTests =
        (CU_TestInfo[]){
            { "commands are checked", commands_are_checked },
            { "arrays of one shape are kept from case to case", arrays_are_kept },
            { "lines are checked", lines_are_checked },
            { "paths may have blanks", paths_may_have_blanks },
            { "inputs follow from the seed", inputs_follow_from_the_seed },
            { "no seed is left in reach", no_seed_is_left_in_reach },
            CU_TEST_INFO_NULL,
        },
};
