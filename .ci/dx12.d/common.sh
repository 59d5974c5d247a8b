# shellcheck shell=bash disable=SC2034,SC2154 # the parts share their variables
# Part of .ci/dx12: where things are, logging, and long-running commands.

lane="${XDG_CACHE_HOME:-$HOME/.cache}/bevy_marionette/dx12"
root="$lane/root"
cargo_home="${CARGO_HOME:-$HOME/.cargo}"

say() { echo "dx12: $*"; }
die() { echo "dx12: $*" >&2; exit 1; }
size() { du -sh "$@" 2>/dev/null | tail -n 1 | cut -f 1; }

# Runs a command as the user who called sudo, so that root leaves no files in that user's cache.
as_user() {
    if [ -n "${SUDO_USER:-}" ]; then runuser -u "$SUDO_USER" -- "$@"; else "$@"; fi
}

# Deletes a folder, but never what is mounted below it.
remove_tree() {
    [ -e "$1" ] || return 0
    if grep -qF " $(realpath "$1")/" /proc/mounts; then die "$1 contains a mount: not deleted"; fi
    rm -rf --one-file-system "$1"
}

# run_long WHAT COMMAND...: logs the output to a file and prints a progress line every 30 seconds.
run_long() {
    local what="$1" log pid started=$SECONDS
    shift
    log="$lane/logs/${what//[^A-Za-z0-9]/-}.log"
    mkdir -p "$lane/logs"
    say "$what (log: $log)"
    "$@" >"$log" 2>&1 </dev/null &
    pid=$!
    while kill -0 $pid 2>/dev/null; do
        sleep 1
        if [ $(((SECONDS - started) % 30)) -eq 29 ]; then
            say "  $((SECONDS - started)) s: $(tr '\r' '\n' <"$log" | grep -v '^ *$' | tail -n 1 | cut -c 1-110)"
            sleep 1
        fi
    done
    if ! wait $pid; then
        tail -n 40 "$log" >&2
        die "$what failed after $((SECONDS - started)) s"
    fi
    say "  done in $((SECONDS - started)) s"
}
