#!/usr/bin/env bash
# Builds the programs of benches/gpu/run.sh and packs them into target/gpu-run/programs.tar.gz (x86-64 Linux). The archive has:
#
#   adapters                     lists the adapters; the check for a real GPU
#   parity schedules             tests against the CPU reference
#   step bodies kinds meshes large
#                                benches
#   cloth contacts crowd soft_body character
#                                examples
#   lib/                         the Vulkan loader and the X11 libraries that NVIDIA's Vulkan driver is linked to; run.sh uses only the
#                                libraries that the GPU machine lacks
#
# The GPU machine needs a C library that is as new as the one of this machine.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

[ "$(uname -m)" = x86_64 ] || { echo "build.sh: the GPU machine is x86-64, this machine is $(uname -m)" >&2; exit 1; }
export CARGO_TERM_COLOR=never
to=target/gpu-run
rm -rf "$to"
mkdir -p "$to/programs/lib"

examples=(adapters cloth contacts crowd soft_body character)
tests=(parity schedules)
benches=(step bodies kinds meshes large)
cargo build --release "${examples[@]/#/--example=}"
for name in "${examples[@]}"; do
    strip -o "$to/programs/$name" "${CARGO_TARGET_DIR:-target}/release/examples/$name"
done

# Cargo prints a line "Executable benches/step.rs (target/release/deps/step-0123456789abcdef)" for each program, and "tests/parity/main.rs" for tests.
cargo test --release --no-run "${tests[@]/#/--test=}" "${benches[@]/#/--bench=}" 2>&1 | tee "$to/log" >&2
sed -n 's|^ *Executable [a-z]*/\([a-z]*\)[./].* (\(.*\))$|\1 \2|p' "$to/log" | while read -r name program; do
    strip -o "$to/programs/$name" "$program"
done
rm "$to/log"

for name in libvulkan.so.1 libX11.so.6 libXext.so.6 libxcb.so.1 libXau.so.6 libXdmcp.so.6 libbsd.so.0 libmd.so.0; do
    library=$(ldconfig -p | sed -n "s|^\s*$name (libc6,x86-64.*) => ||p" | head -n 1)
    if [ -n "$library" ]; then
        cp -L "$library" "$to/programs/lib/"
    elif [ "$name" = libvulkan.so.1 ]; then
        echo "build.sh: the Vulkan loader (libvulkan.so.1) is not installed" >&2
        exit 1
    fi
done

ls -l "$to/programs" "$to/programs/lib"
git describe --always --dirty >"$to/commit" 2>/dev/null || true
tar -czf "$to/programs.tar.gz" -C "$to/programs" .
rm -r "$to/programs"
ls -l "$to"
bytes=$(stat -c %s "$to/programs.tar.gz")
((bytes < 60 << 20)) || { echo "build.sh: $bytes bytes are more than 60 MiB" >&2; exit 1; }
