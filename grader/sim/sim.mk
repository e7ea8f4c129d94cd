# sim.mk - the simulated GPU's library, linked three times from the same objects; needs the CUDA headers.
#
# $(B)/libcudart-sim.so        for LD_PRELOAD: unversioned, so that it works with programs of any CUDA version
# $(B)/sim/libcudart.so.13     for LD_LIBRARY_PATH: the symbol version must match the program's
# $(B)/sim/libcudart.so.12
# $(B)/sim/libcuda.so.1          the driver's calls, which the libraries above simulate

sim_base_c  := $(addprefix grader/base/,annotation.c escape.c number.c sarif.c util.c)# findings for other programs; text and files
sim_o        = $(patsubst %.c,$(B)/%.pic.o,$(sim_c) $(sim_base_c))
sim_libs     = $(B)/libcudart-sim.so $(B)/sim/libcudart.so.12 $(B)/sim/libcudart.so.13 $(B)/sim/libcuda.so.1
sim_folder  := $(abspath grader/sim/devices)
sim_devices  = $(patsubst grader/sim/devices/%,$(B)/devices/%,$(wildcard grader/sim/devices/*.txt))
# Handlers are loops over 32 lanes, which -O3 vectorises. No fast-math: results must follow IEEE 754.
sim_flags    = -O3 -ffp-contract=off -fPIC -fvisibility=hidden -isystem $(CUDA)/include \
               -DSIM_DEVICES='"$(sim_folder)"'
sim_link     = $(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-z,now,-z,defs,-z,nodelete,-Bsymbolic-functions -o $@ $(filter %.o,$^) -ldl -lm -lpthread

$(B)/%.pic.o: %.c
	$(say)
	$(at)mkdir -p $(@D); $(compile) $(sim_flags)

# This code runs for each instruction of a warp, on data that has been checked already.
$(patsubst %.c,$(B)/%.pic.o,$(call in,sim/exec sim/check sim/time)): sim_flags += -fno-stack-protector

# The libraries look for descriptions in their own folder, so that a build folder can be moved.
$(B)/devices/%.txt: grader/sim/devices/%.txt
	@mkdir -p $(@D)
	@cp $< $@

$(B)/warpbook: | $(sim_devices)

$(B)/libcudart-sim.so: $(sim_o) grader/sim/runtime/preload.map $(sim_devices)
	$(say)
	$(at)$(sim_link) -Wl,--version-script=grader/sim/runtime/preload.map

$(B)/sim/libcudart.so.%: $(sim_o) $(B)/sim/libcudart.so.%.map $(sim_devices)
	$(say)
	$(at)$(sim_link) -Wl,-soname,libcudart.so.$* -Wl,--version-script=$(B)/sim/libcudart.so.$*.map

$(B)/sim/forward.S: $(B)/libcudart-sim.so grader/sim/forward/forward.sh
	@mkdir -p $(@D)
	@grader/sim/forward/forward.sh $< > $@

$(B)/sim/libcuda.so.1: $(B)/sim/forward.S $(B)/grader/sim/forward/forward.pic.o
	$(say)
	$(at)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-z,now,-z,defs,-z,nodelete,-soname,libcuda.so.1 -o $@ $^ -ldl

# A small cuBLAS, on kernels of our own. Its version is the toolkit's, whose header declares the calls.
cublas_major := $(if $(NVCC),$(shell sed -n 's/^\#define CUBLAS_VER_MAJOR \([0-9]*\).*/\1/p' $(CUDA)/include/cublas_api.h 2> /dev/null))
cublas       := $(if $(cublas_major),$(B)/sim/libcublas.so.$(cublas_major))
cublas_archs := -gencode arch=compute_75,code=[sm_75,compute_75] -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90

$(B)/grader/sim/cublas/cublas.o: grader/sim/cublas/cublas.cu grader/sim/cublas/kernels.cuh
	$(say)
	$(at)mkdir -p $(@D); $(NVCC) -O3 -lineinfo -std=c++17 --no-compress -cudart shared -Xcompiler -fPIC,-fvisibility=hidden $(cublas_archs) -c -o $@ $<

$(B)/sim/libcublas.so.%: $(B)/grader/sim/cublas/cublas.o $(B)/grader/sim/cublas/stubs.pic.o
	@mkdir -p $(@D)
	$(say)
	@echo 'libcublas.so.$* { global: cublas*; local: *; };' > $(@:%=%.map)
	$(at)$(NVCC) -cudart shared -shared -Xlinker -soname=libcublas.so.$* -Xlinker --version-script=$(@:%=%.map) -o $@ $^

# A guest of the simulated GPU links this library instead. It passes each call to the runner.
guest_sim_o := $(patsubst %.c,$(B)/%.pic.o,$(wildcard grader/sim/guest/*.c) grader/sim/runtime/error_text.c grader/sim/runtime/configuration.c grader/runner/guest_wire.c grader/base/util.c grader/base/number.c)

$(B)/sim/guest/libcudart.so.%: $(guest_sim_o) $(B)/sim/libcudart.so.%.map
	@mkdir -p $(@D)
	$(say)
	$(at)$(sim_link) -Wl,-soname,libcudart.so.$* -Wl,--version-script=$(B)/sim/libcudart.so.$*.map

$(B)/sim/libcudart.so.%.map: grader/sim/sim.mk
	@mkdir -p $(@D)
	@echo 'libcudart.so.$* { global: __cuda*; cuda*; cu[A-Z]*; sim[A-Z]*; local: *; };' > $@

.SECONDARY: $(guest_sim_o) $(B)/sim/libcudart.so.12.map $(B)/sim/libcudart.so.13.map

all: $(if $(wildcard $(CUDA)/include/cuda_runtime_api.h),$(sim_libs)) $(cublas)

# With BEFORE=LIBRARY, the library of another build: both side by side, on six ordinary kernels.
.PHONY: bench-sim
bench-sim: $(B)/libcudart-sim.so
	@$(if $(BEFORE),tests/sim/bench/compare.sh $(B) $(BEFORE),tests/sim/bench/bench.sh $(B))

# Runs real and faulty programs, tests the library within a process, checks that reports are
# reproducible, and checks the occupancy of each kernel of the solutions. Needs nvcc.
.PHONY: test-sim
test-sim: $(sim_libs) $(cublas) $(B)/warpbook
	@failed=0; for script in run_programs run_faults run_runtime same_report; do \
	    tests/sim/$$script.sh $(B) || failed=1; done; \
	    tests/sim/occupancy_check.sh $(B) solutions || failed=1; exit $$failed
