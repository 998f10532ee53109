# gpuguide: the two commands are `make html` and `make test`; `make help` lists the rest.
PYTHON ?= python3
# The GPU build machine brings its own Python: `make record PY=python3` uses it and makes no .venv.
PY ?= .venv/bin/python
PAGES ?=
PAGE ?=
NAME ?=
SECTION ?=
STRICT ?=
BUDGET ?= 600
UPGRADE ?=
INTO ?=
RECORDED ?=
LEAVE_ONE_OUT ?=
SAME ?=
NEW ?=
SPHINXOPTS ?=
OUT := docs/_build
# Brought along by `make wheelhouse`; elsewhere the topic looks for an installed one.
export GPUGUIDE_PRIMESIEVE ?= $(wildcard $(CURDIR)/.whl/lib/libprimesieve.so)
export PYTHONPATH := $(CURDIR)/docs/_ext:$(CURDIR)/src$(if $(PYTHONPATH),:$(PYTHONPATH))

ifeq ($(PY),.venv/bin/python)
READY := .venv/ready
endif
WHEEL := $(OUT)/wheel/ready
# One more than the processors: a process that reads a page with live cells waits for the one that runs them, and
# some tests wait for a browser or for another process.
JOBS := $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
AXE_VERSION := 4.14.1
PYODIDE_VERSION := 314.0.7
PYODIDE_SHA256 := 66b7949e5a0cba2250b586d7e368bf12fb482800748d182c4618254b685ffaa0
PYODIDE := .cache/pyodide/$(PYODIDE_VERSION)
PYODIDE_PACKED := .cache/pyodide/pyodide-$(PYODIDE_VERSION).tgz
SPHINX := $(PY) -m sphinx -j $(JOBS) -n -W --keep-going -c . -d $(OUT)/doctrees $(SPHINXOPTS)

# Where an environment forbids Python to keep compiled modules, each of the tests' many processes would compile
# Sphinx and the rest anew.
html test browse doctest check: export PYTHONDONTWRITEBYTECODE :=
# All processors are at work; the threads of NumPy's linear algebra would wait for work by turning.
html test browse doctest check: export OPENBLAS_NUM_THREADS := 1

.PHONY: axe browse page html test doctest check record counters again harness redraw new-page preview serve fix lint lock wheelhouse clean help

help:  ## show this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

# The lock names every package, hatchling among them, so pip has nothing to resolve. Bytecode is left to the first
# import, which is quicker in total.
.venv/ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v < (3, 15) else \
	  f"gpuguide needs Python 3.11 to 3.14, and $(PYTHON) is {v[0]}.{v[1]}: run make PYTHON=python3.12")'
	$(PYTHON) -m venv .venv
	.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-compile -r requirements.lock
	.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

# The site serves the wheel that its notebooks install from; it is built beside the pages.
$(WHEEL): $(READY) pyproject.toml examples/pages.toml $(shell find src/gpuguide -name '*.py' -o -name '*.md' -o -name '*.json')
	@rm -rf $(@D) && mkdir -p $(@D)
	@$(PY) -m hatchling build --target wheel --directory $(@D) > $(@D).log 2>&1 || { cat $(@D).log; exit 1; }
	@touch $@

# Python as WebAssembly, for pages that check kernels themselves; conf.py looks for it. The site is built without
# it, too, so no network is waited for for long.
$(PYODIDE): | $(READY)
	@mkdir -p $(@D); (cd $(@D) && npm pack --fetch-retries=0 --fetch-timeout=60000 pyodide@$(PYODIDE_VERSION)) > /dev/null 2>&1; \
	  $(PY) -c 'import hashlib, sys; sys.exit(hashlib.sha256(open(sys.argv[1], "rb").read()).hexdigest() != sys.argv[2])' \
	    $(PYODIDE_PACKED) $(PYODIDE_SHA256) 2> /dev/null \
	  && rm -rf $(@D)/package && tar xzf $(PYODIDE_PACKED) -C $(@D) && rm $(PYODIDE_PACKED) && touch $@ \
	  || echo "Pages get no editors: expected npm to bring pyodide $(PYODIDE_VERSION) with the SHA-256 in the Makefile."

# The wheel is built while Sphinx works; `wait` lets a wheel that failed fail the build.
html: $(READY) $(PYODIDE)  ## build the guide into docs/_build/html (PAGE=name: that page only)
	@mkdir -p $(OUT)
	@$(if $(PAGE),$(PY) -m gpuguide_docs.commands.one_page "$(PAGE)",echo) > $(OUT)/page.now
	@mv $(OUT)/page.now $(OUT)/page
	@$(MAKE) -s $(WHEEL) & wheel=$$!; $(SPHINX) -q -b html docs $(OUT)/html $$(sed -n 1p $(OUT)/page) && wait $$wheel
	@rm -rf $(OUT)/html/_static/wheels && mkdir -p $(OUT)/html/_static/wheels && cp $(OUT)/wheel/*.whl $(OUT)/html/_static/wheels
	@echo "The $(if $(PAGE),page is in $$(sed -n 2p $(OUT)/page),guide is in $(OUT)/html/index.html)"

# The order is that of tests/conftest.py, longest files first; xdist by itself would go by the number of tests.
test: $(READY)  ## run the tests (those that need a GPU say so and are skipped without one)
	@$(PY) -m pytest -q -n $(JOBS) --dist loadfile --no-loadscope-reorder --ignore tests/browser

# Apart from the others, because they look at what `make html` builds.
browse: html  ## look at every page of the built guide in Chromium, as readers do
	@$(PY) -m pytest -q -n $(JOBS) --dist loadfile --no-loadscope-reorder tests/browser

# Not those of the exercises' files, which are no modules, nor of modules that need CuPy or Triton where these are
# missing; and what is solved here is not noted as the reader's.
doctest: $(READY)  ## run the examples of the docstrings
	@mkdir -p $(OUT)
	@GPUGUIDE_PROGRESS=$(OUT)/progress.json $(PY) -m pytest -q --doctest-modules --doctest-ignore-import-errors --ignore-glob '*/pool/*/*' src/gpuguide

check: $(READY)  ## look for mistakes on pages (PAGE=name: on that page; STRICT=1: so that it can be published)
	@$(PY) -m gpuguide_docs.lint $(PAGE) $(if $(STRICT),--strict)

# All three run, whatever the one before came to: a cell that fails is no reason not to look for mistakes.
page: $(READY)  ## build PAGE=name, try it in the simulator if there is no GPU, and look for mistakes
	@test -n "$(PAGE)" || { echo "Write make page PAGE=name, such as PAGE=first_kernel."; exit 2; }
	@$(MAKE) --no-print-directory html PAGE="$(PAGE)"; built=$$?; \
	  command -v nvidia-smi > /dev/null || test -z "$(wildcard examples/*/$(PAGE).py)" \
	  || $(MAKE) --no-print-directory preview PAGE="$(PAGE)"; tried=$$?; \
	  $(PY) -m gpuguide_docs.lint "$(PAGE)" && test $$built$$tried = 00

record: $(READY)  ## measure pages on this machine's GPU (PAGES="a b", all by default; BUDGET=seconds)
	@$(PY) -m gpuguide_docs.record.recorder $(PAGES) --budget $(BUDGET)

again: $(READY)  ## hold a fresh machine start against the printed ranges (RECORDED=folder or LEAVE_ONE_OUT=1: no GPU)
	@$(PY) -m gpuguide_docs.record.again $(PAGES) --budget $(BUDGET) $(if $(RECORDED),--recorded "$(RECORDED)") \
	  $(if $(INTO),--into "$(INTO)") $(if $(LEAVE_ONE_OUT),--leave-one-out)

counters: $(READY)  ## read hardware counters of the variants that pages name, by Nsight Compute (PAGES="a b")
	@$(PY) -m gpuguide_docs.commands.counting $(PAGES)

harness: $(READY)  ## decide what a change of the harness means (SAME="why no number can change" or NEW="what changes")
	@$(PY) -m gpuguide.recordings.harness --same "$(SAME)" --new "$(NEW)"

axe: $(READY) .cache/axe/package/axe.min.js  ## hold the built pages against axe-core, in a browser (takes npm and Chromium)
	@GPUGUIDE_AXE=.cache/axe/package/axe.min.js $(PY) -m pytest -q -n $(JOBS) tests/browser/test_axe_in_browser.py

.cache/axe/package/axe.min.js:
	@mkdir -p .cache/axe && cd .cache/axe && npm pack --silent axe-core@$(AXE_VERSION) && tar xzf axe-core-$(AXE_VERSION).tgz

redraw: $(READY)  ## forget the drawn figures and draw them all again from the recordings
	@rm -rf .cache/drawn
	@$(MAKE) --no-print-directory html

new-page: $(READY)  ## write the draft of a page, its topic and its test (NAME=name SECTION=section)
	@$(PY) -m gpuguide_docs.pages.new_page "$(NAME)" "$(SECTION)"

preview: $(READY)  ## run PAGE=name in the simulator at toy size and stamp it a draft
	@$(PY) -m gpuguide_docs.commands.preview $(PAGE)

serve: html  ## build the guide and serve it at http://localhost:8000
	@$(PY) -m http.server --directory $(OUT)/html 8000

# What ruff cannot mend is for `make lint` to report.
fix: $(READY)  ## mend the style that ruff can mend, and format
	@$(PY) -m ruff check --fix --exit-zero .
	@$(PY) -m ruff format .

lint: $(READY)  ## check style and types
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy

# One lock for every supported Python and system: uv writes a marker beside a version that only some of them take.
# It has an environment of its own, so that it locks nothing of itself.
UV := .cache/uv/bin/uv
$(UV):
	@$(PYTHON) -m venv .cache/uv
	@.cache/uv/bin/python -m pip install --quiet --disable-pip-version-check 'uv>=0.13,<0.14'

lock: $(UV)  ## renew requirements.lock from pyproject.toml (UPGRADE="ruff numpy" or UPGRADE=all: newer versions)
	@$(UV) pip compile --quiet --universal --python-version 3.11 --no-annotate --custom-compile-command "make lock" \
	  --group docs --group test --group dev \
	  $(if $(filter all,$(UPGRADE)),--upgrade,$(addprefix --upgrade-package ,$(UPGRADE))) -o requirements.lock pyproject.toml

# What the GPU build machine lacks, for its Python 3.12: installed there from the folder .whl, without a network.
# No package index has a wheel of primesieve; Debian's library of it needs glibc 2.34 or newer.
# Sphinx is among them because sphinx-gallery cuts a page into cells, and finds the names in them, while recording.
# cuda-bench is nvbench, a clock to compare with; it is in no lock, because only the GPU build machine can run it.
WHEELS := numpy array-api-compat rich platformdirs markdown-it-py mdurl pygments nvidia-ml-py sphinx sphinx-gallery docutils babel \
  imagesize snowballstemmer alabaster roman-numerals requests jinja2 markupsafe packaging sphinxcontrib-applehelp \
  sphinxcontrib-devhelp sphinxcontrib-htmlhelp sphinxcontrib-jsmath sphinxcontrib-qthelp \
  sphinxcontrib-serializinghtml pytest pluggy iniconfig dask distributed partd locket zict tblib tornado
# pip takes --platform at its word: a wheel of an older manylinux is found only where that is named, too.
wheelhouse: $(READY)  ## download into .whl what the GPU build machine lacks
	@rm -rf .whl
	@$(PY) -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: -d .whl \
	  --python-version 3.12 $(foreach v,2_28 2_27 2_17,--platform manylinux_$(v)_x86_64) \
	  --platform manylinux2014_x86_64 -c requirements.lock $(WHEELS) cuda-bench
	@mkdir -p .whl/lib
	@cd .whl/lib && name=$$(apt-cache depends libprimesieve-dev | sed -n 's/.*Depends: *\(libprimesieve[0-9]*\)$$/\1/p') \
	  && [ -n "$$name" ] && apt-get download -q=2 $$name:amd64 2> apt.log && dpkg-deb -x $$name*.deb . \
	  && cp usr/lib/*/libprimesieve.so.*.*.* libprimesieve.so \
	  || echo "Without primesieve: expected an apt-get that knows Debian's libprimesieve-dev. Its rows will say so."
	@rm -rf .whl/lib/usr .whl/lib/*.deb .whl/lib/apt.log
	@du -sh .whl

clean:  ## delete what was built (the environment stays)
	rm -rf $(OUT) docs/_generated docs/exercises docs/gallery docs/api/generated .cache .preview
