#!/usr/bin/env bash
# Validates JUnit files against the schema of Jenkins' xUnit plugin: `junit.sh FILE...` prints OK or the complaints,
# and exits 1 where there are any; 77 without xmllint. Knows the form of a report, not what is in it.
set -euo pipefail

schema=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)/data/junit-10.xsd
[ $# -gt 0 ] || { echo "junit.sh: name the files" >&2; exit 2; }
command -v xmllint > /dev/null || { echo "no xmllint; apt-get install libxml2-utils"; exit 77; }

code=0
for file in "$@"; do
    # Nothing is fetched that a file names, and no file is large.
    if complaints=$(xmllint --nonet --noout --schema "$schema" "$file" 2>&1); then
        printf '%s: OK\n' "$file"
    else
        printf '%s\n' "$complaints"
        code=1
    fi
done
exit "$code"
