# A part of start.sh, run.sh and look.sh.
#
# Words come as positional parameters, so nothing is ever quoted into these scripts. What they find in a job's directory they
# take for what it may have become since: files that are links, that have other names too or another owner are not read, and
# a process is signalled only if it is what the job's own waiting shell has started.

set +C
# Fail: prints an error of the code $1 and the text $2, and ends.
e() { printf 'fairlead-job 1\nerror %s %s\nend\n' "$1" "$2"; exit 0; }
# Small systems come without some of them, find first of all.
for x in cat find head id mkdir mv rm rmdir tail wc; do command -v $x >/dev/null || e unsupported "the host has no $x, which jobs take"; done
me=$(id -u)
# Ours: whether the directory $1 is ours alone.
o() { [ -d "$1" ] && [ ! -L "$1" ] && [ -n "$(find "$1" -prune -user "$me" ! -perm -020 ! -perm -002 2>/dev/null)" ]; }
# When the process $1 began, so that a number that was used again is not taken for what had it before. Where ps and sysctl
# print dates, those are of one time zone and language: a session may set its own.
h() { if [ -r /proc/self/stat ]; then { read -r hl </proc/$1/stat; } 2>/dev/null || return; hl=${hl##*\) }; set -- $hl; shift 10; printf %s "${10}"; else set -- $(LC_ALL=C TZ=UTC0 ps -o lstart= -p "$1" 2>/dev/null); printf %s "$1$2$3$4$5"; fi; }
# When the machine began, for the same reason.
b() { if [ -r /proc/sys/kernel/random/boot_id ]; then cat /proc/sys/kernel/random/boot_id; else LC_ALL=C TZ=UTC0 sysctl -n kern.boottime 2>/dev/null | sed 's/^{ *sec *= *\([0-9]*\).*/\1/' | tr -dc 0-9; fi; }
# The machine's name, for a home directory may be that of many.
nd=$(uname -n 2>/dev/null)
case ${XDG_STATE_HOME-} in (/*) st=$XDG_STATE_HOME;; (*) case ${HOME-} in (/*) st=$HOME/.local/state;; (*) e unsupported 'the account has no home directory';; esac;; esac
jobs=$st/fairlead/jobs
