# slurm_cluster.sh - a Slurm cluster on this machine only, for tests that source this file. Its daemons belong to this
# user, listen only on loopback addresses, write only in $work/cluster, and exit with cluster_stop.

PATH=$PATH:/usr/sbin:/sbin
cluster_pids=()

free_port() {
    local port
    while :; do
        port=$((20000 + RANDOM % 20000))
        (: < "/dev/tcp/127.0.0.1/$port") 2> /dev/null || { echo $port; return; }
    done
}

cluster_controller() { # OPTION...: starts slurmctld, with its previous state
    slurmctld -D "$@" > "$work/cluster/slurmctld.out" 2>&1 &
    controller_pid=$!
    cluster_pids+=($!)
}

cluster_start() {
    local c=$work/cluster me host
    me=$(id -un) host=$(uname -n)
    host=${host%%.*}
    mkdir -p "$c/munge" "$c/run" "$c/state" "$c/spool"
    chmod 700 "$c/munge"
    chmod 755 "$work" "$c" "$c/run"
    head -c 1024 /dev/urandom > "$c/munge/key"
    chmod 600 "$c/munge/key"
    touch "$c/gpu0" "$c/gpu1" # in place of two GPUs' device files
    echo "Name=gpu File=$c/gpu[0-1]" > "$c/gres.conf"
    cat > "$c/slurm.conf" << CONF
ClusterName=warpbook
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$me
SlurmdUser=$me
AuthType=auth/munge
AuthInfo=socket=$c/run/munge.socket,cred_expire=30
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
SlurmctldPidFile=$c/run/slurmctld.pid
SlurmdPidFile=$c/run/slurmd.pid
StateSaveLocation=$c/state
SlurmdSpoolDir=$c/spool
SlurmctldLogFile=$c/slurmctld.log
SlurmdLogFile=$c/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
KillWait=2
SlurmdTimeout=10
SlurmctldTimeout=10
GresTypes=gpu
SlurmdParameters=config_overrides
NodeName=$host NodeAddr=127.0.0.1 CPUs=8 Boards=1 SocketsPerBoard=1 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=500 Gres=gpu:2 State=UNKNOWN
PartitionName=lab Nodes=ALL Default=YES MaxTime=60 State=UP
CONF
    export SLURM_CONF=$c/slurm.conf
    munged --foreground --force --socket="$c/run/munge.socket" --key-file="$c/munge/key" \
        --log-file="$c/munged.log" --pid-file="$c/run/munged.pid" --seed-file="$c/munge/seed" > "$c/munged.out" 2>&1 &
    cluster_pids+=($!)
    for _ in {1..50}; do [ ! -S "$c/run/munge.socket" ] || break; sleep 0.1; done
    cluster_controller -i
    slurmd -D > "$c/slurmd.out" 2>&1 &
    cluster_pids+=($!)
    for _ in {1..150}; do
        [ "$(sinfo --noheader --format=%T 2> /dev/null)" != idle ] || return 0
        sleep 0.2
    done
    echo "the cluster does not start:"
    tail -n 5 "$c"/*.log "$c"/*.out
    return 1
}

cluster_stop() {
    local pid
    scancel --me > /dev/null 2>&1
    for _ in {1..50}; do [ -n "$(squeue --noheader 2> /dev/null)" ] || break; sleep 0.2; done
    for ((i = ${#cluster_pids[@]} - 1; i >= 0; i--)); do kill "${cluster_pids[i]}" 2> /dev/null; done
    for pid in "${cluster_pids[@]}"; do wait "$pid" 2> /dev/null; done
}
