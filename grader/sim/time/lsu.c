/* lsu.c - an SM's load/store unit, with its L1.
 *
 * All schedulers share it: shared memory, L1 and shuffles take turns, one cycle per wavefront (two
 * where shared memory is half as wide) or per line. It accepts instructions until its queue is
 * full, but from younger blocks only while the queue is empty, since the oldest block has priority.
 * Stores go to the L2 on a separate path, one line at a time.
 */
#include "sim/time/model.h"

enum { WAVEFRONT_BYTES = 32 * 4 };

/* Rounded up. Most lines and wavefronts are at most one part; a division takes far longer. */
static uint64_t share(uint64_t n, int part)
{
    return n <= (uint64_t) part ? n > 0 : (n + (uint64_t) part - 1) / (uint64_t) part;
}

void lsu_keep(Sm *sm, bool for_shared, uint64_t start, uint64_t until)
{
    const uint64_t queue = (uint64_t) sm->gpu->device.lsu_queue;

    *(for_shared ? &sm->shared_busy : &sm->l1_busy) += (double) (until - start);
    sm->lsu_free = until;
    for (int i = 0; i < sm->gpu->device.schedulers_per_sm; i++) {
        Scheduler *s = &sm->schedulers[i];
        s->pipe_free[PIPE_LSU] = later(s->port_free, until > queue ? until - queue : 0);
        s->pipe_free[PIPE_LSU_LATER] = later(s->port_free, until);
    }
}

/* The 32 banks return one word each, in one cycle or in several. */
static uint64_t shared_cycles(const Device *device, uint64_t wavefronts)
{
    return wavefronts * share(WAVEFRONT_BYTES, device->shared_cycle_bytes);
}

static CacheLine *l1_line(Sm *sm, uint64_t address)
{
    CacheLine displaced;
    bool is_new;

    return cache_line(&sm->l1, address, &is_new, &displaced);
}

/* Sectors of the line that are not in the L1 come from the L2. */
static uint64_t load_line(Sm *sm, uint64_t word, uint64_t at, uint64_t *missed)
{
    const uint64_t address = trace_number(word);
    const unsigned sectors = trace_sectors(word);
    CacheLine *line = l1_line(sm, address);
    const unsigned missing = sectors & ~line->valid;
    const unsigned count = sectors_in(missing);
    sm->l1_misses += count;
    sm->l1_hits += sectors_in(sectors) - count;
    *missed += count;
    if (missing) {
        line->ready =
            answers_request(sm, TRACE_LOAD, trace_line(address, missing, 0, 0), at, line->ready);
        if (is_unknown(line->ready))
            answers_note(sm, &line->ready);
        line->valid |= (uint8_t) missing;
    }
    return line->ready;
}

static uint64_t load_line_of_l2(Sm *sm, uint64_t word, uint64_t at, uint64_t *missed)
{
    const unsigned sectors = trace_sectors(word), count = sectors_in(sectors);

    sm->l1_misses += count;
    *missed += count;
    return answers_request(sm, TRACE_LOAD, word, at, 0);
}

enum { FREE_WAVEFRONTS = 4 }; /* of a load, which its queue passes on at once */

/* Each scheduler has a queue of its own in front of the unit, which repeats an access for further
 * wavefronts every 2.25 cycles: an H200 takes 23, 46 and 81 cycles per load of one warp with 8, 16
 * and 32 wavefronts, and 8, 16 and 32 with warps of all schedulers (tests/sim/time/mechanisms,
 * rows.sum). Returns when the last wavefront of the current load has begun. */
static uint64_t pass_queue(Sm *sm, const PlayedWarp *w, uint64_t start, uint64_t wavefronts)
{
    uint64_t *queue = &sm->queue_free[w->scheduler % sm->gpu->device.schedulers_per_sm];
    const uint64_t begin = later(*queue, start);

    if (wavefronts <= FREE_WAVEFRONTS)
        return start;
    *queue = begin + wavefronts * 9 / 4;
    return *queue - 1;
}

/* `wavefronts`: in which the L1's banks deliver the words, whichever lines they are in. */
static uint64_t load_lines(Sm *sm, const PlayedWarp *w, const uint64_t *words, int count,
                           uint64_t start, uint64_t wavefronts)
{
    const Operation *o = w->step->operation;
    const Device *device = &sm->gpu->device;
    uint64_t missed = 0, there = 0, cycles;

    for (int i = 0; i < count; i++) {
        const uint64_t at = start + (uint64_t) (i / device->l1_lines);
        there = time_later(sm, there,
                           o->past_l1 ? load_line_of_l2(sm, words[i], at, &missed)
                                      : load_line(sm, words[i], at, &missed));
    }
    /* Loads that begin within a line take no longer (tests/sim/time/mechanisms, shift). */
    cycles = later(share((uint64_t) count, device->l1_lines),
                   wavefronts * share(WAVEFRONT_BYTES, device->l1_load_bytes));
    lsu_keep(sm, false, start,
             start + later(cycles, share(missed * SECTOR_BYTES, device->l1_fill_bytes)));
    start = later(start + cycles - 1, pass_queue(sm, w, start, cycles));
    return time_later(sm, there, start + l1_latency(device, words[0]));
}

/* Cycles by which slices of the L2 may be behind; fitted to rows of `own` and `store` of an H200.
 */
enum { L2_QUEUE = 300 };

/* The L1 allocates a stored line, but sectors written in part are only valid if they were before
 * (tests/sim/time/mechanisms, rows.update). Atomics are executed in the L2. */
static void keep_written(Sm *sm, uint64_t address, unsigned sectors, bool is_part, bool is_atomic)
{
    CacheLine *line = l1_line(sm, address);

    if (is_atomic)
        line->valid &= (uint8_t) ~sectors;
    else if (!is_part)
        line->valid |= (uint8_t) sectors;
}

/* How long a line occupies the path of stores: a cycle per sector, and one more where lanes write
 * sectors in part (tests/sim/time/mechanisms, store.32.1.8). The L1 keeps local data valid, so it
 * merges such sectors: an H200 needs 5 to 10 cycles per line where lanes write different words of a
 * local array (local.update_lanes). */
static uint64_t store_cycles(const Device *device, TraceKind kind, uint64_t word)
{
    const uint64_t pass = (uint64_t) device->l1_store_pass_bytes, parts = trace_parts(word);
    const uint64_t bytes = sectors_in(trace_sectors(word)) * SECTOR_BYTES;
    const uint64_t moved = share((bytes + pass - 1) / pass * pass, device->l1_store_bytes);
    const bool is_local = kind == TRACE_LOCAL_STORE;
    const bool in_part = is_local ? parts : trace_amount(word) < SECTOR_BYTES;

    return moved + (in_part ? (uint64_t) device->l1_store_part_cycles : 0) +
           (is_local ? sectors_in((unsigned) parts) * (uint64_t) device->local_merge_cycles : 0);
}

/* Cycles for which a store waits for more to its line; fitted to open launches of tests/sim/blind,
 * whose SMs send 7 to 100 % of the sectors that their warps store to the L2 (94 % where the warps
 * of a block write to the same lines). */
enum { MERGING_CYCLES = 100 };

/* An SM sends what a warp writes to a sector to the L2 together, as long as it stores to few other
 * lines meanwhile: 132 SMs of an H200 each store to 16 lines in turn within 14 ns, but to 32 lines
 * within 84, and its counters show 7 and 100 % of the sectors (tests/sim/time/mechanisms, own). */
static bool merges(Sm *sm, const PlayedWarp *w, uint64_t line, unsigned sectors, uint64_t now)
{
    const int most = sm->gpu->device.l1_merging_lines;
    const StoredLine new = { .line = line, .by = w };
    int at = 0;

    while (at < sm->merging_count && sm->merging[at].line != line)
        at++;
    StoredLine stored = at < sm->merging_count ? sm->merging[at] : new;
    if (at == most)
        at--;
    else if (at == sm->merging_count)
        sm->merging_count++;
    if (stored.by != w || now > stored.at + MERGING_CYCLES)
        stored = new;
    const bool is_merged = !(sectors & ~stored.sectors);
    stored.sectors |= sectors;
    stored.at = now;
    for (; at > 0; at--)
        sm->merging[at] = sm->merging[at - 1];
    sm->merging[0] = stored;
    return is_merged;
}

static uint64_t room_in(const UpdateQueue *queue)
{
    return queue->done[(queue->last + 1) % UPDATE_GROUPS];
}

/* When the SM may send one more update. */
static uint64_t room_for_update(const Sm *sm, uint64_t word)
{
    return later(room_in(&sm->sent), room_in(&sm->sent_to[memory_unit(trace_number(word))]));
}

/* Stores are written through, those to local memory, too (an H200 writes its local arrays at the
 * bandwidth of the L2: tests/sim/time/mechanisms, local.update_same). The load/store unit hands
 * over one line per cycle (store.4.1.8), until the queue is full. `least`: cycles for which the
 * lines together occupy the path. */
static uint64_t store_lines(Sm *sm, const PlayedWarp *w, const uint64_t *words, int count,
                            uint64_t start, TraceKind kind, uint64_t least)
{
    const Device *device = &sm->gpu->device;
    const uint64_t queue = (uint64_t) device->lsu_queue, begin = start;
    const uint64_t first = later(sm->store_free, start);
    const bool atomic = kind == TRACE_ATOMIC || kind == TRACE_INTEGER_ATOMIC;
    uint64_t there = 0, busy = 0;

    for (int i = 0; i < count; i++) {
        const uint64_t room = atomic ? room_for_update(sm, words[i]) : 0;
        const uint64_t at = later(later(sm->store_free, room), start + (uint64_t) i);
        const unsigned sectors = trace_sectors(words[i]), amount = trace_amount(words[i]);
        const bool is_part = amount < SECTOR_BYTES;
        const bool is_merged =
            kind == TRACE_STORE && is_part && merges(sm, w, trace_number(words[i]), sectors, at);
        const TraceKind sent = is_merged ? TRACE_MERGED_STORE : kind;
        const uint64_t cycles = is_merged || atomic ? 1 : store_cycles(device, kind, words[i]);
        sm->store_free = at + cycles;
        busy += cycles;
        there = time_later(sm, there, answers_request(sm, sent, words[i], at, 0));
        keep_written(sm, trace_number(words[i]), sectors, is_part, atomic);
    }
    sm->store_free = later(sm->store_free, first + least);
    sm->stores_busy += (double) later(busy, least);
    start += later((uint64_t) count, 1);
    lsu_keep(sm, false, begin, sm->store_free > start + queue ? sm->store_free - queue : start);
    return there;
}

static void add_update(UpdateQueue *queue, unsigned amount, unsigned a_group, uint64_t done)
{
    for (queue->amount += amount; queue->amount >= a_group; queue->amount -= a_group) {
        queue->last = (queue->last + 1) % UPDATE_GROUPS;
        queue->done[queue->last] = done;
    }
    queue->done[queue->last] = later(queue->done[queue->last], done);
}

void lsu_note_update(Sm *sm, uint64_t word, uint64_t done)
{
    add_update(&sm->sent, 1, LINES_A_GROUP, done);
    add_update(&sm->sent_to[memory_unit(trace_number(word))], trace_passes(word), PASSES_A_GROUP,
               done);
    sm->update_free = later(sm->update_free, room_for_update(sm, word));
}

bool lsu_is_held_back(const Sm *sm, uint64_t now)
{
    return sm->accepted > now + L2_QUEUE || sm->update_free > now;
}

void lsu_hold_back(Sm *sm)
{
    if (sm->accepted > L2_QUEUE)
        sm->store_free = later(sm->store_free, sm->accepted - L2_QUEUE);
}

static uint64_t play_shared(Sm *sm, PlayedWarp *w, const uint64_t *words, uint64_t start)
{
    const uint64_t head = *words;
    const int updates = trace_following(head);
    const uint64_t wavefronts =
        has_cause(sm->gpu->without, CAUSE_CONFLICTS) ? trace_ideal(head) : trace_wavefronts(head);
    const uint64_t cycles =
        shared_cycles(&sm->gpu->device, later(wavefronts, w->step->operation->wavefronts));

    lsu_keep(sm, true, start, start + cycles);
    const uint64_t there = sm->lsu_free - 1 + (uint64_t) sm->gpu->device.shared_latency;
    if (!updates)
        return there;
    warp_put_off(sm, w, &w->next, later(there, updates_play(sm, w, words + 1, updates, start)));
    return w->next;
}

/* Plays one access. Returns when its value or its write has arrived. */
static uint64_t play_access(Sm *sm, PlayedWarp *w, const uint64_t *words, uint64_t start)
{
    const uint64_t head = *words++;
    const TraceKind kind = trace_kind(head);
    uint64_t at;

    if (kind == TRACE_SHARED)
        return play_shared(sm, w, words - 1, start);
    if (has_cause(sm->gpu->without, CAUSE_SECTORS))
        at = words_access(sm, kind, words, trace_following(head) / 2, start,
                          w->step->operation->cycles);
    else
        at = kind == TRACE_LOAD
                 ? load_lines(sm, w, words, trace_following(head), start,
                              later(trace_wavefronts(head), w->step->operation->cycles))
                 : store_lines(sm, w, words, trace_following(head), start, kind,
                               trace_wavefronts(head));
    if (kind != TRACE_LOAD && kind != TRACE_LOCAL_STORE)
        warp_put_off(sm, w, &w->stored, at);
    return at;
}

uint64_t lsu_play(Sm *sm, PlayedWarp *w, uint64_t now)
{
    const Planned *step = w->step;
    uint64_t there = 0, start;

    for (int i = 0; i < step->accesses; i++) {
        start = later(now, sm->lsu_free);
        there = time_later(sm, there, play_access(sm, w, w->access[step->access + i], start));
        if (w->twins)
            twins_access(w, step->access + i, start, sm->answers.on);
    }
    if (step->accesses)
        return there;
    start = later(now, sm->lsu_free);
    lsu_keep(sm, false, start, start + step->operation->cycles);
    return start + step->operation->latency;
}

/* ---- Twins ---- */

static void repeat_load(Sm *twin, uint64_t word, uint64_t at, bool past_l1, bool lists)
{
    const uint64_t address = trace_number(word);
    const unsigned sectors = trace_sectors(word);
    CacheLine *line = past_l1 ? NULL : l1_line(twin, address);
    const unsigned missing = sectors & ~(line ? line->valid : 0u);

    twin->l1_misses += sectors_in(missing);
    twin->l1_hits += sectors_in(sectors) - sectors_in(missing);
    if (missing)
        answers_repeat(twin, lists, TRACE_LOAD, trace_line(address, missing, 0, 0), at);
    if (line)
        line->valid |= (uint8_t) missing;
}

static void repeat_store(Sm *twin, const PlayedWarp *w, TraceKind kind, uint64_t word, uint64_t at,
                         bool lists)
{
    const uint64_t address = trace_number(word);
    const unsigned sectors = trace_sectors(word);
    const bool is_part = trace_amount(word) < SECTOR_BYTES;
    const bool is_merged = kind == TRACE_STORE && is_part && merges(twin, w, address, sectors, at);

    answers_repeat(twin, lists, is_merged ? TRACE_MERGED_STORE : kind, word, at);
    keep_written(twin, address, sectors, is_part,
                 kind == TRACE_ATOMIC || kind == TRACE_INTEGER_ATOMIC);
}

void lsu_repeat(Sm *twin, const PlayedWarp *w, const uint64_t *words, uint64_t at, bool past_l1,
                bool lists)
{
    const TraceKind kind = trace_kind(*words);
    const int lines = kind == TRACE_SHARED ? 0 : trace_following(*words);

    for (int i = 0; i < lines; i++, at++)
        if (kind == TRACE_LOAD)
            repeat_load(twin, words[i + 1], at, past_l1, lists);
        else
            repeat_store(twin, w, kind, words[i + 1], at, lists);
}

/* ---- The stack ---- */

/* A word of all lanes of a warp is a line, above those of local arrays. Each call has words of its
 * own. As for local arrays, blocks that are resident at different times share lines. */
static uint64_t stack_line(const Sm *sm, const PlayedWarp *w, uint32_t word)
{
    const BlockTrace *block = w->block->trace;
    const uint64_t warps = (uint64_t) block->warp_count, places = sm->gpu->stack_places;
    const uint64_t warp =
        (uint64_t) block->block % places * warps + (uint64_t) (w->trace - block->warps);
    const uint64_t frame = w->frame * places * warps + warp;

    return TRACE_LOCAL_LINES | TRACE_LOCAL_LINES / 2 | (frame * sm->gpu->stack_words + word);
}

/* Which lanes are active is unknown; they are assumed to be in as many sectors as possible, and to
 * write none of them as a whole unless all lanes do. */
static unsigned sectors_of(int lanes)
{
    return (1u << (lanes < SECTORS ? lanes : SECTORS)) - 1;
}

uint64_t lsu_play_stack(Sm *sm, PlayedWarp *w, uint64_t now)
{
    enum { MOST_WORDS = 4 };
    const Operation *o = w->step->operation;
    const TraceKind kind = o->access.is_store ? TRACE_LOCAL_STORE : TRACE_LOAD;
    const uint64_t start = later(now, sm->lsu_free);
    const bool by_words = has_cause(sm->gpu->without, CAUSE_SECTORS);
    const unsigned sectors = sectors_of(w->step->lanes);
    uint64_t lines[2 * MOST_WORDS];
    int count = 0;

    for (int i = 0; i < o->access.words && i < MOST_WORDS; i++) {
        lines[count++] = trace_line(stack_line(sm, w, o->access.word + (uint32_t) i), sectors,
                                    SECTOR_BYTES, w->step->lanes < LANES ? sectors : 0);
        if (by_words)
            lines[count++] = UINT32_MAX >> (LANES - w->step->lanes);
    }
    if (by_words)
        return words_access(sm, kind, lines, count / 2, start, o->cycles);
    return o->access.is_store ? store_lines(sm, w, lines, count, start, kind, 1)
                              : load_lines(sm, w, lines, count, start, (uint64_t) count);
}

/* ---- Lanes that another warp's instruction serves ---- */

static uint64_t pass_line(Sm *sm, uint64_t word, TraceKind kind, uint64_t now)
{
    uint64_t missed = 0;

    switch (kind) {
    case TRACE_LOAD:
        return load_line(sm, word, now, &missed);
    case TRACE_SHARED:
        return now;
    default:
        return answers_request(sm, kind, word, now, 0);
    }
}

uint64_t lsu_pass(Sm *sm, PlayedWarp *w, uint64_t now)
{
    const Planned *step = w->step;
    uint64_t there = 0;

    for (int i = 0; i < step->accesses; i++) {
        const uint64_t *words = w->access[step->access + i];
        const TraceKind kind = trace_kind(*words);
        for (int lines = trace_following(*words); lines > 0; lines--) {
            const uint64_t at = pass_line(sm, words[lines], kind, now);
            there = time_later(sm, there, at);
            if (kind != TRACE_LOAD && kind != TRACE_LOCAL_STORE)
                warp_put_off(sm, w, &w->stored, at);
        }
        if (w->twins)
            twins_access(w, step->access + i, now, sm->answers.on);
    }
    return there;
}

void lsu_ask(const Sm *sm, const PlayedWarp *w)
{
    const Planned *step = w->step;

    for (int i = 0; i < step->accesses; i++) {
        const uint64_t *words = w->access[step->access + i];
        const bool is_load = trace_kind(*words) == TRACE_LOAD;
        const bool has_lines = trace_kind(*words) != TRACE_SHARED;
        for (int lines = has_lines ? trace_following(*words) : 0; lines > 0; lines--) {
            const bool is_here = cache_ask(&sm->l1, trace_number(words[lines]));
            if (!sm->answers.on && !(is_load && is_here))
                memory_ask(sm->memory, trace_number(words[lines]));
        }
    }
}
