/* fake_misdeeds.h - how the scripted runner breaks the protocol, when its script says so. */
#ifndef RUNNER_FAKE_MISDEEDS_H
#define RUNNER_FAKE_MISDEEDS_H

/* Ends the program if the script names an unknown misdeed. */
void misdeeds_check(void);

/* Performs the misdeeds that the script plans for this step; most do not return. */
void misbehave(const char *step);

/* The same once the answer `line` to a command has been given. */
void misdeeds_answered(const char *command, const char *line);

#endif
