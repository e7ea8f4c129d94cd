/* verdict.h - the verdicts of a grading. */
#ifndef BASE_VERDICT_H
#define BASE_VERDICT_H

#include <stdbool.h>
#include "base/util.h"
#include "lab.h"

/* One row per verdict: enumerator, word, meaning (for --help and docs). */
#define VERDICTS(X)                                                                                \
    X(UNCHANGED, "unchanged", "the starter as it was handed out: not begun")                       \
    X(PASS, "pass", "correct, and fast enough")                                                    \
    X(CLOSE, "close", "correct, and too close to the bar to decide: counts as a pass")             \
    X(SLOW, "slow", "correct, but slower than the bar")                                            \
    X(CORRECT_ONLY, "correct", "correct; speed could not be judged, the reason is given")          \
    X(WRONG, "wrong", "a result differs from the correct one")                                     \
    X(UNSAFE, "unsafe", "a race, a bad read, or a missing synchronisation")                        \
    X(STRAY, "stray", "wrote outside its arrays, or into an input")                                \
    X(CRASH, "crash", "the kernel or its process failed")                                          \
    X(TIMEOUT, "timeout", "did not finish in time")                                                \
    X(BUILD, "build", "does not compile, or uses what a lab does not allow")                       \
    X(SUSPECT, "suspect", "not trusted until a human has checked it")                              \
    X(UNSUPPORTED, "unsupported",                                                                  \
      "uses what the simulated GPU does not support: needs a real one")                            \
    X(UNSOUND, "unsound", "the grader or the machine failed, not the student")

#define VERDICT_ENUM(name, word, meaning) name,
typedef enum Verdict { VERDICTS(VERDICT_ENUM) VERDICT_COUNT } Verdict;
#undef VERDICT_ENUM

const char *verdict_word(Verdict verdict);
/* For people: "not started" instead of "unchanged". Formats for programs use verdict_word. */
const char *verdict_label(Verdict verdict);
const char *verdict_meaning(Verdict verdict);
bool verdict_from_word(const char *word, Verdict *verdict);
bool verdict_passed(Verdict verdict); /* PASS, CLOSE */

#endif
