/* test_escape.c - hostile text in JSON, XML, URIs, workflow commands and lines. */
#include "base/escape.h"
#include "base/util.h"
#include "rows.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

/* What each writer makes of a text. */
static const struct {
    const char *text, *json, *xml, *uri, *data, *property, *line;
} rows[] = {
    { "", "\"\"", "", "", "", "", "" },
    { "labs/a-b_c.~9", "\"labs/a-b_c.~9\"", "labs/a-b_c.~9", "labs/a-b_c.~9", "labs/a-b_c.~9",
      "labs/a-b_c.~9", "labs/a-b_c.~9" },
    { "/a b", "\"/a b\"", "/a b", "file:///a%20b", "/a b", "/a b", "/a b" },
    { "<&>\"'\\", "\"<&>\\\"'\\\\\"", "&lt;&amp;&gt;&quot;'\\", "%3C%26%3E%22%27%5C", "<&>\"'\\",
      "<&>\"'\\", "<&>\"'\\" },
    { "a:b,c%0A", "\"a:b,c%0A\"", "a:b,c%0A", "a%3Ab%2Cc%250A", "a:b,c%250A", "a%3Ab%2Cc%250A",
      "a:b,c%0A" },
    { "x\r\n::error::y", "\"x\\u000d\\u000a::error::y\"", "x&#13;&#10;::error::y",
      "x%0D%0A%3A%3Aerror%3A%3Ay", "x%0D%0A::error::y", "x%0D%0A%3A%3Aerror%3A%3Ay",
      "x? ::error::y" },
    { "\x1b[2J\x01\x7f\t", "\"\\u001b[2J\\u0001\\u007f\\u0009\"",
      "\xef\xbf\xbd[2J\xef\xbf\xbd\xef\xbf\xbd&#9;", "%1B%5B2J%01%7F%09", "?[2J??\t", "?[2J??\t",
      "?[2J?? " },
    { "]]>", "\"]]>\"", "]]&gt;", "%5D%5D%3E", "]]>", "]]>", "]]>" },
    { "\xc3\xa9", "\"\xc3\xa9\"", "\xc3\xa9", "%C3%A9", "\xc3\xa9", "\xc3\xa9", "\xc3\xa9" },
    { "\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\"", "\xf0\x9f\x98\x80", "%F0%9F%98%80",
      "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80" },
    { "\xe9t\xe9", "\"\\ufffdt\\ufffd\"", "\xef\xbf\xbdt\xef\xbf\xbd", "%E9t%E9",
      "\xef\xbf\xbdt\xef\xbf\xbd", "\xef\xbf\xbdt\xef\xbf\xbd", "\xef\xbf\xbdt\xef\xbf\xbd" },
    /* U+009B begins a terminal's control sequence; U+FFFF is UTF-8, but no character of XML. */
    { "\xc2\x9b", "\"\xc2\x9b\"", "\xc2\x9b", "%C2%9B", "\xef\xbf\xbd", "\xef\xbf\xbd",
      "\xef\xbf\xbd" },
    { "\xef\xbf\xbf", "\"\xef\xbf\xbf\"", "\xef\xbf\xbd", "%EF%BF%BF", "\xef\xbf\xbf",
      "\xef\xbf\xbf", "\xef\xbf\xbf" },
};

static void writes(void (*write)(FILE *out, const char *text), const char *text,
                   const char *expected)
{
    char *written;
    size_t bytes;
    FILE *out = text_open(&written, &bytes);

    write(out, text);
    text_close(out);
    CU_ASSERT_STRING_EQUAL(written, expected);
    if (strcmp(written, expected))
        printf("\n    '%s' became '%s', expected '%s'\n", text, written, expected);
    free(written);
}

static void each_format(void)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        writes(write_json, rows[i].text, rows[i].json);
        writes(write_xml, rows[i].text, rows[i].xml);
        writes(write_uri, rows[i].text, rows[i].uri);
        writes(write_github_data, rows[i].text, rows[i].data);
        writes(write_github_property, rows[i].text, rows[i].property);
        writes(write_one_line, rows[i].text, rows[i].line);
    }
}

static void lengths_of_characters(void)
{
    static const struct {
        const char *bytes;
        size_t left, length;
    } characters[] = {
        { "", 0, 0 },
        { "a", 1, 1 },
        { "\xc3\xa9", 2, 2 },
        { "\xe2\x82\xac", 3, 3 },
        { "\xf0\x9f\x98\x80", 4, 4 },
        { "\xc3\xa9", 1, 0 },         /* cut off */
        { "\xc3z", 2, 0 },            /* no continuation */
        { "\x80", 1, 0 },             /* a continuation alone */
        { "\xc0\xaf", 2, 0 },         /* '/' in two bytes */
        { "\xe0\x80\xaf", 3, 0 },     /* and in three */
        { "\xed\xa0\x80", 3, 0 },     /* half of a surrogate pair */
        { "\xf4\x90\x80\x80", 4, 0 }, /* above U+10FFFF */
        { "\xf8\x88\x80\x80", 4, 0 }, /* five bytes */
    };

    for (size_t i = 0; i < COUNT(characters); i++)
        CU_ASSERT_EQUAL(utf8_length(characters[i].bytes, characters[i].left), characters[i].length);
}

CU_SuiteInfo test_escape = {
    "escape",
    .pTests =
        (CU_TestInfo[]){
            { "each format escapes hostile text", each_format },
            { "lengths of characters", lengths_of_characters },
            CU_TEST_INFO_NULL,
        },
};
