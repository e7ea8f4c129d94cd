/* schema.h - the tables of a gradebook. */
#ifndef GRADEBOOK_STORE_SCHEMA_H
#define GRADEBOOK_STORE_SCHEMA_H

/* Tables that version 2 added.
 * courses: course files, verbatim; the latest counts.
 * terms: the terms of a lab's gradings, from course_measured and (since version 6) course_bars; the
 *   latest row of a lab counts. A grading counts under the same `text`, whatever its bars
 * (judged.h). rosters, members: the students of the course; the most recently imported one is used.
 */
#define TABLES_OF_2                                                                                \
    "CREATE TABLE courses (id INTEGER PRIMARY KEY, at TEXT NOT NULL, text TEXT NOT NULL);"         \
    "CREATE TABLE terms (id INTEGER PRIMARY KEY, lab TEXT NOT NULL, text TEXT NOT NULL,"           \
    "  at TEXT NOT NULL);"                                                                         \
    "CREATE INDEX terms_by_lab ON terms (lab);"                                                    \
    "CREATE TABLE rosters (id INTEGER PRIMARY KEY, at TEXT NOT NULL, source TEXT NOT NULL);"       \
    "CREATE TABLE members (id INTEGER PRIMARY KEY, roster INTEGER NOT NULL REFERENCES rosters,"    \
    "  number TEXT NOT NULL, name TEXT NOT NULL, email TEXT NOT NULL, section TEXT NOT NULL);"

/* `undone`: imports that were taken back; the other views leave them out. `course_labs`: the labs
 * of the course. `latest`: for each assignment and lab, the last import that requested the lab and
 * has a submission for it, so that importing another assignment does not remove marks. `counting`:
 * these imports and the newest one of each assignment; their students are the class. `counted`: for
 * each student and lab, the latest submission of the last import. */
#define VIEWS_COUNTED                                                                              \
    "CREATE VIEW undone AS SELECT u.import AS import FROM import_undos u WHERE u.undone AND u.id " \
    "="                                                                                            \
    "  (SELECT max(o.id) FROM import_undos o WHERE o.import = u.import);"                          \
    "CREATE VIEW course_labs AS"                                                                   \
    "  SELECT DISTINCT lab FROM asked WHERE import NOT IN (SELECT import FROM undone);"            \
    "CREATE VIEW latest AS"                                                                        \
    "  SELECT i.assignment AS assignment, p.lab AS lab, max(seen.import) AS import FROM seen"      \
    "    JOIN parts p ON p.submission = seen.submission JOIN imports i ON i.id = seen.import"      \
    "    JOIN asked k ON k.import = seen.import AND k.lab = p.lab"                                 \
    "  WHERE p.kernel IS NOT NULL AND i.id NOT IN (SELECT import FROM undone)"                     \
    "  GROUP BY i.assignment, p.lab;"                                                              \
    "CREATE VIEW counting AS"                                                                      \
    "  SELECT import FROM latest UNION SELECT max(id) FROM imports"                                \
    "  WHERE id NOT IN (SELECT import FROM undone) GROUP BY assignment;"                           \
    "CREATE VIEW counted AS"                                                                       \
    "  SELECT student, lab, kernel, submission, path, predicted, import, at, place FROM"           \
    "   (SELECT x.*, row_number() OVER (PARTITION BY x.student, x.lab"                             \
    "     ORDER BY x.import DESC, x.place DESC) AS rank FROM"                                      \
    "    (SELECT s.student AS student, p.lab AS lab, p.kernel AS kernel,"                          \
    "      p.submission AS submission, p.path AS path, p.predictions IS NOT NULL AS predicted,"    \
    "      seen.import AS import, seen.place AS place,"                                            \
    "      CASE WHEN s.timed OR NOT p.changed THEN s.sent ELSE p.changed END AS at"                \
    "     FROM seen JOIN submissions s ON s.id = seen.submission"                                  \
    "      JOIN parts p ON p.submission = s.id"                                                    \
    "      JOIN latest l ON l.lab = p.lab AND l.import = seen.import"                              \
    "     WHERE p.kernel IS NOT NULL) x) WHERE rank = 1;"

/* The same until version 5: for each lab one import, of whatever assignment. */
#define VIEWS_UNTIL_5                                                                              \
    "CREATE VIEW latest AS SELECT 0 AS lab; CREATE VIEW counting AS SELECT 0 AS import;"           \
    "CREATE VIEW counted AS SELECT 0 AS student;"

/* What version 6 added, one macro per subject.
 * people: imports.assignment: importing an assignment again replaces its earlier import; "": none
 * was named. members: aliases (separated by |) and status (active, withdrawn, audit).
 * addresses: e-mail addresses of students; the latest row counts.
 * answers: which person a student is: a key, 'apart', or '' to undo; the latest row counts. */
#define PEOPLE_6                                                                                   \
    "ALTER TABLE imports ADD COLUMN assignment TEXT NOT NULL DEFAULT '';"                          \
    "ALTER TABLE members ADD COLUMN aliases TEXT NOT NULL DEFAULT '';"                             \
    "ALTER TABLE members ADD COLUMN status TEXT NOT NULL DEFAULT 'active';"                        \
    "CREATE TABLE addresses (id INTEGER PRIMARY KEY, student INTEGER NOT NULL REFERENCES "         \
    "students, email TEXT NOT NULL, UNIQUE (student, email));"                                     \
    "CREATE TABLE answers (id INTEGER PRIMARY KEY, student INTEGER NOT NULL REFERENCES students,"  \
    "  person TEXT NOT NULL, author TEXT NOT NULL, at TEXT NOT NULL);"                             \
    "CREATE INDEX answers_by_student ON answers (student);"
/* decisions: what people decided about a person's lab ("": all labs). kind: marks (pass, or 0 to
 * 100), extend (2d, or a time), excuse, undo. person: a key of temp.person_keys (people.h);
 * student: one of his rows of `students`, in case the key is lost. kernel: the one that counted
 * then. terms.bars: bars apart from the other terms. regrades.bars: those that the stored speeds
 * could not decide about; NULL: the request counts under any. */
#define DECISIONS_6                                                                                \
    "CREATE TABLE decisions (id INTEGER PRIMARY KEY, at TEXT NOT NULL, author TEXT NOT NULL,"      \
    "  person TEXT NOT NULL, student INTEGER REFERENCES students, lab TEXT NOT NULL,"              \
    "  kind TEXT NOT NULL, value TEXT NOT NULL, note TEXT NOT NULL,"                               \
    "  kernel INTEGER REFERENCES kernels, undoes INTEGER REFERENCES decisions);"                   \
    "ALTER TABLE terms ADD COLUMN bars TEXT NOT NULL DEFAULT '';"                                  \
    "ALTER TABLE regrades ADD COLUMN bars TEXT;"
/* publications: what an instructor published; visible: students see it from then on (seconds since
 * 1970). published: the results that were new or had changed. person: people.key (people.h). why,
 * note, ratio: of the verdict; marks, whole, late_s, marks_why, excused: as in Marks. */
#define PUBLISHED_6                                                                                \
    "CREATE TABLE publications (id INTEGER PRIMARY KEY, at TEXT NOT NULL, author TEXT NOT NULL,"   \
    "  visible INTEGER NOT NULL, note TEXT NOT NULL);"                                             \
    "CREATE TABLE published (id INTEGER PRIMARY KEY, publication INTEGER NOT NULL REFERENCES "     \
    "publications, person TEXT NOT NULL, lab TEXT NOT NULL, attempt INTEGER NOT NULL,"             \
    "  kernel INTEGER NOT NULL, state TEXT NOT NULL, why TEXT NOT NULL, note TEXT NOT NULL,"       \
    "  ratio REAL, marks REAL, whole REAL NOT NULL, late_s INTEGER NOT NULL,"                      \
    "  marks_why TEXT NOT NULL, excused INTEGER NOT NULL);"                                        \
    "CREATE INDEX published_by_person ON published (person, lab);"
/* requests: who asked to grade a student's kernel again, and why; person: a key of people.h. */
#define REQUESTS_6                                                                                 \
    "CREATE TABLE requests (id INTEGER PRIMARY KEY, at TEXT NOT NULL, author TEXT NOT NULL,"       \
    "  person TEXT NOT NULL, lab TEXT NOT NULL, kernel INTEGER NOT NULL REFERENCES kernels,"       \
    "  note TEXT NOT NULL);"
#define TABLES_OF_6 PEOPLE_6 DECISIONS_6 PUBLISHED_6 REQUESTS_6

/* What version 7 added. import_undos: who took an import back (undone 1), or let it count again
 * (0); its latest row counts. */
#define TABLES_OF_7                                                                                \
    "CREATE TABLE import_undos (id INTEGER PRIMARY KEY, import INTEGER NOT NULL REFERENCES "       \
    "imports, undone INTEGER NOT NULL, at TEXT NOT NULL, author TEXT NOT NULL,"                    \
    "  note TEXT NOT NULL);" VIEWS_COUNTED

#define VIEW_TERMS                                                                                 \
    "CREATE VIEW current_terms AS SELECT t.lab AS lab, t.text AS text, t.bars AS bars"             \
    "  FROM terms t WHERE t.id = (SELECT max(o.id) FROM terms o WHERE o.lab = t.lab);"

/* Per kernel, under the current terms of its lab: gradings and machine errors since the last
 * regrade request, and the latest graded attempt. Also the number of all attempts. */
#define SINCE_THE_WISH                                                                             \
    " AND a.terms = coalesce((SELECT c.text FROM current_terms c WHERE c.lab = k.lab), '')"        \
    " AND a.number > (SELECT coalesce(max(r.after), 0) FROM regrades r WHERE r.kernel = k.id"      \
    "  AND (r.bars IS NULL OR r.bars ="                                                            \
    "   coalesce((SELECT c.bars FROM current_terms c WHERE c.lab = k.lab), ''))))"
#define VIEW_PROGRESS                                                                              \
    "CREATE VIEW progress AS"                                                                      \
    "  SELECT k.id AS kernel, k.lab AS lab,"                                                       \
    "    (SELECT count(*) FROM attempts a WHERE a.kernel = k.id AND a.outcome = "                  \
    "'graded'" SINCE_THE_WISH " AS graded,"                                                        \
    "    (SELECT count(*) FROM attempts a WHERE a.kernel = k.id AND a.outcome <> "                 \
    "'graded'" SINCE_THE_WISH " AS faults,"                                                        \
    "    (SELECT count(*) FROM attempts a WHERE a.kernel = k.id) AS attempts,"                     \
    "    (SELECT max(a.id) FROM attempts a WHERE a.kernel = k.id AND a.outcome = 'graded'"         \
    "      AND a.terms = coalesce((SELECT c.text FROM current_terms c WHERE c.lab = k.lab), ''))"  \
    "      AS latest"                                                                              \
    "  FROM kernels k;"

static const char schema[] =
    /* One row per import; its source is the command-line argument. */
    "CREATE TABLE imports (id INTEGER PRIMARY KEY, at TEXT NOT NULL, source TEXT NOT NULL);"
    "CREATE TABLE asked (import INTEGER NOT NULL REFERENCES imports, lab TEXT NOT NULL,"
    "  PRIMARY KEY (import, lab)) WITHOUT ROWID;"
    "CREATE TABLE students (id INTEGER PRIMARY KEY, name TEXT NOT NULL, number TEXT NOT NULL,"
    "  UNIQUE (name, number));"

    /* One submission of a student. The same content at the same path shares one row. */
    "CREATE TABLE submissions (id INTEGER PRIMARY KEY, student INTEGER NOT NULL REFERENCES "
    "students,"
    "  source TEXT NOT NULL, layout TEXT NOT NULL, late INTEGER NOT NULL, sent INTEGER NOT NULL,"
    "  refused INTEGER NOT NULL, digest TEXT NOT NULL,"
    "  timed INTEGER NOT NULL DEFAULT 0," /* 1: `sent` is from the learning system; 0: it is a
                                             file's time */
    "  UNIQUE (student, source, digest));"
    "CREATE TABLE remarks (id INTEGER PRIMARY KEY, submission INTEGER REFERENCES submissions,"
    "  import INTEGER REFERENCES imports, kind TEXT NOT NULL, entry TEXT NOT NULL,"
    "  sentence TEXT NOT NULL);"

    /* The submissions of an import, oldest first: for each lab the latest that has it counts. */
    "CREATE TABLE seen (import INTEGER NOT NULL REFERENCES imports,"
    "  submission INTEGER NOT NULL REFERENCES submissions, place INTEGER NOT NULL,"
    "  PRIMARY KEY (import, submission)) WITHOUT ROWID;"

    /* Distinct kernels, with a hash of their bytes. */
    "CREATE TABLE kernels (id INTEGER PRIMARY KEY, lab TEXT NOT NULL, hash INTEGER NOT NULL,"
    "  source BLOB NOT NULL);"
    "CREATE INDEX kernels_by_hash ON kernels (lab, hash);"
    "CREATE TABLE parts (submission INTEGER NOT NULL REFERENCES submissions, lab TEXT NOT NULL,"
    "  kernel INTEGER REFERENCES kernels, path TEXT NOT NULL, predictions BLOB,"
    "  changed INTEGER NOT NULL DEFAULT 0," /* modification time of the kernel's file; 0: unknown */
    "  quiz BLOB,"                          /* the student's quiz.txt; NULL: none */
    "  PRIMARY KEY (submission, lab));"

    /* Requests to grade a kernel again; after: its number of attempts at that time. */
    "CREATE TABLE regrades (id INTEGER PRIMARY KEY, kernel INTEGER NOT NULL REFERENCES kernels,"
    "  after INTEGER NOT NULL, at TEXT NOT NULL);"

    /* Finished attempts. outcome: graded, or a machine error (unsound, died, late, garbled, noisy),
       explained by why. log: a path in the gradebook's folder. */
    "CREATE TABLE attempts (id INTEGER PRIMARY KEY, kernel INTEGER NOT NULL REFERENCES kernels,"
    "  number INTEGER NOT NULL, device TEXT NOT NULL, began TEXT NOT NULL, seconds REAL NOT NULL,"
    "  outcome TEXT NOT NULL, why TEXT NOT NULL, log TEXT NOT NULL,"
    "  terms TEXT NOT NULL DEFAULT ''," /* as in the table terms */
    "  UNIQUE (kernel, number));"
    "CREATE TABLE verdicts (attempt INTEGER PRIMARY KEY REFERENCES attempts, verdict TEXT NOT NULL,"
    "  marks REAL, ratio REAL, why TEXT NOT NULL, note TEXT NOT NULL, flag TEXT NOT NULL,"
    "  device TEXT NOT NULL, uuid TEXT NOT NULL, simulated TEXT NOT NULL, driver TEXT NOT NULL,"
    "  nvcc TEXT NOT NULL, version TEXT NOT NULL, protocol TEXT NOT NULL, seed TEXT NOT NULL,"
    "  lab_hash TEXT NOT NULL, source_hash TEXT NOT NULL);"
    "CREATE TABLE figures (attempt INTEGER NOT NULL REFERENCES attempts, name TEXT NOT NULL,"
    "  value TEXT NOT NULL, PRIMARY KEY (attempt, name)) WITHOUT ROWID;"

    TABLES_OF_2 TABLES_OF_6 TABLES_OF_7 VIEW_TERMS VIEW_PROGRESS
    "CREATE INDEX attempts_by_kernel ON attempts (kernel);"
    "CREATE INDEX regrades_by_kernel ON regrades (kernel);"
    "CREATE INDEX parts_by_kernel ON parts (kernel);"
    "CREATE INDEX remarks_by_submission ON remarks (submission);";

/* Version 6 compares stored speeds with bars again, so the terms of gradings no longer have bars:
 * their lines, and a section that had nothing else, leave the texts. */
#define SQL_LINE " substr(rest, 1, instr(rest, char(10)))"
#define BARS_APART_6                                                                               \
    "CREATE TEMP TABLE lines AS WITH RECURSIVE line (text, measured, bars, rest) AS ("             \
    "  SELECT text, '', '', text FROM (SELECT text FROM terms UNION SELECT terms FROM attempts)"   \
    "  UNION ALL SELECT text,"                                                                     \
    "   measured || CASE WHEN rest LIKE 'bar of %' THEN '' ELSE" SQL_LINE " END,"                  \
    "   bars || CASE WHEN rest LIKE 'bar of %' THEN" SQL_LINE " ELSE '' END,"                      \
    "   substr(rest, instr(rest, char(10)) + 1)"                                                   \
    "   FROM line WHERE instr(rest, char(10)) > 0)"                                                \
    "  SELECT text, bars, CASE WHEN measured LIKE '%]' || char(10)"                                \
    "   THEN substr(rtrim(measured, replace(measured, '[', '')), 1,"                               \
    "    length(rtrim(measured, replace(measured, '[', ''))) - 1)"                                 \
    "   ELSE measured END AS measured FROM line WHERE rest = '';"                                  \
    "UPDATE terms SET bars = coalesce("                                                            \
    "  (SELECT l.bars FROM temp.lines l WHERE l.text = terms.text), '');"                          \
    "UPDATE terms SET text = coalesce("                                                            \
    "  (SELECT l.measured FROM temp.lines l WHERE l.text = terms.text), text);"                    \
    "UPDATE attempts SET terms = coalesce("                                                        \
    "  (SELECT l.measured FROM temp.lines l WHERE l.text = attempts.terms), terms);"               \
    "DROP TABLE temp.lines;"

/* upgrades[n] upgrades a gradebook from version n to n + 1. */
static const char *const upgrades[] = {
    [1] =
        "ALTER TABLE submissions ADD COLUMN timed INTEGER NOT NULL DEFAULT 0;"
        "UPDATE submissions SET timed = 1 WHERE layout = 'gradescope' AND sent <> 0 AND student IN"
        "  (SELECT id FROM students WHERE name NOT LIKE 'submission%');" /* the name came with the
                                                                            time */
        "ALTER TABLE attempts ADD COLUMN terms TEXT NOT NULL DEFAULT '';"
        "DROP VIEW progress;" TABLES_OF_2 VIEW_TERMS VIEW_PROGRESS,
    [2] = "DROP VIEW counted;" VIEWS_UNTIL_5,
    [3] = "ALTER TABLE parts ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;",
    [4] = "ALTER TABLE parts ADD COLUMN quiz BLOB;",
    [5] = "DROP VIEW counted; DROP VIEW counting; DROP VIEW latest;"
          "DROP VIEW progress; DROP VIEW current_terms;" TABLES_OF_6 BARS_APART_6 VIEW_TERMS
              VIEW_PROGRESS,
    [6] = "DROP VIEW IF EXISTS counted; DROP VIEW IF EXISTS counting;"
          "DROP VIEW IF EXISTS latest;" TABLES_OF_7,
};

#endif
