# tests.mk - what tests are made of, and what measures: tests/run.sh says which run when.

.PHONY: setup test test-rest test-validation test-all unit test-threads figures protocols validate validate-blind validate-flows bench format test-programs

setup:
	@$(if $(MAKE_RESTARTS),:,tests/setup.sh)

# Units, the real programs end to end against a scripted GPU, each lab's reference and starter on the
# simulated one: minutes. test-rest: all else that needs no GPU and is no validation of the simulated GPU;
# test-validation: that; test-all: all three.
test test-rest test-validation test-all: test-programs
	@tests/run.sh $@ $(B)

unit: $(B)/unit-tests
	@$<

# The threads that model time, by the thread sanitizer. It needs fixed addresses, and no function of which
# the loader chooses a version.
test-threads:
	@$(MAKE) B=$(B)/threads CFLAGS="-O1 -g -fsanitize=thread '-Dtarget_clones(...)=unused'" $(B)/threads/unit-tests
	@setarch -R $(B)/threads/unit-tests test_sim_time_threads
	@setarch -R $(B)/threads/unit-tests test_sim_time_crew
	@setarch -R $(B)/threads/unit-tests test_sim_ahead
	@setarch -R $(B)/threads/unit-tests test_sim_time_repeats

test-programs: all $(B)/unit-tests $(B)/fake_runner $(if $(GRADEBOOK),$(B)/make_archive) $(if $(NVCC),$(B)/ratios $(B)/whatif $(B)/draw_compare $(B)/rogue_guest $(B)/libcudart-sim.so)
	@$(if $(MAKE_TERMOUT),printf '\033[K',:)

# What lessons quote: measures it, stores it in FIGURES, fills it in. CONTRIBUTING.md has more.
FIGURES ?= docs/measured
figures: programs
	@WARPBOOK_BUILD=$(B) tests/gpu/figures.sh $(B) $(FIGURES) $(LAB)

# Our protocol's false verdicts beside three others': GRADINGS="100 0" gradings near the bar, elsewhere.
protocols: programs $(B)/protocols_ours $(B)/protocols_foreign
	@WARPBOOK_BUILD=$(B) tests/gpu/protocols/protocols.sh $(GRADINGS)

# Modelled time beside what this GPU takes; without one, beside an H200's stored figures. ROWS=06: those rows.
validate: programs $(if $(NVCC),$(B)/libcudart-sim.so)
	@WARPBOOK_BUILD=$(B) tests/sim/time/on_gpu.sh $(B) $(ROWS)

# The same for kernels to which the model was never fitted; SEALED=1: also the sealed ones. NAMES="saxpy ...": only these.
validate-blind: programs $(if $(NVCC),$(B)/libcudart-sim.so)
	@tests/sim/blind/compare.sh $(if $(SEALED),--sealed) $(B) $(NAMES)

# Instructions and threads per instruction of small kernels with control flow of all kinds. NAMES="collatz_steps ...": only these.
validate-flows: programs $(if $(NVCC),$(B)/libcudart-sim.so)
	@tests/sim/flows/compare.sh $(B) $(NAMES)

# Of all labs, or of LAB="6 sgemm 14_tuning". Their names are only looked up if this is what was asked for.
benches   := $(patsubst tests/bench/%.cu,%,$(wildcard tests/bench/*.cu))
benches_of = $(or $(filter $1 $1_% 0$1_% %_$1,$(benches)),$(error make bench: no lab $1 in tests/bench. There are: $(benches)))
benched   := $(if $(filter bench,$(goals)),$(if $(LAB),$(foreach lab,$(LAB),$(call benches_of,$(lab))),$(benches)))
bench: $(if $(NVCC),$(benched:%=$(B)/bench_%))
	@$(if $^,,echo "make bench needs nvcc and an NVIDIA GPU"; exit 3)
	@set -e; for program in $^; do echo; $$program; done

format:
	git ls-files '*.c' '*.h' '*.cu' '*.cuh' | xargs clang-format --dry-run --Werror

# ---- Programs ----

suites_c := $(sort $(shell find tests -name 'test_*.c' $(if $(GRADEBOOK),,! -name 'test_gradebook*')))
suites   := $(basename $(notdir $(suites_c)))

$(B)/suites.c: grader/registry.sh FORCE
	@$(call table,suites $(suites))

$(B)/unit-tests: $(call objects,tests/main.c $(suites_c) grader/runner/gpu_trace_json.c) $(B)/suites.o $(sim_plain_o) $(grader_o) $(serve_o) $(lab_o) $(if $(GRADEBOOK),$(gradebook_o))
	$(say)
	$(at)$(link) $(if $(GRADEBOOK),$(gradebook_l)) -lcunit -lm -lpthread

$(B)/fake_runner: $(call objects,$(addprefix tests/runner/,fake_misdeeds.c fake_runner.c fake_script.c)) $(serve_o) $(lab_o)
	$(say)
	$(at)$(link) -lm -lpthread

$(B)/rogue_guest: $(call objects,tests/runner/rogue_guest.c grader/runner/guest_wire.c grader/base/util.c grader/base/number.c)
	$(say)
	$(at)$(link) -lm

$(B)/protocols_ours: $(B)/tests/gpu/protocols/ours.o $(grader_o) $(lab_o)
	$(say)
	$(at)$(link) -lm -lpthread

$(B)/ratios $(B)/whatif: $(B)/%: $(B)/tests/sim/time/%.o $(grader_o) $(lab_o)
	$(say)
	$(at)$(link) -lm -lpthread

$(B)/draw_compare: $(B)/tests/draw/compare.o $(grader_o) $(lab_o)
	$(say)
	$(at)$(link) -lm -lpthread

$(B)/protocols_foreign: tests/gpu/protocols/foreign.cu $(wildcard common/*)
	$(say)
	$(at)$(NVCC) -O3 -arch=native -Icommon -cudart shared -Xlinker -rpath,$(CUDA_LIB) -o $@ $< -ldl

bench_o := $(call objects,grader/base/stats.c grader/base/util.c grader/base/number.c)
$(B)/bench_%: tests/bench/%.cu $(wildcard tests/bench/*.h labs/*/*.cu solutions/*/*.cu solutions/*/*/*.cu) $(bench_o)
	$(say)
	$(at)$(NVCC) -O3 -arch=native -DKERNEL='"$(abspath $(lastword $(sort $(wildcard solutions/$*/*.cu)) $(sort $(wildcard solutions/$*/beyond/*.cu))))"' -DREFERENCE='"$(abspath $(lastword $(sort $(wildcard solutions/$*/*.cu))))"' -Icommon -Igrader -Ilabs/$* -o $@ $< $(bench_o) -lcublas
