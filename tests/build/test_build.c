/* test_build.c - from sources to verdicts, through tests/fake_nvcc and, if installed, through a
 * real nvcc. */
#include "build/build.h"
#include "build/compile.h"
#include "build/diagnostics.h"
#include "golden.h"
#include "rows.h"
#include "base/util.h"

#include <CUnit/CUnit.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- A workbook of one lab, in a folder of its own ---- */

#define GOOD                                                                                       \
    "#include \"kernel.h\"\nLAB_API void transpose(float *out, const float *in, int rows, int "    \
    "cols)\n{\n}\n"
#define HEADER                                                                                     \
    "#include \"lab.h\"\nLAB_API void transpose(float *out, const float *in, int rows, int "       \
    "cols);\n"

static char folder[64];
static Toolchain toolchain;
static Lab lab = { .function = "transpose" };

static const char *in_folder(const char *name)
{
    static char path[4][512];
    static int next;

    next = (next + 1) % 4;
    return PUT(path[next], "%s/%s", folder, name);
}

static void write_text(const char *name, const char *text)
{
    CU_ASSERT_FATAL(write_file(in_folder(name), text, strlen(text)));
}

static void open_folder(void)
{
    PUT(folder, "/tmp/warpbook-test-XXXXXX");
    CU_ASSERT_FATAL(mkdtemp(folder) != NULL);
    CU_ASSERT_FATAL(make_folders(in_folder("lab")) && make_folders(in_folder("common")));
    write_text("lab/kernel.h", HEADER);
    write_text("common/lab.h",
               "#define LAB_API extern \"C\" __attribute__((visibility(\"default\")))\n");
}

static void open_fake(void)
{
    open_folder();
    setenv("WARPBOOK_NVCC", "tests/fake_nvcc", 1);
    setenv("WARPBOOK_READELF", "tests/fake_nvcc", 1);
    setenv("FAKE_NVCC_LOG", in_folder("log"), 1);
    compile_unconfine(); /* the fake compiler writes its log to another folder */
    toolchain_find(&toolchain);
    if (toolchain.problem[0])
        FAIL_SAYING("%s", toolchain.problem);
}

static void close_folder(void)
{
    unsetenv("WARPBOOK_NVCC");
    unsetenv("WARPBOOK_READELF");
    unsetenv("FAKE_NVCC_LOG");
    unsetenv("FAKE_NVCC_BROKEN");
    remove_tree(folder);
}

static Build *build_file(const char *source, const char *cache)
{
    static Build result;
    BuildJob job = { .toolchain = &toolchain,
                     .source = source,
                     .shown = "labs/06_transpose/kernel.cu",
                     .lab_dir = in_folder("lab"),
                     .common = in_folder("common"),
                     .cache = cache,
                     .lab = &lab,
                     .cc = 90 };

    build(&job, &result);
    return &result;
}

static Build *build_text(const char *text)
{
    write_text("kernel.cu", text);
    return build_file(in_folder("kernel.cu"), in_folder("cache"));
}

/* The number of compilations by the fake nvcc so far. */
static int compiled(void)
{
    char *log = read_file(in_folder("log"), 1 << 20, NULL);
    int lines = 0;

    for (char *at = log; at && *at; at++)
        lines += *at == '\n';
    free(log);
    return lines;
}

/* The number of folders in the cache whose names begin with this prefix. */
static int count_entries(const char *prefix)
{
    DIR *cache = opendir(in_folder("cache"));
    struct dirent *item;
    int count = 0;

    while (cache && (item = readdir(cache)))
        count += item->d_name[0] != '.' && !strncmp(item->d_name, prefix, strlen(prefix));
    if (cache)
        closedir(cache);
    return count;
}

/* ---- The result of building a source ---- */

typedef struct Outcome {
    const char *source;
    BuildFault fault;
    DiagnosisCode code;
    const char *names; /* what the message must contain: a part of the source, or its line */
} Outcome;

static void check_outcomes(const Outcome *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        Build *result = build_text(rows[i].source);
        if (result->fault != rows[i].fault ||
            (result->fault == BUILD_STUDENT && result->code != rows[i].code) ||
            !strstr(result->message, rows[i].names) || strstr(result->message, "tmp-") ||
            (result->fault == BUILD_OK) != file_exists(result->object))
            FAIL_SAYING("%s\n%d: %s", rows[i].source, result->fault, result->message);
    }
    CU_ASSERT_EQUAL(count_entries("tmp-"), 0);
}

/* Compares the messages with tests/warpbook.golden. */
static void check_messages(const Outcome *rows, size_t count)
{
    char *all = xcalloc(1, 1 << 16);

    for (size_t i = 0; i < count; i++) {
        Build *result = build_text(rows[i].source);
        if (result->fault == BUILD_STUDENT)
            append(all, 1 << 16, "%.*s\n",
                   (int) (strstr(result->message, "All errors:")
                              ? (size_t) (strstr(result->message, "All errors:") - result->message)
                              : strlen(result->message)),
                   result->message);
    }
    golden("builds", all);
    free(all);
}

static const Outcome fake_outcomes[] = {
    { GOOD, BUILD_OK, 0, "" },
    { GOOD "// readelf: U printf\n", BUILD_OK, 0, "" },
    { "\n\nint x; // nvcc: error expected a thing\n", BUILD_STUDENT, SAW_COMPILER,
      "labs/06_transpose/kernel.cu:3: error: expected a thing\n" },
    { "// nvcc: say kernel.cu:7:5: error: no\n", BUILD_STUDENT, SAW_COMPILER,
      "labs/06_transpose/kernel.cu:7:5: error: no\n" },
    { "// nvcc: say odd words\n", BUILD_STUDENT, SAW_COMPILER, "\nodd words\n" },
    { "// nvcc: say fatal error: unsupported GNU version! gcc versions later than 15\n",
      BUILD_STUDENT, SAW_COMPILER, "unsupported GNU" },
    { "// nvcc: exit 139\n", BUILD_STUDENT, SAW_COMPILER, "" },
    { "#include \"/etc/passwd\"\n// nvcc: error root:x:0:0\n", BUILD_STUDENT, SAW_INCLUDE,
      "/etc/passwd" },
    { GOOD "#include \"/etc/passwd\"\n", BUILD_STUDENT, SAW_INCLUDE, "/etc/passwd" },
    { GOOD "// nvcc: reads ../key\n", BUILD_OK, 0, "" }, /* does not exist, so no file was read */
    { GOOD "// readelf: U fork\n", BUILD_STUDENT, SAW_FORBIDDEN, "`fork`" },
    { GOOD "// readelf: load\n", BUILD_STUDENT, SAW_FORBIDDEN, "" },
    { "int other;\n", BUILD_STUDENT, SAW_FORBIDDEN, "`transpose`" },
    { "", BUILD_STUDENT, SAW_FILE, "" },
    { " \r\n\t\n", BUILD_STUDENT, SAW_FILE, "" },
};

static void a_source_comes_to_a_verdict(void)
{
    open_fake();
    check_outcomes(fake_outcomes, sizeof fake_outcomes / sizeof *fake_outcomes);
    check_messages(fake_outcomes, sizeof fake_outcomes / sizeof *fake_outcomes);
    close_folder();
}

static void odd_sources_are_named(void)
{
    char *large = xmalloc(BUILD_SOURCE_BYTES + 1);

    open_fake();
    memset(large, ' ', BUILD_SOURCE_BYTES + 1);
    CU_ASSERT(write_file(in_folder("large.cu"), large, BUILD_SOURCE_BYTES + 1));
    CU_ASSERT(write_file(in_folder("binary.cu"), "int x;\0", 7));
    CU_ASSERT(mkfifo(in_folder("fifo.cu"), 0600) == 0);
    CU_ASSERT(symlink("/etc/passwd", in_folder("link.cu")) == 0);
    static const struct {
        const char *name;
    } rows[] = {
        { "none.cu" }, { "large.cu" }, { "binary.cu" },
        { "fifo.cu" }, { "lab" },      { "link.cu" }, /* lines of its target would be quoted */
    };
    char messages[2000] = "";

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Build *result = build_file(in_folder(rows[i].name), in_folder("cache"));
        CU_ASSERT_EQUAL(result->fault, BUILD_STUDENT);
        CU_ASSERT_EQUAL(result->code, SAW_FILE);
        APPEND(messages, "%s\n", result->message);
    }
    golden("source files", messages);
    CU_ASSERT_EQUAL(compiled(), 0);
    free(large);
    close_folder();
}

/* ---- The machine's faults ---- */

static void a_broken_compiler_is_the_machines_fault(void)
{
    static const struct {
        const char *printed, *says;
    } rows[] = {
        { "#error -- unsupported GNU version! gcc versions later than 15 are not supported!",
          "-ccbin g++-12" },
        { "gcc: fatal error: cannot execute 'cc1plus': execvp: No such file", "apt install g++" },
        { "nvcc fatal   : Unsupported gpu architecture 'compute_90'", "another CUDA Toolkit" },
        { "fatal error: error writing to /tmp/x.s: No space left on device", "the disk is full" },
        { "nvcc fatal   : Could not open output file './tmpxft_1'", "use another one" },
        { "fatal   : Could not open input file 6b05fc0_stdout", "use another one" },
        { "gcc: internal compiler error: Killed signal terminated program cc1",
          "ran out of memory" },
        { "it is Monday", "its output was\nit is Monday" },
    };

    open_fake();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Build *result;
        setenv("FAKE_NVCC_BROKEN", rows[i].printed, 1);
        result = build_text(GOOD);
        CU_ASSERT_EQUAL(result->fault, BUILD_MACHINE);
        if (!strstr(result->message, rows[i].says))
            FAIL_SAYING("%s", result->message);
    }
    CU_ASSERT_EQUAL(count_entries(""), 0);
    close_folder();
}

static void no_place_to_write_is_the_machines_fault(void)
{
    Build *result;

    open_fake();
    write_text("kernel.cu", GOOD);
    result =
        build_file(in_folder("kernel.cu"), "/proc/self/cache"); /* not even root can write there */
    CU_ASSERT_EQUAL(result->fault, BUILD_MACHINE);
    CU_ASSERT_PTR_NOT_NULL(strstr(result->message, "cannot write /proc/self/cache: "));
    CU_ASSERT_PTR_NOT_NULL(strstr(result->message, "make grade B="));
    close_folder();
}

/* ---- The cache ---- */

static void a_build_is_made_once(void)
{
    char object[512];

    open_fake();
    CU_ASSERT_EQUAL(build_text(GOOD)->fault, BUILD_OK);
    PUT(object, "%s", build_text(GOOD)->object);
    CU_ASSERT_EQUAL(compiled(), 1);
    CU_ASSERT_EQUAL(build_text(GOOD " // other")->fault, BUILD_OK); /* the source */
    CU_ASSERT_EQUAL(compiled(), 2);
    write_text("lab/kernel.h", HEADER "// other\n"); /* a header of the lab's */
    CU_ASSERT_STRING_NOT_EQUAL(build_text(GOOD)->object, object);
    CU_ASSERT_EQUAL(compiled(), 3);
    write_text("common/other.cuh", "");
    build_text(GOOD);
    CU_ASSERT_EQUAL(compiled(), 4);
    APPEND(toolchain.identity, "and another compiler\n");
    build_text(GOOD);
    CU_ASSERT_EQUAL(compiled(), 5);
    write_text("lab/README.md", "no header"); /* not compiled */
    build_text(GOOD);
    CU_ASSERT_EQUAL(compiled(), 5);
    CU_ASSERT_EQUAL(build_text("int x; // nvcc: error a\n")->fault, BUILD_STUDENT); /* not kept */
    CU_ASSERT_EQUAL(build_text("int x; // nvcc: error a\n")->fault, BUILD_STUDENT);
    CU_ASSERT_EQUAL(compiled(), 7);
    close_folder();
}

static void a_damaged_entry_is_built_anew(void)
{
    static const char *const damages[] = {
        "kernel.so",
        "kernel.cu",
        "key",
        "sum",
    };
    int before;

    open_fake();
    for (size_t i = 0; i < 2 * sizeof damages / sizeof *damages; i++) {
        char path[600];
        Build *result = build_text(GOOD);
        PUT(path, "%.*s/%s", (int) (strlen(result->object) - 10), result->object, damages[i / 2]);
        if (i % 2)
            CU_ASSERT_FATAL(unlink(path) == 0);
        if (i % 2 == 0)
            CU_ASSERT_FATAL(write_file(path, "half", 4));
        before = compiled();
        result = build_text(GOOD);
        CU_ASSERT_EQUAL(result->fault, BUILD_OK);
        CU_ASSERT_EQUAL(compiled(), before + 1);
        CU_ASSERT_EQUAL(count_entries(""), 1);
    }
    close_folder();
}

static void builds_at_once_are_all_right(void)
{
    enum { BUILDERS = 6 };
    int right = 0, status;

    open_fake();
    write_text("kernel.cu", GOOD "// nvcc: sleep 0.1\n");
    fflush(NULL);
    for (int i = 0; i < BUILDERS; i++)
        if (fork() == 0) {
            Build *result = build_file(in_folder("kernel.cu"), in_folder("cache"));
            _exit(result->fault != BUILD_OK || !file_exists(result->object));
        }
    for (int i = 0; i < BUILDERS; i++)
        right += wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    CU_ASSERT_EQUAL(right, BUILDERS);
    CU_ASSERT_EQUAL(count_entries(""), 1);
    close_folder();
}

static void make_old(const char *path, time_t age_s)
{
    struct timespec now, times[2];

    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec -= age_s;
    times[0] = times[1] = now;
    CU_ASSERT(utimensat(AT_FDCWD, path, times, 0) == 0);
}

static void the_oldest_entries_go(void)
{
    char object[4][512], text[200];

    open_fake();
    for (int i = 0; i < 4; i++) {
        PUT(object[i], "%s", build_text(PUT(text, GOOD "// %d\n", i))->object);
        CU_ASSERT_PTR_NOT_NULL_FATAL(strrchr(object[i], '/')); /* there is a build */
        *strrchr(object[i], '/') = 0;
        make_old(object[i], 1000 - 100 * i);
    }
    CU_ASSERT(make_folders(in_folder("cache/tmp-dead")) &&
              make_folders(in_folder("cache/tmp-live")));
    make_old(in_folder("cache/tmp-dead"), 100000);
    build_text(PUT(text, GOOD "// %d\n", 0)); /* used just now, so no longer the oldest */
    CU_ASSERT_EQUAL(compiled(), 4);
    build_trim(in_folder("cache"), 2);
    CU_ASSERT(file_exists(object[0]) && file_exists(object[3]));
    CU_ASSERT(!file_exists(object[1]) && !file_exists(object[2]));
    CU_ASSERT(file_exists(in_folder("cache/tmp-live")) &&
              !file_exists(in_folder("cache/tmp-dead")));
    build_trim(in_folder("nowhere"), 2);
    close_folder();
}

/* ---- The real compiler ---- */

#define KERNEL                                                                                     \
    "#include \"kernel.h\"\n__global__ void move(float *out, const float *in)\n{\n    *out = "     \
    "*in;\n}\n"
#define START  "void transpose(float *out, const float *in, int rows, int cols)\n{\n"
#define LAUNCH START "    move<<<1, 1>>>(out, in);\n"

static const Outcome real_outcomes[] = {
    { KERNEL LAUNCH "}\n", BUILD_OK, 0, "" },
    { "#include <cstdio>\n#include <cuda_fp16.h>\n#include <cooperative_groups.h>\n" KERNEL
      "static __device__ int counter;\n" LAUNCH
      "    printf(\"%s\", cudaGetErrorString(cudaGetLastError()));\n"
      "    int *c = &counter; (void) c;\n}\n",
      BUILD_OK, 0, "" },
    /* nvcc's own headers bring this; see compile_uses_std(). */
    { KERNEL LAUNCH "    rows = std::max(rows, std::numeric_limits<int>::min());\n}\n", BUILD_OK, 0,
      "" },
    { KERNEL LAUNCH "    missing();\n}\n", BUILD_STUDENT, SAW_COMPILER,
      "labs/06_transpose/kernel.cu:9: error: identifier \"missing\"" },
    { "#include \"none.h\"\n", BUILD_STUDENT, SAW_COMPILER, "kernel.cu:1:10: fatal error: none.h" },
    { KERNEL "#error -- unsupported GNU version! gcc versions later than 9 are not supported!\n",
      BUILD_STUDENT, SAW_COMPILER, "kernel.cu:6:2: error: #error -- unsupported GNU" },
    { "#include <unistd.h>\n" KERNEL LAUNCH "    fork();\n}\n", BUILD_STUDENT, SAW_FORBIDDEN,
      "`fork`" },
    { KERNEL START "    void *p;\n    cudaMalloc(&p, 4);\n}\n", BUILD_STUDENT, SAW_FORBIDDEN,
      "`cudaMalloc`" },
    { KERNEL "void transpose(float *out, float *in, int rows, int cols)\n{\n}\n", BUILD_STUDENT,
      SAW_FORBIDDEN, "`transpose`" },
    { "extern \"C\" void transpose(float *out, const float *in, int rows, int cols)\n{\n}\n",
      BUILD_STUDENT, SAW_FORBIDDEN, "\"kernel.h\"" },
    { "#include <cstdio>\n" KERNEL LAUNCH
      "}\n__attribute__((constructor)) void early(void)\n{\n    puts(\"!\");\n}\n",
      BUILD_STUDENT, SAW_FORBIDDEN, "" },
    { "#include <cstdio>\n" KERNEL LAUNCH
      "}\n__attribute__((constructor(101))) void early(void)\n{\n    puts(\"!\");\n}\n",
      BUILD_STUDENT, SAW_FORBIDDEN, "" },
    { "#include \"/etc/passwd\"\n" KERNEL LAUNCH "}\n", BUILD_STUDENT, SAW_INCLUDE, "/etc/passwd" },
    { "#if __CUDA_ARCH__ == 800\n#include \"/etc/passwd\"\n#endif\n" KERNEL LAUNCH "}\n",
      BUILD_STUDENT, SAW_INCLUDE, "/etc/passwd" },
    { KERNEL LAUNCH
      "    asm(\".pushsection .rodata\\n.incbin \\\"/etc/passwd\\\"\\n.popsection\");\n}\n",
      BUILD_STUDENT, SAW_INCLUDE, "/etc/passwd" },
    { "#include \"kernel.h\"\n__global__ void k(float *o)\n{\n    __shared__ float s[20000];\n    "
      "s[threadIdx.x] = 1;\n"
      "    __syncthreads();\n    *o = s[7];\n}\n" START "    k<<<1, 1>>>(out);\n}\n",
      BUILD_STUDENT, SAW_COMPILER, "\nptxas error   : Entry function" },
};

static void the_real_compiler_agrees(void)
{
    size_t count = sizeof real_outcomes / sizeof *real_outcomes;

    toolchain_find(&toolchain);
    if (toolchain.problem[0]) {
        printf("\n    %zu builds skipped: %s\n    ", count, toolchain.problem);
        return;
    }
    open_folder();
    check_outcomes(real_outcomes, count);
    CU_ASSERT_EQUAL(count_entries(""), 3);
    close_folder();
}

static void sources_that_may_use_the_library(void)
{
    CU_ASSERT_FALSE(compile_uses_std("#include \"kernel.h\"\n// the standard copy\n"));
    CU_ASSERT(compile_uses_std("int i = std::min(1, 2);"));
    CU_ASSERT(compile_uses_std("using namespace std;"));
    CU_ASSERT(compile_uses_std("#include <cooperative_groups.h>\n"));
    CU_ASSERT(compile_uses_std("# include<cooperative_groups.h>\n"));
}

/* launch.cpp defines the function, so kernel.cu may define only the kernel, with the right
 * arguments. */
static void a_launch_that_is_given_stays(void)
{
    static const Outcome outcomes[] = {
        { "#include \"kernel.h\"\n__global__ void transpose_kernel(float *out, const float "
          "*in)\n{\n"
          "    *out = *in;\n}\n",
          BUILD_OK, 0, "" },
        { "int other;\n", BUILD_STUDENT, SAW_FORBIDDEN, "`transpose_kernel`" },
        { "__global__ void transpose_kernel(float *out)\n{\n    *out = 1;\n}\n", BUILD_STUDENT,
          SAW_LINKER, "`transpose_kernel`" },
        { KERNEL LAUNCH "}\n", BUILD_STUDENT, SAW_FORBIDDEN, "`transpose`" },
        { "extern \"C\" void transpose(float *out, const float *in, int rows, int cols)\n{\n}\n",
          BUILD_STUDENT, SAW_FORBIDDEN, "`transpose`" },
    };

    toolchain_find(&toolchain);
    if (toolchain.problem[0])
        return; /* the previous test has reported why */
    open_folder();
    write_text("lab/kernel.h",
               "#ifndef KERNEL_H\n#define KERNEL_H\n" HEADER
               "#ifdef __CUDACC__\n__global__ void transpose_kernel(float *out, const float *in);\n"
               "#endif\n#endif\n");
    write_text(
        "lab/launch.cpp",
        "#include \"kernel.h\"\n#include <cuda_runtime_api.h>\n"
        "void transpose_kernel(float *out, const float *in);\n"
        "LAB_API void transpose(float *out, const float *in, int, int)\n{\n"
        "    void *arguments[] = { &out, &in };\n"
        "    cudaLaunchKernel((const void *) transpose_kernel, 1, 1, arguments, 0, 0);\n}\n");
    lab.launches = true;
    check_outcomes(outcomes, sizeof outcomes / sizeof *outcomes);
    lab.launches = false;
    close_folder();
}

CU_SuiteInfo test_build = {
    "build",
    .pTests =
        (CU_TestInfo[]){
            { "a source comes to a verdict", a_source_comes_to_a_verdict },
            { "odd sources are named", odd_sources_are_named },
            { "a broken compiler is the machine's fault", a_broken_compiler_is_the_machines_fault },
            { "no place to write is the machine's fault", no_place_to_write_is_the_machines_fault },
            { "a build is made once", a_build_is_made_once },
            { "a damaged entry is built anew", a_damaged_entry_is_built_anew },
            { "builds at once are all right", builds_at_once_are_all_right },
            { "the oldest entries go", the_oldest_entries_go },
            { "the real compiler agrees", the_real_compiler_agrees },
            { "sources that may use the library", sources_that_may_use_the_library },
            { "a launch that is given stays", a_launch_that_is_given_stays },
            CU_TEST_INFO_NULL,
        },
};
