/* test_gradebook_sandbox.c - what a submission sees in its sandbox: no other files, no network, and
 * no place to leave files. Reported as skipped if bubblewrap does not work. */
#include "gradebook/run/sandbox.h"
#include "gradebook/run/progress.h"
#include "base/process.h"
#include "base/util.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64], kernel[100], sealed_folder[100], secret_file[100];
static Sandbox sandbox;
static bool works;

static int begin(void)
{
    char problem[1200], path[600], here[400];

    PUT(folder, "/tmp/warpbook-cell-XXXXXX");
    if (!mkdtemp(folder) || !getcwd(here, sizeof here))
        return 1;
    setenv("WARPBOOK_NVCC", PUT(path, "%s/tests/fake_nvcc", here), 1);
    setenv("WARPBOOK_READELF", path, 1);
    setenv("GRADEBOOK_WARPBOOK", PUT(path, "%s/tests/gradebook/fake_warpbook", here), 1);
    setenv("COURSE_SECRET", "swordfish", 1);
    write_file(PUT(kernel, "%s/kernel.cu", folder), "int k;\n", 7);
    make_folders(PUT(sealed_folder, "%s/sealed/here", folder));
    write_file(PUT(path, "%s/5_padded.cu", sealed_folder), "// sealed 1\n", 12);
    write_file(PUT(secret_file, "%s/gradebook.sqlite", folder), "all marks", 9);
    works = sandbox_open(&sandbox, folder, false, problem, sizeof problem);
    if (!works)
        printf("\n    skipped: %s\n", problem);
    return 0;
}

static int end(void)
{
    sandbox_close(&sandbox);
    remove_tree(folder);
    unsetenv("WARPBOOK_NVCC");
    unsetenv("WARPBOOK_READELF");
    unsetenv("GRADEBOOK_WARPBOOK");
    unsetenv("COURSE_SECRET");
    return 0;
}

/* The exit status of a script that runs in a sandbox instead of warpbook. */
static int run_inside(const char *script, char *said, size_t size)
{
    const SandboxJob job = {
        .lab = "06_transpose", .kernel = kernel, .sealed = sealed_folder, .device = "sim"
    };
    Words all, command = { 0 };
    Program program;
    int status, options = sandbox_command(&sandbox, &job, &all);

    for (int i = 0; i < all.count; i++) {
        words_add(&command, all.word[i]);
        if (!strcmp(all.word[i], "--"))
            break;
    }
    words_add(&command, "/bin/sh");
    words_add(&command, "-c");
    words_add(&command, script);
    CU_ASSERT_TRUE_FATAL(
        program_start(&program, command.word, sandbox.environment.word, "/", 20, 4096, 1 << 20));
    close(options);
    while (!program_over(&program))
        program_wait((Program *const[]){ &program }, 1, 1);
    status = program.status;
    put(said, size, "%s%s", program.out.text, program.errors.text);
    program_free(&program);
    words_free(&command);
    words_free(&all);
    return status;
}

/* Scripts that must succeed in the sandbox. */
static void the_view_from_inside(void)
{
    static const char *const scripts[] = {
        "test -r /submission/kernel.cu",
        "! echo x 2>/dev/null >> /submission/kernel.cu",
        "test -r labs/06_transpose/kernel.h",
        "! touch labs/x 2>/dev/null",
        "! touch /x 2>/dev/null",
        "! touch /usr/x 2>/dev/null",
        "touch /tmp/x",
        "test -d grader -o -d tests || true; ! ls grader 2>/dev/null",
        "test ! -e /root && test ! -e /home && test ! -e /var",
        "test ! -e /etc/passwd",
        "test -z \"$COURSE_SECRET\"",
        "test \"$(ls solutions)\" = 06_transpose",
        "test \"$(ls solutions/06_transpose)\" = 5_padded.cu",
        "grep -q '^// sealed' solutions/06_transpose/5_padded.cu",
        "! touch solutions/06_transpose/x 2>/dev/null",
        "! grep -rq __global__ solutions",
        "! touch /dev/x 2>/dev/null",
        "echo x > /dev/null",
        "! grep -q . /proc/1/root/etc/passwd 2>/dev/null",
        "! unshare -m true 2>/dev/null",
        "! grep -aq swordfish /proc/*/environ 2>/dev/null",
        "grep -aq args /proc/1/cmdline", /* bubblewrap, without paths of this machine */
        "! grep -aqe '-[b]ind' -e 'warpbook-[c]ell' /proc/[0-9]*/cmdline",
        "! ls -l /proc/[0-9]*/fd 2>/dev/null | grep -q memfd:bubblewrap",
        "test $(ls -d /proc/[0-9]* | wc -l) -le 5", /* bubblewrap, the shell, ls, wc */
        "test $(grep -c : /proc/net/dev) -le 1",    /* only the loopback */
        "test ! -e /dev/sda -a ! -e /dev/nvidia0",
        "! mount -t tmpfs none /tmp 2>/dev/null",
    };

    for (size_t i = 0; works && i < sizeof scripts / sizeof *scripts; i++) {
        char said[400];
        int status = run_inside(scripts[i], said, sizeof said);
        CU_ASSERT_EQUAL(status, 0);
        if (status)
            printf("\n    inside: %s: %s\n", scripts[i], said);
    }
}

/* In its own user namespace, a submission would have capabilities, and could attack more of the
 * Linux kernel. */
static void no_user_namespaces(void)
{
    char said[400];

    if (works && sandbox.closed)
        CU_ASSERT_NOT_EQUAL(run_inside("unshare -Ur true", said, sizeof said), 0);
}

static void the_gradebook_is_out_of_sight(void)
{
    char script[300], said[400];

    if (!works)
        return;
    PUT(script, "test ! -e %s", secret_file);
    CU_ASSERT_EQUAL(run_inside(script, said, sizeof said), 0);
    PUT(script, "! grep -rq 'all marks' %s 2>/dev/null", folder);
    CU_ASSERT_EQUAL(run_inside(script, said, sizeof said), 0);
}

/* Earlier, a wrapper bin/nvcc in a home folder exposed the whole folder. */
static void a_wrapper_shows_itself_alone(void)
{
    char home[300], wrapper[400], path[400], text[600], problem[1200], said[400];
    const char *fake = getenv("WARPBOOK_NVCC");
    Sandbox with_wrapper, kept = sandbox;

    if (!works)
        return;
    PUT(home, "%s/home", folder);
    make_folders(PUT(path, "%s/bin", home));
    PUT(text, "#!/bin/sh\nexec %s \"$@\"\n", fake);
    write_file(PUT(wrapper, "%s/nvcc", path), text, strlen(text));
    write_file(PUT(path, "%s/marks", home), "all marks", 9);
    CU_ASSERT_EQUAL(chmod(wrapper, 0755), 0);
    PUT(text, "%s", fake);
    setenv("WARPBOOK_NVCC", wrapper, 1);
    CU_ASSERT_TRUE_FATAL(sandbox_open(&with_wrapper, folder, false, problem, sizeof problem));
    CU_ASSERT_TRUE(sandbox_hides(&with_wrapper, home, problem, sizeof problem));
    sandbox = with_wrapper;
    CU_ASSERT_EQUAL(
        run_inside(PUT(path, "test -x %s && test ! -e %s/marks", wrapper, home), said, sizeof said),
        0);
    sandbox = kept;
    sandbox_close(&with_wrapper);
    setenv("WARPBOOK_NVCC", text, 1);
}

/* A submission learns nothing from folders that it does not see. */
static void search_paths_are_visible(void)
{
    char path[4096], kept[4096], problem[1200];
    Sandbox other;
    bool found = false;

    if (!works)
        return;
    PUT(kept, "%s", getenv("PATH"));
    setenv("PATH", PUT(path, "/home/a-teacher/bin:%s:/usr", kept), 1);
    CU_ASSERT_TRUE(sandbox_open(&other, folder, false, problem, sizeof problem));
    setenv("PATH", kept, 1);
    for (int i = 0; i < other.environment.count; i++) {
        const char *word = other.environment.word[i];
        CU_ASSERT_PTR_NULL(strstr(word, "a-teacher"));
        found |= !strncmp(word, "PATH=", 5) && strstr(word, "/usr/bin") != NULL;
    }
    CU_ASSERT_TRUE(found);
    sandbox_close(&other);
}

/* A file of 1.5 GiB does not fit, because the folder in memory is limited. */
static void memory_for_files_ends(void)
{
    char said[400];

    if (!works || !sandbox.sized)
        return;
    CU_ASSERT_NOT_EQUAL(
        run_inside("for i in $(seq 1600); do head -c 1000000 /dev/zero > /tmp/$i || "
                   "exit 1; done",
                   said, sizeof said),
        0);
}

/* All its processes die with the sandbox, even those in a separate session. */
static void nothing_outlives_it(void)
{
    char said[400];
    double began = now_s();

    if (!works)
        return;
    run_inside("setsid sleep 30 & setsid sleep 30 > /dev/null 2>&1 & echo gone", said, sizeof said);
    CU_ASSERT_TRUE(now_s() - began < 10);
    CU_ASSERT_STRING_EQUAL(said, "gone\n");
}

static int number_of(const char *lab)
{
    return (int) (lab_find(lab) - all_labs);
}

static void time_left(void)
{
    Progress progress = { .all = 10 };
    int open[LABS] = { 0 };
    char text[40];

    open[0] = 4;
    CU_ASSERT_TRUE(progress_left(&progress, open, 1) < 0);
    progress_count(&progress, 0, 10);
    CU_ASSERT_DOUBLE_EQUAL(progress_left(&progress, open, 1), 40, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(progress_left(&progress, open, 4), 10, 1e-9);
    progress_count(&progress, 1, 30);
    open[1] = 1, open[2] = 1; /* lab 2 has no gradings, so the average of the other labs counts */
    CU_ASSERT_DOUBLE_EQUAL(progress_left(&progress, open, 1), 40 + 30 + 20, 1e-9);
    /* Lab 05 runs on one GPU per host at a time: three more GPUs do not speed it up. */
    progress = (Progress){ .all = 10, .one_host = true };
    memset(open, 0, sizeof open);
    open[number_of("streams")] = 4;
    open[number_of("transpose")] = 4;
    progress_count(&progress, number_of("streams"), 10);
    progress_count(&progress, number_of("transpose"), 10);
    CU_ASSERT_DOUBLE_EQUAL(progress_left(&progress, open, 1), 80, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(progress_left(&progress, open, 4), 40, 1e-9);
    progress.one_host = false;
    CU_ASSERT_DOUBLE_EQUAL(progress_left(&progress, open, 4), 20, 1e-9);
    CU_ASSERT_STRING_EQUAL(progress_span(12.3, text, sizeof text), "12 s");
    CU_ASSERT_STRING_EQUAL(progress_span(600, text, sizeof text), "10 min");
    CU_ASSERT_STRING_EQUAL(progress_span(7500, text, sizeof text), "2 h 5 min");
}

CU_SuiteInfo test_gradebook_sandbox = {
    "gradebook sandbox",
    .pInitFunc = begin,
    .pCleanupFunc = end,
    .pTests =
        (CU_TestInfo[]){
            { "the view from inside", the_view_from_inside },
            { "search paths are visible", search_paths_are_visible },
            { "no user namespaces", no_user_namespaces },
            { "the gradebook is out of sight", the_gradebook_is_out_of_sight },
            { "a wrapper does not expose its folder", a_wrapper_shows_itself_alone },
            { "memory for files is limited", memory_for_files_ends },
            { "no process outlives the sandbox", nothing_outlives_it },
            { "time left", time_left },
            CU_TEST_INFO_NULL,
        },
};
