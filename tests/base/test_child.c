/* test_child.c - the line protocol, with scripts that are silent, crash, hang, flood or lie. */
#include "base/child.h"
#include "base/util.h"

#include <CUnit/CUnit.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
    const char *name, *script;
    Reply reply;
    ChildError error;
    const char *answer;
} scripts[] = {
    { "answers", "read tag rest <&3; echo \"$tag ok ms:5\" >&4; sleep 9", REPLY_OK, CHILD_FINE,
      "ok ms:5" },
    { "fails", "read tag rest <&3; echo \"$tag fail kernel died\" >&4; sleep 9", REPLY_FAIL,
      CHILD_FINE, "fail kernel died" },
    { "silent", "sleep 9", REPLY_LATE, CHILD_NO_ANSWER, "" },
    { "half a line", "read tag rest <&3; printf '%s ok' $tag >&4; sleep 9", REPLY_LATE,
      CHILD_NO_ANSWER, "" },
    { "exits", "read tag rest <&3; exit 7", REPLY_GONE, CHILD_EXITED, "" },
    { "crashes", "read tag rest <&3; kill -SEGV $$", REPLY_GONE, CHILD_EXITED, "" },
    { "closes the channel", "read tag rest <&3; exec 4>&-; sleep 9", REPLY_GARBAGE,
      CHILD_CLOSED_CHANNEL, "" },
    { "speaks first", "echo 'ok ms:0' >&4; sleep 9", REPLY_GARBAGE, CHILD_OUT_OF_TURN, "" },
    { "answers twice", "read tag rest <&3; printf \"$tag ok\\n$tag ok\\n\" >&4; sleep 9",
      REPLY_GARBAGE, CHILD_OUT_OF_TURN, NULL },
    { "wrong tag", "read tag rest <&3; echo '0123456789abcdef ok ms:0' >&4; sleep 9", REPLY_GARBAGE,
      CHILD_UNTAGGED, "" },
    { "no verdict", "read tag rest <&3; echo \"$tag yes\" >&4; sleep 9", REPLY_GARBAGE,
      CHILD_BAD_ANSWER, NULL },
    { "floods the channel", "read tag rest <&3; while :; do printf xxxxxxxxxxxxxxxxxxxx >&4; done",
      REPLY_GARBAGE, CHILD_FLOOD, "" },
    { "sends zeros", "read tag rest <&3; head -c 64 /dev/zero >&4; sleep 9", REPLY_GARBAGE,
      CHILD_NOT_TEXT, "" },
    { "floods stdout", "yes & read tag rest <&3; sleep 0.3; echo \"$tag ok\" >&4; sleep 9",
      REPLY_OK, CHILD_FINE, "ok" },
};

static void every_script_gets_its_reply(void)
{
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        Child child = { 0 };
        char answer[CHILD_LINE];
        Reply reply;
        double start = now_s();

        CU_ASSERT_FATAL(child_start(
            &child, (char *[]){ "/bin/bash", "-c", (char *) scripts[i].script, NULL }, 4096));
        if (scripts[i].reply == REPLY_GARBAGE && !strncmp(scripts[i].script, "echo", 4))
            sleep_s(0.3); /* it speaks before the first command */
        reply = child_ask(&child, scripts[i].reply == REPLY_LATE ? 0.5 : 20, answer, "go 3");
        if (reply == REPLY_OK && scripts[i].reply == REPLY_GARBAGE) { /* garbage came too late */
            sleep_s(0.3);
            reply = child_ask(&child, 20, answer, "go 3");
        }
        if (reply != scripts[i].reply || child.error != scripts[i].error ||
            (scripts[i].answer && strcmp(answer, scripts[i].answer))) {
            printf("\n%s: reply %d, error %d, \"%s\"\n", scripts[i].name, reply, child.error,
                   answer);
            CU_FAIL("a wrong reply");
        }
        child_end(&child);
        CU_ASSERT_EQUAL(child.pid, 0);
        CU_ASSERT(now_s() - start < 25);
        CU_ASSERT(strlen(child.printed) <= CHILD_PRINTED);
    }
}

/* A zombie that has not been reaped still has a pid, but is dead. */
static bool is_alive(pid_t pid)
{
    char path[64], stat[512] = "";
    FILE *file = fopen(PUT(path, "/proc/%d/stat", (int) pid), "r");
    bool alive = file && fgets(stat, sizeof stat, file) && !strstr(stat, ") Z");

    if (file)
        fclose(file);
    return alive;
}

static void all_that_it_started_dies_with_it(void)
{
    Child child = { 0 };
    char answer[CHILD_LINE];
    double grandchild;

    CU_ASSERT_FATAL(child_start(
        &child,
        (char *[]){ "/bin/bash", "-c",
                    "sleep 1000 & read tag rest <&3; echo \"$tag ok pid:$!\" >&4; wait", NULL },
        4096));
    CU_ASSERT_EQUAL(child_ask(&child, 20, answer, "hello"), REPLY_OK);
    CU_ASSERT_FATAL(field_double(answer, "pid", &grandchild));
    CU_ASSERT_EQUAL(kill((pid_t) grandchild, 0), 0);
    child_end(&child);
    for (int i = 0; is_alive((pid_t) grandchild); i++) {
        CU_ASSERT_FATAL(i < 200);
        sleep_s(0.05);
    }
}

/* Four processes share one processor, so 50 ms of computing take over a second. A kernel of lab 09
 * once got `timeout` because a test machine was busy. */
static void no_blame_for_a_busy_machine(void)
{
    Child child = { 0 };
    char script[640], answer[CHILD_LINE];

    PUT(script,
        "taskset -pc %d $$ > /dev/null\n"
        "for i in 1 2 3; do while :; do :; done & done\n"
        "renice 10 $$ > /dev/null; read tag rest <&3\n"
        "read began rest < /proc/$$/schedstat; ran=$began\n"
        "while [ $ran -lt $((began + 50000000)) ]; do read ran rest < /proc/$$/schedstat; done\n"
        "echo \"$tag ok\" >&4; read more <&3",
        sched_getcpu());
    CU_ASSERT_FATAL(child_start(&child, (char *[]){ "/bin/bash", "-c", script, NULL }, 4096));
    if (access("/proc/self/schedstat", R_OK) == 0)
        CU_ASSERT_EQUAL(child_ask(&child, 0.5, answer, "go 1"), REPLY_OK);
    child_end(&child);
}

static void what_it_prints_is_kept_in_part(void)
{
    Child child = { 0 };
    char answer[CHILD_LINE];

    CU_ASSERT_FATAL(child_start(
        &child,
        (char *[]){ "/bin/bash", "-c",
                    "printf 'x = 5\\033[31m\\n'; head -c 1000000 /dev/zero | tr '\\0' y;"
                    "read tag rest <&3; echo \"$tag ok\" >&4; read more <&3",
                    NULL },
        4096));
    CU_ASSERT_EQUAL(child_ask(&child, 20, answer, "hello"), REPLY_OK);
    child_end(&child);
    CU_ASSERT(!strncmp(child.printed, "x = 5[31m\nyyy", 12)); /* no escape reaches the terminal */
    CU_ASSERT_EQUAL(strlen(child.printed), CHILD_PRINTED);
    CU_ASSERT(child.printed_bytes > CHILD_PRINTED);
}

static void shared_memory_cannot_be_shrunk(void)
{
    Child child = { 0 };
    char answer[CHILD_LINE];

    CU_ASSERT_FATAL(child_start(
        &child,
        (char *[]){ "/bin/bash", "-c",
                    "truncate -s 0 /proc/self/fd/5 2>/dev/null; read tag rest <&3;"
                    "printf hello 1<>/proc/self/fd/5; echo \"$tag ok\" >&4; read more <&3",
                    NULL },
        4096));
    CU_ASSERT_EQUAL(child_ask(&child, 20, answer, "hello"), REPLY_OK);
    CU_ASSERT(!memcmp(child.shared, "hello", 5));
    CU_ASSERT_EQUAL(child.shared[4095], 0); /* still there: no bus error */
    child_end(&child);
}

static void memory_hog_is_stopped(void)
{
    Child child = { .memory_limit = 64 << 20 };
    char answer[CHILD_LINE];

    CU_ASSERT_FATAL(child_start(
        &child, (char *[]){ "/bin/bash", "-c", "x=y; while :; do x=$x$x; done", NULL }, 4096));
    CU_ASSERT_EQUAL(child_ask(&child, 60, answer, "hello"), REPLY_GONE);
    CU_ASSERT_EQUAL(child.error, CHILD_HOST_MEMORY);
    child_end(&child);
}

static void missing_program_is_reported(void)
{
    Child child = { 0 };
    char answer[CHILD_LINE];

    CU_ASSERT_FATAL(child_start(&child, (char *[]){ "/nonexistent/runner", NULL }, 4096));
    CU_ASSERT_EQUAL(child_ask(&child, 20, answer, "hello"), REPLY_GONE);
    CU_ASSERT_PTR_NOT_NULL(strstr(child.printed, "No such file"));
    child_end(&child);
}

static void programs_are_run_to_their_end(void)
{
    static const struct {
        const char *script;
        double limit_s;
        int status;
        const char *output;
    } rows[] = {
        { "echo out; echo err >&2; exit 3", 20, 3, "out\nerr\n" },
        { "kill -SEGV $$", 20, 128 + SIGSEGV, "" },
        { "sleep 9", 0.2, -2, "" },
        { "exec >&- 2>&-; sleep 9", 0.2, -2, "" },
        { "head -c 100000 /dev/zero | tr '\\0' z", 20, 0, "zzzzzzzzz" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char output[64];
        int status = child_run((char *[]){ "/bin/bash", "-c", (char *) rows[i].script, NULL }, NULL,
                               NULL, rows[i].limit_s, output, sizeof output);
        CU_ASSERT_EQUAL(status, rows[i].status);
        CU_ASSERT(!strncmp(output, rows[i].output, strlen(rows[i].output)));
    }
}

/* A confined program may read the system's files and write in its own folder. It cannot open
 * another folder under any name. */
static void a_confined_program_sees_what_it_may(void)
{
    static const struct {
        const char *script; /* $1: its folder, $2: the other */
        bool works;
    } rows[] = {
        { "cat own.txt", true },
        { "echo x > new.txt && cat new.txt", true },
        { "cat \"$2/secret.txt\"", false },
        { "cat \"/proc/self/root$2/secret.txt\"", false },
        { "cat link.txt", false },
        { "ln \"$2/secret.txt\" here.txt", false },
        { "ls \"$2\"", false },
        { "echo x > \"$2/new.txt\"", false },
    };
    char folder[] = "/tmp/warpbook-test-XXXXXX", own[64], other[64], path[128], link[128];
    const char *const writable[] = { own, NULL }, *const devices[] = { "/dev/null", NULL };
    const char *const readable[] = { "/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", NULL };
    const Confinement confinement = { readable, writable, devices, false };
    char output[200];

    CU_ASSERT_FATAL(mkdtemp(folder) != NULL);
    CU_ASSERT_FATAL(make_folders(PUT(own, "%s/own", folder)));
    CU_ASSERT_FATAL(make_folders(PUT(other, "%s/other", folder)));
    CU_ASSERT_FATAL(write_file(PUT(path, "%s/own.txt", own), "x", 1));
    CU_ASSERT_FATAL(write_file(PUT(path, "%s/secret.txt", other), "x", 1));
    CU_ASSERT_FATAL(!symlink(path, PUT(link, "%s/link.txt", own)));
    if (child_run((char *[]){ "/bin/cat", path, NULL }, own, &confinement, 20, output,
                  sizeof output) == 0)
        printf("(skipped: no Landlock here) ");
    else
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            char *const words[] = { "/bin/bash", "-c", (char *) rows[i].script, "-", own,
                                    other,       NULL };
            int status = child_run(words, own, &confinement, 20, output, sizeof output);
            CU_ASSERT_EQUAL(status == 0, rows[i].works);
        }
    remove_tree(folder);
}

CU_SuiteInfo test_child = {
    "child",
    .pTests =
        (CU_TestInfo[]){
            { "every script is reply right", every_script_gets_its_reply },
            { "all that it started dies with it", all_that_it_started_dies_with_it },
            { "a busy machine is not its fault", no_blame_for_a_busy_machine },
            { "what it prints is kept in part", what_it_prints_is_kept_in_part },
            { "shared memory cannot be shrunk", shared_memory_cannot_be_shrunk },
            { "a memory hog is stopped", memory_hog_is_stopped },
            { "a missing program is reported", missing_program_is_reported },
            { "programs are run to their end", programs_are_run_to_their_end },
            { "a confined program sees what it may", a_confined_program_sees_what_it_may },
            CU_TEST_INFO_NULL,
        },
};
