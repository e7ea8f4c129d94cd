/* batch.c - several copies or prefetches by one call.
 *
 * A batch is checked as a whole before any part of it is issued. Attributes apply to the parts from
 * one index to the next one. Copies of a batch read the host's memory when they are executed,
 * unless the program wants it read during the call.
 */
#include "sim/runtime/array.h"
#include "sim/runtime/graph.h"
#include "sim/runtime/hint.h"
#include "sim/runtime/program.h"

#include <stdlib.h>

#if CUDART_VERSION >= 13000

/* The first part to which each of the attributes applies. */
typedef struct Groups {
    const size_t *first;
    size_t count;
} Groups;

static bool are_groups(Groups groups, size_t parts)
{
    if (!parts || !groups.count || groups.count > parts || !groups.first || groups.first[0])
        return false;
    for (size_t i = 1; i < groups.count; i++)
        if (groups.first[i] <= groups.first[i - 1] || groups.first[i] >= parts)
            return false;
    return true;
}

/* The group of the next part, from the group of the one before. */
static size_t group_of(Groups groups, size_t part, size_t group)
{
    return group + 1 < groups.count && groups.first[group + 1] == part ? group + 1 : group;
}

/* ---- Copies ---- */

typedef struct Batch {
    void *const *to;
    const void *const *from;
    const size_t *bytes;
    size_t count;
    const struct cudaMemcpyAttributes *attributes;
    Groups groups;
    size_t failed; /* the part that is invalid; SIZE_MAX: none, or all */
} Batch;

static bool are_attributes(const struct cudaMemcpyAttributes *attributes)
{
    return (unsigned) attributes->srcAccessOrder - cudaMemcpySrcAccessOrderStream <=
               cudaMemcpySrcAccessOrderAny - cudaMemcpySrcAccessOrderStream &&
           attributes->flags <= cudaMemcpyFlagPreferOverlapWithCompute;
}

static cudaError_t make_copy(const Batch *batch, size_t i, enum cudaMemcpySrcAccessOrder order,
                             Work **work)
{
    const CopyCall copy = { .call = "cudaMemcpyBatchAsync",
                            .to = batch->to[i],
                            .from = batch->from[i],
                            .to_pitch = batch->bytes[i],
                            .from_pitch = batch->bytes[i],
                            .width = batch->bytes[i],
                            .height = 1,
                            .depth = 1,
                            .kind = cudaMemcpyDefault };
    cudaError_t error = copy_work(&copy, work);

    if (error || order != cudaMemcpySrcAccessOrderDuringApiCall || (*work)->copy.from_device)
        return error;
    error = copy_stage(&(*work)->copy);
    if (error)
        work_free(*work);
    return error;
}

static void free_list(Work *first)
{
    while (first) {
        Work *work = first;
        first = work->next;
        work_free(work);
    }
}

static cudaError_t make_part(const Batch *batch, size_t i, size_t group, Work **work)
{
    const struct cudaMemcpyAttributes *attributes = &batch->attributes[group];

    if (!are_attributes(attributes))
        return cudaErrorInvalidValue;
    return batch->bytes[i] ? make_copy(batch, i, attributes->srcAccessOrder, work) : cudaSuccess;
}

/* The works of all parts, in a list; none after an error. */
static cudaError_t make_copies(Batch *batch, Work **first)
{
    size_t group = 0;
    Work **end = first;

    *first = NULL;
    for (size_t i = 0; i < batch->count; i++) {
        group = group_of(batch->groups, i, group);
        const cudaError_t error = make_part(batch, i, group, end);
        if (error) {
            *end = NULL;
            free_list(*first);
            batch->failed = i;
            return error;
        }
        end = *end ? &(*end)->next : end;
    }
    return cudaSuccess;
}

static cudaError_t issue_all(Stream *stream, Work *first)
{
    cudaError_t error = cudaSuccess;

    while (first && !error) {
        Work *work = first;
        first = work->next;
        work->next = NULL;
        error = issue(stream, work);
    }
    free_list(first);
    return error;
}

/* The default stream that others wait for takes no batches. */
static cudaError_t check_stream(const Stream *stream)
{
    return !stream              ? cudaErrorInvalidResourceHandle
           : stream->is_default ? cudaErrorInvalidValue
                                : cudaSuccess;
}

static cudaError_t copy_batch(Stream *stream, Batch *batch)
{
    Work *first;
    cudaError_t error = check_stream(stream);

    batch->failed = SIZE_MAX;
    if (error)
        return error;
    if (!batch->to || !batch->from || !batch->bytes || !batch->attributes ||
        !are_groups(batch->groups, batch->count))
        return cudaErrorInvalidValue;
    if (stream->capture)
        return cudaErrorStreamCaptureUnsupported;
    error = make_copies(batch, &first);
    return error ? error : issue_all(stream, first);
}

/* CUDA 12 has a place for the index of an invalid copy in front of the stream. */
static cudaError_t copy_batch_of_12(Batch *batch, size_t *failed, cudaStream_t stream,
                                    bool per_thread)
{
    const cudaError_t error = copy_batch(stream_of(stream, per_thread), batch);

    if (failed)
        *failed = batch->failed;
    return error;
}

#define COPY_BATCH(name, symbol, per_thread)                                                       \
    API cudaError_t name(void *const *to, const void *const *from, const size_t *bytes,            \
                         size_t count, const struct cudaMemcpyAttributes *attributes,              \
                         const size_t *first, size_t groups, void *stream_or_failed,               \
                         cudaStream_t stream_of_12) __asm__(symbol);                               \
    API cudaError_t name(void *const *to, const void *const *from, const size_t *bytes,            \
                         size_t count, const struct cudaMemcpyAttributes *attributes,              \
                         const size_t *first, size_t groups, void *stream_or_failed,               \
                         cudaStream_t stream_of_12)                                                \
    {                                                                                              \
        Batch batch = { to, from, bytes, count, attributes, { first, groups }, 0 };                \
        return is_program_of_12()                                                                  \
                   ? CALL(copy_batch_of_12(&batch, stream_or_failed, stream_of_12, per_thread))    \
                   : CALL(copy_batch(stream_of(stream_or_failed, per_thread), &batch));            \
    }
COPY_BATCH(copy_batch_of_any, "cudaMemcpyBatchAsync", false)
COPY_BATCH(copy_batch_of_thread, "cudaMemcpyBatchAsync_ptsz", true)
#undef COPY_BATCH

/* ---- Prefetches ---- */

typedef cudaError_t Prefetch(Stream *stream, const void *pointer, size_t bytes,
                             struct cudaMemLocation where);

static cudaError_t prefetch_each(Stream *stream, Prefetch *prefetch, void *const *at,
                                 const size_t *bytes, size_t count,
                                 const struct cudaMemLocation *where, Groups groups)
{
    size_t group = 0;
    cudaError_t error = cudaSuccess;

    for (size_t i = 0; i < count && !error; i++) {
        group = group_of(groups, i, group);
        error = prefetch(stream, at[i], bytes[i], where[group]);
    }
    return error;
}

static cudaError_t prefetch_batch(Stream *stream, void *const *at, const size_t *bytes,
                                  size_t count, const struct cudaMemLocation *where, Groups groups,
                                  unsigned long long flags)
{
    cudaError_t error = check_stream(stream);

    if (error)
        return error;
    if (flags || !at || !bytes || !where || !are_groups(groups, count))
        return cudaErrorInvalidValue;
    error = prefetch_each(stream, hint_check_prefetch, at, bytes, count, where, groups);
    if (error == cudaErrorInvalidDevice) /* as an H200's driver says */
        return cudaErrorInvalidValue;
    return error ? error : prefetch_each(stream, hint_prefetch_to, at, bytes, count, where, groups);
}

STREAM_CALL(cudaMemPrefetchBatchAsync, per_thread,
            (void **at, size_t *bytes, size_t count, struct cudaMemLocation *where, size_t *first,
             size_t groups, unsigned long long flags, cudaStream_t stream),
            prefetch_batch(stream_of(stream, per_thread), at, bytes, count, where,
                           (Groups){ first, groups }, flags))

#endif
