/* test_gpu_trace.c - spans of a GPU as events for Perfetto. */
#include "runner/gpu_trace.h"
#include "base/util.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

/* The text of the trace; the caller frees it. */
static char *trace_of(const GpuSpan *spans, int count)
{
    GpuSpan copy[8];
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = text_open(&text, &bytes);

    if (count)
        memcpy(copy, spans, (size_t) count * sizeof *spans);
    gpu_trace_json(copy, count, out);
    text_close(out);
    return text;
}

static int count_of(const char *text, const char *part)
{
    int count = 0;

    for (; (text = strstr(text, part)); text += strlen(part))
        count++;
    return count;
}

static void rows_and_times(void)
{
    static const GpuSpan spans[] = {
        { "download", 14, 5000, 9000, 8000 },
        { "kernel", 13, 3000, 4000, 0 },
        { "upload", 13, 1000, 3000, 4000 },
        { "empty", 13, 4000, 4000, 0 }, /* some drivers report spans without a duration */
    };
    char *text = trace_of(spans, 4);

    CU_ASSERT_EQUAL(count_of(text, "thread_name"), 2);
    CU_ASSERT_EQUAL(count_of(text, "\"ph\":\"X\""), 3);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"tid\":13,\"ts\":0.000,\"dur\":2.000,\"name\":\"upload\","
                                        "\"args\":{\"bytes\":4000,\"GB/s\":2.0}"));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(text, "\"tid\":13,\"ts\":2.000,\"dur\":1.000,\"name\":\"kernel\"}"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"tid\":14,\"ts\":4.000,\"dur\":4.000"));
    free(text);
}

static void names_are_escaped(void)
{
    static const GpuSpan span = { "a\"b\\c\n", 7, 10, 20, 0 };
    char *text = trace_of(&span, 1);

    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"name\":\"a\\\"b\\\\c"));
    free(text);
}

static void nothing(void)
{
    char *text = trace_of(NULL, 0);

    CU_ASSERT_EQUAL(count_of(text, "\"ph\""), 1);
    CU_ASSERT_EQUAL(text[0], '{');
    free(text);
}

CU_SuiteInfo test_gpu_trace = {
    "gpu trace",
    .pTests =
        (CU_TestInfo[]){
            { "rows and times", rows_and_times },
            { "names are escaped", names_are_escaped },
            { "nothing was recorded", nothing },
            CU_TEST_INFO_NULL,
        },
};
