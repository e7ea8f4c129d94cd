/* test_sim_report.c - the sums of the counters of launches, as JSON lines and as a table. */
#include "capture.h"
#include "rows.h"
#include "sim/report/report.h"
#include "base/util.h"

#include <CUnit/CUnit.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- A kernel of five steps and a function of one step, in two files ---- */

static char *files[] = { NULL, "/src/tile.cu", "/src/help.cuh" };

static Instruction instructions[] = {
    { .op = OP_ld,
      .types = { TYPE_F32 },
      .type_count = 1,
      .charged_file = 1,
      .charged_line = 10,
      .ptx_line = 100 },
    { .op = OP_fma,
      .types = { TYPE_F32 },
      .type_count = 1,
      .charged_file = 1,
      .charged_line = 11,
      .ptx_line = 101 },
    { .op = OP_st,
      .types = { TYPE_F32 },
      .type_count = 1,
      .charged_file = 1,
      .charged_line = 12,
      .ptx_line = 102 },
    { .op = OP_ld,
      .types = { TYPE_F32 },
      .type_count = 1,
      .charged_file = 1,
      .charged_line = 11,
      .ptx_line = 103 },
    { .op = OP_ret, .ptx_line = 104 },
    { .op = OP_atom,
      .types = { TYPE_F32 },
      .type_count = 1,
      .charged_file = 2,
      .charged_line = 3,
      .ptx_line = 105 },
};

static Step steps[] = {
    { .in = &instructions[0], .space = SPACE_GLOBAL, .class_ = CLASS_LOAD },
    { .in = &instructions[1], .class_ = CLASS_FP32 },
    { .in = &instructions[2], .space = SPACE_GLOBAL, .class_ = CLASS_STORE },
    { .in = &instructions[3], .space = SPACE_SHARED, .class_ = CLASS_LOAD },
    { .in = &instructions[4], .class_ = CLASS_CONTROL },
    { .in = &instructions[5], .space = SPACE_GLOBAL, .class_ = CLASS_ATOMIC },
};

static const Count sound_counts[] = {
    { .executed = 8, .lanes = 256, .requests = 8, .sectors = 32, .bytes = 1024 },
    { .executed = 16, .lanes = 512 },
    { .executed = 8, .lanes = 248, .requests = 8, .sectors = 248, .bytes = 992 },
    { .executed = 16, .lanes = 512, .wavefronts = 32, .ideal = 16 },
    { .executed = 8, .lanes = 256 },
    { .executed = 4, .lanes = 4, .requests = 4, .sectors = 4, .bytes = 192 },
};

static Module module = { .files = files, .file_count = COUNT(files), .function_count = 2 };
static const Function kernel_function = { .is_entry = true }, other_function;
static Code kernel_code = {
    .module = &module, .function = &kernel_function, .steps = steps, .step_count = 5
};
static Code function_code = {
    .module = &module, .function = &other_function, .steps = steps + 5, .step_count = 1
};

static Count counts[COUNT(sound_counts)];
static Count *call_counts[] = { NULL, counts + 5 };
static Code *codes[] = { NULL, &function_code };
static ArrayCount arrays[2];

static Launch a_launch(const char *name)
{
    memcpy(counts, sound_counts, sizeof counts);
    arrays[0] = (ArrayCount){ .allocation = 2,
                              .base = 0x700000001000,
                              .size = 4096,
                              .load_requests = 8,
                              .load_sectors = 32,
                              .load_bytes = 1024 };
    arrays[1] = (ArrayCount){ .allocation = 1,
                              .base = 0x700000000000,
                              .size = 1000,
                              .store_requests = 8,
                              .store_sectors = 248,
                              .store_bytes = 992 };
    return (Launch){ .module = &module,
                     .codes = codes,
                     .kernel = &kernel_code,
                     .name = name,
                     .grid = { 4, 2, 1 },
                     .block = { 32, 1, 1 },
                     .counts = counts,
                     .call_counts = call_counts,
                     .arrays = arrays,
                     .array_count = 2 };
}

static const KernelResources resources = { .registers = 24, .static_shared_bytes = 4224 };
static const Occupancy occupancy = {
    .blocks_per_sm = 32, .warps_per_sm = 32, .share = 0.5, .limiter = LIMIT_BLOCKS
};

/* ---- The JSON lines ---- */

static char path[64], *written;

static const char *report_text(void)
{
    PUT(path, "/tmp/test_sim_report.%d.json", (int) getpid());
    unlink(path);
    free(written);
    CU_ASSERT_TRUE(report_at_exit(path, false));
    written = read_file(path, 1 << 20, NULL);
    unlink(path);
    CU_ASSERT_PTR_NOT_NULL_FATAL(written);
    return written;
}

static const char *line_of(const char *text, int number)
{
    static char line[8000];

    while (number-- && text)
        text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL;
    return PUT(line, "%.*s", text ? (int) strcspn(text, "\n") : 0, text ? text : "");
}

static void begin(void)
{
    Device device = { .name = "Teaching GPU",
                      .key = "teaching",
                      .cc = 80,
                      .sms = 8,
                      .slice = 1,
                      .threads_per_sm = 2048,
                      .shared_per_sm_bytes = 167936,
                      .sm_mhz = 1410.5,
                      .memory_gbps = 80,
                      .pcie_gbps = 0.25,
                      .fp32_tflops = 1.024,
                      .l2_bytes = 1 << 20,
                      .memory_bytes = 4294967296.0 };

    report_clear();
    report_device(&device);
}

static void the_header(void)
{
    begin();
    CU_ASSERT_STRING_EQUAL(
        line_of(report_text(), 0),
        "{\"record\":\"header\",\"format\":1,\"version\":\"" WARPBOOK_VERSION
        "\",\"simulated\":true,\"device\":{\"key\":\"teaching\",\"name\":\"Teaching "
        "GPU\",\"cc\":80,"
        "\"sms\":8,\"slice\":1,\"threads_per_sm\":2048,\"shared_per_sm_bytes\":167936,"
        "\"sm_mhz\":1410.5,\"memory_gbps\":80,\"pcie_gbps\":0.25,\"fp32_tflops\":1.024,"
        "\"l2_bytes\":1048576,\"memory_bytes\":4294967296},\"kernels\":0,\"findings\":0,"
        "\"complete\":true,\"signal\":0}");
    report_clear();
    CU_ASSERT_PTR_NOT_NULL(strstr(report_text(), "\"device\":null,"));
}

static void one_kernel(void)
{
    Launch launch = a_launch("tile");

    begin();
    report_launch(&launch, &resources, &occupancy);
    CU_ASSERT_STRING_EQUAL(
        line_of(report_text(), 1),
        "{\"record\":\"kernel\",\"name\":\"tile\",\"grid\":[4,2,1],\"block\":[32,1,1],"
        "\"dynamic_shared_bytes\":0,\"cooperative\":false,\"launches\":1,\"failed\":0,"
        "\"resources\":{\"registers\":24,\"static_shared_bytes\":4224,\"local_bytes\":0,"
        "\"most_threads\":0},\"occupancy\":{\"blocks_per_sm\":32,\"warps_per_sm\":32,"
        "\"share\":0.5,\"limiter\":\"blocks\"},\"machine_counts\":\"estimated\","
        "\"warp_instructions\":60,\"thread_instructions\":1788,"
        "\"threads_per_instruction\":28.8000,"
        "\"machine_instructions\":80,\"machine_threads\":2304,\"ffma_threads\":512,\"divergent_"
        "branches\":0,"
        "\"cost\":376,\"classes\":{\"fp32\":16,\"control\":8,\"load\":24,\"store\":8,\"atomic\":4},"
        "\"global\":{\"load\":{\"requests\":8,\"sectors\":32,\"bytes\":1024},"
        "\"store\":{\"requests\":8,\"sectors\":248,\"bytes\":992},"
        "\"atomic\":{\"requests\":4,\"sectors\":4,\"bytes\":192}},"
        "\"shared\":{\"load\":{\"requests\":16,\"wavefronts\":32,\"ideal\":16}},"
        "\"shared_loop_wavefronts\":0,\"shared_loop_ideal\":0,"
        "\"arrays\":[{\"allocation\":1,\"address\":\"0x700000000000\",\"bytes\":1000,"
        "\"store\":{\"requests\":8,\"sectors\":248,\"bytes\":992}},"
        "{\"allocation\":2,\"address\":\"0x700000001000\",\"bytes\":4096,"
        "\"load\":{\"requests\":8,\"sectors\":32,\"bytes\":1024}}],"
        "\"lines\":["
        "{\"file\":null,\"line\":104,\"warp_instructions\":8,\"thread_instructions\":256,"
        "\"threads_per_instruction\":32.0000,"
        "\"machine_instructions\":8,\"machine_threads\":256,\"ffma_threads\":0,\"divergent_"
        "branches\":0,"
        "\"cost\":8,\"classes\":{\"control\":8},\"global\":{},\"shared\":{},"
        "\"shared_loop_wavefronts\":0,\"shared_loop_ideal\":0},"
        "{\"file\":\"/src/"
        "tile.cu\",\"line\":10,\"warp_instructions\":8,\"thread_instructions\":256,"
        "\"threads_per_instruction\":32.0000,"
        "\"machine_instructions\":24,\"machine_threads\":768,\"ffma_threads\":0,\"divergent_"
        "branches\":0,"
        "\"cost\":40,\"classes\":{\"load\":8},"
        "\"global\":{\"load\":{\"requests\":8,\"sectors\":32,\"bytes\":1024}},\"shared\":{},"
        "\"shared_loop_wavefronts\":0,\"shared_loop_ideal\":0},"
        "{\"file\":\"/src/tile.cu\",\"line\":11,\"warp_instructions\":32,"
        "\"thread_instructions\":1024,\"threads_per_instruction\":32.0000,"
        "\"machine_instructions\":32,\"machine_threads\":1024,\"ffma_threads\":512,"
        "\"divergent_branches\":0,\"cost\":64,\"classes\":{\"fp32\":16,\"load\":16},\"global\":{},"
        "\"shared\":{\"load\":{\"requests\":16,\"wavefronts\":32,\"ideal\":16}},"
        "\"shared_loop_wavefronts\":0,\"shared_loop_ideal\":0},"
        "{\"file\":\"/src/"
        "tile.cu\",\"line\":12,\"warp_instructions\":8,\"thread_instructions\":248,"
        "\"threads_per_instruction\":31.0000,"
        "\"machine_instructions\":8,\"machine_threads\":248,\"ffma_threads\":0,\"divergent_"
        "branches\":0,"
        "\"cost\":256,\"classes\":{\"store\":8},"
        "\"global\":{\"store\":{\"requests\":8,\"sectors\":248,\"bytes\":992}},\"shared\":{},"
        "\"shared_loop_wavefronts\":0,\"shared_loop_ideal\":0},"
        "{\"file\":\"/src/help.cuh\",\"line\":3,\"warp_instructions\":4,\"thread_instructions\":4,"
        "\"threads_per_instruction\":1.0000,"
        "\"machine_instructions\":8,\"machine_threads\":8,\"ffma_threads\":0,\"divergent_"
        "branches\":0,"
        "\"cost\":8,\"classes\":{\"atomic\":4},"
        "\"global\":{\"atomic\":{\"requests\":4,\"sectors\":4,\"bytes\":192}},\"shared\":{},"
        "\"shared_loop_wavefronts\":0,\"shared_loop_ideal\":0}]}");
}

/* ---- Which launches share a row ---- */

static void launches_are_added(void)
{
    Launch launch = a_launch("tile"), other;

    begin();
    for (int i = 0; i < 3; i++)
        report_launch(&launch, NULL, NULL);
    launch.failed = true;
    report_launch(&launch, NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL(strstr(report_text(),
                                  "\"launches\":4,\"failed\":1,\"resources\":null,"
                                  "\"occupancy\":null,\"machine_counts\":\"estimated\","
                                  "\"warp_instructions\":240,"));
    CU_ASSERT_PTR_NOT_NULL(strstr(written, "\"load\":{\"requests\":32,\"sectors\":128,"));
    CU_ASSERT_PTR_NOT_NULL(strstr(written, "\"kernels\":1,"));
    other = launch;
    other.grid[2] = 2;
    report_launch(&other, NULL, NULL);
    other = launch;
    other.block[0] = 64;
    report_launch(&other, NULL, NULL);
    other = launch;
    other.dynamic_shared_bytes = 4;
    report_launch(&other, NULL, NULL);
    other = launch;
    other.name = "til";
    report_launch(&other, NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL(strstr(report_text(), "\"kernels\":5,"));
}

/* Copies read global memory and write shared memory; generic accesses may use both. */
static void both_memories(void)
{
    static Instruction both[] = { { .op = OP_cp_async, .charged_file = 1, .charged_line = 1 },
                                  { .op = OP_ld, .charged_file = 1, .charged_line = 2 },
                                  { .op = OP_atom, .charged_file = 1, .charged_line = 3 } };
    static Step both_steps[] = { { .in = &both[0], .class_ = CLASS_LOAD },
                                 { .in = &both[1], .class_ = CLASS_LOAD },
                                 { .in = &both[2], .class_ = CLASS_ATOMIC } };
    Count both_counts[] = {
        { .executed = 4,
          .lanes = 128,
          .requests = 4,
          .sectors = 16,
          .bytes = 512,
          .wavefronts = 5,
          .ideal = 4 },
        { .executed = 9,
          .lanes = 288,
          .requests = 6,
          .sectors = 24,
          .bytes = 768,
          .wavefronts = 3,
          .ideal = 3 },
        { .executed = 2, .lanes = 64, .wavefronts = 4, .ideal = 4, .loop_loads = 2 }
    };
    Code code = {
        .module = &module, .function = &kernel_function, .steps = both_steps, .step_count = 3
    };
    Launch launch = a_launch("both");

    launch.kernel = &code;
    launch.counts = both_counts;
    launch.call_counts = NULL;
    launch.array_count = 0;
    begin();
    report_launch(&launch, NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL(strstr(
        report_text(), "\"cost\":69,\"classes\":{\"load\":13,\"atomic\":2},"
                       "\"global\":{\"load\":{\"requests\":6,\"sectors\":24,\"bytes\":768},"
                       "\"copy\":{\"requests\":4,\"sectors\":16,\"bytes\":512}},"
                       "\"shared\":{\"load\":{\"requests\":3,\"wavefronts\":3,\"ideal\":3},"
                       "\"atomic\":{\"requests\":2,\"wavefronts\":4,\"ideal\":4},"
                       "\"copy\":{\"requests\":4,\"wavefronts\":5,\"ideal\":4}},"
                       "\"shared_loop_wavefronts\":2,\"shared_loop_ideal\":0,\"arrays\":[],"));
}

/* ---- Strings and bytes ---- */

static void strings_are_escaped(void)
{
    static const struct {
        const char *name, *json;
    } rows[] = {
        { "plain", "\"plain\"" },
        { "a\"b\\c", "\"a\\\"b\\\\c\"" },
        { "\n\t\001\177", "\"\\u000a\\u0009\\u0001\\u007f\"" },
        { "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"" },
        { "\xff"
          "a\xc3",
          "\"\\ufffda\\ufffd\"" },
        { "\xc0\xaf", "\"\\ufffd\\ufffd\"" },            /* overlong */
        { "\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"" }, /* a surrogate */
        { "\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"" },
        { "\xe2\x82", "\"\\ufffd\\ufffd\"" },
        { "", "\"\"" },
        { NULL, "\"\"" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Launch launch = a_launch(rows[i].name);
        char want[100];
        begin();
        report_launch(&launch, NULL, NULL);
        PUT(want, "{\"record\":\"kernel\",\"name\":%s,", rows[i].json);
        CU_ASSERT_NSTRING_EQUAL(line_of(report_text(), 1), want, strlen(want));
    }
}

static void findings_are_written(void)
{
    Place place = { .kernel = "tile",
                    .file = "/src/\"x\".cu",
                    .line = 12,
                    .block = { 1, 2, 3 },
                    .thread = { 4, 5, 6 },
                    .has_thread = true,
                    .instruction = "st.global.f32 rest",
                    .instruction_length = 13 };
    Place nowhere = { 0 };
    const char *text;

    begin();
    finding_quiet(true);
    finding(FINDING_OUT_OF_BOUNDS, true, &place, "writes \"4\" bytes");
    finding(FINDING_LEAK, false, &nowhere, "%d bytes", 7);
    finding_quiet(false);
    text = strstr(report_text(), "{\"record\":\"finding\"");
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    CU_ASSERT_STRING_EQUAL(
        line_of(text, 0),
        "{\"record\":\"finding\",\"kind\":\"out of bounds\",\"fatal\":true,\"kernel\":\"tile\","
        "\"file\":\"/src/\\\"x\\\".cu\",\"line\":12,\"block\":[1,2,3],\"thread\":[4,5,6],"
        "\"instruction\":\"st.global.f32\",\"text\":\"writes \\\"4\\\" bytes\",\"count\":1}");
    CU_ASSERT_STRING_EQUAL(
        line_of(text, 1),
        "{\"record\":\"finding\",\"kind\":\"leak\",\"fatal\":false,\"kernel\":null,\"file\":null,"
        "\"line\":0,\"instruction\":null,\"text\":\"7 bytes\",\"count\":1}");
}

/* The program's locale must not put commas into numbers, and all runs must give the same bytes. */
static void the_same_bytes_each_time(void)
{
    static const char *const languages[] = { "C", "de_DE.UTF-8", "fr_FR.UTF-8", "tr_TR.UTF-8" };
    char *first = NULL;

    for (size_t i = 0; i < COUNT(languages); i++) {
        Launch launch = a_launch("tile");
        const char *text;
        setlocale(LC_ALL, languages[i]); /* no effect if it is not installed */
        begin();
        report_launch(&launch, &resources, &occupancy);
        text = report_text();
        if (!first)
            first = strdup(text);
        CU_ASSERT_STRING_EQUAL(text, first);
    }
    setlocale(LC_ALL, "C");
    free(first);
}

/* ---- Files and processes ---- */

static void files_and_processes(void)
{
    Launch launch = a_launch("tile");
    char *text;
    pid_t child;
    int status;

    begin();
    CU_ASSERT_FALSE(report_at_exit("/proc/none/x.json", false));
    CU_ASSERT_TRUE(report_at_exit(NULL, false));
    CU_ASSERT_TRUE(report_at_exit("", false));
    report_launch(&launch, NULL, NULL);
    report_text();
    CU_ASSERT_TRUE(report_at_exit(path, false));
    child = fork(); /* it launches nothing, so it must not overwrite the parent's report */
    if (!child)
        _exit(!report_at_exit(path, true));
    CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
    CU_ASSERT_EQUAL(status, 0);
    text = read_file(path, 1 << 20, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    if (finding_count() == 0)
        CU_ASSERT_STRING_EQUAL(text, written);
    free(text);
    unlink(path);
}

/* ---- The table ---- */

static const char table[] =
    "\n"
    "simulated Teaching GPU: 8 SMs\n"
    "\n"
    "tile\n"
    "  2 launches, grid 4 x 2, block 32, 24 registers, 4224 B shared\n"
    "  occupancy             50.0 %  32 warps in 32 blocks per SM; limit: blocks\n"
    "  threads per warp     28.80    of 32, in 120 warp instructions\n"
    "  global loads          4.00    sectors per request, 100.0 % of their bytes used\n"
    "  global stores        31.00    sectors per request, 12.5 % of their bytes used\n"
    "  global atomics        1.00    sectors per request, their bytes used 1.5 times\n"
    "  shared loads          2.00    wavefronts per request, 1.00 without conflicts\n"
    "  costs most            68.1 %  tile.cu:12  31.0 sectors per request\n"
    "                        17.0 %  tile.cu:11\n"
    "                        10.6 %  tile.cu:10  4.0 sectors per request\n"
    "\n";

static void the_table(void)
{
    static Capture capture;
    Launch launch = a_launch("tile");
    const char *text;

    begin();
    report_launch(&launch, &resources, &occupancy);
    report_launch(&launch, &resources, &occupancy);
    capture_begin(&capture, stderr);
    report_at_exit(NULL, true);
    text = capture_end(&capture);
    CU_ASSERT_NSTRING_EQUAL(text, table, strlen(table));
}

static void no_line_is_too_long(void)
{
    static Capture capture;
    char name[400];
    Launch launch;
    const char *text;

    memset(name, 'x', sizeof name);
    memcpy(name, "\33[2J\n", 5);
    memcpy(name + 76, "\xe2\x82\xac", 3); /* where the text is truncated */
    name[sizeof name - 1] = 0;
    launch = a_launch(name);
    for (size_t i = 0; i < COUNT(counts); i++) /* as large as counts can be */
        for (size_t k = 0; k < sizeof(Count) / sizeof(uint64_t); k++)
            ((uint64_t *) &counts[i])[k] = UINT64_MAX / 400;
    launch.grid[0] = launch.grid[1] = launch.grid[2] = 2147483647;
    launch.dynamic_shared_bytes = SIZE_MAX / 2;
    begin();
    report_launch(&launch, &resources, &occupancy);
    for (int i = 0; i < 50; i++) {
        launch.block[0] = i + 1;
        report_launch(&launch, NULL, NULL);
    }
    capture_begin(&capture, stderr);
    report_at_exit(NULL, true);
    text = capture_end(&capture);
    CU_ASSERT_PTR_NULL(strchr(text, '\33'));
    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        CU_ASSERT_TRUE(strcspn(line, "\n") <= 80);
    }
}

CU_SuiteInfo test_sim_report = {
    "sim_report",
    .pTests =
        (CU_TestInfo[]){
            { "the header", the_header },
            { "one kernel", one_kernel },
            { "launches are added", launches_are_added },
            { "both memories", both_memories },
            { "strings are escaped", strings_are_escaped },
            { "the same bytes each time", the_same_bytes_each_time },
            { "files and processes", files_and_processes },
            { "the table", the_table },
            { "no line is too long", no_line_is_too_long },
            { "findings are written", findings_are_written },
            CU_TEST_INFO_NULL,
        },
};
