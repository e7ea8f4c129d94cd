/* test_sim_trace.c - the trace for Perfetto: valid JSON, balanced slices, and cycles that add up to
 * those of the model. */
#include "sim/report/trace.h"
#include "sim/sim_time.h"

#include <ctype.h>

enum { EVENTS = 4096 };

typedef struct Event {
    char kind, category[16], id[40], name[60];
    double ts;
    long cycles, issued; /* -1: none */
} Event;

static char *text;
static size_t bytes;
static Event events[EVENTS];
static int event_count;

/* ---- A strict reader of JSON, of which only the structure matters ---- */

static const char *value(const char *at);

static const char *blanks(const char *at)
{
    return at ? at + strspn(at, " \n") : NULL;
}

static const char *expect(const char *at, char c)
{
    at = blanks(at);
    return at && *at == c ? blanks(at + 1) : NULL;
}

static const char *string(const char *at)
{
    if (*at++ != '"')
        return NULL;
    for (; *at != '"'; at++) {
        if ((unsigned char) *at < ' ')
            return NULL;
        if (*at == '\\' && !strchr("\"\\/bfnrtu", *++at))
            return NULL;
    }
    return at + 1;
}

/* Digits, and a fraction that has digits; no leading zeros. */
static const char *number(const char *at)
{
    at += *at == '-';
    if (!isdigit((unsigned char) *at) || (*at == '0' && isdigit((unsigned char) at[1])))
        return NULL;
    at += strspn(at, "0123456789");
    if (*at != '.')
        return at;
    return isdigit((unsigned char) at[1]) ? at + 1 + strspn(at + 1, "0123456789") : NULL;
}

static const char *members(const char *at, char end, bool named)
{
    at = blanks(at + 1);
    if (*at == end)
        return at + 1;
    for (;;) {
        if (named) {
            at = string(at);
            at = expect(at, ':');
        }
        at = at ? blanks(value(at)) : NULL;
        if (!at || *at == end)
            return at ? at + 1 : NULL;
        if (!(at = expect(at, ',')))
            return NULL;
    }
}

static const char *value(const char *at)
{
    if (*at == '{' || *at == '[')
        return members(at, *at == '{' ? '}' : ']', *at == '{');
    if (*at == '"')
        return string(at);
    return !strncmp(at, "true", 4) ? at + 4 : number(at);
}

/* ---- Events: one per line ---- */

static void take_text(const char *line, const char *key, char *to, size_t size)
{
    const char *at = strstr(line, key), *end = at ? strchr(at + strlen(key), '"') : NULL;

    *to = 0;
    if (end)
        snprintf(to, size, "%.*s", (int) (end - at - (long) strlen(key)), at + strlen(key));
}

static long take_number(const char *line, const char *key)
{
    const char *at = strstr(line, key);

    return at ? strtol(at + strlen(key), NULL, 10) : -1;
}

static void take_events(void)
{
    char line[600];

    event_count = 0;
    for (const char *at = text, *end; (end = strchr(at, '\n')); at = end + 1) {
        Event *e = &events[event_count];
        snprintf(line, sizeof line, "%.*s", (int) (end - at), at);
        if (strncmp(line, "{\"ph\":\"", 7) || line[7] == 'M')
            continue;
        CU_ASSERT_FATAL(event_count < EVENTS);
        *e = (Event){ .kind = line[7],
                      .cycles = take_number(line, "\"cycles\":"),
                      .issued = take_number(line, "\"issued\":") };
        take_text(line, "\"cat\":\"", e->category, sizeof e->category);
        take_text(line, "\"id\":\"", e->id, sizeof e->id);
        take_text(line, "\"name\":\"", e->name, sizeof e->name);
        e->ts = strtod(strstr(line, "\"ts\":") + 5, NULL);
        event_count++;
    }
}

static bool is_of_track(const Event *a, const Event *b)
{
    return !strcmp(a->category, b->category) && !strcmp(a->id, b->id);
}

/* On each track begins and ends are balanced, and times do not decrease. */
static void check_tracks(void)
{
    for (int i = 0; i < event_count; i++) {
        const Event *last = &events[i];
        int open = 0;
        bool seen = false;
        for (int k = 0; k < i && !seen; k++)
            seen = is_of_track(&events[k], &events[i]);
        for (int k = i; k < event_count && !seen; k++) {
            if (!is_of_track(&events[k], &events[i]))
                continue;
            CU_ASSERT(events[k].ts >= last->ts);
            open += events[k].kind == 'b' ? 1 : -1;
            CU_ASSERT(open == 0 || open == 1 || open == 2);
            last = &events[k];
        }
        CU_ASSERT_EQUAL(open, 0);
    }
}

static void write_trace(const Timeline *timeline)
{
    FILE *out = open_memstream(&text, &bytes);
    const char *end;

    CU_ASSERT_TRUE(trace_write(timeline, &plain, out));
    fclose(out);
    end = value(text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(end);
    CU_ASSERT_STRING_EQUAL(end, "\n");
    take_events();
    check_tracks();
}

static void forget(void)
{
    free(text);
    text = NULL;
    trace_stop();
}

/* ---- Sums ---- */

static long sum_of(const char *category, bool of_waits)
{
    long sum = 0;

    for (int i = 0; i < event_count; i++)
        if (events[i].kind == 'b' && !strcmp(events[i].category, category) &&
            of_waits == (events[i].issued < 0))
            sum += events[i].cycles;
    return sum;
}

static long issued(void)
{
    long sum = 0;

    for (int i = 0; i < event_count; i++)
        sum += events[i].issued > 0 ? events[i].issued : 0;
    return sum;
}

static double last_end(const char *category)
{
    double last = 0;

    for (int i = 0; i < event_count; i++)
        if (!strcmp(events[i].category, category) && events[i].ts > last)
            last = events[i].ts;
    return last;
}

static int slices(const char *category, const char *name)
{
    int count = 0;

    for (int i = 0; i < event_count; i++)
        count += events[i].kind == 'b' && !strcmp(events[i].category, category) &&
                 (!name || !strcmp(events[i].name, name));
    return count;
}

/* Warps that wait for memory, for each other at a barrier, and for shared memory. */
static const char mixed[] =
    KERNEL(".shared .align 4 .b8 s[4096];\nmov.u32 %r10, s;\nshl.b32 %r11, %r1, 2;\n"
           "add.u32 %r12, %r10, %r11;\nld.global.u32 %r20, [%rd2];\nst.shared.u32 [%r12], %r20;\n"
           "bar.sync 0;\nld.shared.u32 %r21, [%r12];\nadd.u32 %r0, %r21, 1;\n");

static void cycles_add_up_to_the_models(void)
{
    CU_ASSERT_TRUE(trace_start());
    const TimingResult time =
        play(&plain, (Trial){ .ptx = mixed, .threads = 128, .blocks = 6, .blocks_an_sm = 2 });

    write_trace(NULL);
    /* One cycle is 1 ns, and the launch begins at 0. */
    CU_ASSERT_DOUBLE_EQUAL(last_end("block"), time.cycles / 1e3, 1e-6);
    CU_ASSERT_EQUAL(issued(), (long) time.instructions);
    CU_ASSERT_EQUAL(issued() + sum_of("warp", true), sum_of("warp", false));
    CU_ASSERT_EQUAL(slices("block", NULL), 6);
    CU_ASSERT_EQUAL(slices("warp", "global memory"), 6 * 4);
    CU_ASSERT(slices("warp", "other warps at a barrier") > 0);
    CU_ASSERT(slices("warp", "shared memory and shuffles") > 0);
    forget();
}

/* Two places for blocks: the third block takes the place that is free first. */
static void blocks_of_one_sm_have_tracks_of_their_own(void)
{
    int first = 0, second = 0;

    CU_ASSERT_TRUE(trace_start());
    play(&plain, (Trial){ .ptx = mixed, .threads = 64, .blocks = 5, .blocks_an_sm = 2 });
    write_trace(NULL);
    for (int i = 0; i < event_count; i++)
        if (!strcmp(events[i].category, "block") && events[i].kind == 'b') {
            first += !strcmp(events[i].id, "0.0.0");
            second += !strcmp(events[i].id, "0.0.1");
        }
    CU_ASSERT_EQUAL(first + second, 5);
    CU_ASSERT(first >= 2 && second >= 2);
    forget();
}

static void kernels_lie_where_the_timeline_has_them(void)
{
    Timeline *timeline = timeline_open(1, 2);
    TimelineItem *copy = timeline_add(timeline, 3), *kernel = timeline_add(timeline, 3);

    timeline_done(copy, &(TimelineJob){ .row = ROW_UP, .ps = 5000000, .bytes = 64, .shared = 1 });
    timeline_after(kernel, copy);
    timeline_done(
        kernel,
        &(TimelineJob){
            .row = ROW_KERNEL, .use = { .blocks = 1 }, .ps = 777, .tag = 1, .name = "a\"b" });
    timeline_play(timeline, NULL);
    CU_ASSERT_TRUE(trace_start());
    play(&plain, (Trial){ .ptx = KERNEL(""), .threads = 32 });
    write_trace(timeline);
    CU_ASSERT_EQUAL(slices("stream", "copy to the device"), 1);
    CU_ASSERT_EQUAL(slices("engine", "copy to the device"), 1);
    CU_ASSERT_EQUAL(slices("engine", NULL), 2);
    for (int i = 0; i < event_count; i++)
        if (events[i].kind == 'b' && !strcmp(events[i].category, "block"))
            CU_ASSERT_DOUBLE_EQUAL(events[i].ts, 5 + 0.101, 1e-6); /* block_start_cycles */
    timeline_close(timeline);
    forget();
}

/* A warp with more waits than there is room for is there, without them. */
static void a_trace_is_bounded(void)
{
    CU_ASSERT_TRUE(trace_start());
    for (int i = 0; i < 5; i++) {
        play(&plain, (Trial){ .ptx = repeat("", DEPENDENT, 400, ""), .threads = 1024 });
    }
    FILE *out = open_memstream(&text, &bytes);
    CU_ASSERT_TRUE(trace_write(NULL, &plain, out));
    fclose(out);
    CU_ASSERT(bytes < TRACE_BYTES);
    CU_ASSERT_PTR_NOT_NULL(value(text));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"waits\":\"shown\""));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"waits\":\"left out\""));
    CU_ASSERT_PTR_NULL(strstr(text, "\"lost_waits\":0,"));
    forget();
}

static void nothing_is_written_while_it_is_off(void)
{
    play(&plain, (Trial){ .ptx = KERNEL(""), .threads = 32 });
    CU_ASSERT_FALSE(trace_write(NULL, &plain, stderr));
}

static CU_TestInfo tests[] = {
    { "cycles add up to the model's", cycles_add_up_to_the_models },
    { "blocks of one SM have tracks of their own", blocks_of_one_sm_have_tracks_of_their_own },
    { "kernels lie where the timeline has them", kernels_lie_where_the_timeline_has_them },
    { "a trace is bounded", a_trace_is_bounded },
    { "nothing is written while it is off", nothing_is_written_while_it_is_off },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_trace = { "sim_trace", NULL, NULL, NULL, NULL, tests };
