/* speed.c - the verdict that follows from the measured speeds of a correct kernel and the bars. */
#include "base/speed.h"

#include <math.h>

const double speed_near_bar = 0.01, speed_separated = 0.05;

enum { FEW_BLOCKS = 6 }; /* with fewer, a 95 % interval is not known: it is the whole range */

int speed_slowest(const TimedCase *cases, int count)
{
    int slowest = -1;

    for (int i = 0; i < count; i++) {
        const TimedCase *c = &cases[i];
        if (c->measured && !c->blind && c->ratio.hi < c->bar &&
            (slowest < 0 ||
             c->ratio.median / c->bar < cases[slowest].ratio.median / cases[slowest].bar))
            slowest = i;
    }
    return slowest;
}

Verdict speed_verdict(const TimedCase *cases, int count, int *which)
{
    int unjudged = -1, blind = -1;
    bool judged = false, close = false;

    if ((*which = speed_slowest(cases, count)) >= 0)
        return SLOW;
    for (int i = 0; i < count; i++) {
        const TimedCase *c = &cases[i];
        judged |= c->measured;
        if (c->blind)
            blind = blind < 0 ? i : blind;
        else if (!c->measured)
            unjudged = unjudged < 0 ? i : unjudged;
        else
            close |= c->ratio.lo < c->ratio.hi && c->ratio.lo <= c->bar && c->bar <= c->ratio.hi;
    }
    *which = unjudged >= 0 ? unjudged : judged ? -1 : blind;
    return *which >= 0 ? CORRECT_ONLY : close ? CLOSE : PASS;
}

bool speed_hopeless(Interval ratio, int blocks, double bar)
{
    return blocks >= 3 ? ratio.hi < bar / 2 : ratio.hi < bar / 8;
}

static bool modelled_decides(TimedCase *c)
{
    if (c->blind) /* it was not timed then */
        return false;
    if (!c->spares_rung1 && c->rung1 > c->bar - speed_separated) {
        c->blind = true;
        c->measured = false;
    }
    return true;
}

bool speed_bar_differs(double stored, double bar)
{
    return fabs(stored - bar) > 0.6e-4;
}

bool speed_apply_bar(TimedCase *c, double bar)
{
    if (!speed_bar_differs(c->bar, bar))
        return true;
    c->bar = bar;
    if (c->blind || (c->measured && !c->blocks))
        return modelled_decides(c);
    if (!c->measured) /* for a reason that does not depend on the bar */
        return true;
    if (c->blocks < FEW_BLOCKS)
        return speed_hopeless(c->ratio, c->blocks, bar);
    if (c->pairs < 2 && fabs(c->ratio.median - bar) < speed_near_bar * bar)
        return false;
    return c->ratio.hi < bar || c->ratio.lo > bar;
}
