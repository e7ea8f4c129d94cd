/* test_course.c - course files: what they set, and every mistake in them, with its line. */
#include "base/course.h"
#include "rows.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static Course course;

static int place(const char *lab)
{
    return (int) (lab_find(lab) - all_labs);
}

static void read_well(const char *text)
{
    char *mistakes;

    if (!course_read(text, "c", &course, &mistakes))
        FAIL_SAYING("%s", mistakes);
    free(mistakes);
}

static void what_is_set(void)
{
    const CourseLab *transpose = &course.lab[place("transpose")], *sgemm = &course.lab[place("9")];

    read_well(
        "\xef\xbb\xbf# a comment\r\n[course]\r\nname = A = B\r\ndevice=sim:h200\n"
        "times = files\nlate_days = 5\n; one more\n[transpose]\nweight = 2\nbar = 0.5\nbar of flat "
        "= 0.6\n"
        "[all]\nweight = 1.5\nclose = human\ngrowth = log\nquiz = 0.2\nlate_curve = linear\n"
        "late_unit = 1h\nlate_grace = 15m\nlate_cutoff = 7d\nlate_factor = .5\n"
        "deadline = 2026-11-30 23:59 +01:00\nseed = ABC\n [ 02_bank_conflicts ] \n"
        "bar of d = 64 = 0.8\nseed = 1\npractice_seed = 2\ndeadline = 2026-12-01T00:00:30Z\n");
    CU_ASSERT_STRING_EQUAL(course.name, "A = B");
    CU_ASSERT_STRING_EQUAL(course.device, "sim:h200");
    CU_ASSERT_EQUAL(course.times, 1);
    CU_ASSERT_EQUAL(course.late_days, 5);
    CU_ASSERT_EQUAL(transpose->policy.weight, 2); /* its own, although [all] comes later */
    CU_ASSERT_EQUAL(sgemm->policy.weight, 1.5);
    CU_ASSERT_EQUAL(sgemm->policy.close, CLOSE_BY_HUMAN);
    CU_ASSERT_EQUAL(sgemm->policy.growth, GROWTH_LOG);
    CU_ASSERT_EQUAL(sgemm->policy.late_curve, LATE_LINEAR);
    CU_ASSERT_EQUAL(sgemm->policy.late_unit_s, 3600);
    CU_ASSERT_EQUAL(sgemm->policy.late_grace_s, 900);
    CU_ASSERT_EQUAL(sgemm->policy.late_cutoff_s, 7 * 86400);
    CU_ASSERT_EQUAL(sgemm->policy.late_factor, 0.5);
    CU_ASSERT_EQUAL(sgemm->policy.correct, -1);
    CU_ASSERT_EQUAL(sgemm->policy.quiz, 0.2);
    CU_ASSERT_TRUE(sgemm->policy.has_deadline);
    CU_ASSERT_EQUAL(sgemm->policy.deadline, 1796079540); /* date -d "2026-11-30 23:59 +01:00" +%s */
    CU_ASSERT_EQUAL(course.lab[place("2")].policy.deadline, 1796083230);
    CU_ASSERT_EQUAL(sgemm->seed, 0xabc);
    CU_ASSERT_EQUAL(course.lab[place("2")].seed, 1);
    CU_ASSERT_EQUAL(course.lab[place("2")].practice_seed, 2);
}

static double bar_of(const char *lab, const char *label)
{
    const LabEntry *entry = lab_find(lab);

    for (int i = 0; entry->lab->cases[i].label; i++)
        if (entry->lab->cases[i].kind == TIMED && !strcmp(entry->lab->cases[i].label, label))
            return course_bar(&course, entry, i);
    return -1;
}

static void bars(void)
{
    read_well("[transpose]\nbar of flat = 0.6\n[2]\nbar of d = 64 = 0.8\n[3]\nbar = 0.5\n"
              "bar of mixed = 0.55\n");
    CU_ASSERT_EQUAL(bar_of("transpose", "flat"), 0.6);
    CU_ASSERT_EQUAL(bar_of("transpose", "square"), 0.75); /* the lab's own */
    CU_ASSERT_EQUAL(bar_of("2", "d = 64"), 0.8);
    CU_ASSERT_EQUAL(bar_of("2", "d = 63"), 0.85);
    CU_ASSERT_EQUAL(bar_of("3", "skewed"), 0.5);
    CU_ASSERT_EQUAL(bar_of("3", "mixed"), 0.55);
}

/* A text, and its errors. */
static void mistakes(void)
{
    static const struct {
        const char *text, *errors;
    } rows[] = {
        { "[all]\nweight = two\n", "c:2: weight = two: expected a number from 0 to 1000" },
        { "[all]\nweight = -1\n", "c:2: weight = -1" },
        { "[all]\nweight = nan\n", "c:2: weight = nan" },
        { "[all]\nweight = 1e3\n", "c:2: weight = 1e3" },
        { "[all]\nweight = 1001\n", "c:2: weight = 1001" },
        { "[all]\nweight =\n", "c:2: weight = : expected" },
        { "[all]\nweight = 1 # twice\n", "c:2: weight = 1 # twice" },
        { "[all]\nlate_factor = 90\n", "expected a number from 0 to 1" },
        { "[all]\nclose = maybe\n", "expected one of: pass, curve, human" },
        { "[all]\nclose = pas\n", "expected one of: pass, curve, human" },
        { "[all]\nlate_unit = 0\n", "late_unit = 0: expected a duration" },
        { "[all]\nlate_unit = day\n", "late_unit = day: expected a duration" },
        { "[course]\ndevice = simm:h200\n", "c:2: device = simm:h200: expected sim:NAME" },
        { "[course]\ndevice = sim:h2000\n", "c:2: device = sim:h2000: expected sim:NAME" },
        { "[course]\ndevice = sim:\n", "c:2: device = sim:: expected sim:NAME" },
        { "[course]\nlate_days = 1.5\n", "late_days = 1.5: expected a whole number from 0 to 365" },
        { "[course]\nlate_days = 999\n", "late_days = 999: expected a whole number" },
        { "[all]\nlate_days = 3\n", "unknown key late_days in this section" },
        { "[all]\nlate_grace = 15\n", "late_grace = 15: expected a duration: 0, 90s" },
        { "[all]\nseed = xyz\n", "c:2: seed = ...: expected 1 to 16 hexadecimal digits" },
        { "[all]\nquiz = 1.5\n", "quiz = 1.5: expected a number from 0 to 1" },
        { "[all]\nseed = 0\n", "seed = ...: expected" },
        { "[all]\nseed = 12345678901234567\n", "seed = ...: expected" },
        { "[all]\ndeadline = 2026-11-30 23:59\n", "a time with its zone" },
        { "[all]\ndeadline = 2026-02-30 23:59 Z\n", "a time with its zone" },
        { "[all]\ndeadline = 2026-11-30 24:01 Z\n", "a time with its zone" },
        { "[all]\ndeadline = 2026-11-30 23:59 CET\n", "a time with its zone" },
        { "[all]\ndeadline = 2026-11-30 23:59 +1\n", "a time with its zone" },
        { "[all]\ndeadline = 2026-11-30 23:59 +01:00x\n", "a time with its zone" },
        { "[all]\ndeadline = 30.11.2026\n", "a time with its zone" },
        { "[all]\nbar = 0.5\n", "c:2: bar: set a bar in the section of its lab" },
        { "[all]\nwieght = 1\n", "unknown key wieght in this section; allowed keys: weight, bar" },
        { "[all]\nname = x\n", "unknown key name in" },
        { "[course]\nweight = 1\n",
          "unknown key weight in this section; allowed keys: name, device, times, "
          "late_days" },
        { "[6]\nbar = 0\n", "bar = 0: expected a number from 0.01 to 2" },
        { "[6]\nbar of long = 0.5\n",
          "06_transpose has no such timed case; its timed cases: flat, square" },
        { "[6]\nbar of = 0.5\n", "unknown key bar of in this section" },
        { "[0]\nbar = 0.5\n", "00_first has no such timed case; its timed cases: none" },
        { "[labs]\n", "c:1: unknown section [labs]; the sections are: course, all, 00_first" },
        { "[99]\nx = 1\n", "c:1: unknown section [99]" },
        { "[all\n", "c:1: [all: a section must be [name]" },
        { "[all] weight = 1\n", "a section must be [name], alone on its line" },
        { "weight = 1\n", "c:1: weight = 1: comes before the first section" },
        { "[all]\nweight 1\n", "c:2: weight 1: neither [section] nor key = value" },
        { "[all]\nweight = 1\n\nweight = 2\n", "c:4: weight is already set in line 2" },
        { "[6]\nweight = 1\n[transpose]\nweight = 2\n", "c:4: weight is already set in line 2" },
        { "[all]\nlate_grace = 2d\nlate_cutoff = 1d\n", "c:3: late_cutoff: it is shorter than" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char *errors;
        bool fine = course_read(rows[i].text, "c", &course, &errors);
        if (fine || !strstr(errors, rows[i].errors))
            FAIL_SAYING("%s: %s", rows[i].text, fine ? "no mistake" : errors);
        CU_ASSERT_EQUAL(course.lab[3].policy.weight, 1); /* the default one */
        free(errors);
    }
}

static void all_mistakes_at_once(void)
{
    char *errors;

    CU_ASSERT_FALSE(course_read("[6]\nbar = 3\n[al]\nx = 1\n[all]\nweight = x\nnonsense\n", "c.ini",
                                &course, &errors));
    CU_ASSERT_PTR_EQUAL(strstr(errors, "c.ini:2:"), errors); /* by line */
    CU_ASSERT_PTR_NOT_NULL(strstr(errors, "\nc.ini:3:"));
    CU_ASSERT_PTR_NULL(strstr(errors, "c.ini:4:")); /* its section is not known */
    CU_ASSERT_PTR_NOT_NULL(strstr(errors, "\nc.ini:6:"));
    CU_ASSERT_PTR_NOT_NULL(strstr(errors, "\nc.ini:7:"));
    free(errors);
}

/* Random bytes must not crash the reader, and every reported error must have a line. */
static void noise(void)
{
    uint64_t random = 7;

    for (int i = 0; i < 3000; i++) {
        static const char some[] = "[]=\n\n allwebdin6#; 0.123hof\xc3\xa9\r\tsT:-+Z";
        char text[300], *errors;
        size_t length = next_random(&random) % (sizeof text - 1);
        for (size_t k = 0; k < length; k++)
            text[k] = some[next_random(&random) % (sizeof some - 1)];
        text[length] = 0;
        if (!course_read(text, "c", &course, &errors))
            CU_ASSERT_PTR_EQUAL(strstr(errors, "c:"), errors);
        free(errors);
        free(course_public(text));
    }
}

static void students_see_no_secret(void)
{
    char *text = course_public("# the seed is beef\n[course]\nname = C\n[all]\nseed = beef\n"
                               "weight = 2\n[6]\nseed = cafe\nbar of flat = 0.6\n");

    CU_ASSERT_STRING_EQUAL(text, "[course]\nname = C\n\n[all]\nweight = 2\n\n[06_transpose]\n"
                                 "bar of flat = 0.6\n");
    read_well(text);
    free(text);
}

/* Only settings that change what is measured, as a text that can be read back. */
static void terms(void)
{
    static const struct {
        const char *text, *terms, *measured, *bars; /* NULL: the same as `terms`; none */
    } rows[] = {
        { "", "" },
        { "[all]\nweight = 3\nlate_factor = 0.5\nclose = curve\nbase = 10\n", "" },
        { "[6]\nbar = 0.75\n", "" }, /* the lab's own */
        { "[7]\nbar = 0.6\n[9]\nseed = 1\n", "" },
        { "[6]\nbar of flat = 0.6\n", "[06_transpose]\nbar of flat = 0.6\n", "",
          "bar of flat = 0.6\n" },
        { "[all]\nseed = beef\n", "[06_transpose]\nseed = 000000000000beef\n" },
        { "[all]\nquiz = 0.2\nseed = 1\n",
          "[06_transpose]\nquiz = 0\nseed = 0000000000000001\n" }, /* whether, not how much */
        { "[all]\njudge = counts\n[6]\nseed = 2\n",
          "[06_transpose]\njudge = counts\nseed = 0000000000000002\n" },
        { "[all]\njudge = counts\n[6]\njudge = time\n", "" },
        { "[course]\ndevice = H200\n[6]\nseed = 1\nbar = 0.5\n",
          "[course]\ndevice = H200\n[06_transpose]\nbar of flat = 0.5\nbar of square = 0.5\n"
          "seed = 0000000000000001\n",
          "[course]\ndevice = H200\n[06_transpose]\nseed = 0000000000000001\n",
          "bar of flat = 0.5\nbar of square = 0.5\n" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char *text, *again, *measured, *bars;
        read_well(rows[i].text);
        text = course_terms(&course, lab_find("transpose"));
        CU_ASSERT_STRING_EQUAL(text, rows[i].terms);
        measured = course_measured(&course, lab_find("transpose"));
        CU_ASSERT_STRING_EQUAL(measured, rows[i].measured ? rows[i].measured : rows[i].terms);
        bars = course_bars(&course, lab_find("transpose"));
        CU_ASSERT_STRING_EQUAL(bars, rows[i].bars ? rows[i].bars : "");
        read_well(text);
        again = course_terms(&course, lab_find("transpose"));
        CU_ASSERT_STRING_EQUAL(again, text);
        free(text);
        free(again);
        free(measured);
        free(bars);
    }
}

/* A lab without bounds is judged by time, whatever the course wants. */
static void which_labs_are_judged_by_counts(void)
{
    static const struct {
        const char *text, *lab;
        bool counts;
    } rows[] = {
        { "", "transpose", false },
        { "[all]\njudge = counts\n", "transpose", true },
        { "[all]\njudge = counts\n", "streams", false },
        { "[6]\njudge = counts\n", "transpose", true },
        { "[6]\njudge = counts\n", "sgemm", false },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        read_well(rows[i].text);
        CU_ASSERT_EQUAL(course_counts(&course, lab_find(rows[i].lab)), rows[i].counts);
    }
}

static void which_device_counts(void)
{
    static const struct {
        const char *device, *name, *simulated;
        bool counts;
    } rows[] = {
        { "", "NVIDIA T4", NULL, true },
        { "", "H200", "h200", true },
        { "H200", "NVIDIA H200", NULL, true },
        { "h200", "NVIDIA H200", NULL, true },
        { "H200", "NVIDIA H100", NULL, false },
        { "H200", "H200", "h200", false },
        { "sim:h200", "H200", "h200", true },
        { "sim:h200", "T4", "t4", false },
        { "sim:h200", "NVIDIA H200", NULL, false },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        PUT(course.device, "%s", rows[i].device);
        CU_ASSERT_EQUAL(course_device_counts(&course, rows[i].name, rows[i].simulated),
                        rows[i].counts);
    }
}

static void files(void)
{
    char path[] = "/tmp/warpbook-course-XXXXXX", *text, *errors;
    int fd = mkstemp(path);

    CU_ASSERT_TRUE_FATAL(fd >= 0);
    CU_ASSERT_TRUE(write_file(path, "[6]\nweight = 4\n", 15));
    CU_ASSERT_TRUE(course_load(path, &course, &text, &errors));
    CU_ASSERT_EQUAL(course.lab[place("6")].policy.weight, 4);
    free(text);
    CU_ASSERT_TRUE(write_file(path, "[6]\nweight\0= 4\n", 15));
    CU_ASSERT_FALSE(course_load(path, &course, &text, &errors));
    CU_ASSERT_PTR_NOT_NULL(strstr(errors, "a byte 0"));
    free(errors);
    CU_ASSERT_FALSE(course_load("/nonexistent/course.ini", &course, &text, &errors));
    CU_ASSERT_PTR_NOT_NULL(strstr(errors, "/nonexistent/course.ini: No such file"));
    free(errors);
    CU_ASSERT_FALSE(course_load("/tmp", &course, &text, &errors));
    free(errors);
    unlink(path);
    close(fd);
}

CU_SuiteInfo test_course = {
    "course",
    .pTests =
        (CU_TestInfo[]){
            { "what is set", what_is_set },
            { "bars", bars },
            { "mistakes", mistakes },
            { "all mistakes at once", all_mistakes_at_once },
            { "noise", noise },
            { "students see no secret", students_see_no_secret },
            { "terms", terms },
            { "which labs are judged by counts", which_labs_are_judged_by_counts },
            { "which device counts", which_device_counts },
            { "files", files },
            CU_TEST_INFO_NULL,
        },
};
