# fuzz.mk - any bytes for what reads a program's code: `make fuzz`, with libFuzzer (Debian: clang), all under
# the sanitizers for memory and undefined behaviour.
#
#     make fuzz [FUZZ="ptx fatbin launch"] [SECONDS=60] [EXECUTIONS=1000000]   SECONDS=0: no limit
#     make fuzz-corpus            what was found, minimised, becomes tests/fuzz/corpus
#     make fuzz-check             runs the corpus, and a few mutations, without libFuzzer: by gcc
#
# What is new goes to $(B)/fuzz/corpus; an input that fails, to $(B)/fuzz.

FUZZ       ?= fatbin ptx launch
SECONDS    ?= 60
EXECUTIONS ?= -1
FUZZ_CC    ?= clang

fuzz_flags      = -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all
fuzz_c_fatbin  := tests/fuzz/fuzz_fatbin.c
fuzz_c_ptx     := tests/fuzz/fuzz_ptx.c tests/fuzz/ptx_mutate.c
fuzz_c_launch  := tests/fuzz/fuzz_launch.c tests/fuzz/ptx_mutate.c
fuzz_sim_c     := $(filter-out $(sim_runtime_c),$(sim_c))
fuzz_o          = $(addprefix $(B)/fuzz/$(1)/,$(patsubst %.c,%.o,$(2) $(fuzz_sim_c)))
# A fat binary's text may be 64 KiB of repeated bytes in a few: -max_len bounds the rest.
fuzz_most_fatbin := 8192
fuzz_most_ptx    := 6144
fuzz_most_launch := 6144
fuzz_run         = -max_len=$(fuzz_most_$(1)) -timeout=20 -rss_limit_mb=3000 -artifact_prefix=$(B)/fuzz/$(1)-

.PHONY: fuzz fuzz-corpus fuzz-check
.SECONDARY: $(foreach f,fatbin ptx launch,$(call fuzz_o,clang,$(fuzz_c_$f)) $(call fuzz_o,cc,$(fuzz_c_$f) tests/fuzz/standalone.c))
fuzz: $(FUZZ:%=$(B)/fuzz/fuzz_%)
	@set -e; $(foreach f,$(FUZZ),mkdir -p $(B)/fuzz/corpus/$f; echo "== $f"; $(B)/fuzz/fuzz_$f $(call fuzz_run,$f) \
	    -max_total_time=$(SECONDS) -runs=$(EXECUTIONS) -print_final_stats=1 $(B)/fuzz/corpus/$f tests/fuzz/corpus/$f;)

fuzz-corpus: $(FUZZ:%=$(B)/fuzz/fuzz_%)
	@set -e; $(foreach f,$(FUZZ),rm -rf $(B)/fuzz/least; mkdir -p $(B)/fuzz/least $(B)/fuzz/corpus/$f; \
	    $(B)/fuzz/fuzz_$f $(call fuzz_run,$f) -merge=1 -use_counters=0 $(B)/fuzz/least tests/fuzz/corpus/$f $(B)/fuzz/corpus/$f; \
	    rm -rf tests/fuzz/corpus/$f; mv $(B)/fuzz/least tests/fuzz/corpus/$f;)

fuzz-check: $(FUZZ:%=$(B)/fuzz/check_%)
	@set -e; $(foreach f,$(FUZZ),$(B)/fuzz/check_$f 20000 1 tests/fuzz/corpus/$f/*;)

.SECONDEXPANSION:
$(B)/fuzz/fuzz_%: $$(call fuzz_o,clang,$$(fuzz_c_$$*))
	$(say)
	$(at)$(FUZZ_CC) $(fuzz_flags) -fsanitize=fuzzer -o $@ $^ -ldl -lm -lpthread

$(B)/fuzz/check_%: $$(call fuzz_o,cc,$$(fuzz_c_$$*) tests/fuzz/standalone.c)
	$(say)
	$(at)$(CC) $(fuzz_flags) -o $@ $^ -ldl -lm -lpthread

$(B)/fuzz/clang/%.o: %.c
	@mkdir -p $(@D)
	$(say)
	$(at)$(FUZZ_CC) -std=c11 -D_GNU_SOURCE -ffp-contract=off -MMD -MP -Igrader $(warnings) \
	    -Wno-unknown-pragmas $(fuzz_flags) -fsanitize=fuzzer-no-link -c -o $@ $<

$(B)/fuzz/cc/%.o: %.c
	@mkdir -p $(@D)
	$(say)
	$(at)$(CC) -std=c11 -D_GNU_SOURCE -ffp-contract=off -MMD -MP -Igrader $(warnings) \
	    $(fuzz_flags) -c -o $@ $<
