/* one_gpu.h - a runner sees the GPU that it is for, and no other. */
#ifndef RUNNER_ONE_GPU_H
#define RUNNER_ONE_GPU_H

/* Of the GPUs that CUDA would show this process, by $CUDA_VISIBLE_DEVICES if that is set, leaves
 * number `device` alone: it is number 0 then, which is returned. To be called before CUDA's first
 * call. If the variable does not list that many, nothing is changed and `device` is returned: CUDA
 * will say that it is not there. */
int see_one_gpu(int device);

#endif
