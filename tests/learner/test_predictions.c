/* test_predictions.c - predictions.txt is read tolerantly. */
#include "capture.h"
#include "learner/predictions.h"
#include "base/registry.h"
#include "rows.h"
#include "base/util.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[64];
static Capture capture;

static int make_folder(void)
{
    PUT(folder, "/tmp/warpbook-predictions-XXXXXX");
    return !mkdtemp(folder);
}

static int remove_folder(void)
{
    remove_tree(folder);
    return 0;
}

static const Lab some_lab = {
    .predictions = {
        { "sectors", "How many sectors?", 32, 0, "Neighbours are far apart." },
        { "share", "Which share?", 0.75, 0.05, "Three of four." },
        { "bytes", "How many bytes?", 4224, 0, "32 * 33 * 4." },
        { "rate", "How many GB/s?", 5, 0, "It is a rate." },
    },
};

static uint64_t explained; /* as last set by print_predictions() */

static const char *predictions_text(const char *text, int *filled)
{
    char path[160], labs[128];

    CU_ASSERT_TRUE_FATAL(make_folders(PUT(labs, "%s/labs/01_first", folder)));
    PUT(path, "%s/predictions.txt", labs);
    unlink(path);
    if (text)
        CU_ASSERT_TRUE_FATAL(write_file(path, text, strlen(text)));
    capture_begin(&capture, stdout);
    *filled = print_predictions(path, &some_lab, &explained);
    return capture_end(&capture);
}

#define ASKS "labs/01_first/predictions.txt asks for 4 numbers: write them before you look at"

static void predictions_are_read(void)
{
    static const struct {
        const char *text; /* NULL: no file */
        int filled;
        const char *says;
    } rows[] = {
        { NULL, 0, ASKS },
        { "", 0, ASKS },
        { "# remarks\n\nsectors:\nshare: \nbytes: # later\n", 0, ASKS },
        { "sectors: 32\n", 1, "    sectors: you said 32, right. Neighbours are far apart.\n" },
        { "sectors: 4\n", 1, "    sectors: you said 4, it is 32. Neighbours are far apart.\n" },
        { "sectors: 4\n", 1, "    Not filled in yet: share, bytes, rate.\n" },
        { "sectors:4", 1, "you said 4," },
        { "  sectors  :\t 4 \r\n", 1, "you said 4," },
        { "\xef\xbb\xbfsectors: 4\n", 1, "you said 4," },
        { "sectors: 4 sectors\n", 1, "you said 4," },
        { "sectors: 4sectors\n", 1, "you said 4," },
        { "sectors: 4 # of 32 bytes\n", 1, "you said 4," },
        { "sectors: 4 sectors of 32 bytes\n", 1, "you said 4," },
        { "sectors: 50%\n", 1, "you said 50," },
        { "sectors: 32 %\n", 1, "you said 32, right" },
        { "share: 75 %\n", 1, "you said 0.75, right" },
        { "share: 40% of them\n", 1, "you said 0.4," },
        { "sectors: ~4\n", 1, "you said 4," },
        { "sectors: about 4\n", 1, "you said 4," },
        { "bytes: 4224 B\n", 1, "you said 4224, right" },
        { "rate: 5 GB/s\n", 1, "you said 5, right" },
        { "sectors: 16.5x\n", 1, "you said 16.5," },
        { "sectors: 32 x # as many\n", 1, "you said 32, right" },
        { "sectors: 5 \xc2\xb5s\n", 1, "you said 5," },
        { "sectors: -4\n", 1, "you said -4," },
        { "sectors: 0x20\n", 1, "you said 32, right" },
        { "sectors: 3.2e1\n", 1, "you said 32, right" },
        { "sectors: .5\n", 1, "you said 0.5," },
        { "sectors: 4\nsectors: 32\n", 1, "you said 32, right" },
        { "bytes: 4,224\n", 1, "you said 4224, right" },
        { "bytes: 1,048,576 bytes\n", 1, "you said 1048576," },
        { "share: 0.75\n", 1, "share: you said 0.75, right. Three" },
        { "share: 0.72\n", 1, "share: you said 0.72, right (0.75). Three" },
        { "share: 0.69\n", 1, "share: you said 0.69, it is 0.75. Three" },
        { "sectors: 1\nshare: 2\nbytes: 3\n", 3, "bytes: you said 3, it is 4224." },
        /* Not understood: the line is named, and no value is guessed. */
        { "\n\nsectors: many\n", 0, "labs/01_first/predictions.txt:3: \"many\" is not understood" },
        { "sectors: 3/4\n", 0, "is not understood" },
        { "sectors: 32 * 33\n", 0, "is not understood" },
        { "sectors: 32*33\n", 0, "is not understood" },
        { "sectors: 32 x 33\n", 0, "is not understood" },
        { "sectors: 32x.5\n", 0, "is not understood" },
        { "sectors: 2^5\n", 0, "is not understood" },
        { "sectors: 4,22\n", 0, "is not understood" },
        { "sectors: 0,75\n", 0, "is not understood" },
        { "sectors: 1.2.3\n", 0, "is not understood" },
        { "sectors: inf\n", 0, "is not understood" },
        { "sectors: nan\n", 0, "is not understood" },
        { "sectors: 1e999\n", 0, "is not understood" },
        /* A unit that changes the number is not read as if it were absent. */
        { "bytes: 8 MB\n", 0, "\"8 MB\" is not understood" },
        { "rate: 5000 MB/s\n", 0, "is not understood" },
        { "bytes: 4KiB\n", 0, "is not understood" },
        { "bytes: 4 k\n", 0, "is not understood" },
        { "sectors: 3 million\n", 0, "is not understood" },
        { "sectors: ?\n", 0, "is not understood" },
        { "sectors: -\n", 0, "is not understood" },
        { "sectors 4\n", 0, ".txt:1: a line is `key: number`" },
        { "sector: 4\n", 0, ".txt:1: the lab has no question named" },
        { ": 4\n", 0, ".txt:1: the lab has no question" },
        { "sectors: many\nshare: 1\n", 1, "is not understood" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        int filled = -1;
        explained = 0;
        const char *text = predictions_text(rows[i].text, &filled);
        if (filled != rows[i].filled || !has(text, rows[i].says))
            fprintf(stderr, "\nprediction row %zu: %d\n%s", i, filled, text);
        CU_ASSERT_EQUAL(filled, rows[i].filled);
        CU_ASSERT(has(text, rows[i].says));
        CU_ASSERT_EQUAL(has(text, "before you look"), rows[i].filled == 0);
        CU_ASSERT(fits(80, text));
    }
}

static void no_answer_without_a_guess(void)
{
    int filled;
    const char *text = predictions_text("sectors: 4\n", &filled);

    CU_ASSERT(!has(text, "4224") && !has(text, "0.75"));
    text = predictions_text("sectors: many\n", &filled);
    CU_ASSERT(!has(text, "far apart"));
}

/* Every grading of a lab used to repeat all explanations above the result. */
static void same_ones_are_explained_once(void)
{
    static const struct {
        const char *text;
        bool explains;
    } rows[] = {
        { "sectors:\n", false },
        { "sectors: 4\n", true },
        { "# still thinking\nsectors: 4.0\n", false },
        { "sectors: 32\n", true },
        { "sectors: 32\nshare: 1\n", true },
        { "sectors: 32\nshare: 1\n", false },
        { "sectors: 4\n", true },
    };
    int filled;

    explained = 0;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *text = predictions_text(rows[i].text, &filled);
        CU_ASSERT_EQUAL(has(text, "you said"), rows[i].explains);
        CU_ASSERT_EQUAL(has(text, "have not changed"), !rows[i].explains && filled);
        CU_ASSERT(fits(80, text));
    }
    predictions_text("sectors: 32\nshare: 1\n", &filled);
    CU_ASSERT(has(predictions_text("sectors: 32\nshare: 1\n", &filled), "1 of 4 right"));
}

/* The grading's screen shows what could not be read, so that no number vanishes. */
static void faults_are_counted(void)
{
    static const struct {
        const char *text;
        int filled, right, unread, faults;
        const char *fault;
    } rows[] = {
        { "", 0, 0, 0, 0, "" },
        { "sectors: 32\nshare: 1\n", 2, 1, 0, 0, "" },
        { "sectors: 32\nbytes: 8 MB\n", 1, 1, 1, 1, "labs/01_first/predictions.txt:2: \"8 MB\"" },
        { "sectors: no\nshare: idea\n", 0, 0, 2, 2, "labs/01_first/predictions.txt:1: \"no\"" },
        { "sectors: 32\nsector: 4\n", 1, 1, 0, 1, "labs/01_first/predictions.txt:2: the lab" },
    };
    char path[160];
    int filled;

    for (size_t i = 0; i < COUNT(rows); i++) {
        predictions_text(rows[i].text, &filled);
        PUT(path, "%s/labs/01_first/predictions.txt", folder);
        const PredictionScore score = predictions_score(path, &some_lab);
        if (score.asked != 4 || score.filled != rows[i].filled || score.right != rows[i].right ||
            score.unread != rows[i].unread || score.faults != rows[i].faults ||
            !has(score.fault, rows[i].fault))
            FAIL_SAYING("row %zu: %d filled, %d right, %d faults: %s", i, score.filled, score.right,
                        score.faults, score.fault);
    }
}

/* Grading ten labs together used to print ten requests between the rows of the table. */
static void many_labs_ask_once(void)
{
    static const struct {
        const char *text;
        bool open;
    } rows[] = { { "sectors:\n", true }, { "", true }, { NULL, true }, { "sectors: 4\n", false } };
    static const Lab none = { 0 };
    char path[160];
    int filled;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        predictions_text(rows[i].text, &filled);
        PUT(path, "%s/labs/01_first/predictions.txt", folder);
        CU_ASSERT_EQUAL(predictions_open(path, &some_lab), rows[i].open);
    }
    CU_ASSERT_FALSE(predictions_open("/nowhere", &none));
    capture_begin(&capture, stdout);
    print_waiting(1);
    print_waiting(9);
    const char *text = capture_end(&capture);
    CU_ASSERT(has(text, "1 of these labs asks for") && has(text, "9 of these labs ask for"));
}

static void no_predictions_no_words(void)
{
    static const Lab none = { 0 };

    capture_begin(&capture, stdout);
    CU_ASSERT_EQUAL(print_predictions("/nowhere", &none, &explained), 0);
    CU_ASSERT_STRING_EQUAL(capture_end(&capture), "");
}

/* The files in labs/ as handed out (tests run in the workbook's folder): nothing is filled in, and
 * filled-in answers cause no complaint. */
static void files_of_real_labs(void)
{
    for (const LabEntry *entry = all_labs; entry->folder; entry++) {
        char path[256], filled_in[8192] = "", *text;
        int count = 0, filled;
        PUT(path, "labs/%s/predictions.txt", entry->folder);
        text = read_file(path, 1 << 16, NULL);
        if (!text) {
            CU_ASSERT_PTR_NULL(entry->lab->predictions[0].key);
            continue;
        }
        free(text);
        explained = 0;
        capture_begin(&capture, stdout);
        filled = print_predictions(path, entry->lab, &explained);
        const char *said = capture_end(&capture);
        CU_ASSERT(filled > 0 || has(said, "asks")); /* a learner may have filled it in */
        CU_ASSERT(!has(said, ".txt:"));
        while (count < LAB_PREDICTIONS && entry->lab->predictions[count].key) {
            const Prediction *p = &entry->lab->predictions[count++];
            APPEND(filled_in, "%s: %.17g units\n", p->key, p->answer);
        }
        PUT(path, "%s/all", folder);
        CU_ASSERT_TRUE_FATAL(write_file(path, filled_in, strlen(filled_in)));
        explained = 0;
        capture_begin(&capture, stdout);
        CU_ASSERT_EQUAL(print_predictions(path, entry->lab, &explained), count);
        said = capture_end(&capture);
        CU_ASSERT(!has(said, "it is") || has(said, "right"));
        CU_ASSERT(!has(said, "Not filled"));
        CU_ASSERT(fits(80, said));
    }
}

CU_SuiteInfo test_predictions = {
    "predictions",
    .pInitFunc = make_folder,
    .pCleanupFunc = remove_folder,
    .pTests =
        (CU_TestInfo[]){
            { "predictions are read", predictions_are_read },
            { "no answer without a guess", no_answer_without_a_guess },
            { "the same ones are explained once", same_ones_are_explained_once },
            { "faults are counted", faults_are_counted },
            { "many labs ask once", many_labs_ask_once },
            { "no predictions, no words", no_predictions_no_words },
            { "files of real labs", files_of_real_labs },
            CU_TEST_INFO_NULL,
        },
};
