# shellcheck shell=bash disable=SC2034,SC2154 # the parts share their variables
# Part of .ci/dx12: runs the Windows programs under Wine and checks what they draw.

# Starts a virtual display: without one, Wine has no adapter. RANDR is off because Xvfb's modes have no refresh
# rate, which winit rejects.
display=
open_display() {
    chmod 700 "$root/run/user"
    rm -f "$lane/display"
    inside sh -c 'exec Xvfb -displayfd 3 -screen 0 1280x800x24 -extension RANDR -nolisten tcp 3>/lane/display' >"$lane/logs/Xvfb.log" 2>&1 &
    for _ in $(seq 100); do
        [ -s "$lane/display" ] && break
        sleep 0.2
    done
    [ -s "$lane/display" ] || die "Xvfb does not start; see $lane/logs/Xvfb.log"
    display=":$(cat "$lane/display")"
}

# in_wine [SETTING...] PROGRAM [ARGUMENT...]: sets what Wine needs for software rendering.
in_wine() {
    local driver
    driver=$(cd "$root" && find usr/share/vulkan/icd.d -name "lvp_icd*.json" | head -n 1)
    [ -n "$driver" ] || die "Mesa's software Vulkan driver is not in the chroot"
    inside env DISPLAY="$display" XDG_RUNTIME_DIR=/run/user VK_DRIVER_FILES="/$driver" VKD3D_DEBUG=fixme \
        WINEDLLOVERRIDES=d3dcompiler_47=n "$@"
}

# Waits for Wine's server to exit: a program started while it shuts down loses its connection ("recvmsg:
# Connection reset").
settle() {
    inside timeout 60 wineserver -w || inside timeout 20 wineserver -k || true
}

# Fails if a log contains something it must not. ExecuteIndirect is the only sign of a draw call that Wine drops.
check_log() {
    local found
    # Logs may contain color codes.
    found=$(sed 's/\x1b\[[0-9;]*m//g' "$1" |
        grep -nE 'ExecuteIndirect|[Vv]alidation [Ee]rror|VUID-|ERROR |panicked' |
        # wgpu asks Wine for an interface that Wine doesn't have, and works without it.
        grep -v 'create_factory_media failed' | head -n 10 || true)
    [ -z "$found" ] || die "$1: $found"
}

# draw NAME [SETTING...]: runs the test program; its pictures go to out/NAME.
draw() {
    local name="$1" log
    shift
    rm -rf "$lane/out/$name"
    run_long "drawing on $name" in_wine "$@" timeout 900 wine /lane/run/backends.exe --out "Z:\\lane\\out\\$name"
    settle
    log="$lane/logs/drawing-on-$name.log"
    grep -E '^(adapter|joint|picture|\|)' "$log" | tr -d '\r'
    grep -q '^passed' "$log" || die "backends.exe did not pass"
    check_log "$log"
}

compare() {
    local log="$lane/logs/comparing.log"
    in_wine timeout 300 wine /lane/run/backends.exe --compare 'Z:\lane\out\dx12' 'Z:\lane\out\vulkan' >"$log" 2>&1 || true
    settle
    tr -d '\r' <"$log"
    grep -q '^passed' "$log" || die "DX12 and Vulkan differ"
}

# Runs the viewer in a window, as a user would, with the inspector open.
show_viewer() {
    local log="$lane/logs/viewer.log" picture="$lane/out/viewer.png" pid tries=0
    say "running the viewer in a window (log: $log)"
    rm -f "$picture"
    in_wine RUST_LOG=warn,bevy_render=info timeout 900 wine /lane/run/viewer.exe --plain --inspector >"$log" 2>&1 &
    pid=$!
    # Wait for a character: left of the inspector, only skin and leather are this warm in color.
    until inside env DISPLAY="$display" import -window root /lane/out/viewer.png 2>/dev/null &&
        [ "$(inside convert /lane/out/viewer.png -crop '66%x85%+0+40' +repage -resize 200x -fx '(r-b)>0.15' \
            -format '%[fx:mean>0.003]' info: 2>/dev/null | tail -n 1)" = 1 ]; do
        kill -0 $pid 2>/dev/null || { tail -n 20 "$log" >&2; die "the viewer exited early"; }
        tries=$((tries + 1))
        [ $tries -lt 200 ] || die "the viewer shows no character; see $picture"
        [ $((tries % 15)) -ne 0 ] || say "  still compiling shaders"
        sleep 2
    done
    sleep 5
    inside env DISPLAY="$display" import -window root /lane/out/viewer.png
    kill -0 $pid 2>/dev/null || die "the viewer exited early; see $log"
    inside timeout 60 wineserver -k || true
    wait $pid || true
    settle
    grep -oE 'AdapterInfo \{.*' "$log" | head -n 1 | cut -c 1-200
    grep -q 'backend: Dx12' "$log" || die "the viewer did not use DX12; see $log"
    check_log "$log"
    say "see $picture"
}
