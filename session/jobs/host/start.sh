# Makes the job's directory, puts there what is known and the command, and starts the waiter. Standard input is a line with the
# command as lists show it, and the command.
#
# Its parameters: id, principal, hash of the command, its length, bytes kept of each output, the shell's dialect, the text of
# wait.sh, that of run.sh.
@common@
um=$(umask); umask 077
id=$1 who=$2 sum=$3 len=$4 lim=$5 dia=$6 wait=$7 run=$8
# perl is preferred for starting a session because sh starts what it does not wait for with SIGINT and SIGQUIT ignored, and only
# perl can undo that. It is tried: some hosts have it without its modules.
if perl -MPOSIX -e 1 </dev/null >/dev/null 2>&1; then det='perl -MPOSIX -e $SIG{INT}=$SIG{QUIT}="DEFAULT";setsid;exec(@ARGV)'
elif command -v setsid >/dev/null 2>&1; then det=setsid
else e unsupported 'the host has neither perl nor setsid, which a job takes to leave the connection'; fi
# The shell of the session, and the options without which it would read start files.
sh= ; a=
x=$(readlink "/proc/$PPID/exe" 2>/dev/null)
case ${x##*/} in (busybox*) sh=$x a=ash;; (*bash|*zsh|*ksh|*ksh93|dash|ash|sh) sh=$x;; esac
case $sh in ('') for x in $dia; do sh=$(command -v "$x") && break; done;; esac
case ${sh##*/} in (bash) a='--norc --noprofile';; (zsh) a=-f;; ('') e unsupported 'the shell of the session is not found any more';; esac
# What is made here is noted, so that removing the last job removes it.
made=
case $st in ("${HOME-}/.local/state") [ -d "$HOME/.local" ] || made=.local;; esac
[ -d "$st" ] || made="$made state"
for x in 1 2 3; do mkdir -p "$jobs" 2>/dev/null; o "$jobs" && break; done
o "$jobs" || e denied 'the directory for jobs cannot be made, or belongs to others, or others may write there'
d=$jobs/$id
mkdir "$d" 2>/dev/null || e exists 'there is a job of that id already, or the disk takes no directory'
# Give up: removes what was made, and fails.
g() { rm -f "$d/command" "$d/about" "$d/pid" "$d/pid.t"; rmdir "$d"; rmdir "$jobs" "$st/fairlead" 2>/dev/null; e "$@"; }
bt=$(b); read -r x
printf '%s\n' "$who" "$sum" "$(date +%s)" "$nd" "$made" "$x" >"$d/about" && cat >"$d/command" || g full 'the host took no files for the job'
x=$(wc -c <"$d/command")
[ "$((x))" -eq "$len" ] || g full 'the command did not arrive whole'
# The waiter. Its program is in its environment, and spelled so that no everyday word given to pkill -f finds it.
(umask "$um"; fairlead=$wait fairlead_run=$run fairlead_det=$det; export fairlead fairlead_run fairlead_det
exec $det sh +x -c '\e\v\a\l "$fairlead"' fairlead-job "$id" "$d" "$lim" "$um" "$sh" $a </dev/null >/dev/null 2>&1) &
# It has begun when run.sh has said which process it is.
x=0
while [ ! -s "$d/pid" ]; do x=$((x+1)); [ "$x" -lt 400 ] || g lost 'the job did not begin'; sleep 0.03 2>/dev/null || sleep 1; done
printf 'fairlead-job 1\nid %s\nstate running\n.\nend\n' "$id"
