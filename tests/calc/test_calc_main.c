/* test_calc_main.c - `warpbook calc` with all kinds of input: its output, which must fit in 80
 * columns. */
#include "calc/main.h"
#include "capture.h"
#include "rows.h"
#include "base/util.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

static const char *run(const char *line, int *status)
{
    static Capture out, err;
    static char said[2 * sizeof out.text];
    char text[1000], *words[64];
    int count = 0;

    PUT(text, "%s", line);
    for (char *word = strtok(text, " "); word && count < 64; word = strtok(NULL, " "))
        words[count++] = word;
    setenv("WARPBOOK_BUILD", "grader/sim", 1); /* contains the folder devices */
    capture_begin(&out, stdout);
    capture_begin(&err, stderr);
    *status = calc_run(count, words);
    capture_end(&err);
    capture_end(&out);
    unsetenv("WARPBOOK_BUILD");
    return PUT(said, "%s%s", out.text, err.text);
}

static void what_it_says(void)
{
    static const struct {
        const char *line;
        int status;
        const char *says;
    } rows[] = {
        { "", 0, "usage: warpbook calc NAME" },
        { "--help", 0, "  waves " },
        { "wave", 2, "there is no calculator wave" },
        { "waves --help", 0, "  warpbook calc waves --blocks" },
        { "waves --blocks 3 -h", 0, "  warpbook calc waves --blocks" },
        { "waves --blocks 363 --sms 16 --resident 12", 0, "363 / (2 x 192) = 94.5 %" },
        { "waves --blocks=363 --sms=16 --resident=12", 0, "98.6 %" },
        { "waves --blocks 160 --device sim:t4 --resident 4", 0, "40 SMs x 4 = 160" },
        { "waves --blocks 160 --device t4 --sms 10 --resident 4", 0, "10 SMs x 4 = 40" },
        { "waves --device sim --blocks 9 --resident 1", 0, "8 SMs" },
        { "waves --blocks 3", 2,
          "--sms is missing (number of SMs of the GPU): give it, or --device" },
        { "waves 363", 2, "'363' needs the name" },
        { "waves --blocks", 2, "'--blocks' needs a value" },
        { "waves --blocks --sms 3", 2, "--blocks must be" },
        { "waves --fast 3", 2, "unknown option '--fast'" },
        { "waves --", 2, "--blocks is missing" },
        { "waves --blocks 0", 2, "--blocks must be a whole number from 1 to" },
        { "waves --blocks -3", 2, "not '-3'" },
        { "waves --blocks 1.5", 2, "must be a whole number" },
        { "waves --blocks nan", 2, "not 'nan'" },
        { "waves --blocks inf", 2, "must be a whole number" },
        { "waves --blocks 0x10", 2, "must be a whole number" },
        { "waves --blocks 1e999", 2, "must be a whole number" },
        { "waves --blocks 12k", 2, "must be a whole number" },
        { "waves --blocks 1e", 2, "must be a whole number" },
        { "waves --blocks .", 2, "must be a whole number" },
        { "waves --blocks 11111111111111111111111111111111111111111111111111", 2, "must be" },
        { "waves --device 0 --blocks 1 --resident 1", 2, "the number of a real GPU" },
        { "waves --device sim: --blocks 1 --resident 1", 2, "is not a valid device name" },
        { "waves --device sim:gtx480", 2, "there is no device `gtx480`; there are: a100" },
        { "waves --device /dev/null", 2, "name is missing" },
        { "amdahl --device t4", 2, "unknown option" },
        { "occupancy --threads 256", 2, "--device is missing" },
        { "occupancy --device t4 --threads 256 --registers 40 --shared 8KiB", 0, "= 100.0 %" },
        { "occupancy --device t4 --threads 256 --shared 8kB", 2, "must be bytes, or KiB" },
        { "occupancy --device t4 --threads 256 --shared 0.3KiB", 2, "must be bytes" },
        { "occupancy --device t4 --threads 256 --shared 65KiB", 0, "no block fits" },
        { "occupancy --device t4 --threads 1025", 2, "from 1 to 1024" },
        { "occupancy --device a100 --threads 288 --registers 255", 0, "no block fits" },
        { "occupancy --device t4 --threads 64 --registers 0", 0, "100.0 %" },
        { "sectors", 0, "sectors     = 4;" },
        { "sectors --stride 32", 0, "128 / 1024 = 12.5 %" },
        { "sectors --offset 1", 0, "128 / 160 = 80.0 %" },
        { "sectors --stride -1 --offset 31", 0, "= 100.0 %" },
        { "sectors --bytes 3", 2, "--bytes must be 1, 2, 4, 8 or 16" },
        { "sectors --width 8", 2, "--pitch is missing" },
        { "sectors --pitch 8", 2, "--width is missing" },
        { "sectors --store=1", 2, "--store=1" },
        { "sectors --width 16 --pitch 100 --store", 0, "writes 4 bytes" },
        { "banks --stride 32", 0, "32 / 1 = 32" },
        { "banks --stride 33", 0, "no conflict" },
        { "banks --bytes 16 --stride 0 --store", 0, "4 / 4 = 1" },
        { "little --latency 600 --gbps 4000", 0, "2400000 bytes" },
        { "little --latency 800 --device h200", 0, "More than an SM can hold" },
        { "little --latency 0 --gbps 4000", 2, "--latency must be a number from 0.001 to" },
        { "ilp --latency 18 --rate 32", 0, "= 576" },
        { "ilp --latency 4 --device h200", 0, "4 on each scheduler" },
        { "roofline --tflops 35.5 --gbps 936", 0, "37.93 FLOP per byte" },
        { "roofline --tflops 35.5 --gbps 936 --intensity 0.08333", 0, "memory" },
        { "roofline --device t4 --flop 1e9", 2, "--bytes is missing" },
        { "roofline --device t4 --bytes 1e9", 2, "--flop is missing" },
        { "roofline --device t4 --bytes 1e9 --flop 1 --intensity 2", 2, "not both" },
        { "roofline --tflops 30 --gbps 768 --flop 137.05e9 --bytes 268e6", 0, "4.568 ms" },
        { "amdahl --share 75% --times 8", 0, "= 2.909" },
        { "amdahl --share 0.75 --times 8", 0, "= 6.25" },
        { "amdahl --share 101% --times 8", 2, "must be a part, or a percentage, from 0 to 1" },
        { "amdahl --share 1 --times 8", 0, "without limit" },
        { "overlap --up 10 --kernel 10 --chunks 4", 0, "= 12.5 ms" },
        { "overlap --kernel 0 --chunks 4", 2, "all times are 0" },
        { "overlap --up 1.216 --kernel 1.216 --down 1.216 --chunks 32 --buffers 2 --measured 2.24",
          0, "57.9 %" },
        { "overlap --kernel 1 --chunks 4097", 2, "from 1 to 4096" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        int status;
        const char *said = run(rows[i].line, &status);
        CU_ASSERT_EQUAL(status, rows[i].status);
        CU_ASSERT_PTR_NOT_NULL(strstr(said, rows[i].says));
        if (status != rows[i].status || !strstr(said, rows[i].says))
            printf("calc %s: %d\n%s", rows[i].line, status, said);
    }
}

/* The help of each calculator and its example; then the largest numbers. */
static void all_in_80_columns(void)
{
    static const char *const lines[] = {
        "",
        "sectors --help",
        "banks --help",
        "occupancy --help",
        "waves --help",
        "little --help",
        "ilp --help",
        "roofline --help",
        "amdahl --help",
        "overlap --help",
        "sectors --stride -2147483648 --offset 2147483648 --bytes 16 --width 7 --pitch -2147483648",
        "banks --stride 2147483648 --offset 2147483648 --bytes 16 --width 7 --pitch 2147483647",
        "occupancy --device h200 --threads 1024 --registers 255 --shared 232448",
        "occupancy --device h200 --threads 33 --registers 33 --shared 100001",
        "waves --blocks 999999999999999 --sms 999999 --resident 1023",
        "little --latency 123456789012 --gbps 123456789.123 --sms 123456 --bytes 1048575",
        "little --latency 123456789012 --gbps 123456789.123 --device h200 --bytes 1048575",
        "ilp --latency 999999999 --rate 999999.1 --chains 1023",
        "roofline --tflops 999999.123 --gbps 999999999.1 --flop 1.2345e23 --bytes 999999999999999",
        "amdahl --share 0.123456789 --times 123456789012",
        "overlap --up 123456789.1 --kernel 123456789.2 --down 123456789.3 --chunks 4095 "
        "--buffers 4094 --each 123456.1 --measured 999999999",
        "overlap --up 123456789.1 --kernel 123456789.2 --down 123456789.3 --chunks 20 "
        "--measured 123456789",
    };

    for (size_t i = 0; i < COUNT(lines); i++) {
        int status;
        const char *said = run(lines[i], &status);
        CU_ASSERT_TRUE(fits(80, said));
        CU_ASSERT_EQUAL(status, 0);
        if (!fits(80, said) || status)
            printf("calc %s:\n%s", lines[i], said);
    }
}

CU_SuiteInfo test_calc_main = {
    "calc_main",
    .pTests =
        (CU_TestInfo[]){
            { "what it says", what_it_says },
            { "all in 80 columns", all_in_80_columns },
            CU_TEST_INFO_NULL,
        },
};
