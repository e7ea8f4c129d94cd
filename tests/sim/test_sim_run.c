/* test_sim_run.c - `warpbook sim`: its options, the programs that it rejects, and the environment
 * that it sets. */
#include "sim/tool.h"
#include "capture.h"
#include "rows.h"
#include "sim/sim_images.h"
#include "base/util.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];
static SimPlan plan;

/* ---- A build folder, and programs in it ---- */

static const char *in_folder(const char *name)
{
    static char path[4][200];
    static int turn;

    turn = (turn + 1) % 4;
    return PUT(path[turn], "%s/%s", folder, name);
}

static void write_program(const char *name, const void *bytes, size_t size)
{
    CU_ASSERT_TRUE_FATAL(write_file(in_folder(name), bytes, size));
    CU_ASSERT_EQUAL_FATAL(chmod(in_folder(name), 0755), 0);
}

static void elf_section_add(Image *image, unsigned name, unsigned type, size_t offset, size_t size,
                            unsigned link)
{
    cubin_section(image, name, type, offset, size, link, 0);
}

static size_t add_function(Image *image, unsigned name, unsigned section)
{
    const size_t at = image->size;

    image_number(image, 0, 24);
    image_number(image, name, 4);
    image_number(image, 0x12, 1);
    image_number(image, 0, 1);
    image_number(image, section, 2);
    image_number(image, 0, 16);
    return at;
}

/* A program. `kernels`: it has kernels; `needs`: it needs libcudart; `calls`: it imports the
 * registration functions; `contains`: a runtime of its own, whose functions it names; `whole`: it
 * needs no library at all. */
typedef struct Host {
    bool kernels, needs, calls, contains, whole;
} Host;

static void write_host(const char *name, Host host)
{
    static const char strings[] =
        "\0libcudart.so.13\0__cudaRegisterFatBinary\0cudaRuntimeGetVersion";
    static const char names[] = "\0.nv_fatbin\0.dynamic\0.dynsym\0.strings";
    static Image image;
    size_t text, dynamic, symbols, own, names_at;

    image.size = 0;
    image_add(&image, "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0", 16);
    for (int i = 0; i < 48; i++)
        image_number(&image, 0, 1);
    text = image_add(&image, strings, sizeof strings);
    dynamic = image.size;
    image_number(&image, host.needs ? 1 : 5, 8);
    image_number(&image, 1, 8);
    symbols = add_function(&image, 17, host.calls ? 0 : 7);
    own = add_function(&image, 41, host.contains ? 7 : 0);
    names_at = image_add(&image, names, sizeof names);
    image_set(&image, 40, image.size, 8);
    image_set(&image, 58, 64, 2);
    image_set(&image, 60, 7, 2);
    image_set(&image, 62, 6, 2);
    elf_section_add(&image, 0, 0, 0, 0, 0);
    elf_section_add(&image, host.kernels ? 1 : 0, 1, 64, 0, 0);
    elf_section_add(&image, host.whole ? 0 : 12, 6, dynamic, 16, 5);
    elf_section_add(&image, 21, 11, symbols, 48, 5);
    elf_section_add(&image, 29, 2, own, 48, 5);
    elf_section_add(&image, 29, 3, text, sizeof strings, 0);
    elf_section_add(&image, 29, 3, names_at, sizeof names, 0);
    write_program(name, image.bytes, image.size);
}

static void begin(void)
{
    static const char *const ours[] = { "LD_PRELOAD", "LD_LIBRARY_PATH", "SIM_DEVICE" };

    PUT(folder, "/tmp/test_sim_run.%d", (int) getpid());
    remove_tree(folder);
    CU_ASSERT_TRUE_FATAL(make_folders(in_folder("sim")));
    CU_ASSERT_TRUE_FATAL(make_folders(in_folder("devices")));
    CU_ASSERT_TRUE(write_file(in_folder("libcudart-sim.so"), "", 0));
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "teaching.txt" : "h200.txt";
        char from[100], *text;
        size_t size;
        PUT(from, "grader/sim/devices/%s", name);
        text = read_file(from, 1 << 20, &size);
        CU_ASSERT_PTR_NOT_NULL_FATAL(text);
        PUT(from, "devices/%s", name);
        CU_ASSERT_TRUE(write_file(in_folder(from), text, size));
        free(text);
    }
    write_program("script", "#!/bin/sh\nexit 7\n", 17);
    for (size_t i = 0; i < COUNT(ours); i++)
        unsetenv(ours[i]);
    setenv("WARPBOOK_BUILD", folder, 1);
}

static void end(void)
{
    remove_tree(folder);
    unsetenv("WARPBOOK_BUILD");
}

/* Parses words that are separated by blanks. */
static bool plan_for(const char *words)
{
    static char text[1000], *argv[20];
    int argc = 0;

    PUT(text, "%s", words);
    for (char *word = strtok(text, " "); word && argc < 19; word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
    return sim_plan(&plan, argc, argv);
}

static const char *setting(const char *name)
{
    for (int i = 0; i < plan.setting_count; i++)
        if (!strcmp(plan.settings[i].name, name))
            return plan.settings[i].value;
    return "";
}

/* ---- Options ---- */

static void wrong_words(void)
{
    static const struct {
        const char *words;
        int status;
        const char *why;
    } rows[] = {
        { "", 2, "no PROGRAM given (see --help)" },
        { "--", 2, "no PROGRAM given (see --help)" },
        { "--devise h200 -- sh", 2, "unknown option '--devise' (see --help)" },
        { "-x -- sh", 2, "unknown option '-x' (see --help)" },
        { "--device", 2, "option '--device' needs a value (see --help)" },
        { "--device= sh", 2, "invalid value for --device: '' (see --help)" },
        { "--device h201 -- sh", 2,
          "--device h201: there is no device `h201`; there are: h200 teaching" },
        { "--sched random -- sh", 2, "invalid value for --sched: 'random' (see --help)" },
        { "--sched random:x -- sh", 2, "invalid value for --sched: 'random:x' (see --help)" },
        { "--sched random:1x -- sh", 2, "invalid value for --sched: 'random:1x' (see --help)" },
        { "--sched forward,reverse sh", 2,
          "invalid value for --sched: 'forward,reverse' (see --help)" },
        { "--checks all,races sh", 2, "invalid value for --checks: 'all,races' (see --help)" },
        { "--checks races,,leaks sh", 2,
          "invalid value for --checks: 'races,,leaks' (see --help)" },
        { "--checks race sh", 2, "invalid value for --checks: 'race' (see --help)" },
        { "--budget 1e9 sh", 2, "invalid value for --budget: '1e9' (see --help)" },
        { "--time 2 sh", 2, "invalid value for --time: '2' (see --help)" },
        { "--time 0,1 sh", 2, "invalid value for --time: '0,1' (see --help)" },
        { "--budget -1 sh", 2, "invalid value for --budget: '-1' (see --help)" },
        { "--error-exitcode 0 sh", 2, "invalid value for --error-exitcode: '0' (see --help)" },
        { "--error-exitcode 256 sh", 2, "invalid value for --error-exitcode: '256' (see --help)" },
        { "--report /proc/none/x -- sh", 3, "--report /proc/none/x: No such file or directory" },
        { "--trace /proc/none/x -- sh", 3, "--trace /proc/none/x: No such file or directory" },
        { "no-such-program", 127, "no-such-program: not found in $PATH" },
        { "./no/such/program", 127, "./no/such/program: no such file" },
        { "/tmp", 127, "/tmp: no such file" },
        { "grader/sim/tool.c", 126, "grader/sim/tool.c cannot be executed: Permission denied" },
    };

    begin();
    for (size_t i = 0; i < COUNT(rows); i++) {
        CU_ASSERT_FALSE(plan_for(rows[i].words));
        CU_ASSERT_EQUAL(plan.status, rows[i].status);
        CU_ASSERT_STRING_EQUAL(plan.why, rows[i].why);
    }
    end();
}

static void right_words(void)
{
    static const struct {
        const char *words, *first, *device, *checks, *sched;
    } rows[] = {
        { "sh", "sh", "", "", "" },
        { "-- sh -c x", "sh", "", "", "" },
        { "sh --device x", "sh", "", "", "" }, /* an option of the program */
        { "--device h200 -- sh", "sh", "h200", "", "" },
        { "--device=h200 sh", "sh", "h200", "", "" },
        { "--device ./grader/sim/devices/t4.txt -- sh", "sh", "./grader/sim/devices/t4.txt", "",
          "" },
        { "--checks all sh", "sh", "", "all", "" },
        { "--checks none --sched reverse sh", "sh", "", "none", "reverse" },
        { "--checks leaks,races --sched random:17 sh", "sh", "", "leaks,races", "random:17" },
        { "--device teaching --device h200 sh", "sh", "h200", "", "" }, /* the later one */
    };

    begin();
    for (size_t i = 0; i < COUNT(rows); i++) {
        CU_ASSERT_TRUE(plan_for(rows[i].words));
        CU_ASSERT_STRING_EQUAL(plan.why, "");
        CU_ASSERT_STRING_EQUAL(plan.arguments[0], rows[i].first);
        CU_ASSERT_EQUAL(*plan.program, '/'); /* found in $PATH */
        CU_ASSERT_STRING_EQUAL(setting("SIM_DEVICE"), rows[i].device);
        CU_ASSERT_STRING_EQUAL(setting("SIM_CHECKS"), rows[i].checks);
        CU_ASSERT_STRING_EQUAL(setting("SIM_SCHED"), rows[i].sched);
        CU_ASSERT_STRING_EQUAL(setting("SIM_TABLE"), "1");
        CU_ASSERT_STRING_EQUAL(setting("LD_PRELOAD"), in_folder("libcudart-sim.so"));
    }
    CU_ASSERT_TRUE(plan_for("--help"));
    CU_ASSERT_TRUE(plan.help);
    CU_ASSERT_TRUE(plan_for("sh --help")); /* an option of the program */
    CU_ASSERT_FALSE(plan.help);
    end();
}

static void the_environment(void)
{
    char want[300];

    begin();
    setenv("LD_PRELOAD", "/lib/other.so", 1);
    CU_ASSERT_TRUE(plan_for("sh"));
    PUT(want, "/lib/other.so:%s", in_folder("libcudart-sim.so"));
    CU_ASSERT_STRING_EQUAL(setting("LD_PRELOAD"), want);
    setenv("LD_PRELOAD", "", 1);
    CU_ASSERT_TRUE(plan_for("sh"));
    CU_ASSERT_STRING_EQUAL(setting("LD_PRELOAD"), in_folder("libcudart-sim.so"));
    CU_ASSERT_STRING_EQUAL(setting("SIM_DEVICES"), in_folder("devices"));
    setenv("SIM_DEVICE", "nothing", 1);
    CU_ASSERT_FALSE(plan_for("sh"));
    CU_ASSERT_TRUE(plan_for("--device h200 sh"));
    unsetenv("SIM_DEVICE");
    setenv("WARPBOOK_BUILD", "no/such/folder", 1);
    CU_ASSERT_FALSE(plan_for("sh"));
    CU_ASSERT_EQUAL(plan.status, 3);
    setenv("WARPBOOK_BUILD", "grader", 1); /* a folder without the library */
    CU_ASSERT_FALSE(plan_for("sh"));
    CU_ASSERT_PTR_NOT_NULL(strstr(plan.why, "grader/libcudart-sim.so not found: run make first"));
    unsetenv("LD_PRELOAD");
    end();
}

static void reports(void)
{
    char *text, words[300], want[300], home[4096];
    size_t size = 1;

    begin();
    CU_ASSERT_TRUE(write_file(in_folder("report"), "old", 3));
    PUT(words, "--report %s sh", in_folder("report"));
    CU_ASSERT_TRUE(plan_for(words));
    CU_ASSERT_STRING_EQUAL(setting("SIM_REPORT"), in_folder("report"));
    text = read_file(in_folder("report"), 100, &size);
    CU_ASSERT_EQUAL(size, 0); /* an old report cannot be taken for this run's */
    free(text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(getcwd(home, sizeof home));
    CU_ASSERT_EQUAL_FATAL(chdir(folder), 0);
    CU_ASSERT_TRUE(plan_for("--report here.json sh"));
    CU_ASSERT_EQUAL(setting("SIM_REPORT")[0], '/');
    PUT(want, "%s/here.json", strrchr(folder, '/'));
    CU_ASSERT_PTR_NOT_NULL(strstr(setting("SIM_REPORT"), want));
    CU_ASSERT_EQUAL_FATAL(chdir(home), 0);
    end();
}

/* ---- Programs ---- */

static void programs(void)
{
    static const struct {
        Host host;
        const char *why; /* NULL: it is run */
    } rows[] = {
        { { .kernels = true, .needs = true, .calls = true }, NULL }, /* nvcc -cudart shared */
        { { .kernels = true, .calls = true },
          NULL }, /* -cudart none, the library loaded in another way */
        { { .kernels = true, .contains = true }, NULL },   /* nvcc's default */
        { { .kernels = true }, "-cudart shared" },         /* the same, stripped */
        { { .kernels = true, .whole = true }, "-static" }, /* linked statically as a whole */
        { { .needs = true }, NULL },                       /* it calls kernels of a library */
        { { 0 }, NULL }, /* no CUDA: it may start programs with CUDA */
    };

    begin();
    for (size_t i = 0; i < COUNT(rows); i++) {
        char path[200];
        write_host("program", rows[i].host);
        PUT(path, "%s", in_folder("program"));
        CU_ASSERT_EQUAL(plan_for(path), !rows[i].why);
        if (rows[i].why) {
            CU_ASSERT_EQUAL(plan.status, 3);
            CU_ASSERT_PTR_NOT_NULL(strstr(plan.why, rows[i].why));
        } else {
            CU_ASSERT_STRING_EQUAL(setting("LD_LIBRARY_PATH"), in_folder("sim"));
        }
    }
    write_program("old", "\177ELF\1\1\1 and so on", 18);
    CU_ASSERT_FALSE(plan_for(in_folder("old")));
    CU_ASSERT_PTR_NOT_NULL(strstr(plan.why, "is a 32-bit program"));
    write_program("empty", "", 0);
    CU_ASSERT_TRUE(plan_for(in_folder("empty")));
    CU_ASSERT_EQUAL(chmod(in_folder("script"), 04755), 0);
    CU_ASSERT_FALSE(plan_for(in_folder("script")));
    CU_ASSERT_PTR_NOT_NULL(strstr(plan.why, "runs as another user or group"));
    end();
}

/* A program that is damaged anywhere is inspected safely. */
static void damaged_programs(void)
{
    static char *bytes;
    uint64_t random = 3;
    size_t size;

    begin();
    write_host("program", (Host){ true, true, true, true, false });
    bytes = read_file(in_folder("program"), 1 << 20, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    for (int round = 0; round < 300; round++) {
        size_t at = next_random(&random) % size;
        char kept = bytes[at];
        bytes[at] = (char) next_random(&random);
        write_program("damaged", bytes, round % 3 ? size : next_random(&random) % size);
        plan_for(in_folder("damaged"));
        bytes[at] = kept;
    }
    free(bytes);
    end();
}

/* ---- Running ---- */

/* Runs `warpbook sim` in a child process; returns its status and stores its output. */
static int run(const char *word, char *said, size_t size)
{
    static Capture capture;
    char *argv[] = { (char *) word, NULL };
    int status = 0;
    pid_t child;

    capture_begin(&capture, stderr);
    child = fork();
    if (!child)
        _exit(sim_run(1, argv));
    waitpid(child, &status, 0);
    put(said, size, "%s", capture_end(&capture));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void the_programs_status_is_ours(void)
{
    char said[1000];

    begin();
    CU_ASSERT_EQUAL(run(in_folder("script"), said, sizeof said), 7);
    write_program("odd", "#!/no/such/shell\n", 17);
    CU_ASSERT_EQUAL(run(in_folder("odd"), said, sizeof said), 127);
    CU_ASSERT_EQUAL(run("--nonsense", said, sizeof said), 2);
    CU_ASSERT_PTR_NOT_NULL(strstr(said, "warpbook: unknown option '--nonsense'"));
    end();
}

CU_SuiteInfo test_sim_run = {
    "sim_run",
    .pTests =
        (CU_TestInfo[]){
            { "invalid options", wrong_words },
            { "valid options", right_words },
            { "the environment", the_environment },
            { "reports", reports },
            { "programs", programs },
            { "damaged programs", damaged_programs },
            { "the program's status is returned", the_programs_status_is_ours },
            CU_TEST_INFO_NULL,
        },
};
