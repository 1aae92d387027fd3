# What stays: it has the job started in a session of its own, so that what ends the job does not end this, and says how it ended.
#
# Its parameters: id, directory, bytes kept, umask, and the shell's words. In its environment: the text of run.sh, and how to start
# a session.
exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
trap : HUP INT QUIT TERM
run=$fairlead_run det=$fairlead_det; unset fairlead fairlead_run fairlead_det
id=$1 d=$2 lim=$3 um=$4; shift 4
umask 077
# A relay behind each of the outputs writes as much as is kept, at once, and then counts what is left, in a file that is there when the
# output has ended. Without a perl that starts the relay is a cat, whose limit is that of its files: what it has read beyond is not counted.
relay() { perl -e 1 </dev/null >/dev/null 2>&1 && exec perl -e "$rel" "$d/$1" "$lim"
(trap '' HUP INT QUIT TERM; ulimit -c 0; ulimit -f $(($lim/$k)); exec cat) >"$d/$1" 2>/dev/null; wc -c 1<>"$d/$1.t"; mv -f "$d/$1.t" "$d/$1.rest"; }
rel='$0="fairlead-job";$SIG{$_}="IGNORE"for qw(HUP INT QUIT TERM);($f,$l)=@ARGV;open(O,">",$f);while($n=sysread(STDIN,$b,65536)){$k=$l>$n?$n:$l;$w=$k?syswrite(O,$b,$k)||0:0;$l=$w<$k?0:$l-$w;$r+=$n-$w}
open(T,"+<","$f.t")||open(T,">","$f.t");printf T"%d\n",$r;close T;rename"$f.t","$f.rest"'
# Files for what has to be written at the end are made at the beginning: the job may fill the disk.
for x in rc stdout stderr; do printf '%64s\n' '' >"$d/$x.t"; done
# The unit of ulimit -f.
k=512; case ${BASH_VERSION-} in (?*) case :${SHELLOPTS-}: in (*:posix:*) ;; (*) k=1024;; esac;; esac
# The subshell is for dash, which redirects itself before it starts a program: of one that a signal ends it would write among the
# job's errors.
{ { (fairlead=$run; export fairlead; exec $det sh +x -c '\e\v\a\l "$fairlead"' fairlead-job-run "$id" "$d" "$um" "$@" 2>&4 4>&-)
s=$?; printf '%s %s\n' "$s" "$(date +%s)" 1<>"$d/rc.t"; mv -f "$d/rc.t" "$d/rc"; } | { exec 4>&-; relay stdout; }; } 4>&1 | relay stderr
