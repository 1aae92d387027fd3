package jobs

// The scripts below run on the host, in whatever its sh is. Their words come as positional parameters, so nothing is ever
// quoted into them. What they find in a job's directory they take for what it may have become since: files that are links,
// that have other names too or another owner are not read, and a process is signalled only if it is what the job's own
// waiting shell has started.

// common is for all scripts: e fails; nd is the machine's name, for a home directory may be that of many; o tells whether a
// directory is ours alone; h and b are when a process, and the machine, began, so that a number that was used again is not
// taken for what had it before. Where ps and sysctl print dates, those are of one time zone and language: a session may set its own.
const common = `set +C
e() { printf 'fairlead-job 1\nerror %s %s\nend\n' "$1" "$2"; exit 0; }
me=$(id -u)
o() { [ -d "$1" ] && [ ! -L "$1" ] && [ -n "$(find "$1" -prune -user "$me" ! -perm -020 ! -perm -002 2>/dev/null)" ]; }
h() { if [ -r /proc/self/stat ]; then { read -r hl </proc/$1/stat; } 2>/dev/null || return; hl=${hl##*) }; set -- $hl; shift 10; printf %s "${10}"; else set -- $(LC_ALL=C TZ=UTC0 ps -o lstart= -p "$1" 2>/dev/null); printf %s "$1$2$3$4$5"; fi; }
b() { if [ -r /proc/sys/kernel/random/boot_id ]; then cat /proc/sys/kernel/random/boot_id; else LC_ALL=C TZ=UTC0 sysctl -n kern.boottime 2>/dev/null | sed 's/^{ *sec *= *\([0-9]*\).*/\1/' | tr -dc 0-9; fi; }
nd=$(uname -n)
case ${XDG_STATE_HOME-} in (/*) st=$XDG_STATE_HOME;; (*) case ${HOME-} in (/*) st=$HOME/.local/state;; (*) e unsupported 'the account has no home directory';; esac;; esac
jobs=$st/fairlead/jobs
`

// startScript makes the job's directory, puts there what is known and the command, which is its standard input, and starts
// the waiter. Its parameters: id, principal, hash of the command, its length, bytes kept of each output, the shell's dialect,
// the waiter's script, the runner's.
//
// perl is preferred for starting a session because sh starts what it does not wait for with SIGINT and SIGQUIT ignored, and
// only perl can undo that.
const startScript = common + `um=$(umask); umask 077
id=$1 who=$2 sum=$3 len=$4 lim=$5 dia=$6 wait=$7 run=$8
if command -v perl >/dev/null 2>&1; then det='perl -MPOSIX -e $SIG{INT}=$SIG{QUIT}="DEFAULT";setsid;exec(@ARGV)'
elif command -v setsid >/dev/null 2>&1; then det=setsid
else e unsupported 'the host has neither perl nor setsid, which a job takes to leave the connection'; fi
sh= ; a=
x=$(readlink "/proc/$PPID/exe" 2>/dev/null)
case ${x##*/} in (busybox*) sh=$x a=ash;; (*bash|*zsh|*ksh|*ksh93|dash|ash|sh) sh=$x;; esac
case $sh in ('') for x in $dia; do sh=$(command -v "$x") && break; done;; esac
case ${sh##*/} in (bash) a='--norc --noprofile';; (zsh) a=-f;; ('') e unsupported 'the shell of the session is not found any more';; esac
made=
case $st in ("${HOME-}/.local/state") [ -d "$HOME/.local" ] || made=.local;; esac
[ -d "$st" ] || made="$made state"
for x in 1 2 3; do mkdir -p "$jobs" 2>/dev/null; o "$jobs" && break; done
o "$jobs" || e denied 'the directory for jobs cannot be made, or belongs to others, or others may write there'
d=$jobs/$id
mkdir "$d" 2>/dev/null || e exists 'there is a job of that id already, or the disk takes no directory'
g() { rm -f "$d/command" "$d/about" "$d/pid" "$d/pid.t"; rmdir "$d"; rmdir "$jobs" "$st/fairlead" 2>/dev/null; e "$@"; }
bt=$(b)
printf '%s\n' "$who" "$sum" "$(date +%s)" "$nd" "$made" >"$d/about" && cat >"$d/command" || g full 'the host took no files for the job'
x=$(wc -c <"$d/command")
[ "$((x))" -eq "$len" ] || g full 'the command did not arrive whole'
(umask "$um"; exec $det sh -c "$wait" fairlead-job "$id" "$d" "$lim" "$um" "$run" "$det" "$sh" $a </dev/null >/dev/null 2>&1) &
x=0
while [ ! -s "$d/pid" ]; do x=$((x+1)); [ "$x" -lt 400 ] || g lost 'the job did not begin'; sleep 0.03 2>/dev/null || sleep 1; done
printf 'fairlead-job 1\nid %s\nstate running\n.\nend\n' "$id"
`

// waitScript is what stays: it has the job started in a session of its own, so that what ends the job does not end this, and
// says how it ended. Behind each of its outputs a relay writes as much as is kept, at once, and then counts what is left, in a
// file that is there when the output has ended. Files for what has to be written at the end are made at the beginning: the job
// may fill the disk. Without perl the relay is a cat, whose limit is that of its files: what it has
// read beyond is not counted. Its parameters: id, directory, bytes kept, umask, the runner's script, how to start a session, and
// the shell's words.
//
// The subshell is for dash, which redirects itself before it starts a program: of one that a signal ends it would tell among
// the job's errors.
const waitScript = `exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
trap : HUP INT QUIT TERM
id=$1 d=$2 lim=$3 um=$4 run=$5 det=$6; shift 6
umask 077
r() { command -v perl >/dev/null 2>&1 && exec perl -e "$rel" "$d/$1" "$lim"
(trap '' HUP INT QUIT TERM; ulimit -c 0; ulimit -f $(($lim/$k)); exec cat) >"$d/$1" 2>/dev/null; wc -c 1<>"$d/$1.t"; mv -f "$d/$1.t" "$d/$1.rest"; }
rel='$SIG{$_}="IGNORE"for qw(HUP INT QUIT TERM);($f,$l)=@ARGV;open(O,">",$f);while($n=sysread(STDIN,$b,65536)){$k=$l>$n?$n:$l;$w=$k?syswrite(O,$b,$k)||0:0;$l=$w<$k?0:$l-$w;$r+=$n-$w}
open(T,"+<","$f.t")||open(T,">","$f.t");printf T"%d\n",$r;close T;rename"$f.t","$f.rest"'
for x in rc stdout stderr; do printf '%64s\n' '' >"$d/$x.t"; done
k=512; case ${BASH_VERSION-} in (?*) case :${SHELLOPTS-}: in (*:posix:*) ;; (*) k=1024;; esac;; esac
{ { (exec $det sh -c "$run" fairlead-job-run "$id" "$d" "$um" "$@" 2>&4 4>&-)
s=$?; printf '%s %s\n' "$s" "$(date +%s)" 1<>"$d/rc.t"; mv -f "$d/rc.t" "$d/rc"; } | { exec 4>&-; r stdout; }; } 4>&1 | r stderr
`

// runScript becomes the job's shell, once it has said which process that is. The shell reads the command from its file, which
// is gone then. Its parameters: id, directory, umask, and the shell's words.
const runScript = common + `d=$2; printf '%s %s %s\n' "$$" "$(h $$)" "$(b)" >"$d/pid.t"; mv -f "$d/pid.t" "$d/pid"
umask "$3"; shift 3
exec "$@" -c 'eval "shift
$(cat "$1"; rm -f "$1")"' "${1##*/}" "$d/command"
`

// lookScript does what is done to jobs later: look, stop, remove and list. Its parameters: what, id, principal, seconds to wait
// for something new; offset and limit for each output; for stop seconds between TERM and KILL, for look "end" to wait for nothing
// but the end.
//
// s says in z how a job is: running, ended (then c and t are its code and when), or lost. Between the end of a process and
// the word of who waits for it there is a moment. m lists the processes of the job's session; where they cannot be
// listed its process group stands for them. A full disk may have left files empty: what they say is printed as it is, and who
// reads it makes of one job that is damaged no fault of the others. A job whose owner is not known is for operators.
const lookScript = common + `op=$1 id=$2 who=$3 w=$4 oo=$5 ol=$6 eo=$7 el=$8 gr=$9
n() { sleep "$1" 2>/dev/null || sleep 1; }
s() { c= t= z=
p= q= k=; [ -f "$d/pid" ] && read -r p q k <"$d/pid"
case $p in (*[!0-9]*|'') p=; z=lost;; esac
for i in 0 1 2 3 4 5 6 7 8 9; do
[ -f "$d/rc" ] && { read -r c t <"$d/rc"; z=ended; return; }
case $p in ('') return;; esac
[ "$k" = "$bt" ] && [ "$(h "$p")" = "$q" ] && { z=running; return; }
[ "$k" = "$bt" ] || break
n 0.1
done; z=lost; }
l() { v=0; [ -f "$d/$1" ] && v=$(wc -c <"$d/$1"); v=$((v)); }
m() { ms=
if [ -r /proc/self/stat ]; then for f in /proc/[0-9]*/stat; do { read -r l <"$f"; } 2>/dev/null || continue; l=${l##*) }; set -- $l; [ "$4" = "$p" ] && [ "$1" != Z ] && f=${f%/stat} && ms="$ms ${f#/proc/}"; done
elif kill -0 "-$p" 2>/dev/null; then ms=-$p; fi; }
a() { if [ -r "/proc/$1/cmdline" ]; then tr '\000' ' ' <"/proc/$1/cmdline"; else ps -o args= -p "$1" 2>/dev/null; fi; }
u() { if [ -r "/proc/$1/stat" ]; then { read -r l <"/proc/$1/stat"; } 2>/dev/null || return; l=${l##*) }; set -- $l; printf %s "$2"; else set -- $(ps -o ppid= -p "$1" 2>/dev/null); printf %s "$1"; fi; }
y() { ow= sm= at= on= mk=; o "$d" || return 1
[ -z "$(find "$d" ! -type d \( ! -type f -o -links +1 -o ! -user "$me" \) 2>/dev/null)" ] || return 1
[ ! -f "$d/about" ] || { read -r ow; read -r sm; read -r at; read -r on; read -r mk; } <"$d/about"
on=${on:-$nd}; }
f() { [ "$on" = "$nd" ] || return 1; case $ow in ('') case $who in (operator/*) return 0;; esac;; esac; case $ow in ("$who") return 0;; (agent/*) case $who in (operator/*) return 0;; esac;; esac; return 1; }
g() { printf 'id %s\nowner %s\nsum %s\nstarted %s\nnow %s\nstate %s\n' "$id" "$ow" "$sm" "$at" "$(date +%s)" "$z"
case $z in (ended) printf 'code %s\nended %s\n' "$c" "$t";; esac
x=; [ -f "$d/stopped" ] && read -r x <"$d/stopped" && printf 'stopped %s\n' "$x"
case $mr in (?*) printf 'may-run %s\n' "$mr";; esac
for x in stdout stderr; do l "$x"; y2=-; [ -f "$d/$x.rest" ] && read -r y2 <"$d/$x.rest"; printf '%s %s %s\n' "$x" "$v" "$y2"; done
printf '.\n'; }
r() { x=0; while [ "$x" -lt 10 ]; do [ -f "$d/stdout.rest" ] && [ -f "$d/stderr.rest" ] && return; x=$((x+1)); n 0.1; done; }
bt=$(b); mr=
[ -d "$jobs" ] || [ -L "$jobs" ] || case $op in (list) printf 'fairlead-job 1\nend\n'; exit 0;; (*) e not_found 'there is no such job';; esac
o "$jobs" || e denied 'the directory for jobs belongs to others, or others may write there'
case $op in (list)
printf 'fairlead-job 1\n'; x9=0
for d in "$jobs"/j_*; do id=${d##*/}
case $id in (*[!a-z0-9_-]*) continue;; esac
y || { case $who in (operator/*) printf 'id %s\nstate lost\ndamaged its directory holds links, or belongs to others\n.\n' "$id";; esac; continue; }
f || continue
x9=$((x9+1)); [ "$x9" -le 1000 ] || { printf 'more 1\n'; break; }
s; g; done; printf 'end\n'; exit 0;; esac
d=$jobs/$id
[ -d "$d" ] || [ -L "$d" ] || e not_found 'there is no such job'
y || e tampered 'its directory is not as it was left: it holds links, or what belongs to others'
[ "$on" = "$nd" ] || e elsewhere 'it is a job of another machine, with the same home directory'
f || e not_found 'there is no such job'
case $op in
(look) t0=$(date +%s)
while s; [ "$z" = running ]; do
[ "$gr" = end ] || { l stdout; [ "$v" -gt "$oo" ] && break; l stderr; [ "$v" -gt "$eo" ] && break; }
x=$(date +%s); [ $((x-t0)) -lt "$w" ] || break; n 0.2; done
case $z in (running) ;; (*) r;; esac;;
(stop) s
case $z in (running)
x=$(u "$p"); case $(a "${x:-0}") in (*" fairlead-job $id "*) ;; (*) e tampered 'the process that it names is not one that the job has started';; esac
printf 'TERM\n' >"$d/stopped"; m; kill -s TERM $ms 2>/dev/null
x=0; while m; [ -n "$ms" ] && [ "$x" -lt $((gr*10)) ]; do x=$((x+1)); n 0.1; done
case $ms in (?*) printf 'KILL\n' >"$d/stopped"; x=0; while m; [ -n "$ms" ] && [ "$x" -lt 20 ]; do kill -s KILL $ms 2>/dev/null; x=$((x+1)); n 0.1; done;; esac
x=0; while s; [ "$z" = running ] && [ "$x" -lt 20 ]; do x=$((x+1)); n 0.1; done
m; case $ms in (?*) mr=session;; esac; r;; esac
[ -f "$d/stdout.rest" ] && [ -f "$d/stderr.rest" ] || case $z in (ended) mr=${mr:-output};; esac;;
(remove) s; case $z in (running) e running 'it has not ended: stop it first';; esac; r
x=$(g) ; cd / || :
for v in about command pid pid.t rc rc.t stdout stderr stdout.t stderr.t stdout.rest stderr.rest stopped; do rm -f "$d/$v"; done
rmdir "$d" 2>/dev/null || e tampered 'its directory holds what is not of the job, and was left'
rmdir "$jobs" "$st/fairlead" 2>/dev/null
case $mk in (*state*) rmdir "$st" 2>/dev/null;; esac
case $mk in (*.local*) rmdir "$HOME/.local" 2>/dev/null;; esac
printf 'fairlead-job 1\n%s\nend\n' "$x"; exit 0;;
esac
printf 'fairlead-job 1\n'; g
case $op in (look)
l stdout; un=$((v-oo)); [ "$un" -gt "$ol" ] && un=$ol; [ "$un" -gt 0 ] || un=0
l stderr; en=$((v-eo)); [ "$en" -gt "$el" ] && en=$el; [ "$en" -gt 0 ] || en=0
printf 'data %s %s\n' "$un" "$en";; esac
printf 'end\n'
case $op in (look)
[ "$un" -eq 0 ] || tail -c "+$((oo+1))" "$d/stdout" | head -c "$un"
[ "$en" -eq 0 ] || tail -c "+$((eo+1))" "$d/stderr" | head -c "$en";; esac
`
