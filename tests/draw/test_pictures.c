/* test_pictures.c - every kind of picture, drawn from synthetic records: well-formed, the same each
 * time, every text within its room, and with the figures of the records. */
#include "base/util.h"
#include "draw/picture.h"
#include "draw/well_formed.h"
#include "rows.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const char source[] = "one\n  tile[x] = in[y]; // <&>\"'\nthree\n";

/* ---- Synthetic records ---- */

static void add_access(Records *r, RecordSpace space, int line, uint64_t stride, int passes,
                       int least)
{
    WarpAccess *a = &r->accesses[r->access_count++];

    *a = (WarpAccess){ .line = line,
                       .step = r->access_count,
                       .space = space,
                       .array = space == RECORD_SHARED ? -1 : 0,
                       .bytes = 4,
                       .mask = UINT32_MAX,
                       .passes = passes,
                       .least = least,
                       .requests = 7,
                       .all_passes = (uint64_t) passes * 7,
                       .all_least = (uint64_t) least * (space == RECORD_SHARED ? 7 : 7 * 32) };
    for (int lane = 0; lane < RECORD_LANES; lane++)
        a->address[lane] = (uint64_t) lane * stride;
}

/* Nine blocks of 1 us on 4 SMs; the ninth runs alone. */
static void add_blocks(Records *r)
{
    for (int i = 0; i < 9; i++)
        r->block_spans[r->block_span_count++] =
            (BlockSpan){ .sm = i % 4,
                         .block = i,
                         .begin = (uint64_t) (i / 4) * 1000,
                         .end = (uint64_t) (i / 4) * 1000 + 1000 };
}

static void add_spans(Records *r)
{
    for (int i = 0; i < 6; i++)
        r->spans[r->span_count++] = (Span){ .engine = i % 3 == 2 ? ENGINE_DOWN : i % 3,
                                            .stream = 1 + i / 3,
                                            .begin_ns = 1000.0 * i,
                                            .end_ns = 1000.0 * i + 1500,
                                            .name = "k<\"x\">" };
}

/* A block of 4 warps that writes 8 x 16 elements of an output of 32 columns. */
static void add_writes(Records *r)
{
    for (int i = 0; i < 128; i++)
        r->writes[r->write_count++] = (ElementWrite){
            .array = 1,
            .warp = (uint8_t) (i / 32),
            .lane = (uint8_t) (i % 32),
            .bytes = 4,
            .offset = (uint64_t) (4 * (i / 16 * 65536 + i % 16)),
        };
    for (int i = 0; i < 4; i++)
        r->block_tiles[r->block_tile_count++] =
            (BlockTile){ .array = 1, .block = i, .first = (uint64_t) i * 64 };
}

static Records *made_records(void)
{
    Records *r = xcalloc(1, sizeof *r);

    r->filter = (RecordFilter){ -1, -1 };
    r->device = (RecordedDevice){ .name = "Made GPU", .sms = 4, .sm_mhz = 1000 };
    r->array_count = 2;
    r->arrays[0] = (RecordedArray){ .name = "in<&>", .bytes = 1 << 20 };
    r->arrays[1] = (RecordedArray){ .name = "out", .bytes = 1 << 23 };
    r->launch_count = 1;
    r->launches[0] = (RecordedLaunch){ .kernel = "kernel<&>\"'",
                                       .grid = { 9, 1, 1 },
                                       .block = { 128, 1, 1 },
                                       .resident = 4,
                                       .played = 9,
                                       .shared_bytes = 8192,
                                       .cycles = 3000,
                                       .executed = 100,
                                       .lanes = 1600 };
    add_access(r, RECORD_GLOBAL, 2, 128, 32, 4);
    add_access(r, RECORD_GLOBAL, 3, 4, 4, 4);
    add_access(r, RECORD_SHARED, 2, 128, 32, 1);
    add_access(r, RECORD_SHARED, 3, 132, 1, 1);
    for (int i = 0; i < 20; i++)
        r->lane_steps[r->lane_step_count++] =
            (LaneStep){ .line = 2, .active = UINT32_MAX, .executed = i < 10 ? 0xff : UINT32_MAX };
    add_blocks(r);
    add_spans(r);
    add_writes(r);
    return r;
}

static const Ladder ladder = {
    .rungs = { { .name = "1_slow", .ratio = 0.25, .rate = 250 },
               { .name = "2_fast", .ratio = 1, .rate = 1000, .is_reference = true },
               { .name = "your <kernel>", .ratio = 0.5, .rate = 500, .is_yours = true } },
    .count = 3,
    .unit = "GB/s",
    .bar = 0.75,
    .limit = 1200,
    .where = "Measured: a made GPU",
};

static RooflinePoints made_points(void)
{
    RooflinePoints points = {
        .count = 3, .fp32_tflops = 2, .memory_gbps = 100, .device = "made GPU"
    };
    static const double flops[] = { 1e6, 1e6, 0 };

    for (int i = 0; i < points.count; i++) {
        Limits limits = { .flops = flops[i], .bytes = 1e5 };
        limits.spent.at[0] = 1e4 * (i + 1);
        PUT(points.points[i].name, "kernel %d", i);
        points.points[i].at = roofline_of(&limits, points.fp32_tflops, points.memory_gbps);
    }
    return points;
}

typedef struct Made {
    Records *records;
    RooflinePoints points;
    Picture picture;
} Made;

static Made make(void)
{
    Made made = { .records = made_records(), .points = made_points() };
    const LabEntry *entry = lab_find("transpose");

    made.picture = (Picture){ .entry = entry,
                              .lab_case = *case_labelled(entry->lab, "flat"),
                              .file = "kernel.cu",
                              .source = source,
                              .failed = "",
                              .records = made.records,
                              .ladder = &ladder };
    /* out has 65,536 columns: transposed, 32 rows of the input run the other way */
    made.picture.lab_case.dim[0] = 65536;
    made.picture.lab_case.dim[1] = 32;
    return made;
}

static char *drawn(const char *kind, Made *made, Words *words, int *misfits)
{
    Svg svg;
    char *text;
    size_t bytes;
    FILE *to = text_open(&text, &bytes);
    bool well;

    made->picture.roofline = &made->points;
    *words = (Words){ .why = "" };
    svg_begin(&svg, PICTURE_WIDTH);
    well = picture_kind(kind)->draw(&made->picture, &svg, words);
    *misfits = svg.misfits;
    svg_write(&svg, &(SvgHead){ words->title, words->description, THEME_AUTO }, to);
    text_close(to);
    if (well)
        return text;
    free(text);
    return NULL;
}

static char *printed(const char *kind, const Made *made, Words *words)
{
    char *text;
    size_t bytes;
    FILE *to = text_open(&text, &bytes);
    const bool well = picture_kind(kind)->print(&made->picture, to, words);

    text_close(to);
    if (well)
        return text;
    free(text);
    return NULL;
}

/* ---- All kinds ---- */

static void each_kind_is_well_formed_and_fits(void)
{
    for (const PictureKind *kind = picture_kinds; kind->name; kind++) {
        Made made = make();
        Words words;
        int misfits;
        char *text = drawn(kind->name, &made, &words, &misfits);
        char *again = drawn(kind->name, &made, &words, &misfits);
        if (!text || !again || misfits || !is_well_formed(text) || strcmp(text, again))
            FAIL_SAYING("%s: %d misfits, %s", kind->name, misfits, text ? text : words.why);
        CU_ASSERT(*words.title && *words.description);
        free(text);
        free(again);
        free(made.records);
    }
}

/* Texts that must be in the picture, and in the text form if the kind has one. */
static const struct {
    const char *kind;
    int line;
    const char *in_svg, *in_text;
} figures[] = {
    { "sectors", 0, "32 lanes touch 32 sectors; 4 would hold their 128 bytes",
      "7 requests and 224 sectors: 32.0 per request" },
    { "sectors", 3, "32 lanes touch 4 sectors; 4 would hold",
      "|01234567|89abcdef|ghijklmn|opqrstuv|" },
    { "sectors", 2, "tile[x] = in[y]; // &lt;&amp;&gt;&quot;&#39;", "Load of in<&>" },
    { "banks", 0, "32 lanes need 32 wavefronts; 1 without bank conflicts",
      "7 requests and 224 wavefronts: 32.0 per request" },
    { "banks", 3, "32 lanes need 1 wavefront; no bank conflicts", "row    1  #1#" },
    { "lanes", 0, "on average 20.0 of 32 lanes are active; all warps: 16.0",
      "########........................" },
    { "lanes", 0, "this launch, 16.0 of 32 lanes", "the first 20 PTX instructions" },
    { "blocks", 0, "9 blocks on 4 SMs, 3 waves of at most 4 blocks",
      "after 3.00 us of modelled time" },
    { "blocks", 0, "blocks fill 75 % of the places",
      "SM   1  1111111111111111111111111111111111111111...." },
    { "streams", 0, "6 operations in 2 streams: 6.5 us", NULL },
    { "tiles", 0, "a block writes 8 x 16 elements of out (warp 0: 32, thread 0: 1)", NULL },
    { "roofline", 0, "10 operations per byte", NULL },
    { "ladder", 0, "limit 1200 GB/s", "The bar is 0.75 of the reference" },
    { "ladder", 0, "250 (0.250)", "0.250" },
};

static void figures_are_those_of_the_records(void)
{
    for (size_t i = 0; i < COUNT(figures); i++) {
        Made made = make();
        Words words = { .why = "" };
        int misfits;
        char *svg, *text = NULL;
        made.picture.line = figures[i].line;
        svg = drawn(figures[i].kind, &made, &words, &misfits);
        if (figures[i].in_text)
            text = printed(figures[i].kind, &made, &words);
        if (!svg || !strstr(svg, figures[i].in_svg) ||
            (figures[i].in_text && (!text || !strstr(text, figures[i].in_text))))
            FAIL_SAYING("row %zu, %s: %s\n%s", i, figures[i].kind, svg ? svg : words.why,
                        text ? text : "");
        free(svg);
        free(text);
        free(made.records);
    }
}

/* Two loads of line 2 that differ: the average of both is printed next to the drawn one's. */
static void a_line_with_several_loads_has_their_average(void)
{
    static const char both[] = "32.0 per request; all 2 loads of the line: 18.0 per request.";
    Made made = make();
    Words words;
    char *text;

    made.picture.line = 2;
    text = printed("sectors", &made, &words);
    CU_ASSERT(text && !strstr(text, "of the line"));
    free(text);
    add_access(made.records, RECORD_GLOBAL, 2, 4, 4, 4);
    text = printed("sectors", &made, &words);
    CU_ASSERT(text && strstr(text, both));
    free(text);
    free(made.records);
}

/* With room for one row, the text form shows the row in which most lanes are idle. */
static void short_lanes_show_where_lanes_are_idle(void)
{
    Made made = make();
    Words words = { .why = "" };
    char *text;

    for (int i = 0; i < 20; i++)
        made.records->lane_steps[i].executed = i < 10 ? UINT32_MAX : 0xff;
    made.picture.most_rows = 1;
    text = printed("lanes", &made, &words);
    CU_ASSERT(text && strstr(text, "########........................"));
    CU_ASSERT(text && !strstr(text, "################################"));
    free(text);
    free(made.records);
}

static void without_data_there_is_a_reason(void)
{
    static const Ladder no_ladder = { .unit = "" };

    for (const PictureKind *kind = picture_kinds; kind->name; kind++) {
        Made made = make();
        Words words;
        int misfits;
        made.records->access_count = made.records->launch_count = made.records->span_count = 0;
        made.records->block_span_count = made.records->write_count = 0;
        made.points.count = 0;
        made.picture.ladder = &no_ladder;
        char *text = drawn(kind->name, &made, &words, &misfits);
        if (text || !*words.why)
            FAIL_SAYING("%s is drawn without data", kind->name);
        if (kind->print && (text = printed(kind->name, &made, &words)))
            FAIL_SAYING("%s is printed without data", kind->name);
        free(text);
        free(made.records);
    }
}

/* The longest possible names, with only wide letters. */
static void the_longest_names_fit(void)
{
    for (const PictureKind *kind = picture_kinds; kind->name; kind++) {
        Made made = make();
        Words words;
        int misfits;
        char *text, wide[200];
        Ladder wide_ladder = ladder;
        memset(wide, 'W', sizeof wide - 1);
        wide[sizeof wide - 1] = 0;
        PUT(made.records->launches[0].kernel, "%s", wide);
        PUT(made.records->arrays[0].name, "%s", wide);
        PUT(made.records->device.name, "%s", wide);
        PUT(made.records->spans[0].name, "%s", wide);
        PUT(wide_ladder.rungs[0].name, "%s", wide);
        PUT(made.points.points[0].name, "%s", wide);
        made.picture.ladder = &wide_ladder;
        made.picture.source = wide;
        made.picture.failed = wide;
        text = drawn(kind->name, &made, &words, &misfits);
        if (!text || misfits || !is_well_formed(text))
            FAIL_SAYING("%s: %d misfits, %s", kind->name, misfits, text ? text : words.why);
        free(text);
        free(made.records);
    }
}

/* ---- All records that pass records_check() can be drawn ---- */

#define PART(member)                                                                               \
    {                                                                                              \
        offsetof(Records, member), sizeof((Records *) 0)->member                                   \
    }
#define FIRST(table)                                                                               \
    {                                                                                              \
        offsetof(Records, table), 4 * sizeof *((Records *) 0)->table                               \
    }

/* Changes some bytes of one part. */
static void spoil(Records *r, uint64_t *random)
{
    static const struct {
        size_t at, size;
    } parts[] = { PART(filter),
                  PART(device),
                  FIRST(arrays),
                  FIRST(accesses),
                  FIRST(lane_steps),
                  FIRST(block_spans),
                  FIRST(spans),
                  FIRST(writes),
                  FIRST(block_tiles),
                  PART(launches[0].grid),
                  PART(launches[0].cycles) };
    const size_t part = next_random(random) % COUNT(parts);

    for (int i = 0; i < 3; i++) {
        unsigned char *byte =
            (unsigned char *) r + parts[part].at + next_random(random) % parts[part].size;
        *byte = (unsigned char) (next_random(random) % 3 ? next_random(random) : *byte ^ 1);
    }
}

static void what_passes_the_check_can_be_drawn(void)
{
    Records *sound = made_records();
    Made made = make();
    uint64_t random = 7;
    int drawn_ones = 0;
    char why[200];

    for (int i = 0; i < 400; i++) {
        memcpy(made.records, sound, sizeof *sound);
        spoil(made.records, &random);
        if (!records_check(made.records, why, sizeof why))
            continue;
        drawn_ones++;
        for (const PictureKind *kind = picture_kinds; kind->name; kind++) {
            Words words;
            int misfits;
            char *text = drawn(kind->name, &made, &words, &misfits);
            if (text ? !is_well_formed(text) : !*words.why)
                FAIL_SAYING("round %d, %s: %s", i, kind->name, text ? text : "no reason");
            free(text);
        }
    }
    CU_ASSERT(drawn_ones > 20 && drawn_ones < 400);
    free(sound);
    free(made.records);
}

CU_SuiteInfo test_pictures = {
    "pictures",
    .pTests =
        (CU_TestInfo[]){
            { "each kind is well-formed and fits", each_kind_is_well_formed_and_fits },
            { "figures are those of the records", figures_are_those_of_the_records },
            { "a line with several loads has their average",
              a_line_with_several_loads_has_their_average },
            { "short lanes show where lanes are idle", short_lanes_show_where_lanes_are_idle },
            { "without data there is a reason", without_data_there_is_a_reason },
            { "the longest names fit", the_longest_names_fit },
            { "what passes the check can be drawn", what_passes_the_check_can_be_drawn },
            CU_TEST_INFO_NULL,
        },
};
