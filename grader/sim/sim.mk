# sim.mk - the simulated GPU's library, in three links of the same objects; needs the CUDA headers.
#
# $(B)/libcudart-sim.so        for LD_PRELOAD: unversioned, so that it serves programs of any CUDA
# $(B)/sim/libcudart.so.13     for LD_LIBRARY_PATH: the symbols' version must be the program's
# $(B)/sim/libcudart.so.12

sim_o        = $(sim_c:%.c=$(B)/%.pic.o)
sim_libs     = $(B)/libcudart-sim.so $(B)/sim/libcudart.so.12 $(B)/sim/libcudart.so.13
sim_folder  := $(abspath grader/sim/devices)
sim_devices  = $(patsubst grader/sim/devices/%,$(B)/devices/%,$(wildcard grader/sim/devices/*.txt))
# Handlers are loops over 32 lanes: -O3 makes vector code of them. No fast-math: results are IEEE's.
sim_flags    = -O3 -ffp-contract=off -fPIC -fvisibility=hidden -isystem $(CUDA)/include \
               -DSIM_DEVICES='"$(sim_folder)"'
sim_link     = $(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-z,now,-z,defs,-z,nodelete -o $@ $(filter %.o,$^) -ldl -lm -lpthread

$(B)/%.pic.o: %.c
	$(say)
	$(at)mkdir -p $(@D); $(compile) $(sim_flags)

# What runs for each instruction of a warp, and reads what was checked already.
$(patsubst %.c,$(B)/%.pic.o,$(call in,sim/exec sim/check sim/time)): sim_flags += -fno-stack-protector

# Descriptions go with the libraries, which look for them there: a build folder can be moved.
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

# What a guest of the simulated GPU has in its place: calls, passed on to the runner.
guest_sim_o := $(patsubst %.c,$(B)/%.pic.o,$(wildcard grader/sim/guest/*.c) grader/sim/runtime/error_text.c grader/sim/runtime/configuration.c grader/runner/guest_wire.c grader/base/util.c grader/base/number.c)

$(B)/sim/guest/libcudart.so.%: $(guest_sim_o) $(B)/sim/libcudart.so.%.map
	@mkdir -p $(@D)
	$(say)
	$(at)$(sim_link) -Wl,-soname,libcudart.so.$* -Wl,--version-script=$(B)/sim/libcudart.so.$*.map

$(B)/sim/libcudart.so.%.map: grader/sim/sim.mk
	@mkdir -p $(@D)
	@echo 'libcudart.so.$* { global: __cuda*; cuda*; sim[A-Z]*; local: *; };' > $@

.SECONDARY: $(guest_sim_o) $(B)/sim/libcudart.so.12.map $(B)/sim/libcudart.so.13.map

all: $(if $(wildcard $(CUDA)/include/cuda_runtime_api.h),$(sim_libs))

.PHONY: bench-sim
bench-sim: $(B)/libcudart-sim.so
	@tests/sim/bench/bench.sh $(B)

# Real programs, faulty ones, what a process does to the library, the same bytes each time, the occupancy
# of each kernel of the solutions. Needs nvcc.
.PHONY: test-sim
test-sim: $(sim_libs) $(B)/warpbook
	@failed=0; for script in run_programs run_faults run_runtime same_report; do \
	    tests/sim/$$script.sh $(B) || failed=1; done; \
	    tests/sim/occupancy_check.sh $(B) solutions || failed=1; exit $$failed
