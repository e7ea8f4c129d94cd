#include "learner/portfolio/portfolio.h"
int run_portfolio(Options *options)
{
    (void) options;
    return DONE;
}
