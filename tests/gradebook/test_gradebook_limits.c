/* test_gradebook_limits.c - limits of a grading, suspicious words, and GPUs whose speed drifts.
 */
#include "gradebook/run/limits.h"
#include "gradebook/run/cgroup.h"
#include "gradebook/run/devices.h"
#include "base/process.h"
#include "gradebook/import/extract.h"
#include "base/util.h"

#include <CUnit/CUnit.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Limits ---- */

/* A process with `count` children, each of which holds memory. */
static pid_t family(int children, size_t bytes)
{
    pid_t parent = fork();

    if (parent)
        return parent;
    setpgid(0, 0); /* before the children start; otherwise some may not belong to the group */
    for (int i = 0; i < children; i++)
        if (fork() == 0) {
            char *memory = malloc(bytes + 1);
            memset(memory, 1, bytes + 1);
            pause();
        }
    pause();
    _exit(0);
}

/* Checks repeatedly, because processes start slowly on a busy machine. */
static bool breaks(const Limits *limits, int children, size_t bytes, int looks, char *why,
                   size_t size)
{
    pid_t parent;
    bool broken = false;

    *why = 0;
    fflush(NULL);
    parent = family(children, bytes);
    setpgid(parent, parent);
    for (int i = 0; i < looks && !broken; i++) {
        sleep_s(0.05);
        broken = limits_broken(limits, parent, NULL, why, size);
    }
    kill(-parent, SIGKILL);
    waitpid(parent, NULL, 0);
    return broken;
}

/* The memory of this program, and that of a child when it starts: pages of files are not yet its
 * own. Under sanitizers both are large. */
static void measure_own(size_t *own_mib, size_t *child_mib)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = 0, shared = 0;
    const size_t page = (size_t) sysconf(_SC_PAGESIZE);

    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_EQUAL(fscanf(file, "%*d %ld %ld", &pages, &shared), 2);
    fclose(file);
    *own_mib = ((size_t) pages * page >> 20) + 1;
    *child_mib = ((size_t) (pages - shared) * page >> 20) + 1;
}

#define HELD "it held more than %zu MiB of memory and was killed"

static void memory_and_processes(void)
{
    static const struct {
        int children;
        size_t mib;
        const char *why; /* NULL: within the limits */
    } rows[] = {
        { 0, 0, NULL },
        { 3, 1, NULL },
        { 1, 200, HELD },
        { 4, 60, HELD },
        { 15, 0, "it had more than 10 processes and was killed" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t own_mib, child_mib;
        measure_own(&own_mib, &child_mib);
        const size_t most_mib = 64 + own_mib + (size_t) rows[i].children * child_mib;
        const Limits limits = { most_mib << 20, 10, 1 << 20 };
        char why[200], expected[200] = "";
        bool broken = breaks(&limits, rows[i].children, rows[i].mib << 20, rows[i].why ? 600 : 20,
                             why, sizeof why);
        if (rows[i].why && !strcmp(rows[i].why, HELD))
            PUT(expected, HELD, most_mib);
        else if (rows[i].why)
            PUT(expected, "%s", rows[i].why);
        CU_ASSERT_EQUAL(broken, rows[i].why != NULL);
        CU_ASSERT_STRING_EQUAL(why, expected);
    }
}

static void disk(void)
{
    const Limits limits = { (size_t) 1 << 40, 1000, 1 << 20 };
    char folder[] = "/tmp/warpbook-fence-XXXXXX", path[100], why[200];
    char *bytes = xcalloc(1, 900 << 10);

    memset(bytes, 1, 900 << 10);
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    make_folders(PUT(path, "%s/in/it", folder));
    CU_ASSERT_TRUE(write_file(PUT(path, "%s/in/it/a", folder), bytes, 900 << 10));
    CU_ASSERT_EQUAL(symlink("/usr", PUT(path, "%s/link", folder)), 0);
    CU_ASSERT_FALSE(limits_broken(&limits, getpid(), folder, why, sizeof why));
    CU_ASSERT_TRUE(write_file(PUT(path, "%s/b", folder), bytes, 900 << 10));
    CU_ASSERT_TRUE(limits_broken(&limits, getpid(), folder, why, sizeof why));
    CU_ASSERT_STRING_EQUAL(why, "it wrote more than 1 MiB and was killed");
    remove_tree(folder);
    free(bytes);
}

/* Only so many nested folders are walked; deeper ones count as too much. */
static void deep_folders(void)
{
    static const struct {
        int depth;
        bool broken;
    } rows[] = { { 32, false }, { 33, true } };
    const Limits limits = { (size_t) 1 << 40, 1000, (size_t) 1 << 40 };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char folder[] = "/tmp/warpbook-fence-XXXXXX", path[200], why[200];
        CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
        PUT(path, "%s", folder);
        for (int level = 0; level < rows[i].depth; level++)
            APPEND(path, "/d");
        make_folders(path);
        CU_ASSERT_EQUAL(limits_broken(&limits, getpid(), folder, why, sizeof why), rows[i].broken);
        remove_tree(folder);
    }
}

static void what_a_machine_can_give(void)
{
    Limits alone = limits_for(1), many = limits_for(10000);

    CU_ASSERT_TRUE(alone.memory_bytes >= (size_t) 2 << 30);
    CU_ASSERT_TRUE(alone.memory_bytes <= (size_t) 16 << 30);
    CU_ASSERT_EQUAL(many.memory_bytes, (size_t) 2 << 30);
}

/* ---- Cgroups, with a scripted systemd-run ---- */

/* The script prints its arguments, then becomes the program. */
static const char script[] = "#!/bin/sh\n"
                             "[ ! -e \"$0.broken\" ] || exit 1\n"
                             "echo \"$@ in $XDG_RUNTIME_DIR\" >> \"$0.said\"\n"
                             "while [ \"$1\" != -- ]; do shift; done\n"
                             "shift\nexec \"$@\"\n";

static void cgroup(void)
{
    char folder[] = "/tmp/warpbook-scope-XXXXXX", path[100], text[200], *said;
    const Limits limits = { (size_t) 300 << 20, 100, 0 };
    Words environment = { 0 }, command = { 0 };
    Program program;
    Cgroup group;

    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    write_file(PUT(path, "%s/systemd-run", folder), script, strlen(script));
    chmod(path, 0755);
    words_add(&environment, PUT(text, "PATH=%s:/usr/bin:/bin", folder));
    setenv("XDG_RUNTIME_DIR", "/run/here", 1);
    cgroup_open(&group, &environment);
    CU_ASSERT_TRUE(group.works);
    cgroup_begin(&group, &limits, &command);
    words_add(&command, "sh");
    words_add(&command, "-c");
    words_add(&command, "echo \"<$XDG_RUNTIME_DIR>\"");
    CU_ASSERT_TRUE_FATAL(
        program_start(&program, command.word, group.environment.word, "/", 20, 1000, 1000));
    while (!program_over(&program))
        program_wait((Program *const[]){ &program }, 1, 1);
    CU_ASSERT_STRING_EQUAL(program.out.text, "<>\n"); /* a sandbox does not see the tests' paths */
    program_free(&program);
    said = read_file(PUT(path, "%s/systemd-run.said", folder), 4096, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(said);
    CU_ASSERT_PTR_NOT_NULL(strstr(said, "MemoryMax=314572800"));
    CU_ASSERT_PTR_NOT_NULL(strstr(said, "TasksMax=400"));
    CU_ASSERT_PTR_NOT_NULL(strstr(said, "in /run/here"));
    free(said);
    cgroup_close(&group);
    words_free(&command);

    write_file(PUT(path, "%s/systemd-run.broken", folder), "", 0);
    cgroup_open(&group, &environment);
    CU_ASSERT_FALSE(group.works);
    command = (Words){ 0 };
    cgroup_begin(&group, &limits, &command);
    CU_ASSERT_EQUAL(command.count, 0);
    cgroup_close(&group);
    unsetenv("XDG_RUNTIME_DIR");
    words_free(&environment);
    remove_tree(folder);
}

/* ---- Suspicious words ---- */

static void suspicious_words(void)
{
    static const struct {
        const char *source, *sentence; /* the beginning of the finding; NULL: no finding */
    } rows[] = {
        { "int main(void) { return 0; }", NULL },
        { "// reads /proc/self/maps in a comment\nint a;", NULL },
        { "asm volatile(\"syscall\");", "it contains syscall" },
        { "const char *a = \"/proc/1/environ\";", "it contains /proc" },
        { "#include \"../06_transpose/kernel.cu\"", "it contains ../" },
        { "#if __has_include(\"x\")\n#endif", "it contains __has_include" },
        { "#embed \"x\"", "it contains embed" },
        { "asm(\".incbin \\\"x\\\"\");", "it contains incbin" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *found = suspicion(rows[i].source, 0);
        CU_ASSERT_EQUAL(found != NULL, rows[i].sentence != NULL);
        if (found && rows[i].sentence)
            CU_ASSERT_EQUAL(strncmp(found, rows[i].sentence, strlen(rows[i].sentence)), 0);
    }
    CU_ASSERT_PTR_NOT_NULL(suspicion("asm(\"syscall .incbin\");", 1));
    CU_ASSERT_PTR_NULL(suspicion("asm(\"syscall .incbin\");", 2));
}

static int suspected(const char *pattern, const char *spared)
{
    glob_t files;
    int count = 0;

    if (glob(pattern, 0, NULL, &files))
        return -1;
    for (size_t i = 0; i < files.gl_pathc; i++) {
        char *text = read_file(files.gl_pathv[i], 1 << 20, NULL);
        if (text && suspicion(text, 0) && !(spared && strstr(files.gl_pathv[i], spared))) {
            printf("\n    suspicious: %s\n", files.gl_pathv[i]);
            count++;
        }
        free(text);
    }
    globfree(&files);
    return count;
}

static void honest_kernels_are_not_suspected(void)
{
    CU_ASSERT_EQUAL(suspected("solutions/*/*.cu", NULL), 0);
    CU_ASSERT_EQUAL(suspected("solutions/*/beyond/*.cu", NULL), 0);
    CU_ASSERT_EQUAL(suspected("tests/honest/*.cu", NULL), 0);
    CU_ASSERT_EQUAL(suspected("labs/*/kernel.cu", NULL), 0);
}

/* ---- GPUs ---- */

/* The output of a grading with this reference time and this A/A resolution. */
static bool grading(Device *gpu, const char *dim, double reference_ms, double resolution,
                    bool noisy)
{
    char text[400], why[600];
    ParsedResult result;
    bool answer;

    PUT(text,
        "format:1\nlab:%s\nverdict:slow\ncase.1.label:flat\ncase.1.resolution:%.4f\n"
        "case.1.dim:%s\ncase.1.reference_ms:%.6f\nend:%s\n",
        all_labs[0].folder, resolution, dim, reference_ms, all_labs[0].folder);
    CU_ASSERT_TRUE_FATAL(parsed_read(text, all_labs[0].folder, &result, why, sizeof why));
    answer = noisy ? device_noisy(&result, why, sizeof why)
                   : device_drifts(gpu, 0, &result, why, sizeof why);
    parsed_free(&result);
    return answer;
}

static void drift(void)
{
    Device gpu;

    device_open(&gpu, "0");
    CU_ASSERT_FALSE(grading(&gpu, "8 8", 1.0, 0, false));
    CU_ASSERT_FALSE(grading(&gpu, "8 8", 1.2, 0, false));
    CU_ASSERT_FALSE(grading(&gpu, "8 8", 1.2, 0, false));
    CU_ASSERT_FALSE(grading(&gpu, "8 8", 1.05, 0, false)); /* the slow phase was short */
    CU_ASSERT_FALSE(grading(&gpu, "8 8", 1.2, 0, false));
    CU_ASSERT_FALSE(grading(&gpu, "8 8", 1.2, 0, false));
    CU_ASSERT_TRUE(grading(&gpu, "8 8", 1.2, 0, false));
    CU_ASSERT_FALSE(grading(&gpu, "9 9", 9.0, 0, false)); /* another size */
    device_close(&gpu);
}

static void noise(void)
{
    CU_ASSERT_FALSE(grading(NULL, "8 8", 1, 0.01, true));
    CU_ASSERT_TRUE(grading(NULL, "8 8", 1, 0.051, true));
}

CU_SuiteInfo test_gradebook_limits = {
    "gradebook limits",
    .pTests =
        (CU_TestInfo[]){
            { "memory and processes", memory_and_processes },
            { "disk", disk },
            { "deep folders", deep_folders },
            { "limits by machine", what_a_machine_can_give },
            { "cgroup", cgroup },
            { "suspicious words", suspicious_words },
            { "honest kernels are not suspicious", honest_kernels_are_not_suspected },
            { "drift", drift },
            { "noise", noise },
            CU_TEST_INFO_NULL,
        },
};
