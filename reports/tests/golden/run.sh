#!/bin/sh
# Builds repro.cpp and runs it under a time limit. Arguments go to the program: ./run.sh [LIBCUDNN] [...]
# CXX chooses the compiler, CONVICT_TIMEOUT the limit in seconds.
# Exit: 1 the bug is present, 0 it is absent, 77 it can't be tried here, 3 something else failed, 2 usage.
set -u

stops_process=no  # yes: this bug shows as a signal or as a call that never returns
limit=${CONVICT_TIMEOUT:-300}

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || exit 2
build=$(mktemp -d) || exit 2
trap 'rm -rf -- "$build"' EXIT
trap 'exit 3' HUP INT TERM

if ! "${CXX:-g++}" -std=c++17 -O2 -pthread "$here/repro.cpp" -o "$build/repro" -ldl; then
    echo "not applicable: repro.cpp was not compiled; CXX names a C++17 compiler"
    exit 77
fi
if ! command -v timeout > /dev/null; then
    echo "not applicable: timeout(1) is missing"
    exit 77
fi

# In the foreground, so that Ctrl-C reaches the program; an old timeout(1) does not know the option.
foreground=
timeout --foreground 1 true 2> /dev/null && foreground=--foreground
echo "waiting up to $limit s"
timeout $foreground -k 5 "$limit" "$build/repro" "$@"
code=$?
case $code in
    0 | 1 | 2 | 3 | 77) exit "$code" ;;
    129 | 130 | 143)
        echo "interrupted: the program was ended by signal $((code - 128))"
        exit 3
        ;;
    124 | 137) what="no end within $limit s" ;;
    *) what="exit code $code: ended by signal $((code - 128))" ;;
esac
if [ "$stops_process" = yes ]; then
    echo "BUG PRESENT: $what"
    exit 1
fi
echo "another failure: $what"
exit 3
