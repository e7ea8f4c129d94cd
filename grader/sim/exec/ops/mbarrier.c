/* mbarrier.c - barriers that are objects in shared memory.
 *
 * An mbarrier counts the arrivals that its phase still waits for, and the bytes of copies. Its 64
 * bits are: 0 to 19 the pending arrivals, 20 to 39 the expected ones, 40 to 61 the bytes plus
 * BYTES_BIAS, 62 the parity of the phase, and 63 always 0. PTX leaves this layout open.
 *
 * Copies that report to an mbarrier arrive when a thread waits for it and would have to wait
 * longer: as late as possible, as for cp.async.
 */
#include "sim/exec/ops/mbarrier.h"
#include "sim/exec/ops/handlers.h"

enum { COUNT_BITS = 20, MOST_COUNT = (1 << COUNT_BITS) - 1, BYTES_BIAS = 1 << 21 };

typedef struct State {
    uint32_t pending, expected;
    int64_t bytes;
    bool phase;
} State;

/* ---- The 64 bits ---- */

static bool phase_of(uint64_t bits)
{
    return bits >> 62 & 1;
}

static bool read_state(const char *at, State *state)
{
    uint64_t bits;

    memcpy(&bits, at, sizeof bits);
    *state = (State){ .pending = bits & MOST_COUNT,
                      .expected = bits >> COUNT_BITS & MOST_COUNT,
                      .bytes = (int64_t) (bits >> 40 & (2 * BYTES_BIAS - 1)) - BYTES_BIAS,
                      .phase = phase_of(bits) };
    return !(bits >> 63) && bits >> 40;
}

static void write_state(char *at, const State *state)
{
    const uint64_t bits = state->pending | (uint64_t) state->expected << COUNT_BITS |
                          (uint64_t) (state->bytes + BYTES_BIAS) << 40 |
                          (uint64_t) state->phase << 62;

    memcpy(at, &bits, sizeof bits);
}

/* ---- Accesses ---- */

bool mbarrier_find(Access *x, Warp *warp, const Step *step, uint32_t mask,
                   const uint64_t address[LANES], AccessKind kind)
{
    x->warp = warp;
    x->step = step;
    x->mask = mask;
    x->space = SPACE_SHARED;
    x->kind = kind;
    x->bytes = sizeof(uint64_t);
    x->strong = true;
    x->release = kind == ACCESS_ATOMIC;
    x->value = NULL;
    memcpy(x->address, address, sizeof x->address);
    for (int i = 0; i < LANES; i++) /* generic addresses */
        if (x->address[i] - SHARED_WINDOW < WINDOW_BYTES)
            x->address[i] -= SHARED_WINDOW;
    return access_find(x);
}

char *mbarrier_at(const Access *x, int lane)
{
    return x->host + (ptrdiff_t) x->delta[lane];
}

static bool find_own(Access *x, Warp *warp, const Step *step, uint32_t mask, AccessKind kind)
{
    uint64_t address[LANES];

    access_addresses(address, warp, step->a, step->address_size, step->offset);
    return mbarrier_find(x, warp, step, mask, address, kind);
}

static bool state_of(const Access *x, int lane, State *state)
{
    if (read_state(mbarrier_at(x, lane), state))
        return true;
    fail(x->warp, x->step, lane, FINDING_BARRIER,
         "there is no mbarrier at this address: initialise it first (mbarrier.init)");
    return false;
}

bool mbarrier_change(const Access *x, int lane, Arrival arrival)
{
    State state;

    if (!state_of(x, lane, &state))
        return false;
    if (arrival.pending > state.pending || arrival.dropped > state.expected) {
        fail(x->warp, x->step, lane, FINDING_BARRIER,
             "arrives %lld times at an mbarrier that waits for only %u more arrivals in this phase",
             (long long) arrival.pending, state.pending);
        return false;
    }
    state.bytes += arrival.bytes;
    state.pending -= (uint32_t) arrival.pending;
    state.expected -= (uint32_t) arrival.dropped;
    if (state.bytes <= -BYTES_BIAS || state.bytes >= BYTES_BIAS || state.pending > MOST_COUNT) {
        fail(x->warp, x->step, lane, FINDING_BARRIER,
             "an mbarrier can wait for at most 2^20 - 1 arrivals and bytes");
        return false;
    }
    if (!state.pending && !state.bytes) {
        state.phase = !state.phase;
        state.pending = state.expected;
    }
    write_state(mbarrier_at(x, lane), &state);
    return true;
}

bool mbarrier_count(Warp *warp, const Step *step, int lane, uint64_t address, int arrivals)
{
    uint64_t addresses[LANES] = { 0 };
    Access x;

    addresses[lane] = address;
    if (!mbarrier_find(&x, warp, step, 1u << lane, addresses, ACCESS_ATOMIC))
        return false;
    access_observe(&x);
    return mbarrier_change(&x, lane, (Arrival){ .pending = arrivals });
}

/* ---- Handlers ---- */

static uint32_t value_of(Warp *warp, int slot, int lane)
{
    return ((const Lane32 *) plane(warp, slot))[lane];
}

static void run_init(Warp *warp, const Step *step, uint32_t mask)
{
    const bool ends = has_mod(step->in, MOD_inval);
    Access x;

    if (!find_own(&x, warp, step, mask, ACCESS_STORE))
        return;
    x.strong = x.release = false;
    access_observe(&x);
    FOR_LANES (lane, mask) {
        const uint32_t count = ends ? 0 : value_of(warp, step->b, (int) lane);
        const State state = { .pending = count, .expected = count };
        if (!ends && (!count || count > MOST_COUNT)) {
            fail(warp, step, (int) lane, FINDING_BARRIER,
                 "an mbarrier for %u arrivals: 1 to 2^20 - 1 are possible", count);
            return;
        }
        if (ends)
            memset(mbarrier_at(&x, (int) lane), 0xff, sizeof(uint64_t));
        else
            write_state(mbarrier_at(&x, (int) lane), &state);
    }
}

/* What a lane's instruction does. */
static Arrival arrival_of(Warp *warp, const Step *step, int lane)
{
    const Instruction *in = step->in;
    const bool bytes = has_mod(in, MOD_expect_tx), arrives = has_mod(in, MOD_arrive);
    const bool drops = has_mod(in, MOD_arrive_drop), given = step->b != -1;
    const int64_t operand = given ? value_of(warp, step->b, lane) : 1;
    const int64_t arrivals = !arrives && !drops ? 0 : bytes ? 1 : operand;

    return (Arrival){ .pending = arrivals,
                      .dropped = drops ? arrivals : 0,
                      .bytes = bytes                          ? operand
                               : has_mod(in, MOD_complete_tx) ? -operand
                                                              : 0 };
}

static void run_change(Warp *warp, const Step *step, uint32_t mask)
{
    Lane64 *d = step->d >= 0 ? plane(warp, step->d) : NULL;
    uint64_t before;
    Access x;

    if (!find_own(&x, warp, step, mask, ACCESS_ATOMIC))
        return;
    access_observe(&x);
    FOR_LANES (lane, mask) {
        memcpy(&before, mbarrier_at(&x, (int) lane), sizeof before);
        if (!mbarrier_change(&x, (int) lane, arrival_of(warp, step, (int) lane)))
            return;
        if (d)
            d[lane] = before;
    }
}

/* Whether the phase that the lane waits for is complete. */
static bool is_complete(const Access *x, int lane, bool phase, bool *complete)
{
    State state;

    if (!state_of(x, lane, &state))
        return false;
    *complete = state.phase != phase;
    return true;
}

static bool awaited_phase(Warp *warp, const Step *step, int lane)
{
    if (has_mod(step->in, MOD_parity))
        return value_of(warp, step->b, lane) & 1;
    return phase_of(((const Lane64 *) plane(warp, step->b))[lane]);
}

static void deliver(Block *block, const char *barrier)
{
    const Cluster *cluster = block->cluster;

    async_deliver(block, barrier);
    bulk_deliver(block, barrier);
    for (int i = 0; cluster && i < cluster->count; i++)
        if (cluster->blocks[i] && cluster->blocks[i] != block)
            bulk_deliver(cluster->blocks[i], barrier);
}

/* A lane that would have to wait first receives its copies. */
static bool complete_lane(const Access *x, int lane, bool *complete)
{
    const bool phase = awaited_phase(x->warp, x->step, lane);

    if (!is_complete(x, lane, phase, complete) || *complete)
        return !x->warp->block->launch->failed;
    deliver(x->warp->block, mbarrier_at(x, lane));
    return !x->warp->block->launch->failed && is_complete(x, lane, phase, complete);
}

static void run_wait(Warp *warp, const Step *step, uint32_t mask)
{
    uint32_t complete = 0;
    Access x;

    if (!find_own(&x, warp, step, mask, ACCESS_LOAD))
        return;
    FOR_LANES (lane, mask) {
        bool done = false;
        if (!complete_lane(&x, (int) lane, &done))
            return;
        complete |= done ? lane_bit[lane] : 0;
    }
    access_observe(&x);
    set_predicate(warp, step->d, mask, complete);
    warp_polled(warp, (mask & ~complete) != 0);
}

void warp_polled(Warp *warp, bool failed)
{
    warp->polls = failed ? warp->polls + 1 : 0;
    if (failed && !warp->watched && warp->state == WARP_READY)
        warp->state = WARP_WAITING;
}

static void run_pending_count(Warp *warp, const Step *step, uint32_t mask)
{
    const Lane64 *a = plane(warp, step->a);
    Lane32 *d = plane(warp, step->d);

    FOR_LANES (i, mask)
        d[i] = a[i] & MOST_COUNT;
}

/* ---- Clusters ---- */

/* mapa: the address of the same variable in the shared memory of the block with rank b. */
static void run_mapa(Warp *warp, const Step *step, uint32_t mask)
{
    const bool wide = step->size == 8;
    const Lane32 *b = plane(warp, step->b);

    FOR_LANES (i, mask) {
        const uint64_t from = wide ? ((const Lane64 *) plane(warp, step->a))[i]
                                   : ((const Lane32 *) plane(warp, step->a))[i];
        const uint64_t base = wide && from >= SHARED_WINDOW ? SHARED_WINDOW : 0;
        const uint64_t to =
            base + ((from - base) % PEER_SHARED) + (uint64_t) PEER_SHARED * ((b[i] & 0x3f) + 1);
        if (wide)
            ((Lane64 *) plane(warp, step->d))[i] = to;
        else
            ((Lane32 *) plane(warp, step->d))[i] = (uint32_t) to;
    }
}

static void run_getctarank(Warp *warp, const Step *step, uint32_t mask)
{
    const bool wide = step->size == 8;
    Lane32 *d = plane(warp, step->d);

    FOR_LANES (i, mask) {
        const uint64_t from = wide ? ((const Lane64 *) plane(warp, step->a))[i] & UINT32_MAX
                                   : ((const Lane32 *) plane(warp, step->a))[i];
        d[i] =
            from < PEER_SHARED ? (uint32_t) warp->block->rank : (uint32_t) (from / PEER_SHARED - 1);
    }
}

/* ---- Binding ---- */

static bool bind_object(Step *step, const Instruction *in)
{
    const bool waits = has_mod(in, MOD_test_wait) || has_mod(in, MOD_try_wait);

    if (in->types[0] != TYPE_B64 || has_mod(in, MOD_other))
        return false;
    if (has_mod(in, MOD_pending_count))
        step->run = run_pending_count;
    else if (in->space != SPACE_SHARED && in->space != SPACE_GENERIC)
        return false;
    else if (has_mod(in, MOD_init) || has_mod(in, MOD_inval))
        step->run = run_init;
    else if (waits)
        step->run = run_wait;
    else
        step->run = run_change;
    return true;
}

bool bind_mbarrier(Step *step, const Instruction *in)
{
    switch (in->op) {
    case OP_mbarrier:
        return bind_object(step, in);
    case OP_mapa:
        step->run = run_mapa;
        return step->size == 4 || step->size == 8;
    case OP_getctarank:
        step->run = run_getctarank;
        return step->size == 4 || step->size == 8;
    case OP_cp_async:
        return bind_bulk(step, in);
    default:
        return false;
    }
}
