#!/usr/bin/env bash
# Installs what assize needs and this machine lacks. Run with --help.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")" > /dev/null

# group | how to see that it is there | Debian packages | what for
needs() {
    cat << 'TABLE'
build | has make         | make                | runs the recipes in the Makefile
build | links_c          | gcc libc6-dev       | the linker and C start-up files rustc calls
build | has_certificates | ca-certificates     | cargo fetches crates over https
exact | has apt-get      | apt                 | kernels are fetched as Debian's packages
exact | has gcc-12       | gcc-12              | modules for Debian's kernels are built with it
exact | has bwrap        | bubblewrap          | patches that somebody posted are built in it
exact | links_c          | gcc libc6-dev       | the QEMU of exact machines is built here
exact | has make         | make                | its build runs it
exact | has ninja        | ninja-build         | its build runs it
exact | has pkg-config   | pkg-config          | its build finds libraries with it
exact | has_glib         | libglib2.0-dev      | it links GLib
exact | links libfdt     | libfdt-dev          | it links libfdt
exact | has_py ensurepip | python3-venv        | what configures it comes from PyPI
exact | has patch        | patch               | our patches are applied with it
exact | has xz           | xz-utils            | its sources are packed with it
run   | has_qemu         | qemu-system-x86     | the live machine runs in it
run   | has_clang        | clang               | placement policies are built with it
run   | has_libbpf       | libbpf-dev          | what attaches them links it
run   | has cyclictest   | rt-tests            | cyclictest and hackbench, the first workloads
run   | has mpg123       | mpg123              | the workload audio decodes music with it
run   | has aplay        | alsa-utils          | the workload audio plays it with it
run   | has gdb          | gdb                 | assize debug starts it
test  | has git          | git                 | the tidy check lists the files of the tree
test  | has codespell    | codespell           | spelling of docs and comments
test  | has sparse       | sparse              | checks the kernel modules beside the compiler
test  | has perl         | perl                | checkpatch is Perl
test  | has rt-app       | rt-app              | the workload periodic can run its files
test  | has_depmod       | kmod                | indexes the modules of a kernel that is changed
full  | has_py pandas    | python3-pandas      | a test runs the documented pandas example
full  | has_py scipy     | python3-scipy       | reference values for the statistics
full  | has_py statsmodels | python3-statsmodels | reference values for the factorial fits
full  | has_py yaml      | python3-yaml        | a test reads the CI jobs of the documentation
full  | has_py kubernetes | python3-kubernetes | a test has Kubernetes' client read the manifest
full  | has_py ensurepip | python3-venv        | pandas and DuckDB read what a bundle holds
full  | has_sshd         | openssh-server      | a target over ssh is tried on this machine
full  | has ssh          | openssh-client      | the same
full  | has valgrind     | valgrind            | the model of caches is compared with cachegrind
full  | has parallel     | parallel            | runs are spread over several processes
full  | has_slurm        | slurmctld slurmd slurm-client munge | a cluster of four nodes is tried on this machine
full  | has_chromium     | chromium            | pages are opened in it
full  | has_firefox      | firefox-esr         | some pages are opened in it too
full  | has_node         | nodejs              | drives the browser
full  | has npm          | npm                 | fetches what drives the browser
full  | has jq           | jq                  | a documented command uses it
full  | links libelf     | libelf-dev          | kernels that are tried are built: objtool links it
full  | has flex         | flex                | the same: it reads the kernel's configuration
full  | has bison        | bison               | the same
full  | has bc           | bc                  | the same: the kernel's timer constants
full  | has xz           | xz-utils            | the sources that checkpatch comes with are packed
debug | has make         | make                | builds the kernels and modules
debug | links_c          | gcc libc6-dev       | the same
debug | links libelf     | libelf-dev          | objtool, a part of the build, links it
debug | has flex         | flex                | reads the kernel's configuration
debug | has bison        | bison               | reads the kernel's configuration
debug | has bc           | bc                  | the kernel's timer constants
debug | has xz           | xz-utils            | the sources are packed with it
debug | has_depmod       | kmod                | indexes the modules
dist  | has dh           | debhelper           | makes the Debian packages
dist  | has lintian      | lintian             | checks them
dist  | has mmdebstrap   | mmdebstrap          | makes userlands in which a release is tried
dist  | has busybox      | busybox-static      | is one without a C library
dev   | has c++          | g++                 | libFuzzer, which cargo-fuzz links, is C++
dev   | has_depmod       | kmod                | virtme-ng wants the indices that it makes
dev   | has busybox      | busybox-static      | virtme-ng packs it
TABLE
}

usage() {
    cat << HELP
usage: ./setup.sh [GROUP...]     install what is missing (default: build)
       ./setup.sh --list         say what is there and what is missing
       ./setup.sh --env          print the shell lines that select Rust
       ./setup.sh --help

groups:
  build   compile assize
  exact   the exact machine
  run     other machines, and programs that experiments run
  test    what only `make test` needs
  full    what only `make test-all` needs
  debug   build kernels that check themselves
  dist    Debian packages
  dev     fuzzing, and what our speed is compared with

Also needs Rust $msrv or newer (all groups), cargo-deny (full) and cargo-fuzz
(dev). Nothing that is present is touched. Debian packages come from apt, the
rest from crates.io; sudo is used only if you are not root.
HELP
}

say() { printf 'setup: %s\n' "$*"; }
warn() { printf 'setup: %s\n' "$*" >&2; }
die() {
    warn "$@"
    exit 3
}

msrv=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
channel=$(sed -n 's/^channel = "\(.*\)"$/\1/p' rust-toolchain.toml)
# Written once the pinned toolchain could not be had, so that it is not asked
# for each time. `make clean` removes it.
no_pinned=target/setup/pinned-toolchain-not-to-be-had
# The machine's own Python; virtual environments do not see Debian's packages.
python=/usr/bin/python3

# ---------------------------------------------------------------- looking

has() { command -v "$1" > /dev/null 2>&1; }

has_py() {
    [ -x "$python" ] && "$python" -c 'import importlib.util, sys
sys.exit(importlib.util.find_spec(sys.argv[1]) is None)' "$1"
}

has_depmod() { has depmod || [ -x /sbin/depmod ]; }

has_glib() {
    has pkg-config && pkg-config --exists 'glib-2.0 >= 2.66'
}

has_qemu() { has qemu-system-x86_64; }

has_clang() {
    local name
    for name in clang clang-19 clang-18 clang-17 clang-16 clang-15 clang-14; do
        has "$name" && return
    done
    return 1
}

has_libbpf() { links libbpf; }

has_sshd() { has sshd || [ -x /usr/sbin/sshd ]; }

has_slurm() {
    [ -x /usr/sbin/slurmctld ] && [ -x /usr/sbin/slurmd ] &&
        [ -x /usr/sbin/munged ] && has sbatch
}

# What Debian does not have; the tests look for it at this place.
readers=target/setup/python-venv
has_readers() {
    [ -x "$readers/bin/python" ] &&
        "$readers/bin/python" -c 'import duckdb, pandas, polars, pyarrow' 2> /dev/null
}

# In the same place: Perfetto's definitions of its traces.
has_perfetto() {
    [ -x "$readers/bin/python" ] && "$readers/bin/python" -c \
        'import perfetto.protos.perfetto.trace.perfetto_trace_pb2' 2> /dev/null
}

has_formats() {
    [ -x "$readers/bin/python" ] &&
        "$readers/bin/python" -c "import kcidb_io, junitparser, check_jsonschema, yaml" 2> /dev/null
}

has_chromium() { [ -x "${ASSIZE_CHROMIUM:-/usr/bin/chromium}" ]; }

has_firefox() { [ -x "${ASSIZE_FIREFOX:-/usr/bin/firefox-esr}" ]; }

has_node() {
    has node && at_least "$(node --version | tr -d v)" 18
}

# What tests/browser/package-lock.json pins; the scripts there look for it at
# this place.
browser=target/setup/browser
has_browser() {
    cmp -s tests/browser/package-lock.json "$browser/package-lock.json" &&
        [ -d "$browser/node_modules/playwright-core" ] &&
        [ -d "$browser/node_modules/axe-core" ]
}

has_certificates() {
    [ -e /etc/ssl/certs/ca-certificates.crt ] ||
        [ -e /etc/pki/tls/certs/ca-bundle.crt ] || [ -e /etc/ssl/cert.pem ]
}

links_c() {
    has cc && printf 'int main(void) { return 0; }\n' |
        cc -x c - -o /dev/null 2> /dev/null
}

links() {
    has cc && printf 'int main(void) { return 0; }\n' |
        cc -x c - -o /dev/null "-l${1#lib}" 2> /dev/null
}

# $1 >= $2, as versions.
at_least() {
    [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}

# Whether the cargo in directory $1, with toolchain $2 if given, works here
# and is new enough. Never lets rustup fetch anything.
rust_works() {
    local version
    [ -x "$1/cargo" ] && [ -x "$1/rustc" ] || return 1
    version=$(
        export RUSTUP_AUTO_INSTALL=0
        if [ -n "${2:-}" ]; then export RUSTUP_TOOLCHAIN=$2; fi
        "$1/cargo" --version > /dev/null 2>&1 &&
            "$1/rustc" --version 2> /dev/null
    ) || return 1
    version=${version#rustc }
    at_least "${version%%[ -]*}" "$msrv"
}

cargo_home=${CARGO_HOME:-${HOME:-/root}/.cargo}

# Sets rust_dir, and rust_toolchain if rustup must be told which one.
find_rust() {
    local dir name names dirs=()
    rust_dir='' rust_toolchain=''
    dir=$(command -v cargo) && dirs+=("$(dirname "$dir")")
    dirs+=("$cargo_home/bin" /usr/bin)
    for dir in "${dirs[@]}"; do
        if rust_works "$dir"; then
            rust_dir=$dir
            return 0
        fi
        [ -x "$dir/rustup" ] || continue
        names=$("$dir/rustup" toolchain list 2> /dev/null | sed 's/ .*//')
        # Releases first, newest first; nightlies only if nothing else works.
        for name in $(sort -rV <<< "$names" | grep -Ev '^(nightly|beta|no$)') \
            $(grep -E '^(nightly|beta)' <<< "$names"); do
            if rust_works "$dir" "$name"; then
                rust_dir=$dir rust_toolchain=$name
                return 0
            fi
        done
    done
    return 1
}

print_env() {
    find_rust ||
        die "env: no Rust $msrv or newer was found; run ./setup.sh build"
    printf 'export PATH=%q:"$PATH"\n' "$rust_dir"
    # cargo-deny and cargo-fuzz live in ~/.cargo/bin, whoever the compiler is.
    if [ "$rust_dir" != "$cargo_home/bin" ]; then
        printf 'export PATH="$PATH":%q\n' "$cargo_home/bin"
    fi
    if [ -n "$rust_toolchain" ]; then
        printf 'export RUSTUP_TOOLCHAIN=%q\n' "$rust_toolchain"
    fi
}

# --------------------------------------------------------------- installing

can_be_root() {
    [ "$(id -u)" = 0 ] ||
        { has sudo && { sudo -n true 2> /dev/null || [ -t 0 ]; }; }
}

# Runs a command as root, or says which one could not be run.
as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif can_be_root; then
        sudo "$@"
    else
        die "not root, and sudo cannot be used here; please have this run: $*"
    fi
}

apt_updated=no
apt_update() {
    [ "$apt_updated" = no ] || return 1
    apt_updated=yes
    say "apt-get update: the package lists are absent or out of date"
    as_root apt-get update -q > /dev/null
}

apt_candidate() {
    LC_ALL=C apt-cache policy "$1" 2> /dev/null |
        sed -n 's/^ *Candidate: \(.*\)/\1/p' | grep -v '^(none)$'
}

apt_get() {
    # --no-remove: never trade a package of the user's for one of ours.
    # Another lane may be installing.
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get -o DPkg::Lock::Timeout=900 install -q -y --no-install-recommends --no-remove "$@"
}

apt_install() {
    local package
    has apt-get || die "this script knows only Debian's apt; please install" \
        "what stands for these Debian packages here: $*"
    for package in "$@"; do
        apt_candidate "$package" > /dev/null || apt_update || true
    done
    apt_get "$@" || { apt_update && apt_get "$@"; } ||
        die "apt-get could not install: $*"
}

install_pinned() {
    local rustup
    rustup=$(command -v rustup || echo "$cargo_home/bin/rustup")
    [ -x "$rustup" ] && [ -n "$channel" ] || return 0
    [ -z "${RUSTUP_TOOLCHAIN:-}" ] && [ ! -e "$no_pinned" ] || return 0
    ! "$rustup" toolchain list | grep -q "^$channel-" || return 0
    say "Rust $channel: pinned by rust-toolchain.toml; from rustup"
    if ! RUST_BACKTRACE=0 timeout 600 "$rustup" toolchain install "$channel" \
        --profile minimal --component clippy --component rustfmt; then
        say "Rust $channel cannot be had here; another one will do"
        mkdir -p "$(dirname "$no_pinned")"
        touch "$no_pinned"
    fi
}

# Debian's compiler: the plain package where it is new enough, else the one
# that the stable releases carry for their browsers.
rust_from_apt() {
    local set
    # Without root there is still rustup.
    has apt-get && can_be_root || return 1
    for set in "rustc cargo rustfmt rust-clippy" \
        "rustc-web cargo-web rustfmt-web rust-web-clippy"; do
        at_least "$(apt_candidate "${set%% *}" || echo 0)" "$msrv" || continue
        say "$set: Rust $msrv or newer is missing; Debian has it"
        # shellcheck disable=SC2086
        apt_get $set && return 0
    done
    return 1
}

rust_from_rustup() {
    local script
    has curl || has wget || return 1
    script=$(mktemp)
    say "rustup: Rust $msrv or newer is missing and apt cannot help"
    if { curl -fsSL -m 60 --proto '=https' https://sh.rustup.rs -o "$script" ||
        wget -q -T 60 https://sh.rustup.rs -O "$script"; } 2> /dev/null &&
        sh "$script" -y --no-modify-path --profile minimal \
            --default-toolchain "$channel" --component clippy rustfmt; then
        rm -f "$script"
        return 0
    fi
    rm -f "$script"
    return 1
}

install_rust() {
    install_pinned
    find_rust && return 0
    rust_from_apt ||
        { has apt-get && can_be_root && apt_update && rust_from_apt; } ||
        rust_from_rustup || true
    find_rust && return 0
    die "no Rust $msrv or newer could be had; please run one of
    apt-get install rustc-web cargo-web rustfmt-web   (Debian, as root)
    curl https://sh.rustup.rs | sh                    (anywhere)
and then this script again"
}

# A cargo subcommand from crates.io: name, what for.
cargo_install() {
    eval "$(print_env)"
    has "$1" && return 0
    say "$1: $2; from crates.io, some minutes"
    # A target directory of its own: the user's may be shared or small. The
    # tools' release profiles (fat LTO) would take three times as long.
    CARGO_TARGET_DIR=$PWD/target/setup/$1 CARGO_PROFILE_RELEASE_LTO=off \
        CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
        CARGO_PROFILE_RELEASE_OPT_LEVEL=1 \
        cargo install --locked --quiet "$1" ||
        warn "$1 could not be installed; its check will be skipped"
    rm -rf "target/setup/$1"
}

install_readers() {
    has_readers && return 0
    say "duckdb pandas polars pyarrow: read what a bundle holds; from PyPI"
    mkdir -p "$(dirname "$readers")"
    "$python" -m venv "$readers" &&
        timeout 600 "$readers/bin/python" -m pip install -q duckdb pandas polars pyarrow &&
        has_readers && return 0
    rm -rf "$readers"
    warn "duckdb, pandas, polars and pyarrow could not be installed; their tests will be skipped"
}

install_perfetto() {
    has_perfetto && return 0
    say "perfetto: the definitions of its traces; from PyPI"
    mkdir -p "$(dirname "$readers")"
    "$python" -m venv "$readers" &&
        timeout 600 "$readers/bin/python" -m pip install -q perfetto &&
        has_perfetto && return 0
    warn "perfetto could not be installed; its test will be skipped"
}

install_formats() {
    has_formats && return 0
    say "kcidb-io junitparser check-jsonschema: read what CI is given; from PyPI"
    mkdir -p "$(dirname "$readers")"
    "$python" -m venv "$readers" &&
        timeout 600 "$readers/bin/python" -m pip install -q \
            kcidb-io junitparser check-jsonschema pyyaml &&
        has_formats && return 0
    warn "kcidb-io, junitparser and check-jsonschema could not be installed; their tests will be skipped"
}

install_browser() {
    has_browser && return 0
    say "playwright-core axe-core: open pages and check them; from the npm registry"
    rm -rf "$browser"
    mkdir -p "$browser"
    cp tests/browser/package.json tests/browser/package-lock.json "$browser"
    # No scripts: neither package needs one, and no browser is to be fetched.
    (cd "$browser" && timeout 600 npm ci --ignore-scripts --no-audit --no-fund \
        --loglevel=error > /dev/null) &&
        has_browser && return 0
    rm -rf "$browser"
    warn "playwright-core and axe-core could not be had from the npm registry; the tests that open pages will be skipped"
}

# What `cargo studies speed` measures beside ours.
virtme=target/setup/virtme-ng
install_virtme() {
    [ ! -x "$virtme/bin/vng" ] || return 0
    say "virtme-ng: another way to boot a kernel, to compare with; from PyPI"
    mkdir -p "$(dirname "$virtme")"
    "$python" -m venv "$virtme" &&
        timeout 600 "$virtme/bin/python" -m pip install -q virtme-ng && return 0
    rm -rf "$virtme"
    warn "virtme-ng could not be installed; its row will be missing"
}

# ---------------------------------------------------------------- the verbs

# Calls $1 with: group, check, packages, reason; for the groups that follow.
each_need() {
    local act=$1 group check packages reason
    shift
    while IFS='|' read -r group check packages reason; do
        group=$(echo $group) check=$(echo $check) packages=$(echo $packages)
        case " $* " in
            *" $group "*) "$act" "$group" "$check" "$packages" "${reason# }" ;;
        esac
    done < <(needs)
}

missing=()
collect() {
    if ! $2; then
        say "$3: $4"
        # shellcheck disable=SC2206
        missing+=($3)
    fi
}

list_one() {
    local state=missing
    if $2; then state=there; fi
    printf '%-6s %-8s %-20s %s\n' "$1" "$state" "$3" "$4"
}

list() {
    each_need list_one build exact run test full debug dev
    if find_rust; then
        printf '%-6s %-8s %-20s %s\n' build there "Rust >= $msrv" \
            "in $rust_dir ${rust_toolchain:+(RUSTUP_TOOLCHAIN=$rust_toolchain)}"
        eval "$(print_env)"
    else
        printf '%-6s %-8s %-20s %s\n' build missing "Rust >= $msrv" "compiles"
    fi
    list_one full has_readers "duckdb pyarrow (PyPI)" "read what a bundle holds"
    list_one full has_perfetto "perfetto (PyPI)" "reads what a trace holds"
    list_one full has_formats "kcidb-io ... (PyPI)" "read what CI is given"
    list_one full has_browser "playwright-core (npm)" "opens pages in a browser"
    list_one full "has cargo-deny" cargo-deny "licences and sources of crates"
    list_one dev "has cargo-fuzz" cargo-fuzz "runs the fuzz targets"
}

main() {
    local group groups=()
    for group in "$@"; do
        case $group in
            -h | --help) usage && return 0 ;;
            --env) print_env && return 0 ;;
            --list) list && return 0 ;;
            build | exact | run | test | full | debug | dist | dev) groups+=("$group") ;;
            *)
                warn "unknown argument: $group (./setup.sh --help)"
                exit 2
                ;;
        esac
    done
    [ ${#groups[@]} -gt 0 ] || groups=(build)
    each_need collect "${groups[@]}"
    if [ ${#missing[@]} -gt 0 ]; then apt_install "${missing[@]}"; fi
    install_rust
    case " ${groups[*]} " in
        *" full "*)
            cargo_install cargo-deny "licences and sources of crates"
            install_readers
            install_perfetto
            install_formats
            install_browser
            ;;
    esac
    case " ${groups[*]} " in
        *" dev "*)
            cargo_install cargo-fuzz "runs the fuzz targets"
            install_virtme
            ;;
    esac
    say "${groups[*]}: all there"
}

main "$@"
