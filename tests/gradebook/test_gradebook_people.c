/* test_gradebook_people.c - which students of several exports are one person. */
#include "gradebook/store/people_rules.h"
#include "rows.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 5 };

/* A student: name, number, the letter of the layout and one digit per import, e-mail, answer. The
 * expectation has one word per student: the index of the person's first row, then /ID of the
 * roster, and ? if it is unclear. */
typedef struct Case {
    const char *about, *roster;
    const char *students[MOST][5]; /* name, number, layout and imports, e-mail, answer */
    const char *people;
} Case;

static const char *layout_of(char letter)
{
    return letter == 'm'   ? "moodle"
           : letter == 'c' ? "canvas"
           : letter == 'g' ? "gradescope"
                           : "plain";
}

static int read_rows(const Case *c, StudentRow rows[MOST], int imports[MOST][4])
{
    int count = 0;

    for (; count < MOST && c->students[count][0]; count++) {
        const char *const *s = c->students[count];
        rows[count] = (StudentRow){ .id = count + 1,
                                    .name = s[0],
                                    .number = s[1],
                                    .layout = layout_of(s[2][0]),
                                    .email = s[3] ? s[3] : "",
                                    .answer = s[4] ? s[4] : "",
                                    .imports = imports[count] };
        for (const char *at = s[2] + 1; *at; at++)
            imports[count][rows[count].import_count++] = *at - '1';
    }
    return count;
}

static void decide(const Case *c, char text[200])
{
    StudentRow rows[MOST];
    int imports[MOST][4];
    bool unclear[MOST + 1];
    char *errors;
    Roster roster = { 0 };
    People people = { rows, read_rows(c, rows, imports), 4, &roster, unclear };

    text[0] = 0;
    if (*c->roster && !roster_read(c->roster, strlen(c->roster), "r", &roster, &errors)) {
        FAIL_SAYING("%s: %s", c->about, errors);
        free(errors);
        return;
    }
    people_decide(&people);
    for (int r = 0; r < people.count; r++) {
        append(text, 200, "%s%d", r ? " " : "", rows[r].group);
        if (rows[r].member >= 0)
            append(text, 200, "/%s", roster.list[rows[r].member].number);
        append(text, 200, "%s", rows[r].unclear ? "?" : "");
    }
    for (int m = 0; m < roster.count; m++)
        if (unclear[m])
            append(text, 200, " ?%s", roster.list[m].number);
    roster_free(&roster);
}

#define R "id,name\n1,Jane Doe\n2,Bo Ek\n3,Ann Lee\n4,Ann Lee\ncy,Cy Fox\n"

static const Case cases[] = {
    /* The roster's ids and names */
    { "ids", R, { { "Jane Doe", "1", "c1" }, { "Bo Ek", "2", "c1" } }, "0/1 1/2" },
    { "names", R, { { "Jane Doe", "", "p1" }, { "Bo Ek", "", "p1" } }, "0/1 1/2" },
    { "ids before names", R, { { "Jane Doe", "2", "c1" }, { "X", "1", "c1" } }, "0/2 1/1" },
    { "a member who is taken",
      R,
      { { "Jane Doe", "1", "c1" }, { "Jane Doe", "", "p1" } },
      "0/1 1" },
    { "two of one name", R, { { "Jane Doe", "", "p1" }, { "doejane", "", "p1" } }, "0? 1? ?1" },
    { "one id, two names", R, { { "Jane Doe", "1", "c1" }, { "Eve", "1", "c1" } }, "0/1 1?" },
    { "one id, two other names", R, { { "Jay", "1", "c1" }, { "Eve", "1", "c1" } }, "0? 1?" },
    { "one id, two other names, in two imports",
      R,
      { { "Jay", "1", "c1" }, { "Eve", "1", "c2" } },
      "0/1 0/1" },
    { "twins on the roster", R, { { "Ann Lee", "", "p1" } }, "0? ?3 ?4" },
    { "the other twin", R, { { "Ann Lee", "3", "c1" }, { "ann lee", "", "p1" } }, "0/3 1/4" },
    { "a folder named by the id", R, { { "CY", "", "p1" }, { "Di Fox", "", "p1" } }, "0/cy 1" },
    { "a foreign number", R, { { "Jane Doe", "99", "c1" } }, "0/1" },
    { "Moodle's number is not an id", R, { { "Bo Ek", "1", "m1" } }, "0/2" },
    /* Several imports */
    { "Moodle, twice",
      R,
      { { "Jane Doe", "5296", "m1" }, { "Jane Doe", "6296", "m2" } },
      "0/1 0/1" },
    { "Moodle and Canvas", R, { { "Jane Doe", "7", "m1" }, { "doejane", "8", "c2" } }, "0/1 0/1" },
    { "unclear in one import only",
      R,
      { { "Jane Doe", "5", "m1" }, { "Jane Doe", "6", "m2" }, { "Jane Doe", "7", "m2" } },
      "0/1 1? 2?" },
    { "not on the roster", R, { { "Eve", "5", "m1" }, { "Eve", "6", "m2" } }, "0 0" },
    /* E-mail addresses and aliases */
    { "e-mail", "id,email\n1,j@x.org\n2,b@x.org\n", { { "J", "", "g1", "B@x.org" } }, "0/2" },
    { "two addresses of one domain",
      "id,name,email\n1,Jo,j@x.org\n",
      { { "Jo", "", "g1", "j2@x.org" } },
      "0" },
    { "a private address",
      "id,name,email\n1,Jo,j@x.org\n",
      { { "Jo", "", "g1", "j@home" } },
      "0/1" },
    { "e-mail against id",
      "id,email\n1,j@x.org\n2,b@x.org\n",
      { { "J", "1", "g1", "b@x.org" } },
      "0?" },
    { "aliases",
      "id,name,lms\n1,Jo,4711|jo_x\n2,Al,\n",
      { { "Q", "4711", "c1" }, { "JO_X", "", "p2" } },
      "0/1 0/1" },
    { "two aliases in one import",
      "id,name,lms\n1,Jo,4711|jo_x\n",
      { { "Q", "4711", "c1" }, { "JO_X", "", "p1" } },
      "0/1 0/1" },
    { "an alias with Moodle's number",
      "id,alias\n1,Doe Jane_6296\n",
      { { "Doe Jane", "6296", "m1" } },
      "0/1" },
    { "an alias of two people", "id,alias\n1,jo\n2,jo\n", { { "jo", "", "p1" } }, "0?" },
    { "a name that an answer knows",
      R,
      { { "Doe J", "5", "m1", "", "id:1" }, { "Doe J", "6", "m2" }, { "Doe J", "7", "m3" } },
      "0/1 0/1 0/1" },
    { "a name that an id knows", R, { { "Jay", "1", "g1" }, { "Jay", "6", "m2" } }, "0/1 0/1" },
    { "a name that an id knows, in an import with that id",
      R,
      { { "Jay", "1", "g1" }, { "Jay D", "1", "g2" }, { "Jay", "", "g2" } },
      "0/1 0/1 2" },
    /* Without a roster */
    { "a name in two imports", "", { { "Jane", "5", "m1" }, { "Jane", "6", "m2" } }, "0 0" },
    { "a name twice in one import", "", { { "Jane", "5", "m1" }, { "Jane", "6", "m1" } }, "0 1" },
    { "twins",
      "",
      { { "Jane", "5", "m1" }, { "Jane", "6", "m1" }, { "Jane", "7", "m2" } },
      "0? 1? 2?" },
    { "another spelling", "", { { "Jane Doe", "", "p1" }, { "doejane", "6", "c2" } }, "0 1" },
    { "e-mail addresses differ",
      "",
      { { "Anna", "", "g1", "a1@x" }, { "Anna", "a2@x", "g2", "a2@x" } },
      "0 1" },
    { "one address, two names",
      "",
      { { "Anna", "", "g1", "a@x" }, { "Annie", "", "g2", "A@x" } },
      "0 0" },
    { "an address kept as the number",
      "",
      { { "No Sid", "a@x", "g1" }, { "No Sid", "", "g2", "a@x" } },
      "0 0" },
    { "sids differ", "", { { "Anna", "1", "g1" }, { "Anna", "2", "g2" } }, "0 1" },
    { "one sid, two names", "", { { "Anna", "1", "g1" }, { "Anna B", "1", "g2" } }, "0 0" },
    { "numbers of two systems", "", { { "Anna", "1", "g1" }, { "Anna", "9", "c2" } }, "0 0" },
    { "no sid, in two exports",
      "",
      { { "No Sid", "submission_3", "g1" },
        { "No Sid", "submission_4", "g1" },
        { "No Sid", "", "g2" } },
      "0? 1? 2?" },
    { "twins, told apart by sid",
      "",
      { { "A", "1", "g1" }, { "A", "2", "g1" }, { "A", "1", "g2" }, { "A", "2", "g2" } },
      "0 1 0 1" },
    { "three, of whom two contradict",
      "",
      { { "A", "", "g1", "a@x" }, { "A", "b@x", "g2", "b@x" }, { "A", "", "p3" } },
      "0? 1? 2?" },
    { "a placeholder for a number",
      "",
      { { "Anna", "0", "g1" }, { "Bo", "0", "g1" }, { "Bo", "0", "g2" } },
      "0 1 1" },
    { "a placeholder for an address",
      "",
      { { "Anna", "", "g1", "x@x" }, { "Bo", "", "g1", "x@x" } },
      "0 1" },
    { "umlauts", "", { { "M\xc3\xbcller", "", "p1" }, { "M\xc3\xb6ller", "", "p2" } }, "0 1" },
    /* Answers */
    { "an answer against the name", R, { { "Bo Ek", "5", "m1", "", "id:1" } }, "0/1" },
    { "an answer for an unclear name",
      R,
      { { "Ann Lee", "5", "m1", "", "id:4" }, { "Ann Lee", "6", "m1" } },
      "0/4 1/3" },
    { "an answer: the same as another",
      "",
      { { "Jane Doe", "5", "m1" }, { "doejane", "6", "c2", "", "student:1" } },
      "0 0" },
    { "an answer: apart",
      "",
      { { "Jane", "5", "m1" }, { "Jane", "6", "m2", "", "apart" } },
      "0 1" },
    { "an answer that no longer fits", R, { { "Bo Ek", "5", "m1", "", "id:77" } }, "0/2" },
    { "an answer by e-mail",
      "name,email\nJo,j@x\nAl,a@x\n",
      { { "Q", "5", "m1", "", "email:a@x" } },
      "0/" },
    { "answers that contradict",
      R,
      { { "A", "5", "m1", "", "id:1" },
        { "B", "6", "m1", "", "id:2" },
        { "C", "7", "m2", "", "student:1" } },
      "0/1 1/2 0/1" },
};

static void people(void)
{
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[200];
        decide(&cases[i], text);
        CU_ASSERT_STRING_EQUAL(text, cases[i].people);
        if (strcmp(text, cases[i].people))
            FAIL_SAYING("%s: %s, expected %s", cases[i].about, text, cases[i].people);
    }
}

CU_SuiteInfo test_gradebook_people = {
    "gradebook people",
    .pTests =
        (CU_TestInfo[]){
            { "who is one person", people },
            CU_TEST_INFO_NULL,
        },
};
