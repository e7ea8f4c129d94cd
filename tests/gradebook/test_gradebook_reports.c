/* test_gradebook_reports.c - cells do not run as formulas, text does not become markup, and charts
 * show the right numbers. */
#include "gradebook/report/chart.h"
#include "gradebook/report/csv.h"
#include "gradebook/report/json.h"
#include "gradebook/report/markup.h"
#include "gradebook/report/output.h"
#include "gradebook/report/worksheet.h"
#include "base/util.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The output of one writer. */
static char *written(void (*write)(FILE *to, const char *text), const char *text)
{
    static char *said; /* not on the stack: gcc 12 would report a dangling pointer */
    size_t bytes = 0;
    FILE *to = open_memstream(&said, &bytes);

    write(to, text);
    fclose(to);
    return said;
}

static void cells(void)
{
    static const char *const rows[][2] = {
        { "", "," },
        { "Ann Lee", "Ann Lee," },
        { "a, b", "\"a, b\"," },
        { "a \"b\"", "\"a \"\"b\"\"\"," },
        { "two\nlines", "\"two\nlines\"," },
        { "a;b", "\"a;b\"," }, /* some spreadsheets split cells at semicolons */
        { "=1+1", "\"'=1+1\"," },
        { "+49 30", "\"'+49 30\"," },
        { "-2", "\"'-2\"," },
        { "@SUM(A1)", "\"'@SUM(A1)\"," },
        { "\t=1", "\"'\t'=1\"," },
        { "\n=1", "\"'\n'=1\"," },
        { "int x = ;=HYPERLINK(1)", "\"int x = ;'=HYPERLINK(1)\"," },
        { "error:\n@SUM(A1)", "\"error:\n'@SUM(A1)\"," },
        { "a\t-2;;+3", "\"a\t'-2;;'+3\"," },
        { "＝1", "\"'＝1\"," },
        { "Núñez", "Núñez," },
        { "1=1", "1=1," },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *said = written(csv_text, rows[i][0]);
        CU_ASSERT_STRING_EQUAL(said, rows[i][1]);
        free(said);
    }
}

/* A cell that is too long for a spreadsheet is cut between two characters. */
static void long_cells(void)
{
    char *text = xcalloc(1, 70001), *said;

    for (size_t i = 0; i < 70000; i += 2)
        memcpy(text + i, "ü", 2);
    memcpy(text, "a", 1); /* characters now begin at odd offsets; no character begins with 0xbc */
    memcpy(text + 1, "b", 1);
    said = written(csv_text, text + 1);
    CU_ASSERT(strlen(said) < 32100);
    CU_ASSERT_PTR_NOT_NULL(strstr(said, "ü ...,"));
    free(said);
    free(text);
}

static void write_escaped(FILE *to, const char *text)
{
    Page page = { .to = to };

    page_print(&page, "<b a=\"%d %.1f%%\">%s</b>", 3, 0.25, text);
}

static void text_is_no_markup(void)
{
    static const char *const rows[][2] = {
        { "a & b", "a &amp; b" },
        { "<script>", "&lt;script&gt;" },
        { "\" onload='x'", "&quot; onload=&#39;x&#39;" },
        { "&lt;", "&amp;lt;" },
        { "Núñez", "Núñez" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *said = written(write_escaped, rows[i][0]);
        char whole[200];
        snprintf(whole, sizeof whole, "<b a=\"3 0.2%%\">%s</b>", rows[i][1]);
        CU_ASSERT_STRING_EQUAL(said, whole);
        free(said);
    }
}

static void write_sentence(FILE *to, const char *text)
{
    page_sentence(&(Page){ .to = to }, text);
}

static void names_in_sentences_are_code(void)
{
    static const char *const rows[][2] = {
        { "reads `tile[1]`, which", "reads <code>tile[1]</code>, which" },
        { "`a` and `b<c`", "<code>a</code> and <code>b&lt;c</code>" },
        { "one ` alone & no more", "one ` alone &amp; no more" },
        { "``", "<code></code>" },
        { "", "" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *said = written(write_sentence, rows[i][0]);
        CU_ASSERT_STRING_EQUAL(said, rows[i][1]);
        free(said);
    }
}

static void write_page(FILE *to, const char *title)
{
    Page page;

    page_begin(&page, to, &(PageHead){ title, page_style });
    page_end(&page);
}

static void pages_forbid_the_network(void)
{
    char *one = written(write_page, "</title><b>"), *other = written(write_page, "x");
    const char *nonce = strstr(one, "nonce-");

    CU_ASSERT_PTR_NOT_NULL(strstr(one, "default-src 'none'"));
    CU_ASSERT_PTR_NULL(strstr(one, "<b>"));
    CU_ASSERT_PTR_NULL(strstr(one, "unsafe"));
    CU_ASSERT_PTR_NOT_NULL_FATAL(nonce);
    CU_ASSERT(strncmp(nonce, strstr(other, "nonce-"), 38) != 0); /* a nonce cannot be predicted */
    free(one);
    free(other);
}

static void write_json(FILE *to, const char *text)
{
    cJSON *json = json_object();

    json_text(json, "text", text);
    json_text(json, "nothing", "");
    json_number(json, "n", 0.123456, 3);
    json_print(to, json);
}

static void json_is_escaped(void)
{
    char *said = written(write_json, "a \"b\"\n\\ \x01 ü");
    cJSON *read = cJSON_Parse(said);

    CU_ASSERT_PTR_NOT_NULL_FATAL(read);
    CU_ASSERT_STRING_EQUAL(cJSON_GetStringValue(cJSON_GetObjectItem(read, "text")),
                           "a \"b\"\n\\ \x01 ü");
    CU_ASSERT_PTR_NULL(cJSON_GetObjectItem(read, "nothing"));
    CU_ASSERT_EQUAL(cJSON_GetNumberValue(cJSON_GetObjectItem(read, "n")), 0.123);
    cJSON_Delete(read);
    free(said);
}

static void shares(void)
{
    static const double ratios[] = { 0.2, 0.5, 0.5, 0.9, 1.1 };
    const Speeds speeds = { ratios, 5, 10, 0.8, 0.8 };
    static const struct {
        double at, share;
    } rows[] = { { 0, 0.5 },   { 0.2, 0.5 }, { 0.21, 0.4 }, { 0.5, 0.4 },
                 { 0.9, 0.2 }, { 1.1, 0.1 }, { 1.2, 0 } };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CU_ASSERT_DOUBLE_EQUAL(share_at_least(&speeds, rows[i].at), rows[i].share, 1e-12);
}

static void write_charts(FILE *to, const char *text)
{
    static const double ratios[] = { 0.01, 0.5, 3.5 };
    const Speeds one = { ratios, 1, 1, 0, 0 }, some = { ratios, 3, 4, 0.5, 0.9 };
    static const double marks[] = { 0, 50, 99.9, 100 };
    Page page = { .to = to };

    (void) text;
    chart_distribution(&page, &one);
    chart_share_over(&page, &one);
    chart_distribution(&page, &some);
    chart_share_over(&page, &some);
    chart_marks(&page, &(MarksGiven){ marks, 4, 2 });
}

/* Speeds beyond the chart's range are counted in its last column. */
static void charts_hold_all(void)
{
    char *said = written(write_charts, "");

    CU_ASSERT_PTR_NULL(strstr(said, "nan"));
    CU_ASSERT_PTR_NULL(strstr(said, "inf"));
    CU_ASSERT_PTR_NULL(strstr(said, "\"-"));
    CU_ASSERT_PTR_NOT_NULL(strstr(said, "3 measured; a quarter below 0.50"));
    CU_ASSERT_PTR_NOT_NULL(strstr(said, "4 marked, 2 missing; quartiles: 50.0, 99.9 and 99.9"));
    CU_ASSERT_PTR_NOT_NULL(strstr(said, "times as fast as the reference: 50 % for p = 0.5"));
    free(said);
}

/* ---- Worksheets ---- */

/* Writes a file, reads it as a worksheet, and prints it again with the cell (1, 1) set, if there
 * is one; "" if it is refused. */
static char *through_worksheet(const char *text)
{
    char path[] = "/tmp/worksheet.XXXXXX", problem[200];
    static char *said;
    size_t bytes = 0;
    int fd = mkstemp(path);
    FILE *to = open_memstream(&said, &bytes);
    Worksheet sheet;

    CU_ASSERT_FATAL(fd >= 0);
    CU_ASSERT(write_file(path, text, strlen(text)));
    if (worksheet_read(path, &sheet, problem, sizeof problem)) {
        if (sheet.columns > 1)
            worksheet_set(&sheet, 1, 1, "7.50");
        worksheet_write(&sheet, NULL, to);
    }
    worksheet_free(&sheet);
    close(fd);
    unlink(path);
    fclose(to);
    return said;
}

static void worksheets(void)
{
    static const char *const rows[][2] = {
        { "a,b\nx,y\n", "a,b\nx,7.50\n" },
        { "a;b\r\nx;y;\"z\"\r\n", "" }, /* more cells than columns */
        { "a;b;c\r\nx;\"y;\"\"\r\n\"\r\n", "a;b;c\r\nx;7.50\r\n" },
        { "\xEF\xBB\xBF\"a\"\tb\n\"x, \"\ty\nlast", "\xEF\xBB\xBF\"a\"\tb\n\"x, \"\t7.50\nlast\n" },
        { "a,b\nx\n\ny,z\n", "a,b\nx,7.50\n\ny,z\n" },
        { "a,b\n\"x,y\n", "" }, /* the quote is not closed */
        { "a,b\n", "" },
        { "", "" },
        { "\n\n", "\n\n" },
        { "\"", "" },
        { "a,b\n=1,-1\n", "a,b\n=1,7.50\n" }, /* what the learning system wrote stays */
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *said = through_worksheet(rows[i][0]);
        CU_ASSERT_STRING_EQUAL(said, rows[i][1]);
        free(said);
    }
}

static void worksheet_cells(void)
{
    static const struct {
        const char *raw, *text;
        bool is_number;
        double number;
    } rows[] = {
        { "x", "x", false, 0 },
        { "  x y ", "x y", false, 0 },
        { "\"a \"\"b\"\", c\"", "a \"b\", c", false, 0 },
        { "\"\"", "", false, 0 },
        { "10.00", "10.00", true, 10 },
        { "\"10,50\"", "10,50", true, 10.5 },
        { "\"(read only)\"", "(read only)", false, 0 },
        { "\"1.000,00\"", "1.000,00", false, 0 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char raw[60], text[60], problem[200], path[] = "/tmp/worksheet.XXXXXX";
        Worksheet sheet;
        double number;
        int fd = mkstemp(path);
        CU_ASSERT_FATAL(fd >= 0);
        snprintf(raw, sizeof raw, "name,b\n%s,2\n", rows[i].raw);
        CU_ASSERT(write_file(path, raw, strlen(raw)));
        CU_ASSERT_FATAL(worksheet_read(path, &sheet, problem, sizeof problem));
        CU_ASSERT_STRING_EQUAL(worksheet_text(&sheet, 1, 0, text, sizeof text), rows[i].text);
        CU_ASSERT_EQUAL(worksheet_number(&sheet, 1, 0, &number), rows[i].is_number);
        if (rows[i].is_number)
            CU_ASSERT_EQUAL(number, rows[i].number);
        CU_ASSERT_EQUAL(worksheet_column(&sheet, "NAME"), 0);
        CU_ASSERT_EQUAL(worksheet_column(&sheet, "c"), -1);
        worksheet_free(&sheet);
        close(fd);
        unlink(path);
    }
}

static void output_files(void)
{
    char folder[] = "/tmp/output.XXXXXX", path[60];
    struct stat file;
    Output output;

    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    PUT(path, "%s/x", folder);
    CU_ASSERT(output_open(&output, path, false));
    fputs("one", output.to);
    CU_ASSERT(stat(path, &file)); /* not before it is complete */
    CU_ASSERT(output_close(&output, true));
    CU_ASSERT(!stat(path, &file) && (file.st_mode & 0777) == 0600 && file.st_size == 3);
    CU_ASSERT(!output_open(&output, path, false));
    CU_ASSERT(output_open(&output, path, true));
    fputs("other", output.to);
    CU_ASSERT(output_close(&output, false)); /* dropped */
    CU_ASSERT(!stat(path, &file) && file.st_size == 3);
    CU_ASSERT(output_open(&output, path, true));
    fputs("other", output.to);
    CU_ASSERT(output_close(&output, true));
    CU_ASSERT(!stat(path, &file) && file.st_size == 5);
    unlink(path);
    CU_ASSERT(!rmdir(folder)); /* nothing else is left */
}

CU_SuiteInfo test_gradebook_reports = {
    "gradebook reports",
    .pTests =
        (CU_TestInfo[]){
            { "cells", cells },
            { "long cells", long_cells },
            { "text does not become markup", text_is_no_markup },
            { "names in sentences are code", names_in_sentences_are_code },
            { "pages forbid the network", pages_forbid_the_network },
            { "JSON is escaped", json_is_escaped },
            { "shares", shares },
            { "charts show all kernels", charts_hold_all },
            { "worksheets change only where they are set", worksheets },
            { "cells of worksheets", worksheet_cells },
            { "files appear when they are complete", output_files },
            CU_TEST_INFO_NULL,
        },
};
