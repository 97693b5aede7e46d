#!/usr/bin/env bash
# Checks the pipelines of a folder as far as a machine without their services can: forms against the vendors' schemas,
# scripts, also those within YAML, with shellcheck. Prints OK or the complaints, exits 1 where there are any, 77 where
# the linter is missing. At the first run it needs Python with pip and a network; what it fetches is in .cache.
set -euo pipefail
shopt -s nullglob

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
folder=${1:-$root/docs/pipelines}
command -v shellcheck > /dev/null || { echo "no shellcheck; apt-get install shellcheck"; exit 77; }

list=$here/data/pipelines.txt
tag=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
# Another list or another Python gets another folder, so that old files are never taken for new ones.
tools=$root/.cache/pipelines/$(sha256sum "$list" | cut -c1-16)-$tag
if [ ! -d "$tools" ]; then
    mkdir -p "$root/.cache/pipelines"
    draft=$(mktemp -d "$root/.cache/pipelines/draft-XXXXXX")
    trap 'rm -rf -- "$draft"' EXIT
    python3 -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: --no-compile \
        --root-user-action ignore --requirement "$list" --target "$draft/site" >&2 ||
        { echo "the linters of data/pipelines.txt could not be fetched by pip"; exit 77; }
    # A parallel call may have been faster; its folder holds the same files.
    mv -T "$draft/site" "$tools" 2> /dev/null || [ -d "$tools" ]
fi
export PYTHONPATH=$tools

code=0
check() {
    local complaints
    complaints=$("${@:2}" 2>&1) && printf '%s: OK\n' "$1" && return
    printf '%s: %s\n' "$1" "$complaints"
    code=1
}

check github.yml python3 -m check_jsonschema --builtin-schema vendor.github-workflows "$folder/github.yml"
check gitlab.yml python3 -m check_jsonschema --builtin-schema vendor.gitlab-ci --data-transform gitlab-ci \
    "$folder/gitlab.yml"
check kubernetes.yml python3 "$tools/bin/kubernetes-validate" --strict -k 1.33 "$folder/kubernetes.yml"

# Steps within YAML become files: each list of commands is one script, as the services run it.
scripts=$(mktemp -d)
trap 'rm -rf -- "$scripts" "${draft:-}"' EXIT
python3 - "$scripts" "$folder"/*.yml << 'END'
import pathlib, sys, yaml
def walk(node, name):
    if isinstance(node, dict):
        for key, value in node.items():
            if key in ("run", "script", "before_script", "args"):
                text = value if isinstance(value, str) else "\n".join(value)
                # What a service fills in is a word to the shell.
                pathlib.Path(sys.argv[1], f"{name}.{key}.sh").write_text("#!/bin/bash\n" + text + "\n")
            else:
                walk(value, f"{name}.{key}")
    elif isinstance(node, list):
        for number, value in enumerate(node):
            walk(value, f"{name}.{number}")
for path in map(pathlib.Path, sys.argv[2:]):
    for number, document in enumerate(yaml.safe_load_all(path.read_text())):
        walk(document, f"{path.name}.{number}")
END
for script in "$folder"/*.sh "$scripts"/*.sh; do
    check "${script##*/} (bash -n)" bash -n "$script"
    # Names that a service sets stand in capitals; a folder may be anywhere.
    check "${script##*/}" shellcheck --severity=warning --exclude=SC2154 "$script"
done
exit "$code"
