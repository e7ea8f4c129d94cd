/* syscall.c - the system calls of a kernel: printf and assert; malloc and free are in heap.c,
 * launches in device_runtime.c. */
#include "sim/exec/warp.h"

#include "sim/base/bits.h"
#include "sim/exec/children.h"
#include "sim/exec/print.h"

#include <stdio.h>
#include <string.h>

enum { TEXT = 200 };

/* ---- Parameters of a call, and access by generic address ---- */

static uint8_t *param(Warp *warp, const Operand *operand, int lane, size_t bytes)
{
    const Code *code = warp->code;
    const Variable *v =
        operand->kind == OPERAND_VARIABLE ? &code->module->variables[operand->index] : NULL;

    if (!v || v->space != SPACE_PARAM || v->size < bytes ||
        v->function != (int) (code->function - code->module->functions) ||
        (size_t) code->variable_offset[operand->index] + v->size > (size_t) code->param_bytes)
        return NULL;
    return warp->params + (size_t) lane * (size_t) code->param_bytes +
           code->variable_offset[operand->index];
}

uint8_t *call_argument(Warp *warp, const Step *step, int n, int lane, size_t bytes)
{
    const Instruction *in = step->in;
    int operand = in->call_returns + 1 + n;

    if (operand >= in->count)
        return NULL;
    return param(warp, &warp->code->function->operands[in->first + operand], lane, bytes);
}

uint8_t *call_return(Warp *warp, const Step *step, int lane, size_t bytes)
{
    if (step->in->call_returns < 1)
        return NULL;
    return param(warp, &warp->code->function->operands[step->in->first], lane, bytes);
}

uint64_t system_argument(Warp *warp, const Step *step, int n, int lane, size_t bytes)
{
    const uint8_t *from = call_argument(warp, step, n, lane, bytes);
    uint64_t value = 0;

    if (from)
        memcpy(&value, from, bytes); /* little-endian, like the GPU */
    return value;
}

/* The bytes at the address; *room: how many are readable. Returns NULL if none are. */
static uint8_t *bytes_at(const Warp *warp, int lane, uint64_t address, size_t *room)
{
    const Block *block = warp->block;
    size_t local_bytes = (size_t) block->launch->local_bytes;
    const Allocation *a;

    if (address - LOCAL_WINDOW < local_bytes) {
        *room = local_bytes - (size_t) (address - LOCAL_WINDOW);
        return warp->local + (size_t) lane * local_bytes + (address - LOCAL_WINDOW);
    }
    if (address - SHARED_WINDOW < block->shared_bytes) {
        *room = block->shared_bytes - (size_t) (address - SHARED_WINDOW);
        return block->shared + (address - SHARED_WINDOW);
    }
    a = memory_find(address);
    *room = a ? a->bytes - (size_t) (address - a->base) : 0;
    return a ? (uint8_t *) a->host + (address - a->base) : NULL;
}

void system_store(Warp *warp, const Step *step, int lane, uint64_t address, const void *value,
                  size_t bytes)
{
    const Block *block = warp->block;
    const uint64_t in_shared = address - SHARED_WINDOW;
    size_t room;
    uint8_t *to = bytes_at(warp, lane, address, &room);

    if (!to || room < bytes) {
        fail(warp, step, lane, FINDING_OUT_OF_BOUNDS,
             "this call stores its result at 0x%llx, which is not a variable of the kernel",
             (unsigned long long) address);
        return;
    }
    memcpy(to, value, bytes);
    memory_range(address, bytes, true); /* marks global memory as written */
    if (in_shared < block->shared_bytes && block->shared_written)
        bits_fill(block->shared_written, in_shared, bytes, true);
}

/* Reads a string, truncated if it is too long. Returns false if there is no readable string at the
 * address. */
static bool text_at(const Warp *warp, int lane, uint64_t address, char *text, size_t size)
{
    size_t room, length;
    const uint8_t *from = bytes_at(warp, lane, address, &room);

    text[0] = 0;
    if (!from)
        return false;
    length = strnlen((const char *) from, room < size - 1 ? room : size - 1);
    memcpy(text, from, length);
    text[length] = 0;
    return true;
}

/* ---- printf ---- */

/* The source of a format's values: the lane's argument buffer. */
typedef struct Source {
    const Warp *warp;
    int lane;
    const uint8_t *bytes;
    size_t room, at;
} Source;

static bool next_value(void *self, int bytes, uint64_t *value)
{
    Source *source = self;
    size_t size = (size_t) bytes;

    source->at = (source->at + size - 1) / size * size;
    *value = 0;
    if (source->at > source->room || size > source->room - source->at)
        return false;
    memcpy(value, source->bytes + source->at, size);
    source->at += size;
    return true;
}

static bool read_text(void *self, uint64_t address, char *text, size_t size)
{
    const Source *source = self;

    return text_at(source->warp, source->lane, address, text, size);
}

static void emit(const Launch *launch, const char *text)
{
    if (launch->print)
        launch->print(launch->print_self, text, strlen(text));
    else
        fputs(text, stdout);
}

static void print_lane(Warp *warp, const Step *step, int lane)
{
    static _Thread_local char format[MOST_PRINTED], line[MOST_PRINTED];
    Source source = { .warp = warp, .lane = lane };
    uint8_t *result = call_return(warp, step, lane, 4);
    int32_t values = -1;

    if (!text_at(warp, lane, system_argument(warp, step, 0, lane, 8), format, sizeof format)) {
        fail(warp, step, lane, FINDING_OUT_OF_BOUNDS,
             "printf: the format argument does not point to a valid string");
        return;
    }
    source.bytes = bytes_at(warp, lane, system_argument(warp, step, 1, lane, 8), &source.room);
    if (!source.bytes)
        source.room = 0;
    values = print_format(line, sizeof line, format, next_value, read_text, &source);
    emit(warp->block->launch, line);
    if (result)
        memcpy(result, &values, sizeof values);
}

static void run_printf(Warp *warp, const Step *step, uint32_t mask, Name name)
{
    (void) name;
    for (uint32_t left = mask; left && !warp->block->ended; left &= left - 1)
        print_lane(warp, step, __builtin_ctz(left));
}

/* ---- assert ---- */

static void run_assert(Warp *warp, const Step *step, uint32_t mask, Name name)
{
    int lane = __builtin_ctz(mask);
    char message[TEXT], file[TEXT];

    (void) name;
    text_at(warp, lane, system_argument(warp, step, 0, lane, 8), message, sizeof message);
    text_at(warp, lane, system_argument(warp, step, 1, lane, 8), file, sizeof file);
    fail(warp, step, lane, FINDING_ASSERT,
         "assertion `%s' failed at %s:%d (%d thread%s of this warp)", message, file,
         (int) system_argument(warp, step, 2, lane, 4), __builtin_popcount(mask),
         mask & (mask - 1) ? "s" : "");
}

/* ---- Other system calls ---- */

static void run_not_simulated(Warp *warp, const Step *step, uint32_t mask, Name name)
{
    fail(warp, step, __builtin_ctz(mask), FINDING_UNKNOWN_CALL,
         "%.*s() inside a kernel is not simulated", name.length, name.at);
}

static const struct SystemCall {
    const char *name;
    void (*run)(Warp *warp, const Step *step, uint32_t mask, Name name);
} system_calls[] = {
    { "vprintf", run_printf },
    { "__assertfail", run_assert },
    { "malloc", run_malloc },
    { "free", run_free },
};

void system_call(Warp *warp, const Step *step, uint32_t mask, Name name)
{
    for (size_t i = 0; i < sizeof system_calls / sizeof *system_calls; i++)
        if (name_is(name, system_calls[i].name)) {
            system_calls[i].run(warp, step, mask, name);
            return;
        }
    if (!device_runtime_call(warp, step, mask, name))
        run_not_simulated(warp, step, mask, name);
}
