# What the scripts of this folder share: the parts of a run with their counts, the tools they need,
# the throw-away PostgreSQL cluster, and the clean-up at the end. It is sourced, never run.
# It keeps to what bash 3.2 knows, so that it works on a Mac too.
# shellcheck shell=bash

passed=0 failed=0 skipped=0
strict=""                       # set: a missing tool is a failure and not a skip
scratch=$(mktemp -d "${TMPDIR:-/tmp}/restante-test.XXXXXX")
cluster=""                      # the folder of the throw-away cluster while there is one
running=""                      # the process group of the part that is under way

# --- parts and their counts -------------------------------------------------------------------

# count PASSED FAILED SKIPPED
count() {
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
}

# missing NAME REASON: a part, or some of its tests, that can't run here.
missing() {
    if [ -n "$strict" ]; then
        printf 'FAILED   %s: %s\n' "$1" "$2"
        count 0 1 0
    else
        printf 'skipped  %s: %s\n' "$1" "$2"
        count 0 0 1
    fi
}

# part NAME COUNTER COMMAND…: runs one part, shows what it prints, and counts it. COUNTER is a
# function that reads the part's output (a file) and its exit status, and calls `count`.
part() {
    local name=$1 counter=$2 began=$SECONDS rc=0 log
    shift 2
    log=$scratch/part.log
    printf '\n== %s\n' "$name"
    in_group logged "$log" "$@" || rc=$?
    "$counter" "$log" "$rc"
    if [ "$rc" = 0 ]; then
        printf -- '-- %s: done in %d s\n' "$name" $((SECONDS - began))
    else
        printf -- '-- %s: FAILED after %d s\n' "$name" $((SECONDS - began))
    fi
    return "$rc"
}

# In a process group of its own and waited for, so that a signal to this script ends the part at
# once, with all that the part started.
in_group() {
    local rc=0
    set -m
    "$@" </dev/null &
    running=$!
    set +m
    wait "$running" || rc=$?
    running=""
    return "$rc"
}

# logged FILE COMMAND…: the output goes to the screen and to the file; the status is the command's.
logged() {
    local log=$1
    shift
    set -o pipefail
    "$@" 2>&1 | tee "$log"
}

# A part that is one thing: it stands or it falls.
as_one() {
    if [ "$2" = 0 ]; then count 1 0 0; else count 0 1 0; fi
}

# A part that ends with the plain line `N passed, N failed, N skipped`.
as_plain() {
    as_sums "$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$1" | tail -n 1)" "$2"
}

# `cargo test`: the sum of the closing lines of its test programs. What a filter left out was
# named and is counted as skipped. A test that could not run here says so itself, and cargo takes
# it for passed.
as_cargo() {
    local said
    said=$(grep -c '^skipped  ' "$1")
    as_sums "$(sed -n 's/^test result: .* \([0-9]*\) passed; \([0-9]*\) failed; \([0-9]*\) ignored; .*; \([0-9]*\) filtered.*/\1 \2 \3 \4/p' "$1" |
        awk -v said="$said" -v strict="$strict" '{ p += $1; f += $2; s += $3 + $4 }
            END { print p - said, strict == "" ? f + 0 : f + said, strict == "" ? s + said : s + 0 }')" "$2"
}

# as_sums "PASSED FAILED SKIPPED" STATUS: what broke off without naming a failed test is one failure.
as_sums() {
    # shellcheck disable=SC2086 # three numbers, split on purpose
    set -- "$2" ${1:-0 0 0}
    count "$2" "$3" "$4"
    if [ "$1" != 0 ] && [ "$3" = 0 ]; then count 0 1 0; fi
}

# --- the end ----------------------------------------------------------------------------------

tidy_at_the_end() {
    trap finish EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
}

finish() {
    local rc=$?
    trap - EXIT HUP INT TERM
    [ -z "$running" ] || kill -TERM -- "-$running" 2>/dev/null
    stop_cluster
    rm -rf "$scratch"
    if [ "$rc" != 0 ] && [ "$failed" = 0 ]; then failed=1; fi
    printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
    [ "$failed" = 0 ] || exit 1
    exit 0
}

# --- tools ------------------------------------------------------------------------------------

has() { command -v "$1" >/dev/null 2>&1; }

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }

# Whether packages may be installed here: Debian or Ubuntu, as root or with sudo that asks nothing.
may_install() {
    has apt-get || return 1
    [ "$(id -u)" = 0 ] || { has sudo && sudo -n true 2>/dev/null; }
}

lists_are_new=""
# install PACKAGE…: gives back whether they are there now.
install() {
    may_install || return 1
    echo "installing $*"
    if [ -z "$lists_are_new" ]; then
        as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq >"$scratch/apt.log" 2>&1
        lists_are_new=yes
    fi
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" \
        >>"$scratch/apt.log" 2>&1 && return 0
    tail -n 5 "$scratch/apt.log"
    return 1
}

# to_type DEBIAN MAC: the line that a person would type to install something.
to_type() {
    if has brew; then echo "brew install $2"; else echo "sudo apt-get install $1"; fi
}

# Rust itself. Without it nothing can be said of the project, so the run ends.
need_rust() {
    if ! has cargo; then
        echo "There is no cargo. Install Rust 1.94 or newer: https://rustup.rs"
        return 1
    fi
    if ! has cc && ! install build-essential; then
        echo "There is no C compiler, which SQLite and the cryptography need; type: $(to_type build-essential gcc)"
        return 1
    fi
}

need_lints() {
    local tool
    for tool in fmt clippy; do
        cargo "$tool" --version >/dev/null 2>&1 && continue
        has rustup && rustup component add "${tool/fmt/rustfmt}" >/dev/null 2>&1 && continue
        missing "formatting and lints" "no cargo $tool; type: rustup component add ${tool/fmt/rustfmt}"
        return 1
    done
}

# cargo-deny, built without optimisation: that takes two minutes in place of ten.
need_deny() {
    has cargo-deny && return 0
    if may_install || [ -n "$strict" ]; then
        echo "installing cargo-deny, which takes some minutes"
        CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=256 \
            cargo install --locked --quiet cargo-deny >"$scratch/deny.log" 2>&1
        has cargo-deny && return 0
        tail -n 5 "$scratch/deny.log"
    fi
    missing "licences and sources of the dependencies" "no cargo-deny; type: cargo install --locked cargo-deny"
    return 1
}

need_postgres() {
    find_postgres || { install postgresql && find_postgres; } && return 0
    missing "all tests on PostgreSQL" "no server programs of version 14 or newer; type: $(to_type postgresql postgresql)"
    return 1
}

# The folder with PostgreSQL's server programs, in `postgres_bin`.
find_postgres() {
    local dir
    {
        if has pg_config; then pg_config --bindir; fi
        find /usr/lib/postgresql -mindepth 2 -maxdepth 2 -name bin 2>/dev/null | sort -rV
    } >"$scratch/postgres-folders"
    while read -r dir; do
        if [ ! -x "$dir/initdb" ] || [ ! -x "$dir/postgres" ]; then continue; fi
        [ "$("$dir/postgres" --version | sed 's/[^0-9]*\([0-9]*\).*/\1/')" -ge 14 ] || continue
        postgres_bin=$dir
        return 0
    done <"$scratch/postgres-folders"
    return 1
}

need_python() {
    find_python || { install python3 python3-cryptography && find_python; } && return 0
    if [ -n "$python" ]; then
        missing "field cases with ECDSA and Ed25519 senders" \
            "no Python package cryptography; type: $(to_type python3-cryptography cryptography)"
        return 0
    fi
    missing "the field cases" "no Python of 3.10 or newer; type: $(to_type 'python3 python3-cryptography' python3)"
    return 1
}

# A Python of 3.10 or newer in `python`; success when it has the package cryptography.
find_python() {
    local p
    python=""
    for p in python3 /usr/bin/python3 python3.14 python3.13 python3.12 python3.11 python3.10; do
        "$p" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || continue
        [ -n "$python" ] || python=$p
        if "$p" -c 'import cryptography' 2>/dev/null; then
            python=$p
            return 0
        fi
    done
    return 1
}

# faketime moves the server's clock in some tests and field cases.
need_faketime() {
    has faketime || install faketime ||
        missing "tests and field cases that move the clock by minutes or days" "no faketime; type: $(to_type faketime libfaketime)"
}

# strace makes the server's disk fail in some tests.
need_strace() {
    has strace || { [ "$(uname -s)" = Linux ] && install strace; } ||
        missing "tests with a failing disk" "no strace, which there is for Linux; type: $(to_type strace strace)"
}

# npm brings the providers' own libraries.
need_npm() {
    has npm || install nodejs npm ||
        { missing "the providers' own libraries as signers" "no npm; type: $(to_type 'nodejs npm' node)"; return 1; }
}

# Chromium in `chromium`, and in `modules` a folder with what drives it, in the versions that are locked.
# need_browser NAME: NAME is what can't run without them.
need_browser() {
    local major
    chromium=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || true)}
    if [ -z "$chromium" ] && install chromium; then chromium=$(command -v chromium); fi
    if [ -z "$chromium" ]; then
        missing "$1" "no Chromium; type: $(to_type chromium chromium), or name one in CHROMIUM"
        return 1
    fi
    if ! has npm && ! install nodejs npm; then
        missing "$1" "no npm; type: $(to_type 'nodejs npm' node)"
        return 1
    fi
    major=$(node --version 2>/dev/null | sed 's/^v\([0-9]*\).*/\1/')
    if [ "${major:-0}" -lt 20 ]; then
        missing "$1" "Node.js ${major:-of no version} is too old; 20 or newer is needed, see https://nodejs.org"
        return 1
    fi
    modules=$scratch/modules
    mkdir -p "$modules"
    cp web/tests/browser/package.json web/tests/browser/package-lock.json web/tests/browser/.npmrc "$modules/"
    if ! npm ci --silent --prefix "$modules" >"$scratch/npm.log" 2>&1; then
        tail -n 5 "$scratch/npm.log"
        missing "$1" "playwright-core and axe-core did not come from npm"
        return 1
    fi
}

# A thousand connections at once need as many open files, at both ends.
raise_limits() {
    local most
    most=$(ulimit -Hn)
    if [ "$most" = unlimited ] || [ "$most" -gt 65536 ]; then most=65536; fi
    ulimit -Sn "$most" 2>/dev/null || true
}

# --- the throw-away PostgreSQL cluster ------------------------------------------------------------

# PostgreSQL refuses to run as root, so there it runs as the user that its package made.
as_postgres() {
    if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi
}

# A new cluster in a temporary folder, on a free port, that nobody else uses; its URL goes into
# RESTANTE_TEST_POSTGRES_URL. Its commits reach the disk as in earnest; only initdb doesn't wait.
start_cluster() {
    local port try
    cluster=$(mktemp -d /tmp/restante-pg.XXXXXX) # a short path: that of a socket has at most 107 bytes
    [ "$(id -u)" != 0 ] || chown postgres "$cluster"
    if (cd "$cluster" && as_postgres "$postgres_bin/initdb" -D "$cluster/data" -U postgres -A trust \
        --no-sync -E UTF8 --locale=C) >"$scratch/initdb.log" 2>&1; then
        for try in 1 2 3 4 5; do
            port=$((20000 + RANDOM % 12000))
            if (cd "$cluster" && as_postgres "$postgres_bin/pg_ctl" -D "$cluster/data" -l "$cluster/log" -w -s start -o \
                "-p $port -k $cluster -c listen_addresses=127.0.0.1 -c max_connections=400") >/dev/null 2>&1; then
                export RESTANTE_TEST_POSTGRES_URL="postgres://postgres@127.0.0.1:$port/postgres"
                echo "a throw-away PostgreSQL $("$postgres_bin/postgres" --version | sed 's/^[^0-9]*//; s/ .*//') on port $port"
                return 0
            fi
        done
        echo "PostgreSQL did not start, tried $try times:"
    fi
    tail -n 5 "$scratch/initdb.log" "$cluster/log" 2>/dev/null
    stop_cluster
    missing "all tests on PostgreSQL" "the throw-away cluster did not start; its last words stand above"
    return 1
}

stop_cluster() {
    [ -n "$cluster" ] || return 0
    (cd / && as_postgres "$postgres_bin/pg_ctl" -D "$cluster/data" -m immediate -s stop) >/dev/null 2>&1
    rm -rf "$cluster"
    cluster=""
    unset RESTANTE_TEST_POSTGRES_URL
}

# new_database NAME: prints its URL.
new_database() {
    "$postgres_bin/psql" -q -X -d "$RESTANTE_TEST_POSTGRES_URL" -c "CREATE DATABASE $1" >/dev/null &&
        echo "${RESTANTE_TEST_POSTGRES_URL%/*}/$1"
}

# --- the build --------------------------------------------------------------------------------

# Where cargo puts what it builds, whatever a variable or a configuration file says.
target_dir() {
    cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/'
}
