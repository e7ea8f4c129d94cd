# runner.mk - the programs that run kernels, on a GPU and on the simulated one. All need the CUDA headers.

serve_o   := $(call objects,$(addprefix grader/runner/,server.c handlers.c one_gpu.c) \
             $(addprefix grader/base/,lockdown.c confine.c random.c util.c number.c options.c registry.c))
child_o   := $(call objects,$(addprefix grader/runner/,main.c hello.c reason.c guest_link.c caller.c guest_wire.c)) $(serve_o) $(lab_o)
guest_o   := $(call objects,$(addprefix grader/runner/,guest.c caller.c guest_wire.c)) \
             $(call objects,$(addprefix grader/base/,lockdown.c confine.c random.c util.c number.c registry.c)) $(lab_o)
cuda_l := -L$(CUDA_LIB) -Wl,-rpath,$(CUDA_LIB) -lcudart -lstdc++ -ldl -lm -lpthread

# The process that owns the GPU, and the process that student code is loaded into.
$(B)/runner: $(child_o) $(call objects,grader/runner/share_cuda.c) $(B)/grader/runner/device_cuda.o
	$(say)
	$(at)$(link) $(cuda_l)

$(B)/guest: $(guest_o) $(call objects,grader/runner/share_cuda.c)
	$(say)
	$(at)$(link) $(cuda_l)

# One call of a kernel for a profiler (make profile).
$(B)/profiled: $(call objects,$(addprefix grader/,runner/profiled.c base/registry.c base/util.c base/number.c)) $(lab_o)
	$(say)
	$(at)$(link) $(cuda_l) -Wl,-rpath,'$$ORIGIN'

# What it records traces with. Only this needs CUPTI, which some toolkits lack.
$(B)/libgpu-trace.so: $(addprefix grader/,runner/gpu_trace.c runner/gpu_trace_json.c base/escape.c) grader/runner/gpu_trace.h
	$(say)
	$(at)$(CC) -std=c11 -D_GNU_SOURCE -fPIC -shared -Icommon -Igrader -isystem $(CUDA)/include -isystem $(CUPTI)/include $(warnings) $(CFLAGS) -o $@ \
	    $(filter %.c,$^) -L$(CUPTI)/lib64 -L$(CUDA_LIB) -Wl,-rpath,$(CUPTI)/lib64 -Wl,-rpath,$(CUDA_LIB) -lcupti -lpthread

# The same with the simulated GPU as its CUDA runtime. It has the name of this toolkit's runtime, so a kernel.so
# finds it already loaded. An old-style rpath is used because it must take precedence over $LD_LIBRARY_PATH. The
# guest has no GPU: its libcudart passes each call on.
sim_l = -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/$(1)' -ldl -lm -lpthread
$(B)/runner-sim: $(child_o) $(call objects,$(addprefix grader/runner/,share_sim.c sim_serve.c device_sim.c limits_sim.c) grader/sim/base/limiter.c) $(B)/sim/$(CUDART)
	$(say)
	$(at)$(link) $(call sim_l,sim)

$(B)/guest-sim: $(guest_o) $(call objects,grader/runner/share_sim.c) $(B)/sim/guest/$(CUDART)
	$(say)
	$(at)$(link) $(call sim_l,sim/guest)

# The runner's own kernels: machine code for the GPUs of this machine, and PTX for any other (which the driver
# then compiles at each start).
$(B)/grader/runner/device_cuda.o: grader/runner/device_cuda.cu $(wildcard grader/*/*.h common/*.h)
	$(say)
	$(at)mkdir -p $(@D); $(NVCC) -O3 -Icommon -Igrader -cudart shared -Xcompiler -Wall -gencode arch=compute_75,code=compute_75 $(foreach n,$(SM_HERE),-gencode arch=compute_$n,code=sm_$n) -c -o $@ $<

$(call objects,$(call in,runner)): CPPFLAGS += -isystem $(CUDA)/include
