#!/usr/bin/env bash
# Runs the parity tests and the benches on a machine that has a GPU but no Rust toolchain, within five minutes.
#
#   1. On the build machine: benches/gpu/build.sh. It makes target/gpu-run/programs.tar.gz.
#   2. Copy the repository with target/gpu-run/ to the GPU machine.
#   3. On the GPU machine: benches/gpu/run.sh
#
# Each part has a time limit. A part that fails or exceeds its limit does not stop the others. The exit status
# is 1 if a test fails or has no time left. Results, in $OUT:
#
#   gpu-run.md              machine, date, result and seconds of each part
#   gpu-run.log             standard error of all parts
#   gpu-run-tests.txt       parity tests against the CPU reference
#   gpu-run-step.md         hanging cloth by size, execution and variant
#   gpu-run-benches.md      garment meshes with hinges, 1000 flags as bodies and as instances, large scenes of one material
#   gpu-run-examples.jsonl  examples, with the times of their passes; a line each
#   gpu-run-cuda.jsonl      the CUDA programs of benches/peers; a line each
#
# Environment variables:
#
#   OUT     folder of the results; default benches/results
#   BUDGET  seconds for all parts together; default 285
#   SIZES   particles a side of the hanging cloth; default "100 316 1000 3162", which is 10 000 to 10 million particles
#   PARTS   default "tests step meshes bodies examples cuda large materials". `step` runs the sizes up to 1000, `large` the others; `materials` is
#           the bench `large`; `kinds`, the bench of this name, runs only if it is named
#   QUICK   1 for a test of this script: small sizes, longer time limits, and a software adapter is accepted. Its times mean nothing.
#
# SUPPLE_ADAPTER selects the adapter: a part of its name, or `software`. The settings of the GPU, such as its clocks, are not changed.
set -uo pipefail
shopt -s nullglob
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
OUT=${OUT:-$root/benches/results}
QUICK=${QUICK:-0}
PARTS=" ${PARTS:-tests step meshes bodies examples cuda large materials} "
if [ "$QUICK" = 1 ]; then
    BUDGET=${BUDGET:-1800}
    SIZES=${SIZES:-32 64}
    scale=10
    flags=(4)
    garments=(12)
    share=(0.01)
    count=(--count 4)
    frames=(--frames 4)
    grid=(--columns 24 --rows 24)
    walk=(--frames 2)
else
    BUDGET=${BUDGET:-285}
    SIZES=${SIZES:-100 316 1000 3162}
    scale=1
    flags=()
    garments=(141 447)
    share=()
    count=()
    frames=()
    grid=()
    # 19 974 particles.
    walk=(--columns 125)
fi

programs=$(mktemp -d)
trap 'rm -rf "$programs"' EXIT
tar -xzf "$root/target/gpu-run/programs.tar.gz" -C "$programs" || exit 1
mkdir -p "$OUT"
rm -f "$OUT"/gpu-run.md "$OUT"/gpu-run.log
summary=$OUT/gpu-run.md
log=$OUT/gpu-run.log

# The libraries of the machine have precedence over those of the archive.
export PATH=$PATH:/sbin:/usr/sbin:/usr/local/cuda/bin
known=$(ldconfig -p)
for library in "$programs"/lib/*; do
    if grep -q "${library##*/} (libc6,x86-64" <<<"$known"; then rm "$library"; fi
done
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$programs/lib
# Containers mount the NVIDIA driver here, outside of the folders that the Vulkan loader reads.
nvidia=/usr/local/nvidia
if [ -z "${VK_DRIVER_FILES:-}" ] && [ -f $nvidia/share/vulkan/icd.d/nvidia_icd.json ]; then
    export VK_DRIVER_FILES=$nvidia/share/vulkan/icd.d/nvidia_icd.json
    export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$nvidia/lib64:$nvidia/lib
fi

say() { echo "$*" | tee -a "$summary"; }

gpu_state() {
    local fields=name,driver_version,memory.total,clocks.sm,clocks.max.sm,clocks.mem,clocks.max.mem,power.limit,temperature.gpu
    if command -v nvidia-smi >/dev/null; then
        nvidia-smi --query-gpu=$fields --format=csv 2>&1
    else
        echo "nvidia-smi is not installed"
    fi
}

say "# GPU run"
say
say "- Date: $(date -u '+%Y-%m-%d %H:%M') UTC"
say "- Commit: $(cat "$root/target/gpu-run/commit" 2>/dev/null || echo unknown)"
say "- CPU: $(sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -n 1), $(nproc) threads; kernel $(uname -r)"
say
say '```text'
say "$(gpu_state)"
# The adapter with the star is the one that all programs use.
adapters=$(timeout 60 "$programs/adapters" 2>>"$log")
found=$?
say "$adapters"
say '```'
say
if [ $found -ne 0 ] || { [ "$QUICK" != 1 ] && ! grep '^\*' <<<"$adapters" | grep -Eq ', (Discrete|Integrated|Virtual)Gpu,'; }; then
    tail -n 5 "$log"
    say "Stopped: no GPU was found. VK_LOADER_DEBUG=all shows what the Vulkan loader reads; QUICK=1 accepts a software adapter."
    exit 1
fi
rm -f "$OUT"/gpu-run-*
say "| part | result | seconds |"
say "|---|---|---|"

# The last line of standard error; of the output for tests and if standard error is empty.
reason() {
    local line
    line=$(tail -n 1 "$1")
    if [[ $line == "== "* || $2 == *.txt ]]; then line=$(grep . "$2" | tail -n 1); fi
    cut -c 1-160 <<<"$line" | tr '|' '/'
}

# part NAME LIMIT FILE COMMAND...: runs the command for at most LIMIT seconds, adds its output to FILE and a row to the summary.
part() {
    local name=$1 limit=$(($2 * scale)) file=$OUT/$3 filter='' left=$((BUDGET - SECONDS))
    shift 3
    if ((left < 5)); then
        say "| $name | not run: no time left | 0 |"
        return 1
    fi
    ((limit < left)) || limit=$left
    case $file in
    # The name of the part becomes a field of each line of JSON.
    *.jsonl) filter="s|^{|{\"part\":\"$name\",|" ;;
    *) printf '\n## %s\n\n' "$name" >>"$file" ;;
    esac
    echo "== $name: $*" >>"$log"
    local start=${EPOCHREALTIME/[.,]/} status result
    timeout -k 5 "$limit" "$@" 2>>"$log" </dev/null | sed -u "$filter" >>"$file"
    status=${PIPESTATUS[0]}
    case $status in
    0) result=ok ;;
    124 | 137) result="stopped after $limit s; the file has the output up to then" ;;
    *) result="failed with status $status: $(reason "$log" "$file")" ;;
    esac
    local tenths=$(((${EPOCHREALTIME/[.,]/} - start) / 100000))
    say "| $name | $result | $((tenths / 10)).$((tenths % 10)) |"
    return "$status"
}

wants() { [[ $PARTS == *" $1 "* ]]; }

small=()
large=()
for size in $SIZES; do
    if ((size <= 1000)); then small+=("$size"); else large+=("$size"); fi
done

failed=0
if wants tests; then
    part "test parity" 60 gpu-run-tests.txt "$programs/parity" || failed=1
    part "test schedules" 45 gpu-run-tests.txt "$programs/schedules" executions || failed=1
fi
if wants step && ((${#small[@]})); then
    part "step ${small[*]}" 120 gpu-run-step.md "$programs/step" "${small[@]}" plain wind collider contacts
    # Before the clocks fall back to those of an idle GPU.
    state=$(gpu_state)
fi
# Garments of 20 000 and 200 000 vertices.
if wants meshes; then
    part meshes 60 gpu-run-benches.md "$programs/meshes" "${garments[@]}" hinges grid renumbered
fi
if wants bodies; then
    part bodies 60 gpu-run-benches.md "$programs/bodies" "${flags[@]}"
fi
if wants examples; then
    part "cloth" 20 gpu-run-examples.jsonl "$programs/cloth" --headless --json --wind 0 --damping 0 --seed 0 --profile "${frames[@]}" "${grid[@]}"
    part "crowd" 20 gpu-run-examples.jsonl "$programs/crowd" --headless --json "${frames[@]}" "${count[@]}"
    part "soft_body" 20 gpu-run-examples.jsonl "$programs/soft_body" --headless --json --profile "${frames[@]}"
    part "character" 30 gpu-run-examples.jsonl "$programs/character" --headless --json --profile "${walk[@]}"
    for scene in sphere layers knot cylinder; do
        part "contacts $scene" 30 gpu-run-examples.jsonl \
            "$programs/contacts" --scene "$scene" --headless --json --profile "${frames[@]}" "${grid[@]}"
    done
fi
if wants cuda; then
    # A program that was built elsewhere may lie beside the archive.
    cuda=$root/target/gpu-run/cuda_xpbd
    if [ ! -x "$cuda" ]; then
        cuda=$programs/cuda_xpbd
        if command -v nvcc >/dev/null; then
            part "compile the CUDA programs" 40 gpu-run.log \
                nvcc -O3 -arch=native --use_fast_math "$root/benches/peers/programs/cuda_xpbd.cu" -o "$cuda"
        fi
    fi
    if [ -x "$cuda" ]; then
        for size in "${small[@]}"; do
            for mode in stream graph coop tile; do
                part "cuda $size $mode" 15 gpu-run-cuda.jsonl "$cuda" --n "$size" --mode "$mode"
            done
        done
    elif ! command -v nvcc >/dev/null; then
        say "| cuda | not run: nvcc is not installed, and target/gpu-run/cuda_xpbd does not exist | 0 |"
    fi
fi
if wants kinds; then
    part kinds 60 gpu-run-benches.md "$programs/kinds"
fi
# Tiles are the default execution of large grids: they have a time of each variant before the others.
if wants large; then
    for size in "${large[@]}"; do
        for rows in plain "contacts tiles" "wind tiles" "contacts colours clusters" "wind colours clusters" collider; do
            # shellcheck disable=SC2086
            part "step $size $rows" 120 gpu-run-step.md "$programs/step" "$size" $rows
        done
    done
fi
if wants materials; then
    part materials 60 gpu-run-benches.md "$programs/large" "${share[@]}"
fi

say
say "Time of the whole run: $SECONDS s."
if [ -n "${state:-}" ]; then
    say
    say "State of the GPU directly after the part \`step\`:"
    say
    say '```text'
    say "$state"
    say '```'
fi
# The times of a solver that fails its tests mean nothing.
exit $failed
