# fuzz.mk - `make fuzz` runs the readers of device code on arbitrary bytes, with libFuzzer (Debian: clang) and
# sanitizers for memory and undefined behaviour.
#
#     make fuzz [FUZZ="ptx fatbin launch"] [SECONDS=60] [EXECUTIONS=1000000]   SECONDS=0: no limit
#     make fuzz-corpus            minimises the inputs found, and writes them to tests/fuzz/corpus/TARGET.tar.gz
#     make fuzz-check             runs the corpus, and a few mutations, without libFuzzer: built by gcc
#
# New inputs go to $(B)/fuzz/corpus, failing inputs to $(B)/fuzz. An input that once failed belongs in
# tests/fuzz/corpus as a separate file, TARGET-NAME, next to the archive.

FUZZ       ?= fatbin ptx launch
SECONDS    ?= 60
EXECUTIONS ?= -1
FUZZ_CC    ?= clang

fuzz_flags      = -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all
fuzz_c_fatbin  := tests/fuzz/fuzz_fatbin.c
fuzz_c_ptx     := tests/fuzz/fuzz_ptx.c tests/fuzz/ptx_mutate.c
fuzz_c_launch  := tests/fuzz/fuzz_launch.c tests/fuzz/ptx_mutate.c
fuzz_sim_c     := $(filter-out $(call in,sim/runtime),$(sim_c)) $(sim_base_c)
fuzz_o          = $(addprefix $(B)/fuzz/$(1)/,$(patsubst %.c,%.o,$(2) $(fuzz_sim_c)))
# For -max_len. It does not bound the text of a fat binary: a few compressed bytes can expand to 64 KiB.
fuzz_most_fatbin := 8192
fuzz_most_ptx    := 6144
fuzz_most_launch := 6144
fuzz_run         = -max_len=$(fuzz_most_$(1)) -timeout=20 -rss_limit_mb=3000 -artifact_prefix=$(B)/fuzz/$(1)-

fuzz_seeds       = $(B)/fuzz/seeds/$(1)
fuzz_pack        = tar --format=ustar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@1767225600 -C $(B)/fuzz/least -cf - $(1) | gzip -n -9

$(B)/fuzz/seeds/%: tests/fuzz/corpus/%.tar.gz FORCE
	@rm -rf $@ && mkdir -p $(@D) && tar -C $(@D) -xzf $<
	@for file in tests/fuzz/corpus/$*-*; do [ ! -e "$$file" ] || cp "$$file" $@/; done

.PHONY: fuzz fuzz-corpus fuzz-check
.SECONDARY: $(foreach f,fatbin ptx launch,$(call fuzz_o,clang,$(fuzz_c_$f)) $(call fuzz_o,cc,$(fuzz_c_$f) tests/fuzz/standalone.c))
fuzz: $(FUZZ:%=$(B)/fuzz/fuzz_%) $(FUZZ:%=$(B)/fuzz/seeds/%)
	@set -e; $(foreach f,$(FUZZ),mkdir -p $(B)/fuzz/corpus/$f; echo "== $f"; $(B)/fuzz/fuzz_$f $(call fuzz_run,$f) \
	    -max_total_time=$(SECONDS) -runs=$(EXECUTIONS) -print_final_stats=1 $(B)/fuzz/corpus/$f $(call fuzz_seeds,$f);)

fuzz-corpus: $(FUZZ:%=$(B)/fuzz/fuzz_%) $(FUZZ:%=$(B)/fuzz/seeds/%)
	@set -e; $(foreach f,$(FUZZ),rm -rf $(B)/fuzz/least; mkdir -p $(B)/fuzz/least/$f $(B)/fuzz/corpus/$f; \
	    $(B)/fuzz/fuzz_$f $(call fuzz_run,$f) -merge=1 -use_counters=0 $(B)/fuzz/least/$f $(call fuzz_seeds,$f) $(B)/fuzz/corpus/$f; \
	    $(call fuzz_pack,$f) > tests/fuzz/corpus/$f.tar.gz;)

fuzz-check: $(FUZZ:%=$(B)/fuzz/check_%) $(FUZZ:%=$(B)/fuzz/seeds/%)
	@set -e; $(foreach f,$(FUZZ),$(B)/fuzz/check_$f 20000 1 $(call fuzz_seeds,$f)/*;)

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
