# make grade           grade labs/*/kernel.cu            make test      all tests, no GPU needed
# make explain LAB=..  why a kernel takes its time      make help      this text
# make hint LAB=..     hints, your last grading first   make setup     install what tests need (apt)
# make progress        what is done, what is next        make bench     our kernels beside the library's
# make check           prove every lab on this GPU       make clean     remove build/
# make check-cheats    prove that cheats are caught      make figures   measure what lessons quote
# make gradebook       the program for whole courses     make course-kit the students' tree, to hand out
# make validate        modelled time beside this GPU's
#
# LAB=transpose picks one lab (LAB="5 6" two); DEVICE=1 that GPU, DEVICE=sim a simulated one, which is
# also taken where no GPU is usable; B=DIR builds in DIR; FLAGS="--quick" goes to the program:
# make grade FLAGS=--help shows all options.

# What is set up or removed comes before all else, and by a make of its own: this file looks for libraries
# and built files while it is read, so all else is made by a make that reads it afterwards.
first := $(filter setup clean,$(MAKECMDGOALS))
rest  := $(filter-out setup clean,$(MAKECMDGOALS))
ifneq (,$(and $(first),$(word 2,$(MAKECMDGOALS))))

.PHONY: $(MAKECMDGOALS)
$(wordlist 2,$(words $(MAKECMDGOALS)),$(MAKECMDGOALS)): $(firstword $(MAKECMDGOALS))
	@:
$(firstword $(MAKECMDGOALS)):
	@set -e; for goal in $(first) $(if $(rest),"$(rest)"); do $(MAKE) --no-print-directory $$goal; done

else

LAB      ?=
FLAGS    ?=
DEVICE   ?=
device    = $(if $(DEVICE),--device $(DEVICE))
B        ?= build
toolkit  := $(shell . grader/toolkit.sh; echo $$nvcc $$cuda)
NVCC     := $(firstword $(toolkit))
CUDA     := $(word 2,$(toolkit))
CUDA_LIB  = $(firstword $(wildcard $(CUDA)/lib64 $(CUDA)/targets/x86_64-linux/lib $(CUDA)/lib) /usr/lib/x86_64-linux-gnu)
CFLAGS   ?= -O2 -g
warnings := -Wall -Wextra -Wstrict-prototypes -Wno-missing-field-initializers
compile   = $(CC) -std=c11 -D_GNU_SOURCE -ffp-contract=off -MMD -MP -Icommon -Igrader -Itests $(warnings) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<
link      = $(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^)

# gradebook alone needs libarchive, SQLite and cJSON: without them it is left out, and so are its tests.
gradebook_l    := -larchive -lsqlite3 -lcjson
gradebook_here := $(if $(wildcard grader/gradebook),$(shell echo 'int main(void) { return archive_version_number() * sqlite3_libversion_number() == 0 || !cJSON_Version(); }' | $(CC) -include archive.h -include sqlite3.h -include cjson/cJSON.h -x c -o /dev/null - $(gradebook_l) 2>/dev/null && echo yes))
sources  := $(sort $(shell find grader -name '*.c'))
# The simulated GPU, and of that its runtime calls, which need the toolkit's headers.
sim_tool := grader/sim/tool.c grader/sim/list.c
sim_c    := $(filter-out grader/sim/client/% $(sim_tool),$(filter grader/sim/%,$(sources)))
sim_runtime_c := $(filter grader/sim/runtime/%,$(sim_c))
gradebook_c   := $(filter grader/gradebook/%,$(sources))
labs     := $(sort $(patsubst labs/%/lab.c,%,$(wildcard labs/*/lab.c)))
suites_c := $(sort $(shell find tests -name 'test_*.c' $(if $(gradebook_here),,! -name 'test_gradebook*')))
suites   := $(basename $(notdir $(suites_c)))
objects   = $(1:%.c=$(B)/%.o)
fake_o   := $(call objects,tests/runner/fake_misdeeds.c tests/runner/fake_runner.c tests/runner/fake_script.c)
lab_o    := $(call objects,$(labs:%=labs/%/lab.c)) $(B)/registry_table.o
gradebook_o := $(call objects,$(filter-out %/main.c,$(gradebook_c))) $(B)/page_assets.o
serve_c  := grader/runner/server.c grader/runner/handlers.c grader/base/lockdown.c grader/runner/one_gpu.c
caller_c := grader/runner/caller.c grader/runner/guest_wire.c
cuda_c   := grader/runner/main.c grader/runner/hello.c grader/runner/reason.c grader/runner/guest_link.c $(caller_c)
guest_c  := grader/runner/guest.c grader/base/lockdown.c grader/base/confine.c grader/base/random.c grader/base/util.c grader/base/registry.c $(caller_c)
runner_c := $(cuda_c) grader/runner/device_sim.c grader/runner/sim_serve.c grader/runner/limits_sim.c grader/runner/share_cuda.c grader/runner/share_sim.c grader/runner/guest.c $(serve_c)
serve_o  := $(call objects,$(serve_c) grader/base/confine.c grader/base/random.c grader/base/util.c grader/base/registry.c)
grader_o := $(call objects,$(filter-out grader/main.c grader/command_line.c $(runner_c) $(filter-out $(sim_tool),$(filter grader/sim/%,$(sources))) $(gradebook_c),$(sources)) grader/sim/device/device.c grader/sim/binary/elf.c grader/sim/base/limiter.c grader/sim/ptx/module.c grader/sim/exec/shape.c)
sim_plain_o := $(call objects,$(filter-out $(sim_runtime_c),$(sim_c)))
test_o   := $(call objects,tests/main.c $(suites_c)) $(B)/suites.o

# All cores, unless -j says otherwise; and one job more, since some mostly wait.
ifeq (,$(filter -j%,$(MAKEFLAGS)))
MAKEFLAGS += -j$(shell echo $$(($$(nproc 2>/dev/null || echo 2) + 1)))
endif

ifneq (,$(word 2,$(B)))
$(error B, the build folder, may hold no blanks)
endif
ifneq (yes,$(shell mkdir -p $(B) 2>/dev/null && test -w $(B) && echo yes))
$(error cannot write to $(B)/. Build elsewhere, as in: make grade B=$$HOME/warpbook)
endif

.PHONY: all programs help grade explain hint progress check check-cheats figures protocols validate test end-to-end tested-warpbook tested-workbook tested-gradebook tested-simulator unit setup course-kit bench format clean FORCE
all: programs $(if $(gradebook_here),$(B)/gradebook)

# What grading needs: a compiler, make and the CUDA Toolkit.
programs: $(B)/warpbook $(if $(NVCC),$(B)/runner $(B)/guest $(B)/runner-sim $(B)/guest-sim)

grade explain $(if $(wildcard tests/main.c),check): programs
	@WARPBOOK_BUILD=$(B) $(B)/warpbook $@ $(LAB) $(device) $(FLAGS)

hint progress: programs
	@WARPBOOK_BUILD=$(B) $(B)/warpbook $@ $(LAB) $(FLAGS)

check-cheats: programs
	@WARPBOOK_BUILD=$(B) $(B)/warpbook $@ $(LAB) $(device) $(FLAGS)
	@set -e; for script in tests/cheats/*.sh; do WARPBOOK_BUILD=$(B) bash $$script; done

# What lessons quote: measures it, stores it in FIGURES, fills it in. CONTRIBUTING.md has more.
FIGURES  ?= docs/measured
figures: programs
	@WARPBOOK_BUILD=$(B) tests/gpu/figures.sh $(B) $(FIGURES) $(LAB)

# Our protocol's false verdicts beside three others': GRADINGS="100 0" gradings near the bar, elsewhere.
protocols: programs $(B)/protocols_ours $(B)/protocols_foreign
	@WARPBOOK_BUILD=$(B) tests/gpu/protocols/protocols.sh $(GRADINGS)

# Modelled time beside what this GPU takes; without one, beside an H200's stored figures. ROWS=06: those rows.
validate: programs $(if $(NVCC),$(B)/libcudart-sim.so)
	@WARPBOOK_BUILD=$(B) tests/sim/time/on_gpu.sh $(B) $(ROWS)

# ---- Tests: units by CUnit, then the real programs from end to end against a scripted runner ----

ifeq (,$(wildcard tests/main.c))
test check setup gradebook:
	@echo "make $@ needs the whole workbook; this is a student's tree: make grade" >&2; exit 3
else
# Programs that measure time are tested alone; then gradebook's tests, which mostly wait, run beside each
# other and beside the simulator's, which compute, and nicely: what waits has its turn at once.
# One after the other what has a plus between it.
gradebook_tests := gradebook+gradebook_course+reports+large gradebook_slurm+machines
other_tests     := refused $(if $(and $(NVCC),$(gradebook_here)),hostile+class)
in_class        := 4 1,6,7# what class.sh is told: students, labs
simulator_needs := $(if $(NVCC),programs $(B)/libcudart-sim.so $(B)/ratios $(B)/rogue_guest)
testing         := $(filter test,$(MAKECMDGOALS))

test: end-to-end tested-simulator $(other_tests:%=tested-%)

end-to-end: tested-warpbook tested-gradebook

tested-warpbook: unit $(B)/warpbook $(B)/fake_runner $(if $(gradebook_here),$(B)/gradebook $(B)/make_archive) $(if $(testing),$(simulator_needs))
	@tests/end_to_end.sh $(B)

tested-workbook: tested-warpbook
	@tests/workbook.sh

tested-gradebook: $(if $(gradebook_here),$(gradebook_tests:%=tested-%))
	@$(if $(gradebook_here),,echo "gradebook is not tested: libarchive$(comma) SQLite or cJSON is not installed (make setup)")

$(other_tests:%=tested-%): $(simulator_needs)
$(patsubst %,tested-%,$(gradebook_tests) $(other_tests)): tested-%: tested-warpbook $(if $(testing),tested-workbook)
	@set -e; $(foreach test,$(subst +, ,$*),tests/$(test).sh $(B) $(in_$(test));)

tested-simulator: tested-workbook $(simulator_needs)
	@nice tests/sim/time/agree.sh $(B) 07_reduction
	@nice tests/sim/counters/compare.sh $(B)
	@nice tests/sim/merged.sh $(B)
	@nice tests/sim/limits.sh $(B)
	@nice tests/sim/occupancy_check.sh $(B)
	@nice tests/sim/time/compare_test.sh
	@nice tests/runner/guest.sh $(B)
	@nice tests/course_kit.sh $(B)
	@nice tests/judge/two_devices.sh $(B)

unit: $(B)/unit-tests
	@$<

setup:
	@tests/setup.sh
endif

# What students get: without the text of solutions, and without what is the instructor's alone.
# COURSE=course.ini: with its public part; LAB="1 6": these labs; KIT=FILE: there.
KIT      ?= $(B)/warpbook-kit.tar.gz
course-kit: programs
	@grader/course_kit.sh $(B) $(KIT) "$(COURSE)" $(LAB)

bench: $(if $(NVCC),$(patsubst tests/bench/%.cu,$(B)/bench_%,$(wildcard tests/bench/*.cu)))
	@$(if $^,,echo "make bench needs nvcc and an NVIDIA GPU"; exit 3)
	@set -e; for program in $^; do echo; $$program; done

format:
	git ls-files '*.c' '*.h' '*.cu' '*.cuh' | xargs clang-format --dry-run --Werror

clean:
	@test ! -e $(B)/grader || test -e $(B)/registry_table.c || \
	    { echo "$(B)/ does not look like a build folder of Warpbook: not removed"; exit 1; }
	@test ! -e $(B)/registry_table.c || rm -rf $(B)

help:
	@sed -n '1,/^$$/s/^# \{0,1\}//p' Makefile

# ---- Programs ----

$(B)/warpbook: $(B)/grader/main.o $(B)/grader/command_line.o $(grader_o) $(lab_o)
	@echo "  link   $@"; $(link) -lm -lpthread

$(B)/runner: $(call objects,$(cuda_c) grader/runner/share_cuda.c) $(B)/grader/runner/device_cuda.o $(serve_o) $(lab_o)
	@echo "  link   $@"; $(link) -Wl,-z,relro,-z,now -L$(CUDA_LIB) -Wl,-rpath,$(CUDA_LIB) -lcudart -lstdc++ -ldl -lm -lpthread

# What student code is loaded into.
$(B)/guest: $(call objects,$(guest_c) grader/runner/share_cuda.c) $(lab_o)
	@echo "  link   $@"; $(link) -Wl,-z,relro,-z,now -L$(CUDA_LIB) -Wl,-rpath,$(CUDA_LIB) -lcudart -lstdc++ -ldl -lm -lpthread

# The same with the simulated GPU as its CUDA runtime, which a kernel.so then finds there already: by the
# name that this toolkit's has. An old-style rpath, since it must win over $LD_LIBRARY_PATH.
cudart    = $(notdir $(firstword $(sort $(wildcard $(CUDA_LIB)/libcudart.so.1[23])) libcudart.so.13))
$(B)/runner-sim: $(call objects,$(cuda_c) grader/runner/share_sim.c grader/runner/sim_serve.c) $(B)/grader/runner/device_sim.o $(B)/grader/runner/limits_sim.o $(B)/grader/sim/base/limiter.o $(serve_o) $(lab_o) $(B)/sim/$(cudart)
	@echo "  link   $@"; $(link) -Wl,-z,relro,-z,now $(B)/sim/$(cudart) -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/sim' -ldl -lm -lpthread

# Its guest holds student code, and no GPU: a libcudart that passes each call on.
$(B)/guest-sim: $(call objects,$(guest_c) grader/runner/share_sim.c) $(lab_o) $(B)/sim/client/$(cudart)
	@echo "  link   $@"; $(link) -Wl,-z,relro,-z,now $(B)/sim/client/$(cudart) -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/sim/client' -ldl -lm -lpthread

$(B)/rogue_guest: $(call objects,tests/runner/rogue_guest.c grader/runner/guest_wire.c grader/base/util.c)
	@echo "  link   $@"; $(link) -lm

$(B)/fake_runner: $(fake_o) $(serve_o) $(lab_o)
	@echo "  link   $@"; $(link) -lm -lpthread

$(B)/unit-tests: $(test_o) $(sim_plain_o) $(grader_o) $(call objects,$(serve_c)) $(lab_o) $(if $(gradebook_here),$(gradebook_o))
	@echo "  link   $@"; $(link) $(if $(gradebook_here),$(gradebook_l)) -lcunit -lm -lpthread

$(B)/bench_%: tests/bench/%.cu $(wildcard tests/bench/*.h solutions/*/*.cu solutions/*/*/*.cu) $(B)/grader/base/stats.o $(B)/grader/base/util.o
	@echo "  nvcc   $<"; $(NVCC) -O3 -arch=native -DKERNEL='"$(abspath $(lastword $(sort $(wildcard solutions/$*/*.cu)) $(sort $(wildcard solutions/$*/beyond/*.cu))))"' -DREFERENCE='"$(abspath $(lastword $(sort $(wildcard solutions/$*/*.cu))))"' -Icommon -Igrader -Ilabs/$* -o $@ $< $(B)/grader/base/stats.o $(B)/grader/base/util.o -lcublas

$(B)/protocols_ours: $(B)/tests/gpu/protocols/ours.o $(grader_o) $(lab_o)
	@echo "  link   $@"; $(link) -lm -lpthread

$(B)/ratios: $(B)/tests/sim/time/ratios.o $(grader_o) $(lab_o)
	@echo "  link   $@"; $(link) -lm -lpthread

$(B)/protocols_foreign: tests/gpu/protocols/foreign.cu $(wildcard common/*)
	@echo "  nvcc   $<"; $(NVCC) -O3 -arch=native -Icommon -cudart shared -Xlinker -rpath,$(CUDA_LIB) -o $@ $< -ldl

# The runner's own kernels: machine code for the GPUs that are here, PTX for any other (which the driver
# then compiles at each start).
gpus      = $(sort $(subst .,,$(shell nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null)))
sm_here   = $(filter $(patsubst compute_%,%,$(shell $(NVCC) --list-gpu-arch)),$(gpus))
$(B)/grader/runner/device_cuda.o: grader/runner/device_cuda.cu $(wildcard grader/*.h grader/*/*.h common/*.h)
	@mkdir -p $(@D)
	@echo "  nvcc   $<"; $(NVCC) -O3 -Icommon -Igrader -cudart shared -Xcompiler -Wall -gencode arch=compute_75,code=compute_75 $(foreach n,$(sm_here),-gencode arch=compute_$n,code=sm_$n) -c -o $@ $<

$(call objects,$(cuda_c) grader/runner/guest.c grader/runner/share_cuda.c grader/runner/share_sim.c grader/runner/device_sim.c grader/runner/sim_serve.c grader/runner/limits_sim.c): CPPFLAGS += -isystem $(CUDA)/include

-include grader/gradebook/gradebook.mk
include grader/sim/sim.mk
-include tests/fuzz/fuzz.mk

# ---- Tables: a lab, or a test suite, is registered by being there ----

# entry_NAME: the variable of a lab's folder: 06_transpose -> lab_transpose.
variable = lab_$(shell echo $(1) | sed 's/^[0-9]*_//')

$(B)/registry_table.c: FORCE
	$(call table,#include "base/registry.h",$(foreach l,$(labs),extern const Lab $(call variable,$(l));),\
	const LabEntry all_labs[] = {,$(foreach l,$(labs),{ "$(l)"$(comma) &$(call variable,$(l)) }$(comma)) { 0 })

$(B)/suites.c: FORCE
	$(call table,#include <CUnit/CUnit.h>,$(suites:%=extern CU_SuiteInfo %;),\
	extern CU_SuiteInfo *const all_suites[]; CU_SuiteInfo *const all_suites[] = {,$(suites:%=&%$(comma)) 0)

# table: include, declarations, head, entries. Written only if it changed.
comma := ,
define table
@printf '%s\n' '$(1)' '$(2)' '$(strip $(3))' '$(4)' '};' > $@.new
@cmp -s $@.new $@ && rm $@.new || mv $@.new $@
endef

$(B)/%.o: $(B)/%.c
	@$(compile)

$(B)/%.o: %.c
	@mkdir -p $(@D)
	@echo "  cc     $<"; $(compile)

-include $(shell find $(B) -name '*.d' 2>/dev/null)

endif
