# shellcheck shell=bash disable=SC2034,SC2154 # the parts share their variables
# Part of .ci/dx12: sets up the lane, stage by stage: the chroot, its packages, Wine's prefix, the shader compiler.

# Bump a stage's number when you change what it does: that stage and all later ones are then repeated.
base=base-1 packages=packages-2 prefix=prefix-1 compiler=compiler-2

is_done() { [ -e "$lane/done/$1" ]; }
mark() { mkdir -p "$lane/done" && touch "$lane/done/$1"; }
lane_is_ready() { is_done $base && is_done $packages && is_done $prefix && is_done $compiler; }

set_up() {
    if lane_is_ready; then
        say "the lane is set up in $lane"
        mount_all
        return
    fi
    say "setting up in $lane: 6.5 GB in total; 10 to 30 minutes including the first build"
    local started=$SECONDS
    is_done $base || { rm -f "$lane"/done/*; make_base; }
    mount_all
    is_done $packages || install_packages
    is_done $prefix || make_prefix
    is_done $compiler || fetch_compiler
    say "set up in $((SECONDS - started)) s: chroot $(size --exclude="$root"/{src,lane,cargo,proc,sys,dev,tmp} "$root"), Wine's prefix $(size "$lane/wine")"
}

# Installs debootstrap on the host, unless the chroot already exists.
install_debootstrap() {
    if is_done $base || command -v debootstrap >/dev/null 2>&1; then return; fi
    command -v apt-get >/dev/null 2>&1 || die "please install debootstrap and debian-archive-keyring"
    say "installing debootstrap"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        debootstrap debian-archive-keyring >/dev/null
}

# mirror ARCHIVE: the mirror that the host's apt uses for debian or debian-security, or else Debian's own.
mirror() {
    local found
    found=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
        grep -v '^ *#' | grep -oE "(https?|file|ftp)://[^ ]*/$1/?( |\$)" | head -n 1 | tr -d ' ' | sed 's,/$,,' || true)
    echo "${found:-http://deb.debian.org/$1}"
}

# The host's apt settings: proxies, certificates, and whether the clock can be trusted.
apt_settings() { apt-config dump 2>/dev/null | grep -E '^Acquire::((http|https)::|Check-|Retries)' || true; }

make_base() {
    local keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    [ -s $keyring ] || die "$keyring is missing: install debian-archive-keyring"
    remove_tree "$root"
    mkdir -p "$root" "$lane/debs"
    local proxy
    proxy=$(apt_settings | sed -n 's/^Acquire::http::Proxy "\(.*\)";/\1/p')
    [ -z "$proxy" ] || export http_proxy="$proxy"
    run_long "Debian trixie" debootstrap --variant=minbase --keyring=$keyring --cache-dir="$lane/debs" \
        --include=ca-certificates trixie "$root" "$(mirror debian)"
    # debootstrap checked the signatures with the host's keyring; apt in the chroot has its own.
    printf 'deb %s trixie main\ndeb %s trixie-security main\n' "$(mirror debian)" "$(mirror debian-security)" \
        >"$root/etc/apt/sources.list"
    rm -f "$root"/etc/apt/sources.list.d/*
    apt_settings >"$root/etc/apt/apt.conf.d/90machine"
    printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
    chmod +x "$root/usr/sbin/policy-rc.d"
    remove_tree "$lane/debs"
    mark $base
}

# Mounts what programs in the chroot need from the host. The mounts disappear with the namespace.
mount_all() {
    cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
    copy_certificates
    mkdir -p "$root"/{src,lane,cargo/registry,run/user} "$lane/target" "$lane/out"
    as_user mkdir -p "$cargo_home/registry"
    mount -t proc proc "$root/proc"
    mount -t sysfs -o ro sysfs "$root/sys"
    mount --rbind --make-rslave /dev "$root/dev"
    mount -t tmpfs tmpfs "$root/tmp"
    mount --bind "$lane" "$root/lane"
    mount_read_only "$here" "$root/src"
    # Filled by fetch_crates, outside the chroot.
    mount_read_only "$cargo_home/registry" "$root/cargo/registry"
    # If the host replaces crates.io by a mirror, so must the chroot: cargo keys its cache by the source.
    cat "$cargo_home/config.toml" "$cargo_home/config" 2>/dev/null |
        awk '/^\[/ { keep = /^\[(source|registr)/ } keep' >"$root/cargo/config.toml" || true
}

mount_read_only() {
    mount --bind "$1" "$2"
    mount -o remount,bind,ro "$2"
}

# The host's certificates: it may be behind a proxy that has its own.
copy_certificates() {
    local bundle="${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}"
    if [ -s "$bundle" ]; then cp -L "$bundle" "$root/etc/ssl/certs/ca-certificates.crt"; fi
}

# inside COMMAND...: runs a command in the chroot. Of the environment, it keeps only what the network needs.
inside() {
    local keep=() name
    while IFS= read -r name; do
        case $name in
        http_proxy | https_proxy | no_proxy | all_proxy | HTTP_PROXY | HTTPS_PROXY | NO_PROXY | ALL_PROXY | \
            CARGO_REGISTR* | PIP_INDEX_URL | PIP_EXTRA_INDEX_URL)
            keep+=("$name=${!name}")
            ;;
        esac
    done < <(compgen -e)
    chroot "$root" /usr/bin/env -i "${keep[@]}" HOME=/root USER=root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt CARGO_HOME=/cargo CARGO_TARGET_DIR=/lane/target \
        CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0 WINEPREFIX=/lane/wine WINEDEBUG=-all "$@"
}

install_packages() {
    run_long "package lists" inside apt-get update
    run_long "Wine, Mesa, Rust and MinGW" inside apt-get install -y --no-install-recommends \
        wine64 wine mesa-vulkan-drivers libgl1-mesa-dri libvulkan1 xvfb xauth ca-certificates \
        rustc-web cargo-web rust-web-src gcc-mingw-w64-x86-64-posix gcc libc6-dev \
        unzip xdotool imagemagick
    inside apt-get clean
    # A package's trigger may have replaced the bundle.
    copy_certificates
    mark $packages
}

make_prefix() {
    remove_tree "$lane/wine"
    run_long "Wine's prefix" inside env WINEDLLOVERRIDES="mscoree,mshtml=d" timeout 600 wine wineboot -i
    inside timeout 60 wineserver -w
    [ -d "$lane/wine/drive_c/windows/system32" ] || die "Wine did not create its C drive"
    mark $prefix
}

# Wine's own shader compiler doesn't support resource arrays (E5017); Microsoft's comes in a wheel on PyPI.
fetch_compiler() {
    local sum=c8e25abd3d45dfb55966a74613258c39b4a83ea2ac77f2f80903499f4d5c03f0 into="$lane/compiler"
    local wheel="download --no-deps --platform win_amd64 --python-version 311 --only-binary=:all: kivy-deps.angle==0.5.0"
    remove_tree "$into"
    mkdir -p "$into"
    # shellcheck disable=SC2086 # a list of options
    if python3 -m pip --version >/dev/null 2>&1; then
        run_long "Microsoft's shader compiler" python3 -m pip $wheel --dest "$into"
    else
        # Only without pip on the host.
        run_long "pip" inside apt-get install -y --no-install-recommends python3-pip
        run_long "Microsoft's shader compiler" inside python3 -m pip $wheel --dest /lane/compiler
    fi
    inside unzip -q -o -j -d /lane/compiler "/lane/compiler/*.whl" "*/d3dcompiler_47.dll"
    echo "$sum  $into/d3dcompiler_47.dll" | sha256sum --check --quiet || die "the shader compiler's checksum is wrong"
    rm -f "$into"/*.whl
    mark $compiler
}
