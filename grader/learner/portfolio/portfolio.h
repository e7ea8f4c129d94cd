/* portfolio.h - make report: a page about all labs, for the learner. */
#ifndef LEARNER_PORTFOLIO_PORTFOLIO_H
#define LEARNER_PORTFOLIO_PORTFOLIO_H

#include "learner/command_line.h"

/* `warpbook report`: writes build/report.html. Returns the exit status. */
int run_portfolio(Options *options);

#endif
