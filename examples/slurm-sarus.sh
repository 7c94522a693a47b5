#!/bin/bash
# A batch over several nodes of a cluster with Slurm and Sarus: sbatch slurm-sarus.sh TASKS FOLDER
#
# Each node has one rank, and a pool with a slot for each task that the rank runs at once. The folder, the task file and
# the Python environment have to lie where all nodes see them; models and their keys are set in kgot.toml, as always.
# Interrupted, the job is queued again and goes on.
#SBATCH --job-name=kgot
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=12
#SBATCH --time=04:00:00
#SBATCH --signal=B:USR1@300
#SBATCH --requeue
#SBATCH --open-mode=append

set -u
tasks=${1:?the task file}
out=${2:?the folder of the batch}
jobs=${jobs:-4}                                     # tasks at once on a node
activate=${activate:-$HOME/kgot/bin/activate}       # the Python environment
options=${options:---backend neo4j --deadline 20m}  # further options of kgot batch, without spaces in them
servers=${servers:---backend neo4j}                 # further options of kgot pool start
pool=job-${SLURM_JOB_ID:?start this with sbatch}    # a name of its own, so that jobs on one node do not meet

# shellcheck disable=SC1090
. "$activate"
if command -v module >/dev/null; then module load sarus; fi

# This step stays as long as its pools, since Slurm ends what a step leaves behind. On each node it makes a file once the
# pool is ready, and it stops the pool when it is told to end.
ready=$(mktemp -d "$PWD/.kgot-pools-XXXXXX")
export ready pool jobs servers
srun --overlap --ntasks-per-node=1 bash -c '
  trap "kgot pool stop --force --pool $pool; exit" TERM
  kgot pool start --pool "$pool" --slots "$jobs" --set pool.servers=sarus --set sandbox=sarus $servers || exit
  touch "$ready/$(hostname)"
  sleep infinity &
  trap "kill $!; kgot pool stop --force --pool $pool; exit" TERM
  wait
' &
pools=$!
end_pools() {
  kill -TERM "$pools" 2>/dev/null
  wait "$pools"
  rm -rf "$ready"
}
trap end_pools EXIT
until [ "$(find "$ready" -type f | wc -l)" -eq "${SLURM_JOB_NUM_NODES:-1}" ]; do
  kill -0 "$pools" 2>/dev/null || { echo "a pool did not start: see above" >&2; exit 1; }
  sleep 1
done

# shellcheck disable=SC2086
srun --overlap --ntasks-per-node=1 kgot batch "$tasks" --out "$out" --scheduler mpi --jobs "$jobs" --pool "$pool" \
  --set sandbox=sarus $options &
batch=$!
# Five minutes before the time is up Slurm tells this script; the ranks bring their tasks to an end, and leave with 75.
trap 'kill -USR1 "$batch"' USR1 TERM
wait "$batch"
while kill -0 "$batch" 2>/dev/null; do wait "$batch"; done # a signal interrupts the first wait
wait "$batch"
code=$?
if [ "$code" -eq 75 ]; then
  scontrol requeue "$SLURM_JOB_ID"
fi
exit "$code"
