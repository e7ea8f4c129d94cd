/* test_sim_children.c - launches in kernels: the order of children, and the calls that a kernel
 * makes. */
#include "rows.h"
#include "sim/exec/children.h"
#include "sim/sim_launch.h"

/* ---- The order ---- */

static ChildQueue queue;
static Child pool[16];

static void launched(int number, uint64_t stream)
{
    pool[number].stream = stream;
    children_add(&queue, &pool[number]);
}

static void next_is(int number)
{
    children_settle(&queue);
    CU_ASSERT_PTR_EQUAL(children_take(&queue), &pool[number]);
}

/* A child is complete when its own children are: they run before the next child of its parent. */
static void children_before_siblings(void)
{
    memset(&queue, 0, sizeof queue);
    launched(1, 0);
    launched(4, 0);
    next_is(1);
    launched(2, 0);
    launched(3, 0);
    CU_ASSERT_EQUAL(queue.count, 3);
    next_is(2);
    next_is(3);
    next_is(4);
    children_settle(&queue);
    CU_ASSERT_PTR_NULL(children_take(&queue));
    CU_ASSERT_EQUAL(queue.count, 0);
}

static void tail_launches_last(void)
{
    memset(&queue, 0, sizeof queue);
    launched(5, STREAM_TAIL);
    launched(1, 0);
    launched(7, STREAM_TAIL);
    launched(4, STREAM_FIRE_AND_FORGET);
    next_is(1);
    launched(3, STREAM_TAIL);
    launched(2, 0);
    next_is(2);
    next_is(3);
    next_is(4);
    next_is(5);
    launched(6, 0);
    next_is(6);
    next_is(7);
    CU_ASSERT_EQUAL(queue.count, 0);
}

/* ---- The calls of a kernel ---- */

enum { NO_MORE = 69, MOST_BUFFERS = 3 };
static int buffers, launches;
static ChildGrid asked;
static uint64_t stream_used;

static uint64_t buffer(const Place *place, const ChildGrid *child, int *error)
{
    (void) place;
    asked = *child;
    *error = buffers == MOST_BUFFERS ? NO_MORE : 0;
    return *error ? 0 : (uint64_t) ++buffers;
}

static int launch(const Place *place, uint64_t address, uint64_t stream)
{
    (void) place;
    stream_used = stream;
    launches += address == (uint64_t) buffers;
    return 0;
}

static const ChildCalls calls = { .buffer = buffer, .launch = launch };

#define DECLARED                                                                                   \
    ".extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 f, .param .align 4 " \
    ".b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);\n"                                      \
    ".extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2_ptsz(.param .b64 a, .param .b64 s);\n" \
    ".extern .func (.param .b32 r) __cudaCDP2GetLastError();\n"                                    \
    ".extern .func (.param .b32 r) __cudaCDP2GetDevice(.param .b64 a);\n"
#define BUFFER                                                                                     \
    "mov.u64 %rd10, k;\n{\n.param .b64 f;\nst.param.b64 [f], %rd10;\n"                             \
    ".param .align 4 .b8 g[12];\nst.param.b32 [g], 2;\nst.param.b32 [g+4], 3;\n"                   \
    "st.param.b32 [g+8], 4;\n.param .align 4 .b8 b[12];\nst.param.b32 [b], 5;\n"                   \
    "st.param.b32 [b+4], 6;\nst.param.b32 [b+8], 7;\n.param .b32 s;\nst.param.b32 [s], 8;\n"       \
    ".param .b64 r;\ncall.uni (r), __cudaCDP2GetParameterBufferV2, (f, g, b, s);\n"                \
    "ld.param.b64 %rd11, [r];\n}\n"
#define LAUNCH                                                                                     \
    "setp.eq.s64 %p1, %rd11, 0;\n@%p1 bra L;\n{\n.param .b64 a;\nst.param.b64 [a], %rd11;\n"       \
    ".param .b64 s;\nst.param.b64 [s], 0;\n.param .b32 r;\n"                                       \
    "call.uni (r), __cudaCDP2LaunchDeviceV2_ptsz, (a, s);\nld.param.b32 %r10, [r];\n}\nL:\n"
#define LAST_ERROR                                                                                 \
    "{\n.param .b32 r;\ncall.uni (r), __cudaCDP2GetLastError, ();\nld.param.b32 %r0, [r];\n}\n"

/* Three threads get buffers, the others an error, which each keeps until it asks. */
static void errors_per_thread(void)
{
    Trial trial = { .ptx = HEAD DECLARED BEGIN BUFFER LAUNCH LAST_ERROR END, .children = &calls };

    buffers = launches = 0;
    CU_ASSERT_TRUE_FATAL(trial_run(&trial));
    CU_ASSERT_TRUE(trial.well);
    CU_ASSERT_EQUAL(asked.grid[2], 4);
    CU_ASSERT_EQUAL(asked.block[0], 5);
    CU_ASSERT_EQUAL(asked.shared_bytes, 8);
    for (int i = 0; i < LANES; i++)
        CU_ASSERT_EQUAL(trial.out[i], i < MOST_BUFFERS ? 0 : NO_MORE);
    CU_ASSERT_EQUAL(launches, 1);                 /* the last buffer */
    CU_ASSERT_TRUE(stream_used > STREAM_CREATED); /* that of the block */
    show_findings("launches");
    trial_close(&trial);
}

static void errors_are_reset(void)
{
    Trial trial = { .ptx = HEAD DECLARED BEGIN BUFFER LAST_ERROR LAST_ERROR END,
                    .children = &calls };

    buffers = MOST_BUFFERS;
    CU_ASSERT_TRUE_FATAL(trial_run(&trial));
    CU_ASSERT_EQUAL(trial.out[0], 0);
    trial_close(&trial);
}

static void refuses(const char *ptx, const ChildCalls *children, const char *name)
{
    Trial trial = { .ptx = ptx, .children = children };

    CU_ASSERT_TRUE_FATAL(trial_run(&trial));
    CU_ASSERT_FALSE(trial.well);
    CU_ASSERT_PTR_NOT_NULL_FATAL(found(FINDING_UNKNOWN_CALL));
    CU_ASSERT_PTR_NOT_NULL(strstr(found(FINDING_UNKNOWN_CALL)->text, name));
    trial_close(&trial);
}

static void other_calls_are_named(void)
{
    refuses(HEAD DECLARED BEGIN "{\n.param .b64 a;\n.param .b32 r;\n"
                                "call.uni (r), __cudaCDP2GetDevice, (a);\n}\n" END,
            &calls, "__cudaCDP2GetDevice() inside a kernel is not simulated");
    refuses(HEAD DECLARED BEGIN BUFFER END, NULL, "__cudaCDP2GetParameterBufferV2()");
}

static CU_TestInfo tests[] = {
    { "children before siblings", children_before_siblings },
    { "tail launches last", tail_launches_last },
    { "errors per thread", errors_per_thread },
    { "errors are reset", errors_are_reset },
    { "other calls are named", other_calls_are_named },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_children = { "test_sim_children", NULL, NULL, NULL, NULL, tests };
