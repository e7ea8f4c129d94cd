/* test_see.c - the page of make see, from synthetic records: hostile texts stay text, its data is
 * JSON, and it stays small whatever the records hold. */
#include "base/util.h"
#include "learner/see/data.h"
#include "learner/see/page.h"
#include "rows.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PAGE = 1 << 20 };

static const char hostile[] = "// </script><script>alert(1)</script>\n"
                              "/* <img src=x onerror=alert(2)> & ' \" */\n"
                              "tile[x] = in[y]; // \xc3\xa4 \xff \x01\n"
                              "<!-- ]]> \\u003c\n";

/* ---- A page ---- */

static Seen *some_page(int kernels)
{
    Seen *seen = xcalloc(1, sizeof *seen);

    seen->entry = &all_labs[0];
    seen->lab_case = all_labs[0].lab->cases[0];
    seen->device = "GPU <b>";
    seen->count = kernels;
    seen->findings.records = xcalloc(1, sizeof(Records));
    seen->findings.lab_case = seen->lab_case;
    for (int i = 0; i < kernels; i++) {
        SeenKernel *k = &seen->kernels[i];
        k->name = i ? "The reference" : "Your kernel";
        k->id = i ? "reference" : "yours";
        k->file = "kernel.cu";
        k->source = xstrdup(hostile);
        see_clean_text(k->source);
        k->records = xcalloc(1, sizeof *k->records);
        k->records->device = (RecordedDevice){ .name = "d", .sms = 8, .sm_mhz = 1000 };
        k->lines[0] = (LineCost){ .line = 3,
                                  .instructions = 10,
                                  .lanes = 160,
                                  .spent = { { [AT_DRAM] = 60, [AT_ISSUE] = 40 } },
                                  .load = { 7, 56, 896 } };
        k->line_count = 1;
    }
    return seen;
}

static void free_page(Seen *seen)
{
    for (int i = 0; i < seen->count; i++) {
        free(seen->kernels[i].source);
        free(seen->kernels[i].records);
    }
    free(seen->findings.records);
    free(seen);
}

static char *written(const Seen *seen, size_t *bytes)
{
    char *text;
    FILE *to = text_open(&text, bytes);

    see_page(seen, to);
    text_close(to);
    return text;
}

static int count_of(const char *text, const char *word)
{
    int count = 0;

    for (; (text = strstr(text, word)); text += strlen(word))
        count++;
    return count;
}

/* ---- JSON ---- */

static const char *skip_value(const char *at, int depth);

static const char *skip_space(const char *at)
{
    return at ? at + strspn(at, " \n") : NULL;
}

static const char *skip_string(const char *at)
{
    if (*at++ != '"')
        return NULL;
    for (; *at && *at != '"'; at++)
        if (*at < ' ' || *at > '~' || (*at == '\\' && !strchr("\"\\u", *++at)))
            return NULL;
    return *at ? at + 1 : NULL;
}

static const char *skip_number(const char *at)
{
    char *end;

    if (!isdigit((unsigned char) *at) && *at != '-')
        return NULL;
    strtod(at, &end);
    return end;
}

/* The members of an object or of an array, up to `end`. */
static const char *skip_members(const char *at, char end, int depth)
{
    for (at = skip_space(at + 1); at && *at != end;) {
        if (end == '}' && (!(at = skip_string(at)) || *at++ != ':'))
            return NULL;
        at = skip_space(skip_value(at, depth + 1));
        if (at && *at == ',' && (at = skip_space(at + 1)) && *at == end)
            return NULL;
    }
    return at ? at + 1 : NULL;
}

static const char *skip_value(const char *at, int depth)
{
    if (depth > 12)
        return NULL;
    return *at == '{'   ? skip_members(at, '}', depth)
           : *at == '[' ? skip_members(at, ']', depth)
           : *at == '"' ? skip_string(at)
                        : skip_number(at);
}

/* True if the page's data is one JSON value. */
static bool has_json(const char *page)
{
    const char *at = strstr(page, "id=\"data\">"), *end;

    if (!at)
        return false;
    end = skip_space(skip_value(skip_space(at + strlen("id=\"data\">")), 0));
    return end && !strncmp(end, "</script>", 9);
}

/* ---- Records ---- */

static void put_text(char *to, size_t size, const char *text)
{
    put(to, size, "%s", text);
}

/* Fills every table to its end with the largest numbers that records_check() accepts. */
static void fill_records(Records *r)
{
    static const char name[] = "</script><b>\"\\'&<script>alert(3)//";

    r->array_count = MOST_ARRAYS;
    r->launch_count = MOST_LAUNCHES;
    r->access_count = MOST_ACCESSES;
    r->turn_count = MOST_TURNS;
    r->finding_count = MOST_RECORDED_FINDINGS;
    r->lane_step_count = MOST_LANE_STEPS;
    r->block_span_count = MOST_BLOCK_SPANS;
    r->write_count = MOST_WRITES;
    r->span_count = MOST_SPANS;
    for (int i = 0; i < MOST_LAUNCHES; i++) {
        r->launches[i] = (RecordedLaunch){ .grid = { INT32_MAX, INT32_MAX, 1 },
                                           .block = { 1024, 1024, 1024 },
                                           .resident = 1 << 24,
                                           .played = 1,
                                           .cycles = 1e14 };
        put_text(r->launches[i].kernel, RECORD_NAME, name);
    }
    for (int i = 0; i < MOST_ARRAYS; i++) {
        r->arrays[i] = (RecordedArray){ .bytes = (UINT64_C(1) << 48) - 1, .start = 127 };
        put_text(r->arrays[i].name, RECORD_NAME, name);
        for (int level = 0; level < MAP_LEVELS; level++) {
            r->arrays[i].cell_bytes[level] = (UINT64_C(1) << 48) - 1;
            for (int c = 0; c < MAP_CELLS; c++)
                r->arrays[i].cells[level][c] = (MapCell){ .block = INT64_MAX,
                                                          .launch = MOST_LAUNCHES - 1,
                                                          .warp = 31,
                                                          .lane = 31,
                                                          .kinds = 7,
                                                          .moved = (UINT64_C(1) << 52) - 1,
                                                          .used = (UINT64_C(1) << 52) - 1 };
        }
    }
    for (int i = 0; i < MOST_TURNS; i++) {
        WarpAccess *a = &r->turns[i];
        *a = (WarpAccess){ .line = 1 + i / TURNS_PER_LINE,
                           .space = i / TURNS_PER_LINE % 2,
                           .array = i / TURNS_PER_LINE % 2 ? -1 : 0,
                           .bytes = 64,
                           .warp = 31,
                           .block = INT64_MAX,
                           .mask = UINT32_MAX,
                           .passes = 1 << 16,
                           .least = 1,
                           .requests = 1,
                           .all_passes = (UINT64_C(1) << 52) - 1 };
        for (int lane = 0; lane < RECORD_LANES; lane++)
            a->address[lane] = a->space == RECORD_SHARED
                                   ? (uint64_t) (MOST_SHARED_WORDS * 4 - 1 - 4096 * lane)
                                   : (UINT64_C(1) << 48) - 1 - (uint64_t) lane * 999999999;
        r->accesses[i] = *a;
    }
    for (int i = 0; i < MOST_RECORDED_FINDINGS; i++) {
        RecordedFinding *f = &r->findings[i];
        *f = (RecordedFinding){ .count = 1, .has_other = true };
        f->access = f->other =
            (RecordedThread){ 1000000, true, { INT32_MAX, 0, 0 }, { 1023, 1023, 1023 } };
        put_text(f->word, RECORD_NAME, name);
        put_text(f->kernel, RECORD_NAME, name);
        put_text(f->text, RECORD_TEXT, name);
    }
    for (int i = 0; i < MOST_BLOCK_SPANS; i++)
        r->block_spans[i] = (BlockSpan){
            .sm = i % 8, .block = i, .begin = (uint64_t) i, .end = (uint64_t) i * 1000 + 1
        };
    for (int i = 0; i < MOST_LANE_STEPS; i++)
        r->lane_steps[i] = (LaneStep){ .line = i, .active = UINT32_MAX, .executed = 1u << i % 32 };
    for (int i = 0; i < MOST_WRITES; i++)
        r->writes[i] = (ElementWrite){ .bytes = 64, .offset = (uint64_t) i * 4096 };
    for (int i = 0; i < MOST_SPANS; i++) {
        r->spans[i] = (Span){ .begin_ns = i, .end_ns = 1e14, .bytes = 1e14 };
        put_text(r->spans[i].name, RECORD_NAME, name);
    }
}

/* ---- Tests ---- */

static void hostile_source_stays_text(void)
{
    Seen *seen = some_page(2);
    size_t bytes;
    char *text = written(seen, &bytes);

    CU_ASSERT_EQUAL(count_of(text, "<script"), 2); /* the data and the script */
    CU_ASSERT_EQUAL(count_of(text, "</script"), 2);
    CU_ASSERT_EQUAL(count_of(text, "<img"), 0);
    CU_ASSERT_EQUAL(count_of(text, "<b>"), 0);
    CU_ASSERT_EQUAL(count_of(text, "&lt;/script&gt;&lt;script&gt;alert(1)"), 2);
    CU_ASSERT_EQUAL(count_of(text, "\xc3\xa4 ? ?"), 2);
    CU_ASSERT(has_json(text));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "default-src 'none'"));
    free(text);
    free_page(seen);
}

static void full_records_give_a_small_page(void)
{
    Seen *seen = some_page(2);
    char why[200] = "", *text;
    size_t bytes;

    for (int i = 0; i < 2; i++)
        fill_records(seen->kernels[i].records);
    seen->findings.any = true;
    fill_records(seen->findings.records);
    seen->findings.records->device = seen->kernels[0].records->device;
    CU_ASSERT(records_check(seen->findings.records, why, sizeof why));
    if (*why)
        FAIL_SAYING("%s", why);
    text = written(seen, &bytes);
    CU_ASSERT(bytes < MOST_PAGE);
    CU_ASSERT(has_json(text));
    CU_ASSERT_EQUAL(count_of(text, "<script"), 2);
    CU_ASSERT_EQUAL(count_of(text, "</script"), 2);
    CU_ASSERT_EQUAL(count_of(text, "class=\"access\""), 2 * SEE_LISTS);
    CU_ASSERT_EQUAL(count_of(text, "class=\"map\""), 2 * SEE_MAPS);
    free(text);
    free_page(seen);
}

static void counters_reach_the_page(void)
{
    Seen *seen = some_page(1);
    size_t bytes;
    char *text;

    seen->kernels[0].has_limits = true;
    seen->kernels[0].limited.limits.spent.at[AT_DRAM] = 200;
    text = written(seen, &bytes);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "{\"line\":3,\"ns\":100,\"instructions\":10,\"lanes\":160,"
                                        "\"load\":[7,56,896]}"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\">50.0 %</td>"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\">56</td>"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\">16.0 of 32</td>"));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(text, "loads: 8.0 sectors per request on average, 4.0 would hold"));
    CU_ASSERT_PTR_NULL(strstr(text, "id=\"findings\""));
    free(text);
    free_page(seen);
}

static const struct {
    double count;
    const char *text;
} counts[] = { { 0, "0" },     { 9999, "9999" },      { 10000, "10 k" },     { 262144, "262 k" },
               { 1e6, "1 M" }, { 1048576, "1.05 M" }, { 2113540, "2.11 M" }, { 5e9, "5 G" } };

static void counts_have_a_unit(void)
{
    char text[20];

    for (size_t i = 0; i < COUNT(counts); i++)
        if (strcmp(see_count(counts[i].count, text, sizeof text), counts[i].text))
            FAIL_SAYING("%.0f: %s, expected %s", counts[i].count, text, counts[i].text);
}

static const struct {
    const char *from, *to;
} texts[] = { { "plain\tx\n", "plain\tx\n" },
              { "a\r\n", "a \n" },
              { "\x1b[31m", "?[31m" },
              { "\xc3\xa4", "\xc3\xa4" },
              { "\xe2\x82\xac", "\xe2\x82\xac" },
              { "\xe2\x82", "??" },
              { "\xc0\xaf", "??" },
              { "\xff\xfe", "??" },
              { "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80" },
              { "\x7f", "?" } };

static void source_text_becomes_valid(void)
{
    for (size_t i = 0; i < COUNT(texts); i++) {
        char text[40];
        PUT(text, "%s", texts[i].from);
        see_clean_text(text);
        if (strcmp(text, texts[i].to))
            FAIL_SAYING("row %zu: '%s'", i, text);
    }
}

static void json_texts_are_escaped(void)
{
    char *text;
    size_t bytes;
    FILE *to = text_open(&text, &bytes);

    see_json_text(to, "a\"\\</script>&\n\xff");
    text_close(to);
    CU_ASSERT_STRING_EQUAL(text, "\"a\\u0022\\u005c\\u003c/script\\u003e\\u0026\\u000a\\u00ff\"");
    free(text);
}

CU_SuiteInfo test_see = {
    "see",
    .pTests =
        (CU_TestInfo[]){
            { "hostile source stays text", hostile_source_stays_text },
            { "full records give a small page", full_records_give_a_small_page },
            { "counters reach the page", counters_reach_the_page },
            { "counts have a unit", counts_have_a_unit },
            { "source text becomes valid", source_text_becomes_valid },
            { "JSON texts are escaped", json_texts_are_escaped },
            CU_TEST_INFO_NULL,
        },
};
