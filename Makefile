# `make demo` and `make test` need Python 3.11 or later, make and git; everything else goes into .venv.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
SOURCES := pyproject.toml plugins/dev.txt $(wildcard plugins/*/pyproject.toml)

.PHONY: demo test check smoke clean

demo: .venv/.installed  ## Show the whole loop offline, with recorded model replies.
	@$(BIN)/kgot demo

test: .venv/.developed  ## Run all tests; those that need a service or a jail say how to get it.
	$(BIN)/python -m pytest -n auto

check: .venv/.developed  ## Formatter, linter, types, import layers, dependencies.
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/deptry .
	cd plugins/kgot-networkx && ../../$(BIN)/deptry .

smoke: .venv/.developed  ## Run against a real small model over HTTP, 20 times (slow, opt-in).
	$(BIN)/python -m pip install -q --group smoke
	$(BIN)/python -m pytest -m smoke tests/smoke

.venv/.installed: $(SOURCES)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "kgot needs Python 3.11 or later: make PYTHON=python3.11 demo")'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "installing kgot into .venv ..."
	@$(BIN)/python -m pip install -q --disable-pip-version-check -r plugins/dev.txt
	@touch $@

.venv/.developed: .venv/.installed
	@$(BIN)/python -m pip install -q --disable-pip-version-check --upgrade 'pip>=25.1'
	@$(BIN)/python -m pip install -q --disable-pip-version-check -r plugins/dev.txt -e '.[openai,ollama]' --group dev
	@touch $@

clean:  ## Remove the virtual environment and build results.
	rm -rf .venv build dist
