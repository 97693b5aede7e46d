#!/usr/bin/env bash
# Runs a command in a Slurm cluster of its own: `slurm.sh FOLDER COMMAND...` starts controller, node and munge in that
# empty folder, on loopback ports, ends them with the command and exits as it did; 77 where a package is missing. Works
# as root and as a user; knows nothing of what the command does.
set -euo pipefail

[ $# -ge 2 ] || { echo "slurm.sh: give an empty folder, then a command" >&2; exit 2; }
mkdir -p "$1"
folder=$(cd -- "$1" && pwd)
shift
export PATH="$PATH:/usr/sbin:/sbin"
for program in munged slurmctld slurmd sbatch; do
    command -v "$program" > /dev/null ||
        { echo "no $program; apt-get install --no-install-recommends slurmctld slurmd slurm-client munge"; exit 77; }
done

pids=()
end() {
    local code=$?
    trap - EXIT INT TERM
    scancel --user="$(id -un)" 2> /dev/null || true
    # In the order of who asks whom; each gets a while to go by itself.
    for pid in "${pids[@]}"; do
        kill "$pid" 2> /dev/null || continue
        for _ in {1..50}; do
            kill -0 "$pid" 2> /dev/null || break
            sleep 0.1
        done
        kill -KILL "$pid" 2> /dev/null || true
    done
    rm -rf -- "${sockets:-}"
    exit "$code"
}
trap end EXIT
trap 'exit 130' INT TERM

# A socket's path has at most 107 characters, and a folder of cargo's may be deeper than that.
sockets=$(mktemp -d /tmp/slurm-XXXXXX)
chmod 755 "$sockets"
head -c 128 /dev/urandom > "$folder/munge.key"
chmod 600 "$folder/munge.key"
munged --foreground --force --num-threads=1 --key-file="$folder/munge.key" --socket="$sockets/munge" \
    --pid-file="$folder/munged.pid" --seed-file="$folder/munge.seed" > "$folder/munged.log" 2>&1 &
pids+=($!)

ports=$(python3 -c 'import socket
taken = [socket.socket() for _ in range(2)]
for each in taken: each.bind(("127.0.0.1", 0))
print(*(each.getsockname()[1] for each in taken))')
name=$(hostname -s)
mkdir -p "$folder"/{state,spool}
# Three GPUs that are files: slurmd counts no GPU without one, and holds no more tasks than it counted.
touch "$folder"/gpu{0,1,2}
echo "Name=gpu File=$folder/gpu[0-2]" > "$folder/gres.conf"
cat > "$folder/slurm.conf" << END
ClusterName=scratch
SlurmctldHost=$name(127.0.0.1)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
SlurmctldPort=${ports% *}
SlurmdPort=${ports#* }
AuthType=auth/munge
# A requeued task waits until its old credential has expired: two minutes, if nobody says less; under 5 s is not heard.
AuthInfo=socket=$sockets/munge,cred_expire=5
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=2,batch_sched_delay=0
GresTypes=gpu
ReturnToService=2
# CPUs are claimed, not counted: with two real ones three tasks should still run side by side.
SlurmdParameters=config_overrides
KillWait=5
NodeName=$name NodeAddr=127.0.0.1 CPUs=3 Gres=gpu:3 State=UNKNOWN
PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
[ -z "${SLURM_TEST_EPILOG:-}" ] || echo "Epilog=$SLURM_TEST_EPILOG" >> "$folder/slurm.conf"
export SLURM_CONF=$folder/slurm.conf

for _ in {1..100}; do [ -S "$sockets/munge" ] && break; sleep 0.1; done
slurmctld -D -c > "$folder/slurmctld.out" 2>&1 &
pids=($! "${pids[@]}")
slurmd -D -c -N "$name" > "$folder/slurmd.out" 2>&1 &
pids=($! "${pids[@]}")
state=
for _ in {1..150}; do
    state=$(sinfo --noheader --format=%T 2> /dev/null || true)
    [ "$state" = idle ] && break
    sleep 0.2
done
if [ "$state" != idle ]; then
    tail -n 5 "$folder"/*.out "$folder"/*.log >&2
    echo "slurm.sh: the node did not come up: ${state:-no answer}" >&2
    exit 1
fi
code=0
"$@" || code=$?
exit "$code"
