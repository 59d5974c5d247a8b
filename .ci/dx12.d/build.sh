# shellcheck shell=bash disable=SC2034,SC2154 # the parts share their variables
# Part of .ci/dx12: downloads crates on the host and builds the Windows programs in the chroot.

target=/lane/target/x86_64-pc-windows-gnu/debug
library="$root/usr/lib/rustlib/src/rust/library"

# Downloads all crates on the host, which knows its proxies and certificates: the build in the chroot is offline.
fetch_crates() {
    command -v cargo >/dev/null 2>&1 || die "cargo is needed outside the chroot too: it downloads the crates"
    run_long "downloading crates" as_user cargo fetch --locked --manifest-path "$here/Cargo.toml" \
        --target x86_64-pc-windows-gnu --target x86_64-unknown-linux-gnu
    # The standard library is built from source and has dependencies of its own.
    [ -s "$library/Cargo.lock" ] || die "$library is missing: rust-web-src is not installed in the chroot"
    run_long "downloading the standard library's crates" as_user env RUSTC_BOOTSTRAP=1 \
        cargo fetch --locked --manifest-path "$library/Cargo.toml"
}

build() {
    fetch_crates
    run_long "building for Windows" inside env RUSTC_BOOTSTRAP=1 sh -c '
        cargo --config /src/.ci/dx12.d/cargo.toml build --manifest-path /src/Cargo.toml --locked --offline \
            -Z build-std=std,panic_unwind --target x86_64-pc-windows-gnu --test backends --example viewer \
            --message-format json-render-diagnostics >/lane/logs/built.json'
    # What a user has: a folder with the program, its assets and, as on Windows itself, the shader compiler.
    local tested
    tested=$(sed -n 's,.*"executable":"\(/lane/[^"]*/backends-[^"]*\.exe\)".*,\1,p' "$lane/logs/built.json" | tail -n 1)
    [ -n "$tested" ] || die "cargo reported no backends.exe"
    mkdir -p "$lane/run"
    ln -f "$lane${tested#/lane}" "$lane/run/backends.exe"
    ln -f "$lane${target#/lane}/examples/viewer.exe" "$lane/run/viewer.exe"
    ln -f "$lane/compiler/d3dcompiler_47.dll" "$lane/run/d3dcompiler_47.dll"
    rm -rf "$lane/run/assets"
    cp -r "$here/assets" "$lane/run/assets"
    say "backends.exe $(size -L "$lane/run/backends.exe"), viewer.exe $(size -L "$lane/run/viewer.exe"), all of cargo's output $(size "$lane/target")"
}
