/* access_words.c - describes the bytes of an access in the words of the source.
 *
 * PTX names each array, but not the type of its elements; an array of floats is declared as bytes.
 * The width of the access stands for it. A vector of 16 bytes is one element of an array that is
 * aligned like one (float4), and four elements of any other.
 */
#include "sim/exec/access_words.h"
#include "sim/base/common.h"

#include <stdio.h>
#include <string.h>

/* Elements farther outside than this come from a wrong pointer rather than from a wrong index. */
static const int64_t far_outside = 1 << 30;

/* An array, and the bytes of it that an access touches. */
typedef struct Touched {
    char name[80];
    int64_t offset, bytes; /* of the access, from the array's first byte */
    int64_t array_bytes;   /* 0: unknown */
    int element;           /* bytes; 0: unknown */
    bool dynamic;          /* extern __shared__ */
} Touched;

static int element_of(const Access *x, int align)
{
    const Step *step = x->step;

    if (step->in->op == OP_cp_async)
        return x->bytes <= 4 ? x->bytes : 0;
    return step->vector > 1 && align < x->bytes ? step->size : x->bytes;
}

/* ---- Shared memory ---- */

static bool is_mentioned(const Function *f, int variable)
{
    for (int i = 0; i < f->operand_count; i++)
        if ((f->operands[i].kind == OPERAND_VARIABLE || f->operands[i].kind == OPERAND_ADDRESS) &&
            !f->operands[i].is_register && f->operands[i].index == variable)
            return true;
    return false;
}

/* The last array that begins at the address or before it, since an access past an array's end is
 * meant for that array; in front of all arrays, the first one. -1: the function uses none. */
static int shared_variable(const Code *code, int64_t at)
{
    const Module *module = code->module;
    const int *offset = code->variable_offset;
    int last = -1, first = -1;

    for (int i = 0; i < module->variable_count; i++) {
        if (module->variables[i].space != SPACE_SHARED || !is_mentioned(code->function, i))
            continue;
        if (offset[i] <= at && (last < 0 || offset[i] > offset[last]))
            last = i;
        if (first < 0 || offset[i] < offset[first])
            first = i;
    }
    return last < 0 ? first : last;
}

static bool shared_touched(const Access *x, int lane, Touched *t)
{
    const Code *code = x->warp->code;
    const Launch *launch = x->warp->block->launch;
    const uint64_t address = x->address[lane];
    const int64_t at = address <= UINT32_MAX ? (int32_t) (uint32_t) address : (int64_t) address;
    const int variable = shared_variable(code, at);

    if (variable < 0)
        return false;
    const Variable *v = &code->module->variables[variable];
    const Name name = name_in_source(v->name);
    snprintf(t->name, sizeof t->name, "%.*s", name.length, name.at);
    t->dynamic = v->is_extern;
    t->offset = at - code->variable_offset[variable];
    t->bytes = x->bytes;
    t->array_bytes = (int64_t) (t->dynamic ? launch->dynamic_shared_bytes : v->size);
    t->element = element_of(x, v->align);
    return true;
}

/* ---- Global memory ---- */

static bool global_touched(const Access *x, int lane, const Allocation *a, Touched *t)
{
    if (!a || a->freed || !(a->label || a->name))
        return false;
    snprintf(t->name, sizeof t->name, "%.60s", a->label ? a->label : a->name);
    t->offset = (int64_t) (x->address[lane] - a->base);
    t->bytes = x->bytes;
    t->array_bytes = (int64_t) a->bytes;
    t->element = element_of(x, 1);
    return true;
}

/* ---- Words ---- */

static bool put_touched(const Touched *t, char *text, size_t size)
{
    const int64_t first = t->element ? t->offset / t->element : 0;
    const int64_t last = t->element ? first + t->bytes / t->element - 1 : 0;

    if (t->offset > far_outside || t->offset < -far_outside)
        return false;
    if (!t->element || t->offset % t->element)
        snprintf(text, size, "%lld byte%s of `%s` from byte %lld", (long long) t->bytes,
                 plural((uint64_t) t->bytes), t->name, (long long) t->offset);
    else if (t->array_bytes == t->bytes && t->offset == 0 && !t->dynamic)
        snprintf(text, size, "`%s`", t->name);
    else if (first == last)
        snprintf(text, size, "`%s[%lld]`", t->name, (long long) first);
    else
        snprintf(text, size, "`%s[%lld..%lld]`", t->name, (long long) first, (long long) last);
    return true;
}

/* ", but `part` has 256 elements" */
static void put_size(const Touched *t, char *text, size_t size)
{
    const int64_t count = t->element ? t->array_bytes / t->element : 0;

    if (t->dynamic && !t->array_bytes)
        snprintf(text, size,
                 ", but the launch gives the block no dynamic shared memory: its size in bytes is "
                 "the third argument in <<< >>>");
    else if (t->dynamic && t->element && t->array_bytes % t->element == 0)
        snprintf(text, size,
                 ", but `%s` has %lld element%s: the launch gives the block %lld bytes of dynamic "
                 "shared memory",
                 t->name, (long long) count, plural((uint64_t) count), (long long) t->array_bytes);
    else if (t->dynamic)
        snprintf(text, size,
                 ", but the launch gives the block only %lld bytes of dynamic shared memory",
                 (long long) t->array_bytes);
    else if (t->element && t->array_bytes % t->element == 0)
        snprintf(text, size, ", but `%s` has %lld element%s", t->name, (long long) count,
                 plural((uint64_t) count));
    else
        snprintf(text, size, ", but `%s` has %lld bytes", t->name, (long long) t->array_bytes);
}

static bool put_outside(const Touched *t, char *text, size_t size)
{
    size_t length;

    if (!put_touched(t, text, size))
        return false;
    length = strlen(text);
    put_size(t, text + length, size - length);
    return true;
}

bool access_words_element(const Access *x, const char *array, size_t array_bytes, int64_t offset,
                          char *text, size_t size)
{
    Touched t = { .offset = offset,
                  .bytes = x->bytes,
                  .array_bytes = (int64_t) array_bytes,
                  .element = element_of(x, 1) };

    snprintf(t.name, sizeof t.name, "%.60s", array);
    return put_outside(&t, text, size);
}

bool access_words_outside(const Access *x, int lane, char *text, size_t size)
{
    Touched t = { .dynamic = false };
    const bool known = x->space == SPACE_SHARED
                           ? shared_touched(x, lane, &t)
                           : global_touched(x, lane, memory_nearest(x->address[lane]), &t);

    return known && put_outside(&t, text, size);
}

void access_words(const Access *x, int lane, char *text, size_t size)
{
    const Allocation *a = x->space == SPACE_SHARED ? NULL
                          : x->allocation          ? x->allocation
                                                   : x->of[lane];
    Touched t = { .dynamic = false };
    char where[300];

    if (x->space == SPACE_SHARED ? shared_touched(x, lane, &t) : global_touched(x, lane, a, &t))
        if (put_touched(&t, text, size))
            return;
    if (x->space == SPACE_SHARED) {
        snprintf(text, size, "%d byte%s of shared memory at %llu", x->bytes,
                 plural((uint64_t) x->bytes), (unsigned long long) x->address[lane]);
        return;
    }
    memory_describe(x->address[lane], (size_t) x->bytes, where, sizeof where);
    snprintf(text, size, "%d byte%s at 0x%llx, %s", x->bytes, plural((uint64_t) x->bytes),
             (unsigned long long) x->address[lane], where);
}
