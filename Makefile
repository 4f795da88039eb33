# The users' front door: `make help`. Developers: `cargo xtask help`.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PREFIX ?= /usr/local
DESTDIR ?=
target := $(or $(CARGO_TARGET_DIR),target)
assize := $(target)/release/assize
agent := $(target)/x86_64-unknown-linux-gnu/agent/assize-agent

# Selects the Rust that setup.sh found or installed.
rust = env=$$(./setup.sh --env); eval "$$env"

bindir = $(DESTDIR)$(PREFIX)/bin
libexecdir = $(DESTDIR)$(PREFIX)/libexec/assize
mandir = $(DESTDIR)$(PREFIX)/share/man/man1
bashdir = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
zshdir = $(DESTDIR)$(PREFIX)/share/zsh/site-functions
fishdir = $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d

.PHONY: help demo test test-debug build install clean

help: ## say what there is
	@echo "make targets:"
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  \1\t\2/p' Makefile | expand -t 14
	@echo "variables: PREFIX=$(PREFIX) DESTDIR=$(DESTDIR) CARGO_TARGET_DIR=$(target)"

demo: build ## build, run an experiment in the exact machine, judge a post
	@./setup.sh run
	$(assize) kernel fetch --qemu
	$(assize) kernel fetch --headers debian:6.12
	@rm -rf target/demo && mkdir -p target/demo
	$(assize) run --out target/demo/demo.bundle experiments/tour/dep-queue.toml
	$(assize) audit demo/dep-queue.txt
	$(assize) audit demo/dep-queue.txt --format html -o target/demo/audit.html
	$(assize) report target/demo/demo.bundle --format html -o target/demo/report.html
	@echo "the verdict as a page: $(CURDIR)/target/demo/report.html"

test: ## set up, then run everything that must pass
	@./setup.sh build run test
	@$(rust); cargo xtask check

test-debug: ## build kernels that check themselves, run the modules' tests there
	@./setup.sh build run debug
	@$(rust); cargo xtask debug-kernel

build: ## set up and build target/release/assize and its agent
	@./setup.sh build
	@$(rust); cargo xtask agent
	@$(rust); cargo build --release --locked --package assize

# Builds only if there is nothing to install, so that root need not compile.
install: $(assize) ## install program, man page and completions under PREFIX
	install -d $(bindir) $(mandir) $(bashdir) $(zshdir) $(fishdir)
	install -m 755 $(assize) $(bindir)/assize
	install -d $(libexecdir)
	install -m 755 $(agent) $(libexecdir)/assize-agent
	[ ! -f $(agent).symbols ] || install -m 644 $(agent).symbols $(libexecdir)
	$(assize) man > $(mandir)/assize.1
	$(assize) completions bash > $(bashdir)/assize
	$(assize) completions zsh > $(zshdir)/_assize
	$(assize) completions fish > $(fishdir)/assize.fish

$(assize):
	@$(MAKE) build

clean: ## remove what was built here
	@$(rust); cargo clean
	rm -rf target/setup fuzz/target
