/* schema.h - the tables of a gradebook. */
#ifndef GRADEBOOK_STORE_SCHEMA_H
#define GRADEBOOK_STORE_SCHEMA_H

/* Tables that version 2 added.
 * courses: course files, verbatim; the latest counts.
 * terms: the terms of a lab's gradings, from course_terms; the latest row of a lab counts.
 * rosters, members: the students of the course; the most recently imported one is used. */
#define TABLES_OF_2                                                                                \
    "CREATE TABLE courses (id INTEGER PRIMARY KEY, at TEXT NOT NULL, text TEXT NOT NULL);"         \
    "CREATE TABLE terms (id INTEGER PRIMARY KEY, lab TEXT NOT NULL, text TEXT NOT NULL,"           \
    "  at TEXT NOT NULL);"                                                                         \
    "CREATE INDEX terms_by_lab ON terms (lab);"                                                    \
    "CREATE VIEW current_terms AS SELECT t.lab AS lab, t.text AS text FROM terms t"                \
    "  WHERE t.id = (SELECT max(o.id) FROM terms o WHERE o.lab = t.lab);"                          \
    "CREATE TABLE rosters (id INTEGER PRIMARY KEY, at TEXT NOT NULL, source TEXT NOT NULL);"       \
    "CREATE TABLE members (id INTEGER PRIMARY KEY, roster INTEGER NOT NULL REFERENCES rosters,"    \
    "  number TEXT NOT NULL, name TEXT NOT NULL, email TEXT NOT NULL, section TEXT NOT NULL);"

/* For each lab, the latest import that has a submission for it counts, so that importing another
 * assignment does not remove marks. `counting`: these imports and the newest one; their students
 * are the class. `counted`: for each student and lab, the last submission in its lab's import. */
#define VIEWS_COUNTED                                                                              \
    "CREATE VIEW latest AS"                                                                        \
    "  SELECT p.lab AS lab, max(seen.import) AS import FROM seen JOIN parts p"                     \
    "    ON p.submission = seen.submission WHERE p.kernel IS NOT NULL GROUP BY p.lab;"             \
    "CREATE VIEW counting AS"                                                                      \
    "  SELECT import FROM latest UNION SELECT max(id) FROM imports;"                               \
    "CREATE VIEW counted AS"                                                                       \
    "  SELECT s.student AS student, p.lab AS lab, p.kernel AS kernel, p.submission AS submission," \
    "    p.path AS path, p.predictions IS NOT NULL AS predicted, max(seen.place) AS place"         \
    "  FROM seen JOIN submissions s ON s.id = seen.submission"                                     \
    "    JOIN parts p ON p.submission = s.id"                                                      \
    "    JOIN latest l ON l.lab = p.lab AND l.import = seen.import"                                \
    "  WHERE p.kernel IS NOT NULL"                                                                 \
    "  GROUP BY s.student, p.lab;"

/* Per kernel, under the current terms of its lab: gradings and machine errors since the last
 * regrade request, and the latest graded attempt. Also the number of all attempts. */
#define SINCE_THE_WISH                                                                             \
    " AND a.terms = coalesce((SELECT c.text FROM current_terms c WHERE c.lab = k.lab), '')"        \
    " AND a.number > (SELECT coalesce(max(r.after), 0) FROM regrades r WHERE r.kernel = k.id))"
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

    VIEWS_COUNTED TABLES_OF_2 VIEW_PROGRESS "CREATE INDEX attempts_by_kernel ON attempts (kernel);"
    "CREATE INDEX regrades_by_kernel ON regrades (kernel);"
    "CREATE INDEX parts_by_kernel ON parts (kernel);"
    "CREATE INDEX remarks_by_submission ON remarks (submission);";

/* upgrades[n] upgrades a gradebook from version n to n + 1. */
static const char *const upgrades[] = {
    [1] =
        "ALTER TABLE submissions ADD COLUMN timed INTEGER NOT NULL DEFAULT 0;"
        "UPDATE submissions SET timed = 1 WHERE layout = 'gradescope' AND sent <> 0 AND student IN"
        "  (SELECT id FROM students WHERE name NOT LIKE 'submission%');" /* the name came with the
                                                                            time */
        "ALTER TABLE attempts ADD COLUMN terms TEXT NOT NULL DEFAULT '';"
        "DROP VIEW progress;" TABLES_OF_2 VIEW_PROGRESS,
    [2] = "DROP VIEW counted;" VIEWS_COUNTED,
    [3] = "ALTER TABLE parts ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;",
    [4] = "ALTER TABLE parts ADD COLUMN quiz BLOB;",
};

#endif
