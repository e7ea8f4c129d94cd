/* one_gpu.h - limits a runner to the one GPU that it is for. */
#ifndef RUNNER_ONE_GPU_H
#define RUNNER_ONE_GPU_H

/* Makes GPU number `device` the only visible one, out of those that CUDA would show this process
 * ($CUDA_VISIBLE_DEVICES, if set). It is then number 0, which is returned. Call this before the
 * first CUDA call. If the variable does not list that many GPUs, nothing changes and `device` is
 * returned; CUDA will report that it does not exist. */
int see_one_gpu(int device);

#endif
