# What is done to jobs later: look, stop, remove and list.
#
# Its parameters: what, id, principal, seconds to wait for something new (for list numbers of a group); offset and limit for each
# output; for stop seconds between TERM and KILL, for look "end" to wait for nothing but the end.
@common@
op=$1 id=$2 who=$3 w=$4 oo=$5 ol=$6 eo=$7 el=$8 gr=$9
# Void: there is no such job.
v() { e not_found 'there is no such job'; }
# Nap: sleeps a part of a second, or one.
n() { sleep "$1" 2>/dev/null || sleep 1; }
# State: says in z how a job is: running, ended (then c and t are its code and when), or lost. Between the end of a process and the
# word of its waiter there is a moment.
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
# Length: of the file $1 of the job, in v.
l() { v=0; [ -f "$d/$1" ] && [ -s "$d/$1" ] && v=$(wc -c <"$d/$1"); v=$((v)); }
# Members: lists in ms the processes of the job's session; where they cannot be listed its process group stands for them.
m() { ms=
if [ -r /proc/self/stat ]; then for f in /proc/[0-9]*/stat; do { read -r l <"$f"; } 2>/dev/null || continue; l=${l##*\) }; set -- $l; [ "$4" = "$p" ] && [ "$1" != Z ] && f=${f%/stat} && ms="$ms ${f#/proc/}"; done
elif kill -0 "-$p" 2>/dev/null; then ms=-$p; fi; }
# Arguments of the process $1.
a() { if [ -r "/proc/$1/cmdline" ]; then tr '\000' ' ' <"/proc/$1/cmdline"; else ps -o args= -p "$1" 2>/dev/null; fi; }
# Upper: the parent of the process $1.
u() { if [ -r "/proc/$1/stat" ]; then { read -r l <"/proc/$1/stat"; } 2>/dev/null || return; l=${l##*\) }; set -- $l; printf %s "$2"; else set -- $(ps -o ppid= -p "$1" 2>/dev/null); printf %s "$1"; fi; }
# Known: reads what is known of the job, and of which machine it is.
k() { ow= sm= at= on= mk= cl=; [ ! -f "$d/about" ] || { read -r ow; read -r sm; read -r at; read -r on; read -r mk; read -r cl; } <"$d/about"
on=${on:-$nd}; }
# Whether the job's directory is as it was left; reads who owns the job and what is known of it. A full disk may have left files
# empty: what they say is printed as it is, and the reader makes of one job that is damaged no fault of the others. Of a
# file that is gone since its name was read find holds every ! for true, but not -links.
y() { o "$d" || return 1
[ -z "$(find "$d" -links +0 ! -type d ! \( -type f -links 1 -user "$me" \) 2>/dev/null)" ] || return 1
k; }
# For: whether the job is the principal's. A job whose owner is not known is for operators.
f() { [ "$ow" = "$who" ] && return; case $who in (operator/*) case $ow in (''|agent/*) return 0;; esac;; esac; return 1; }
# Gives what is known of the job.
g() { printf 'id %s\nowner %s\nsum %s\nstarted %s\nnow %s\nstate %s\n' "$id" "$ow" "$sm" "$at" "${nw:-$(date +%s)}" "$z"
case $z in (ended) printf 'code %s\nended %s\n' "$c" "$t";; esac
x=; [ -f "$d/stopped" ] && read -r x <"$d/stopped" && printf 'stopped %s\n' "$x"
case $cl in (?*) printf 'command %s\n' "$cl";; esac
case $mr in (?*) printf 'may-run %s\n' "$mr";; esac
for x in stdout stderr; do l "$x"; y2=-; [ -f "$d/$x.rest" ] && read -r y2 <"$d/$x.rest"; printf '%s %s %s\n' "$x" "$v" "$y2"; done
printf '.\n'; }
# Rest: waits a moment for the ends of the outputs.
rest() { x=0; while [ "$x" -lt 10 ]; do [ -f "$d/stdout.rest" ] && [ -f "$d/stderr.rest" ] && return; x=$((x+1)); n 0.1; done; }
bt=$(b); mr= nw=
[ -d "$jobs" ] || [ -L "$jobs" ] || case $op in (list) printf 'fairlead-job 1\nend\n'; exit 0;; (*) v;; esac
o "$jobs" || e denied 'the directory for jobs belongs to others, or others may write there'
# Every job, or those of a group, or of these those with one of the numbers in w, which has spaces around each; after the first oo.
case $op in (list)
printf 'fairlead-job 1\n'; x9=0 sk=$((${oo:-0})) nw=$(date +%s) nl='
'
# What is not as it was left, as y and o see it, of all jobs at once: a process for each takes seconds where there are many.
bad=$(find "$jobs" -links +0 ! \( -type f -links 1 -user "$me" \) ! \( -type d -user "$me" ! -perm -020 ! -perm -002 \) 2>/dev/null)$nl
for d in "$jobs/${id:-j_}"*; do id=${d##*/}
case $id in (*[!a-z0-9_-]*) continue;; esac
case $w in (''|*" ${id##*-} "*) ;; (*) continue;; esac
# Without a process for those of other machines, of which a home directory may hold thousands.
k 2>/dev/null; [ "$on" = "$nd" ] || continue
case $bad in ("$nl") ;; (*"$d$nl"*|*"$d/"*) case $who in (operator/*) printf 'id %s\nstate lost\ndamaged its directory holds links, or belongs to others\n.\n' "$id";; esac; continue;; esac
f || continue
x9=$((x9+1)); [ "$x9" -gt "$sk" ] || continue; [ "$x9" -le $((sk+1000)) ] || { printf 'more 1\n'; break; }
s; g; done; printf 'end\n'; exit 0;; esac
# One job.
d=$jobs/$id
[ -d "$d" ] || [ -L "$d" ] || v
y || e tampered 'its directory is not as it was left: it holds links, or what belongs to others'
[ "$on" = "$nd" ] || e elsewhere 'it is a job of another machine, with the same home directory'
f || v
case $op in
(look) t0=$(date +%s)
while s; [ "$z" = running ]; do
[ "$gr" = end ] || { l stdout; [ "$v" -gt "$oo" ] && break; l stderr; [ "$v" -gt "$eo" ] && break; }
x=$(date +%s); [ $((x-t0)) -lt "$w" ] || break; n 0.2; done
case $z in (running) ;; (*) rest;; esac;;
(stop) s
case $z in (running)
x=$(u "$p"); case $(a "${x:-0}") in (*" fairlead-job $id "*) ;; (*) e tampered 'the process that it names is not one that the job has started';; esac
printf 'TERM\n' >"$d/stopped"; m; kill -s TERM $ms 2>/dev/null
x=0; while m; [ -n "$ms" ] && [ "$x" -lt $((gr*10)) ]; do x=$((x+1)); n 0.1; done
case $ms in (?*) printf 'KILL\n' >"$d/stopped"; x=0; while m; [ -n "$ms" ] && [ "$x" -lt 20 ]; do kill -s KILL $ms 2>/dev/null; x=$((x+1)); n 0.1; done;; esac
x=0; while s; [ "$z" = running ] && [ "$x" -lt 20 ]; do x=$((x+1)); n 0.1; done
m; case $ms in (?*) mr=session;; esac; rest;; esac
[ -f "$d/stdout.rest" ] && [ -f "$d/stderr.rest" ] || case $z in (ended) mr=${mr:-output};; esac;;
(remove) s; case $z in (running) e running 'it has not ended: stop it first';; esac; rest
x=$(g) ; cd / || :
for v in about command pid pid.t rc rc.t stdout stderr stdout.t stderr.t stdout.rest stderr.rest stopped; do rm -f "$d/$v"; done
rmdir "$d" 2>/dev/null || e tampered 'its directory holds what is not of the job, and was left'
rmdir "$jobs" "$st/fairlead" 2>/dev/null
case $mk in (*state*) rmdir "$st" 2>/dev/null;; esac
case $mk in (*.local*) rmdir "$HOME/.local" 2>/dev/null;; esac
printf 'fairlead-job 1\n%s\nend\n' "$x"; exit 0;;
esac
# Its answer, and for look the outputs.
printf 'fairlead-job 1\n'; g
case $op in (look)
l stdout; un=$((v-oo)); [ "$un" -gt "$ol" ] && un=$ol; [ "$un" -gt 0 ] || un=0
l stderr; en=$((v-eo)); [ "$en" -gt "$el" ] && en=$el; [ "$en" -gt 0 ] || en=0
printf 'data %s %s\n' "$un" "$en";; esac
printf 'end\n'
case $op in (look)
[ "$un" -eq 0 ] || tail -c "+$((oo+1))" "$d/stdout" | head -c "$un"
[ "$en" -eq 0 ] || tail -c "+$((eo+1))" "$d/stderr" | head -c "$en";; esac
