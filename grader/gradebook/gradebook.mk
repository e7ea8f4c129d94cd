# gradebook.mk - the instructor's program. Needs libarchive, SQLite, cJSON, libcsv and libyaml. Without them, neither
# the program nor its tests are built.

gradebook_l := -larchive -lsqlite3 -lcjson -lcsv -lyaml
gradebook_o := $(call objects,$(filter-out %/gradebook/main.c,$(call in,gradebook))) $(B)/embedded.o

.PHONY: gradebook gradebook-missing class test-slurm test-killed
gradebook: $(if $(GRADEBOOK),programs $(B)/gradebook,gradebook-missing)

# Uses this machine's slurmctld and slurmd, in a separate cluster. make test-all uses a scripted Slurm instead.
test-slurm: gradebook
	@tests/gradebook/slurm.sh $(B) real

# 50 kills -9: a quarter of an hour. make test-rest kills only imports and exports, and gradings of a scripted warpbook.
test-killed: gradebook $(B)/make_archive
	@tests/gradebook/killed.sh $(B) $(KILLS)

gradebook-missing:
	@echo "gradebook needs libarchive, SQLite, cJSON, libcsv and libyaml: make setup, or (Debian, Ubuntu) apt install libarchive-dev libsqlite3-dev libcjson-dev libcsv-dev libyaml-dev bubblewrap" >&2; exit 3

# Files that become C strings: the style and the script of HTML pages, and the script of Slurm tasks.
embedded := page_style:report/page.css page_sorting:report/page.js run_autograder:report/run_autograder.py task_script:slurm/task.sh
$(B)/embedded.c: $(foreach part,$(embedded),grader/gradebook/$(lastword $(subst :, ,$(part)))) grader/gradebook/gradebook.mk
	@{ for header in report/markup slurm/job; do echo "#include \"gradebook/$$header.h\""; done; \
	   for part in $(embedded); do echo "const char $${part%:*}[] ="; \
	    sed -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/' grader/gradebook/$${part#*:}; echo ';'; done; } > $@

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
