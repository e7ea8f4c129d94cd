# gradebook.mk - the instructor's program.

.PHONY: gradebook gradebook-missing class test-slurm
gradebook: $(if $(gradebook_here),programs $(B)/gradebook,gradebook-missing)

# With slurmctld and slurmd of this machine, in a cluster of its own; make test has a scripted Slurm.
test-slurm: gradebook
	@tests/gradebook/slurm.sh $(B) real

gradebook-missing:
	@echo "gradebook needs libarchive, SQLite and cJSON: make setup, or (Debian, Ubuntu) apt install libarchive-dev libsqlite3-dev libcjson-dev bubblewrap" >&2; exit 3

# What pages are styled and sorted by, as C strings.
$(B)/page_assets.c: grader/gradebook/report/page.css grader/gradebook/report/page.js grader/gradebook/report/markup.h grader/gradebook/gradebook.mk
	@{ echo '#include "$(subst grader/,,$(<D))/markup.h"'; for part in style:css sorting:js; do \
	    echo "const char page_$${part%:*}[] ="; \
	    sed -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/' $(<D)/page.$${part#*:}; echo ';'; done; } > $@

# A generated class on the simulated GPU: make class STUDENTS=60 LABS=6,7
STUDENTS ?= 6
class: gradebook $(B)/make_archive
	@tests/gradebook/class.sh $(B) $(STUDENTS) "$(LABS)" $(KEPT)

$(B)/gradebook: $(B)/grader/gradebook/main.o $(gradebook_o) $(grader_o) $(B)/grader/base/lockdown.o $(lab_o)
	@echo "  link   $@"; $(link) $(gradebook_l) -lm -lpthread

$(B)/make_archive: $(B)/tests/gradebook/make_archive.o $(B)/grader/base/util.o
	@echo "  link   $@"; $(link) -larchive
