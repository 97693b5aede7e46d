#!/usr/bin/env bash
# Fetches NVIDIA's cudnn-frontend once, checked by hash, and prints a program that runs Python with it and a cuDNN of
# the tests' cache of wheels. Needs cargo, Python 3.10 to 3.13 with pip and x86-64 Linux; a second call needs no
# network.
set -euo pipefail
shopt -s nullglob

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
list=$here/data/frontend.txt
root=$(cd -- "$here/../.." && pwd)
cache=$root/.cache/frontend
export CONVICT_CACHE=${CONVICT_CACHE:-$root/.cache/wheels}
libraries=$(cd -- "$root" && cargo run --quiet --package cli -- \
    sets --fetch wheel:9.19.0.56-jit-cu13 --plans-only --json \
    | python3 -c 'import json, sys; print(":".join(json.loads(line)["libraries"] for line in sys.stdin))')
tag=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
# Another list, cuDNN or Python gets another folder, so that old files are never taken for new ones.
folder=$cache/$(printf '%s\n' "$libraries" | cat "$list" - | sha256sum | cut -c1-16)-$tag

if [ ! -d "$folder" ]; then
    mkdir -p "$cache"
    draft=$(mktemp -d "$cache/draft-XXXXXX")
    trap 'rm -rf -- "$draft"' EXIT
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
        --require-hashes --requirement "$list" --dest "$draft/wheels" >&2
    for wheel in "$draft"/wheels/*.whl; do
        python3 -m zipfile --extract "$wheel" "$draft/folder/site"
    done
    {
        echo '#!/bin/sh'
        printf 'LD_LIBRARY_PATH=%q PYTHONPATH=%q exec python3 "$@"\n' "$libraries" "$folder/site"
    } > "$draft/folder/python"
    chmod 755 "$draft/folder/python"
    # A parallel call may have been faster; its folder holds the same files.
    mv -T "$draft/folder" "$folder" 2> /dev/null || [ -d "$folder" ]
fi
printf '%s\n' "$folder/python"
