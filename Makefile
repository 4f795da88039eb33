# The users' front door: `make help`. Developers: `cargo xtask help`.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PREFIX ?= /usr/local
DESTDIR ?=
target := $(or $(CARGO_TARGET_DIR),target)
triple := x86_64-unknown-linux-gnu
assize := $(target)/debug/assize
agent := $(target)/$(triple)/agent/assize-agent
# For a target of its own, so that these leave build scripts and procedural macros alone.
static = CARGO_ENCODED_RUSTFLAGS=$$(printf '%s\037%s' -Ctarget-feature=+crt-static \
	"--remap-path-prefix=$${CARGO_HOME:-$$HOME/.cargo}=cargo")

# Selects the Rust that setup.sh found or installed.
rust = env=$$(./setup.sh --env); eval "$$env"

bindir = $(DESTDIR)$(PREFIX)/bin
libexecdir = $(DESTDIR)$(PREFIX)/libexec/assize
mandir = $(DESTDIR)$(PREFIX)/share/man/man1
bashdir = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
zshdir = $(DESTDIR)$(PREFIX)/share/zsh/site-functions
fishdir = $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d

.PHONY: help demo test test-more test-all test-nightly test-debug build program agent static dist install clean

help: ## say what there is
	@echo "make targets:"
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  \1\t\2/p' Makefile | expand -t 14
	@echo "variables: PREFIX=$(PREFIX) DESTDIR=$(DESTDIR) CARGO_TARGET_DIR=$(target)"

demo: ## build; judge a post, two commands, and queues in the exact machine
	@demo/run $(target)

test: ## what must pass before a commit: 10 minutes on two CPUs after `make demo`, then 5
	@./setup.sh build
	@$(rust); cargo xtask check

test-more: ## all that takes longer: under an hour
	@./setup.sh build
	@$(rust); cargo xtask check-more

test-all: test test-more ## both

test-nightly: ## hours: every kernel test on every kernel, each parser fuzzed, releases made twice
	@./setup.sh build exact run test dev dist
	@$(rust); cargo xtask kernel-tests --heavy; cargo xtask fuzz 60
	@packaging/check $(target)/dist-check

test-debug: ## build kernels that check themselves, run the modules' tests there
	@./setup.sh build exact debug
	@$(rust); cargo studies debug-kernel

build: program agent ## set up and build target/debug/assize and its agent

program:
	@./setup.sh build
	@$(rust); cargo build --locked --bin assize

# One static binary. The agent is part of what exact figures are a function of, so no
# path of the host may be in it.
agent: symbols = $(abspath $(agent)).symbols
agent:
	@./setup.sh build
	@$(rust); \
	build="--locked --package assize-agent --profile agent --target $(triple)"; \
	[ -e $(symbols) ] || cargo clean --quiet $$build; \
	ASSIZE_AGENT_SYMBOLS=$(symbols) \
	CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER=$(CURDIR)/crates/agent/linker.sh \
	$(static) cargo build $$build

# What packages hold: runs on any x86-64 Linux.
static: agent
	@$(rust); $(static) cargo build --locked --release --bin assize --target $(triple)

dist: ## make packages and archives of the commit that is checked out, in target/dist
	@./setup.sh build exact dist
	@packaging/dist $(target)/dist

# Builds only if there is nothing to install, so that root need not compile.
install: $(assize) ## install program, man pages and completions under PREFIX
	install -d $(bindir) $(mandir) $(bashdir) $(zshdir) $(fishdir)
	install -m 755 $(assize) $(bindir)/assize
	install -d $(libexecdir)
	install -m 755 $(agent) $(libexecdir)/assize-agent
	[ ! -f $(agent).symbols ] || install -m 644 $(agent).symbols $(libexecdir)
	$(assize) man --into $(mandir)
	$(assize) completions bash > $(bashdir)/assize
	$(assize) completions zsh > $(zshdir)/_assize
	$(assize) completions fish > $(fishdir)/assize.fish

$(assize):
	@$(MAKE) build

clean: ## remove what was built here
	@$(rust); cargo clean
	rm -rf target/setup fuzz/target
