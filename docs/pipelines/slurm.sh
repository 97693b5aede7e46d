#!/usr/bin/env bash
# The corpus on a Slurm array, one GPU a task: `bash slurm.sh` submits it, waits for it and exits as the whole did;
# `bash slurm.sh hunt` hunts instead. Each task is this script again. LIBRARY is all that has to be filled in.
#SBATCH --job-name=convict
#SBATCH --array=0-2
#SBATCH --gres=gpu:1
#SBATCH --cpus-per-task=1
#SBATCH --time=01:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
set -euo pipefail
shopt -s nullglob

LIBRARY=${LIBRARY:-/path/to/site-packages/nvidia/cudnn/lib} # the folder of libcudnn.so.9
CONVICT=${CONVICT:-$HOME/convict/bin/convict}               # an unpacked release
CORPUS=${CORPUS:-$HOME/convict/corpus}
export LIBRARY CONVICT CORPUS
# SIMULATE=1 tries the pipeline out where there is no GPU.
on=(--library "$LIBRARY")
[ -z "${SIMULATE:-}" ] || on=(--simulate)

# What a task found out, for the one who waits: accounting may be off, and `sacct` then knows nothing.
finish() {
    echo "$1" > "$OUT/$SLURM_ARRAY_TASK_ID.code"
    exit "$1"
}

# 75 says that node or GPU are in trouble, not cuDNN: elsewhere it may pass. Three times, then it stands.
elsewhere() {
    if [ "${SLURM_RESTART_COUNT:-0}" -lt 3 ] && scontrol requeue "$SLURM_JOB_ID"; then
        sleep 300 # Slurm ends this script
    fi
    finish 75
}

task() {
    local code=0 name=$OUT/$SLURM_ARRAY_TASK_ID
    "$CONVICT" selftest "${on[@]}" || code=$?
    [ "$code" != 75 ] || elsewhere
    [ "$code" = 0 ] || finish "$code"
    if [ "$WHAT" = hunt ]; then
        # A seed of its own for each task and day, a folder for each try. The hunt ends well before the limit.
        "$CONVICT" hunt "${on[@]}" --seed "$(date +%Y%m%d)$SLURM_ARRAY_TASK_ID" --time 40m \
            --out "$name-hunt-${SLURM_RESTART_COUNT:-0}" || code=$?
    else
        # The share of this task follows from SLURM_ARRAY_TASK_ID and _COUNT.
        "$CONVICT" replay "$CORPUS" "${on[@]}" --time 50m --junit "$name.xml" || code=$?
    fi
    [ "$code" != 75 ] || elsewhere
    finish "$code"
}

# The worst code of all tasks: a regression outweighs trouble, and trouble outweighs a task that had nothing to judge.
worst() {
    local files codes code
    files=("$OUT"/*.code)
    codes=$(cat "${files[@]}" < /dev/null)
    for code in 1 4 2 3 130 75; do
        if grep --quiet --line-regexp "$code" <<< "$codes"; then return "$code"; fi
    done
    # A task without a code ended in the middle: the time limit, or a node that went down.
    [ "${#files[@]}" = "$1" ] || return 75
    grep --quiet --line-regexp 0 <<< "$codes" || return 77
}

if [ -n "${SLURM_ARRAY_TASK_ID:-}" ]; then task; fi

export WHAT=${1:-replay}
export OUT=${OUT:-$PWD/convict-$WHAT-$(date +%Y%m%d-%H%M%S)}
mkdir "$OUT"
job=$(sbatch --parsable --output="$OUT/%a.log" "$0")
job=${job%%;*}
trap 'scancel "$job"; exit 130' INT TERM
# Not `sbatch --wait`: after a requeue it never returns. One empty answer is not the end: a controller that is busy
# gives one too, and so does a task between two tries.
tasks=$(squeue --noheader --array --format=%K --jobs="$job" | wc -l)
empty=0
while [ "$empty" -lt 3 ]; do
    sleep "${POLL_S:-10}"
    codes=("$OUT"/*.code)
    [ "${#codes[@]}" -lt "$tasks" ] || break
    if [ -n "$(squeue --noheader --format=%i --jobs="$job" 2> /dev/null)" ]; then empty=0; else empty=$((empty + 1)); fi
done
code=0
worst "$tasks" || code=$?
echo "job $job: exit $code; $OUT holds a log, an exit code and what was found for each task"
exit "$code"
