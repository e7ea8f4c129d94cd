/* test_gradebook_roster.c - rosters as spreadsheets write them, damaged rosters, and names that are
 * the same. */
#include "gradebook/import/names.h"
#include "gradebook/import/roster.h"
#include "rows.h"
#include "base/util.h"
#include "golden.h"

#include <stdlib.h>
#include <string.h>

static bool take(const char *text, Roster *roster, char **reported)
{
    return roster_read(text, strlen(text), "r.csv", roster, reported);
}

/* A CSV, and its members as "id|name|email|section;" */
static void people(void)
{
    static const struct {
        const char *text, *people;
    } rows[] = {
        { "id,name\n7,Jane Doe\n", "7|Jane Doe||;" },
        { "Student,ID,SIS Login ID,Section,Lab 6 (1)\n    Points Possible,,,,100\n"
          "\"Doe, Jane\",7,jd,A,\n\"Student, Test\",8,5f3a,A,\n",
          "7|Doe, Jane||A;" },
        { "id,name\n7,Points Possible\n", "7|Points Possible||;" }, /* not of Canvas */
        { "Identifier,Full name,ID number,Email address,Status,Grade,Maximum Grade\n"
          "Participant 51,Jane Doe,7,j@x.org,Submitted for grading - ,,100.00\n",
          "7|Jane Doe|j@x.org|;" },
        { "id,name,email,section\n7,Jane Doe,j@x.org,A\n8,Bo Ek,,B\n",
          "7|Jane Doe|j@x.org|A;8|Bo Ek||B;" },
        { "\xef\xbb\xbfName;ID number\r\nDoe, Jane;7\r\n\r\n", "7|Doe, Jane||;" },
        { "Student ID\tLast name\tFirst name\n7\tDoe\tJane\n", "7|Jane Doe||;" },
        { "name\n\"Doe, \"\"J\"\" Jane\"\n", "|Doe, \"J\" Jane||;" },
        { "id,name\n7,\"two\nlines\"\n8,x\n", "7|two\xe2\x90\x8alines||;8|x||;" },
        { "id,other,name\n7,z\n", "7|||;" }, /* fewer fields than columns */
        { "id\n  7  ", "7|||;" },            /* no end of line */
        { "name,id\nJos\xc3\xa9 N\xc3\xba\xc3\xb1"
          "ez,7\n",
          "7|Jos\xc3\xa9 N\xc3\xba\xc3\xb1"
          "ez||;" },
        { "id,name\n7,\x1b[31mred\xff\n", "7|\xe2\x90\x9b[31mred\xc3\xbf||;" },
        { "id,name\n7,M\xfcller\n8,Mu\xcc\x88ller\n",
          "7|M\xc3\xbcller||;8|M\xc3\xbcller||;" }, /* Latin-1, and as macOS writes it */
        { "SIS User ID,Student,Section,Mail\n1,A,S,m\n", "1|A|m|S;" },
        { "id,id,name\n1,2,A\n", "1|A||;" },
        { "id,name,lms,alias,status\n1,A,4711,aa; a b|c ,Withdrawn\n2,B,,,\n",
          "1|A|||4711|aa|a b|c withdrawn;2|B||;" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Roster roster;
        char text[400] = "", *reported;
        if (!take(rows[i].text, &roster, &reported)) {
            FAIL_SAYING("row %zu: %s", i, reported);
            free(reported);
            continue;
        }
        for (int m = 0; m < roster.count; m++) {
            const Member *member = &roster.list[m];
            APPEND(text, "%s|%s|%s|%s", member->number, member->name, member->email,
                   member->section);
            if (*member->aliases || strcmp(member->status, "active"))
                APPEND(text, "|%s %s", member->aliases, member->status);
            APPEND(text, ";");
        }
        CU_ASSERT_STRING_EQUAL(text, rows[i].people);
        roster_free(&roster);
    }
}

static void mistakes(void)
{
    static const struct {
        const char *text;
        int line; /* of the error */
    } rows[] = {
        { "", 1 },
        { "\n\n", 1 },
        { "id,name\n", 1 },
        { "7,Jane Doe\n", 1 },
        { "email\nx\n", 1 },
        { "id,name\n7,A\n7,B\n", 3 },
        { "id,name\n,\n", 2 },
        { "id,name\n7,Doe, Jane\n", 2 },
        { "id,name\n7,\"Doe\n8,B\n", 2 },
        { "id,name\n\n7,\"J\" Doe\n", 3 },
        { "id,name\n7,J \"J\" Doe\n", 2 },
        { "id,name\n7,\"two\nlines\"\n7,x\n", 4 },
        { "id,status\n7,\n8,gone\n", 3 },
        { "id,status\n7,gone\n8,left\n9,left\n", 2 }, /* one message */
    };
    char *large = xcalloc(1, 3000), *reported, all[4000] = "", place[20];
    Roster roster;

    for (size_t i = 0; i < COUNT(rows); i++) {
        bool ok = take(rows[i].text, &roster, &reported);
        if (ok || strncmp(reported, PUT(place, "r.csv:%d: ", rows[i].line), strlen(place)))
            FAIL_SAYING("row %zu: %s", i, ok ? "no mistake" : reported);
        else
            APPEND(all, "%s", reported);
        free(reported);
    }
    CU_ASSERT_FALSE(roster_read("id\n\0007\n", 6, "r.csv", &roster, &reported));
    APPEND(all, "%s", reported);
    free(reported);
    put(large, 3000, "id\n%0500d\n%065d\n", 7, 8);
    CU_ASSERT_FALSE(take(large, &roster, &reported));
    CU_ASSERT_PTR_NOT_NULL(strstr(reported, "r.csv:2: "));
    CU_ASSERT_PTR_NOT_NULL(strstr(reported, "r.csv:3: ")); /* both errors together */
    APPEND(all, "%s", reported);
    free(reported);
    memset(large, ',', 2000);
    memcpy(large + 1990, "\nx", 3);
    CU_ASSERT_FALSE(take(large, &roster, &reported));
    APPEND(all, "%s", reported);
    golden_gradebook("rosters", all);
    free(reported);
    free(large);
}

/* Random bytes cause no crash, and each error names a line. */
static void noise(void)
{
    uint64_t random = 11;

    for (int i = 0; i < 3000; i++) {
        static const char some[] = "id,name\n\n,,;\"\"\"\t\r78ab\xc3\xa9\xff";
        char text[300] = "id,name\n", *reported;
        size_t length = i % 2 ? 8 : 0, end = length + next_random(&random) % 280;
        Roster roster;
        for (; length < end; length++)
            text[length] = some[next_random(&random) % (sizeof some - 1)];
        if (roster_read(text, length, "r.csv", &roster, &reported))
            roster_free(&roster);
        else
            CU_ASSERT_PTR_EQUAL(strstr(reported, "r.csv:"), reported);
        free(reported);
    }
}

static void names(void)
{
    static const struct {
        const char *a, *b;
        bool same;
    } rows[] = {
        { "Jane Doe", "Jane Doe", true },
        { "Jane Doe", "jane_doe", true },
        { "Jane Doe", "Doe, Jane", true },
        { "Jane Doe", "doejane", true }, /* as Canvas writes it */
        { "doejane", "Jane Doe", true },
        { "Jane Mary Doe", "Doe, Jane Mary", true },
        { "Jane Doe", "Jane Do", false },
        { "Jane Doe", "Jane Does", false },
        { "Jane Doe", "Joan Dee", false },
        { "Jane Doe", "Eoe Jand", false },
        { "Ann Ann", "AnnAnn", true },
        { "Jos\xc3\xa9", "Jose", false },
        { "M\xc3\xbcller", "m\xc3\xbcller", true },
        { "J\xc3\xb6rg \xc3\x9cnal", "\xc3\xbcnalj\xc3\xb6rg", true },
        { "\xc5\xa0imek", "\xc5\xa1imek", true },
        { "\xd0\x98\xd0\xb2\xd0\xb0\xd0\xbd", "\xd0\xb8\xd0\xb2\xd0\xb0\xd0\xbd", true },
        { "M\xc3\xbcller", "M\xc3\xb6ller", false },
        { "", "", false },
        { "...", "---", false },
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        if (same_name(rows[i].a, rows[i].b) != rows[i].same)
            FAIL_SAYING("%s, %s", rows[i].a, rows[i].b);
}

CU_SuiteInfo test_gradebook_roster = {
    "gradebook roster",
    .pTests =
        (CU_TestInfo[]){
            { "people", people },
            { "mistakes", mistakes },
            { "noise", noise },
            { "names", names },
            CU_TEST_INFO_NULL,
        },
};
