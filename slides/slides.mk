# slides.mk - lecture decks: make slides, make slides LAB=6, make slides DRAFT=1 (drawings may be missing).
#
# Only these targets need node, Chromium and gnuplot; slides/setup.sh installs them.

.PHONY: setup-slides slides test-slides

setup-slides:
	@slides/setup.sh

# Drawings are made by the simulated GPU, so its programs are built first.
slides: programs $(filter setup-slides,$(goals))
	@slides/check_tools.sh
	@node slides/build.mjs --out $(B)/slides --program $(B)/warpbook $(if $(DRAFT),--draft) $(LAB)

# Every page in headless Chromium: overflow, contrast, font sizes, links, alt texts. It also tests these checks on faulty decks.
test-slides: slides
	@tests/slides/test.sh $(B) $(LAB)
