# make                   where you are and what to do next
# make watch LAB=first   grade at each save; keys show hints and more
# make grade             grade all labs; LAB=first: one lab
# make hint LAB=first    hints, your last grading first
# make explain LAB=first what limits a kernel, and which lines cost most
# make see LAB=first     a page of what a kernel did: accesses, arrays, time
# make quiz LAB=first    questions about your own kernel, once it passes
# make compare LAB=first your kernel next to the reference, once it passes
# make sweep LAB=first   speed by the lesson's size
# make profile LAB=first your GPU's own counters, by ncu
# make draw              pictures of a kernel: docs/drawing.md
# make progress          what is done; LAB=first explains its predictions
# make report            a page of all your labs
# make reset LAB=first   the starter back; your kernel is kept as a copy
# make editor            files for clangd and VS Code
# make help-all          these and the commands for developers
#
# Without LAB: make grade, progress and report take all labs; quiz and compare
# the one that you passed last; others the one that you graded last if it
# failed, or the first one that is not done.
# LAB="5 6" picks two labs; DEVICE=1 that GPU, DEVICE=sim a simulated one, which
# is also taken where no GPU is usable. FLAGS="--quick" passes options on;
# make grade FLAGS=--help lists them. make explain FLAGS="--case square" takes
# that case instead of the slowest one.

# For developers and instructors:
#
# make all               all programs
# make setup             install what the tests need (apt)
# make test              tests of minutes, no GPU needed
# make test-all          all tests: an hour or two
# make check             prove every lab on this GPU
# make check-cheats      prove that cheats are caught
# make validate          modelled time next to this GPU's
# make validate-blind    the same for kernels never fitted
# make validate-flows    instructions of small kernels next to a GPU's
# make bench LAB=sgemm   our kernels next to the library's, on this GPU
# make figures           measure what lessons quote
# make gradebook         the program for whole courses
# make course-kit        the students' tree, to hand out
# make autograder        kits that grade elsewhere: docs/kits.md
# make slides            lectures: HTML, PDF and handouts
# make setup-slides      install what slides need (apt, npm)
# make clean             remove build/
#
# B=DIR builds in DIR; V=1 shows commands.

LAB      ?=
FLAGS    ?=
DEVICE   ?=
B        ?= build
CFLAGS   ?= -O2 -g
goals    := $(or $(MAKECMDGOALS),next)
.DEFAULT_GOAL := next

ifneq (,$(word 2,$(B)))
$(error B, the build folder, may hold no blanks)
endif
ifneq (yes,$(shell mkdir -p $(B) 2>/dev/null && test -w $(B) && echo yes))
$(error cannot write to $(B)/. Build elsewhere, as in: make grade B=$$HOME/warpbook)
endif

# ---- What this machine has: found once, kept in config.mk, asked again when it may have changed ----

PROBE := $(CC) $(PATH) $(CUDA_HOME)
ifneq (,$(filter-out clean help help-all,$(goals)))
include $(B)/config.mk
endif
stale := $(if $(wildcard $(NVCC)),,FORCE)
ifneq ($(PROBE),$(PROBED_FOR))
stale := FORCE
endif
# What setup installs is there when this is asked, and clean comes first: make then reads all once more.
before := $(if $(MAKE_RESTARTS),,$(filter clean setup,$(goals)) $(stale))
$(B)/config.mk: grader/configure.sh $(before)
	@CC="$(CC)" PROBE="$(PROBE)" sh $< > $@.new && mv $@.new $@

# ---- Compiling: one line that is rewritten; one line in all where there is no terminal ----

# All cores, unless -j says otherwise, and one job more, since some mostly wait.
ifeq (,$(filter -j%,$(MAKEFLAGS)))
MAKEFLAGS += -j$(shell echo $$(($$(nproc 2>/dev/null || echo 2) + 1)))
endif
at        := $(if $(V),,@)
number     = $(eval steps += x)$(words $(steps))$(if $(word $(words $(steps)),$(total)),/$(words $(total)))
is_first   = $(if $(said),,$(eval said := yes)yes)
say        = $(if $(counting),@: building,$(if $(V)$(findstring s,$(firstword -$(MAKEFLAGS))),,@$(if $(MAKE_TERMOUT),printf 'building %s %.60s\033[K\r' "$(number)" "$(@:$(B)/%=%)",$(if $(is_first),echo "building$(if $(total), $(words $(total)) files: a minute or two)",:))))
# A first build counts its steps by a dry run, one word each; what is built later is short, and has no total.
total      = $(eval total := $(if $(wildcard $(B)/warpbook),,$(shell $(MAKE) -n B="$(B)" counting=yes V= programs 2>/dev/null | sed -n 's/^: building/x/p')))$(total)

warnings  := -Wall -Wextra -Wstrict-prototypes -Wno-missing-field-initializers
# For whatever reads bytes of strangers; the sanitizers bring their own checks.
harden    := $(if $(findstring -O0,$(CFLAGS))$(findstring sanitize,$(CFLAGS)),,-fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
compile    = $(CC) -std=c11 -D_GNU_SOURCE -ffp-contract=off -MMD -MP -Icommon -Igrader -Itests $(warnings) $(harden) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<
link       = $(CC) $(CFLAGS) $(LDFLAGS) -Wl,-z,relro,-z,now -o $@ $(filter %.o %.so.12 %.so.13,$^)
objects    = $(1:%.c=$(B)/%.o)

# ---- What is compiled: all sources in the folders ----

sources   := $(sort $(shell find grader -name '*.c'))
in         = $(filter $(1:%=grader/%/%),$(sources))
labs      := $(sort $(patsubst labs/%/lab.c,%,$(wildcard labs/*/lab.c)))
lab_o     := $(call objects,$(labs:%=labs/%/lab.c)) $(B)/registry_table.o
sim_tool  := grader/sim/tool.c grader/sim/list.c
sim_c     := $(filter-out $(call in,sim/guest sim/forward sim/cublas) $(sim_tool),$(call in,sim))
sim_plain_o := $(call objects,$(filter-out $(call in,sim/runtime),$(sim_c)))# needs no CUDA headers
grader_o  := $(call objects,$(call in,base build judge learner calc draw) grader/coursework.c grader/command_grade.c $(sim_tool) \
             $(addprefix grader/sim/,device/device.c binary/elf.c base/cause.c base/limiter.c base/records.c base/source_shape.c ptx/module.c exec/repeats.c exec/shape.c exec/shape_vectors.c)) \
             $(B)/see_parts.o $(B)/portfolio_parts.o

# Commands of warpbook: those that run a kernel on a device, and those that only read and write files.
runs  := grade watch explain compare see draw quiz report sweep profile
reads := next hint progress reset

.PHONY: all programs help help-all editor $(runs) $(reads) check check-cheats course-kit autograder clean FORCE
all: programs $(if $(GRADEBOOK),$(B)/gradebook)

# CUPTI, NVIDIA's interface for profilers: in one of two folders of the toolkit, or missing.
CUPTI := $(if $(NVCC),$(patsubst %/include/cupti.h,%,$(firstword $(wildcard $(CUDA)/extras/CUPTI/include/cupti.h $(CUDA)/include/cupti.h))))

# What students need: a compiler, make and the CUDA Toolkit.
programs: $(B)/warpbook $(if $(NVCC),$(B)/runner $(B)/guest $(B)/profiled $(B)/runner-sim $(B)/guest-sim $(B)/libcudart-sim.so) $(if $(CUPTI),$(B)/libgpu-trace.so)
	@$(if $(MAKE_TERMOUT),printf '\033[K',:)

# ---- What people type ----

run = WARPBOOK_BUILD=$(B) $(B)/warpbook $@ $(if $(filter draw,$@),$(KIND)) $(LAB) $(if $(DEVICE),--device $(DEVICE)) $(FLAGS)
# Status 1 of a command that answers a learner, such as "this kernel is not correct yet", is no error of make's.
answers = $(if $(filter grade check,$@),,|| { status=$$?; test $$status = 1 || exit $$status; })
$(runs) $(if $(wildcard tests/tests.mk),check): programs
	@$(run) $(answers)

$(reads): programs
	@WARPBOOK_BUILD=$(B) $(B)/warpbook $@ $(LAB) $(FLAGS) $(answers)

editor:
	@grader/learner/editor.sh

check-cheats: programs
	@$(run)
	@set -e; for script in tests/cheats/*.sh; do WARPBOOK_BUILD=$(B) bash $$script; done

# What students get: no text of solutions, nothing that is the instructor's alone. COURSE=course.ini: with
# its public part; LAB="1 6": these labs; KIT=FILE: there.
KIT ?= $(B)/warpbook-kit.tar.gz
course-kit: programs
	@grader/course_kit.sh $(B) $(KIT) "$(COURSE)" $(LAB)

# A kit that grades on another host, without a GPU: FOR=gradescope, prairielearn, classroom50, repository, colab, image.
FOR ?=
OUT ?= $(B)/warpbook-$(FOR).zip
autograder: programs
	@IMAGE="$(IMAGE)" KEYRING="$(KEYRING)" grader/kits/make.sh "$(FOR)" $(B) $(OUT) "$(COURSE)" $(LAB)

clean:
ifndef MAKE_RESTARTS
	@test ! -e $(B)/grader || test -e $(B)/registry_table.c || \
	    { echo "$(B)/ does not look like a build folder of Warpbook: not removed"; exit 1; }
	@test ! -e $(B)/registry_table.c || rm -rf $(B)
	@mkdir -p $(B)
endif

help:
	@sed -n '1,/^$$/s/^# \{0,1\}//p' Makefile

help-all:
	@sed -n '/^[^#]/q; s/^# \{0,1\}//; p' Makefile

# ---- Programs ----

$(B)/warpbook: $(B)/grader/main.o $(grader_o) $(lab_o)
	$(say)
	$(at)$(link) -lm -lpthread

# A lab is registered by being there. Written only if it changed.
table = sh $< $(1) > $@.new; cmp -s $@.new $@ && rm $@.new || mv $@.new $@
$(B)/registry_table.c: grader/registry.sh FORCE
	@$(call table,labs $(labs))

# Files that become C strings: the style and the script of the page of make see.
$(B)/see_parts.c: grader/learner/see/page.css grader/learner/see/page.js
	@{ echo '#include "learner/see/page.h"'; \
	   for part in style:page.css script:page.js; do echo "const char see_$${part%:*}[] ="; \
	    sed -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/' grader/learner/see/$${part#*:}; echo ';'; done; } > $@

# The style of the page of make report.
$(B)/portfolio_parts.c: grader/learner/portfolio/page.css
	@{ echo '#include "learner/portfolio/page.h"'; echo 'const char portfolio_style[] ='; \
	   sed -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/' $<; echo ';'; } > $@

$(B)/%.o: $(B)/%.c
	$(at)$(compile)

$(B)/%.o: %.c
	$(say)
	$(at)mkdir -p $(@D); $(compile)

include grader/runner/runner.mk grader/sim/sim.mk
ifneq (,$(wildcard tests/tests.mk))
include grader/gradebook/gradebook.mk tests/tests.mk tests/fuzz/fuzz.mk $(wildcard slides/slides.mk)
else
test test-rest test-validation test-all check setup gradebook slides:
	@echo "make $@ needs the whole workbook; this is a student's tree: make grade" >&2; exit 3
endif
-include $(shell find $(B) -name '*.d' 2>/dev/null)
