# gradebook.mk - the instructor's program.

.PHONY: gradebook gradebook-missing test-slurm
gradebook: $(if $(gradebook_here),programs $(B)/gradebook,gradebook-missing)

# With slurmctld and slurmd of this machine, in a cluster of its own; make test has a scripted Slurm.
test-slurm: gradebook
	@tests/gradebook_slurm.sh $(B) real

gradebook-missing:
	@echo "gradebook needs libarchive and SQLite: make setup, or (Debian, Ubuntu) apt install libarchive-dev libsqlite3-dev bubblewrap" >&2; exit 3

$(B)/gradebook: $(B)/grader/gradebook/main.o $(gradebook_o) $(grader_o) $(B)/grader/sandbox.o $(lab_o)
	@echo "  link   $@"; $(link) $(gradebook_l) -lm -lpthread

$(B)/make_archive: $(B)/tests/make_archive.o $(B)/grader/util.o
	@echo "  link   $@"; $(link) -larchive
