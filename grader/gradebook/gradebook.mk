# gradebook.mk - the instructor's program. Needs libarchive, SQLite and cJSON: without them it is left out, and
# so are its tests.

gradebook_l := -larchive -lsqlite3 -lcjson
gradebook_o := $(call objects,$(filter-out %/gradebook/main.c,$(call in,gradebook))) $(B)/page_assets.o

.PHONY: gradebook gradebook-missing class test-slurm
gradebook: $(if $(GRADEBOOK),programs $(B)/gradebook,gradebook-missing)

# With slurmctld and slurmd of this machine, in a cluster of its own; make test-all has a scripted Slurm.
test-slurm: gradebook
	@tests/gradebook/slurm.sh $(B) real

gradebook-missing:
	@echo "gradebook needs libarchive, SQLite and cJSON: make setup, or (Debian, Ubuntu) apt install libarchive-dev libsqlite3-dev libcjson-dev bubblewrap" >&2; exit 3

# What pages are styled and sorted by, as C strings.
page := grader/gradebook/report
$(B)/page_assets.c: $(page)/page.css $(page)/page.js $(page)/markup.h grader/gradebook/gradebook.mk
	@{ echo '#include "gradebook/report/markup.h"'; for part in style:css sorting:js; do \
	    echo "const char page_$${part%:*}[] ="; \
	    sed -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/' $(page)/page.$${part#*:}; echo ';'; done; } > $@

# A generated class on the simulated GPU: make class STUDENTS=60 LABS=6,7
STUDENTS ?= 6
class: gradebook $(B)/make_archive
	@tests/gradebook/class.sh $(B) $(STUDENTS) "$(LABS)" $(KEPT)

$(B)/gradebook: $(B)/grader/gradebook/main.o $(gradebook_o) $(grader_o) $(B)/grader/base/lockdown.o $(lab_o)
	$(say)
	$(at)$(link) $(gradebook_l) -lm -lpthread

$(B)/make_archive: $(call objects,tests/gradebook/make_archive.c grader/base/util.c grader/base/number.c)
	$(say)
	$(at)$(link) -larchive
