#!/usr/bin/env bash
# Fetches the libraries of data/libraries.txt once, checked by hash, and prints the folders that hold cuDNN and NVRTC,
# one a line. Needs Python with pip, x86-64 Linux and about 370 MB of disk; a second call needs no network.
set -euo pipefail
shopt -s nullglob

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
list=$here/data/libraries.txt
cache=$(cd -- "$here/../.." && pwd)/.cache/libraries
# Another list gets another folder, so that old files are never taken for new ones.
folder=$cache/$(sha256sum "$list" | cut -c1-16)

if [ ! -d "$folder" ]; then
    mkdir -p "$cache"
    draft=$(mktemp -d "$cache/draft-XXXXXX")
    trap 'rm -rf -- "$draft"' EXIT
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
        --require-hashes --requirement "$list" --dest "$draft/wheels" >&2
    for wheel in "$draft"/wheels/*.whl; do
        python3 -m zipfile --extract "$wheel" "$draft/unpacked"
    done
    # A parallel call may have been faster; its folder holds the same files.
    mv -T "$draft/unpacked" "$folder" 2> /dev/null || [ -d "$folder" ]
fi
printf '%s\n' "$folder/nvidia/cudnn_jit/lib" "$folder/nvidia/cu13/lib"
