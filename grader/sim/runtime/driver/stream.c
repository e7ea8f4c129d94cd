/* stream.c - streams, events, and captures into graphs. */
#include "sim/runtime/driver/driver.h"

/* ---- Streams ---- */

DRIVER_CALL(cuStreamCreate, (CUstream * stream, unsigned flags),
            cudaStreamCreateWithFlags(stream, flags))
DRIVER_CALL(cuStreamCreateWithPriority, (CUstream * stream, unsigned flags, int priority),
            cudaStreamCreateWithPriority(stream, flags, priority))
DRIVER_CALL(cuStreamDestroy_v2, (CUstream stream), cudaStreamDestroy(stream))
DRIVER_STREAM_CALL(cuStreamSynchronize, (CUstream stream), stream, on, cudaStreamSynchronize(on))
DRIVER_STREAM_CALL(cuStreamQuery, (CUstream stream), stream, on, cudaStreamQuery(on))
DRIVER_STREAM_CALL(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags), stream, on,
                   cudaStreamWaitEvent(on, event, flags))
DRIVER_STREAM_CALL(cuStreamAddCallback,
                   (CUstream stream, CUstreamCallback callback, void *data, unsigned flags), stream,
                   on, cudaStreamAddCallback(on, (cudaStreamCallback_t) callback, data, flags))
DRIVER_STREAM_CALL(cuStreamGetPriority, (CUstream stream, int *priority), stream, on,
                   cudaStreamGetPriority(on, priority))
DRIVER_STREAM_CALL(cuStreamGetFlags, (CUstream stream, unsigned *flags), stream, on,
                   cudaStreamGetFlags(on, flags))
DRIVER_STREAM_CALL(cuStreamGetId, (CUstream stream, unsigned long long *id), stream, on,
                   cudaStreamGetId(on, id))
DRIVER_STREAM_CALL(cuStreamAttachMemAsync,
                   (CUstream stream, CUdeviceptr memory, size_t bytes, unsigned flags), stream, on,
                   cudaStreamAttachMemAsync(on, pointer_of(memory), bytes, flags))

static CUresult stream_context(CUstream stream, CUcontext *context)
{
    unsigned flags;

    if (!context || cudaStreamGetFlags(stream, &flags))
        return context ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
    return cuCtxGetCurrent(context);
}

DRIVER_STREAM_CALL(cuStreamGetCtx, (CUstream stream, CUcontext *context), stream, on,
                   stream_context(on, context))

/* ---- Events ---- */

DRIVER_CALL(cuEventCreate, (CUevent * event, unsigned flags),
            cudaEventCreateWithFlags(event, flags))
DRIVER_CALL(cuEventDestroy_v2, (CUevent event), cudaEventDestroy(event))
DRIVER_CALL(cuEventQuery, (CUevent event), cudaEventQuery(event))
DRIVER_CALL(cuEventSynchronize, (CUevent event), cudaEventSynchronize(event))
DRIVER_STREAM_CALL(cuEventRecord, (CUevent event, CUstream stream), stream, on,
                   cudaEventRecord(event, on))
DRIVER_STREAM_CALL(cuEventRecordWithFlags, (CUevent event, CUstream stream, unsigned flags), stream,
                   on, cudaEventRecordWithFlags(event, on, flags))
#undef cuEventElapsedTime /* CUDA 13's header names it _v2 */
DRIVER_CALL(cuEventElapsedTime, (float *ms, CUevent start, CUevent end),
            cudaEventElapsedTime(ms, start, end))
DRIVER_CALL(cuEventElapsedTime_v2, (float *ms, CUevent start, CUevent end),
            cudaEventElapsedTime(ms, start, end))

/* ---- Captures ---- */

DRIVER_STREAM_CALL(cuStreamBeginCapture_v2, (CUstream stream, CUstreamCaptureMode mode), stream, on,
                   cudaStreamBeginCapture(on, (enum cudaStreamCaptureMode) mode))
DRIVER_STREAM_CALL(cuStreamEndCapture, (CUstream stream, CUgraph *graph), stream, on,
                   cudaStreamEndCapture(on, graph))
DRIVER_STREAM_CALL(cuStreamIsCapturing, (CUstream stream, CUstreamCaptureStatus *status), stream,
                   on, cudaStreamIsCapturing(on, (enum cudaStreamCaptureStatus *) status))
DRIVER_CALL(cuGraphCreate, (CUgraph * graph, unsigned flags), cudaGraphCreate(graph, flags))
DRIVER_CALL(cuGraphInstantiateWithFlags,
            (CUgraphExec * exec, CUgraph graph, unsigned long long flags),
            cudaGraphInstantiateWithFlags(exec, graph, flags))
DRIVER_STREAM_CALL(cuGraphLaunch, (CUgraphExec exec, CUstream stream), stream, on,
                   cudaGraphLaunch(exec, on))
DRIVER_STREAM_CALL(cuGraphUpload, (CUgraphExec exec, CUstream stream), stream, on,
                   cudaGraphUpload(exec, on))
DRIVER_CALL(cuGraphExecDestroy, (CUgraphExec exec), cudaGraphExecDestroy(exec))
DRIVER_CALL(cuGraphDestroy, (CUgraph graph), cudaGraphDestroy(graph))
DRIVER_CALL(cuGraphClone, (CUgraph * clone, CUgraph graph), cudaGraphClone(clone, graph))
DRIVER_CALL(cuGraphGetNodes, (CUgraph graph, CUgraphNode *nodes, size_t *count),
            cudaGraphGetNodes(graph, nodes, count))
