/* fake_misdeeds.h - what the scripted runner does outside of all rules, when its script says so. */
#ifndef RUNNER_FAKE_MISDEEDS_H
#define RUNNER_FAKE_MISDEEDS_H

/* Ends the program if the script names one that is none. */
void misdeeds_check(void);

/* Commits what the script has planned for this step; most do not return. */
void misbehave(const char *step);

/* The same once the answer `line` to a command has been given. */
void misdeeds_answered(const char *command, const char *line);

#endif
