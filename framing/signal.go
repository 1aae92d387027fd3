package framing

import (
	"strconv"
	"strings"
)

// walk is a shell function that lists in l the descendants of the process $1: through /proc where Linux lists children there
// (proc(5), task/TID/children), else through ps.
const walk = `l=;f() { for t in /proc/$1/task/*/children;do read -r c <$t;for k in $c;do l="$l $k";f $k;done;done; };` +
	`w() { if test -r /proc/$1/task/$1/children;then f $1;else ` +
	`q=" $1 ";a=$(ps -A -o pid= -o ppid=);n=y;while test "$n";do n=;set -- $a;` +
	`while test "$2";do case $q in *" $1 "*);; *) case $q in *" $2 "*) q="$q$1 ";l="$l $1";n=y;; esac;; esac;shift 2;done;done;fi; };`

// Signal returns a command line that makes the shell with that process id end its command, and then sends a signal ("INT",
// "TERM", "KILL") to all its descendants. It prints what it has done; see [ParseSignaled]. Like [Loader]'s, it means the same to
// every login shell.
//
// The shell ends its command on SIGURG, at the next place where it could go on: so nothing does when its programs have ended.
// A child of the shell's that is signaled before it has become its program may forget that: what looks like the shell gets INT
// once more a little later, with what it has started since. With "" for the signal that is all. With INT it gets that only if there are programs: a command that traps INT and runs none has its own use for it.
// It does not get the signal itself: what the command traps is the command's own, and bash forgets SIGURG over it. Where the
// command made the shell deaf to SIGURG, or put another program in its place, nobody is signaled: to end the programs would let
// the rest run. That is seen in what the process catches, on Linux: SIGURG is bit 22 of SigCgt. A command that traps every
// signal there is catches SIGTTOU too, bit 21, which no shell does by itself.
func Signal(pid int, signal string) string {
	told, again := `kill -URG $0 2>/dev/null;w $0`, ""
	if signal == "INT" {
		told = `w $0;test "$l" && kill -URG $0 2>/dev/null;for k in $l;do cmp -s /proc/$k/cmdline /proc/$0/cmdline && m="$m $k";done`
		again = `;test "$m" && { sleep .05 2>/dev/null||sleep 1;o=" $* ";l=;w $0;for k in $l;do case " $m " in *" $k "*) kill -INT $k;; *) case $o in *" $k "*) ;; *) kill -INT $k;; esac;; esac;done; } 2>/dev/null||:`
	}
	if signal != "" {
		signal = `test "$1" && kill -` + signal + ` $l 2>/dev/null;`
	}
	return `exec sh -c 'd=;m=;` + walk +
		`test -r /proc/$0/status && while read -r k v;do case $k$v in SigCgt:*[45cd]?????) ;; SigCgt:*) d=d;; esac;done </proc/$0/status;` +
		`case $d in d) ;; *) ` + told + `;; esac;` +
		`set -- $l;` + signal + `echo fairlead:$0:$#:$d:` + again + `' ` + strconv.Itoa(pid)
}

// Unheard returns a command line that counts the programs that the shell with that process id has in the foreground of its
// terminal and that SIGINT would have ended: those that neither catch it nor ignore it nor block it, and live. Where the key has
// just been typed they became programs a moment after it, as a child of ksh93's that is not yet its program forgets the key.
// It signals nobody. On systems without /proc/PID/status, which is Linux's (proc(5)), it counts nothing.
func Unheard(pid int) string {
	return `exec sh -c '` + walk + `w $0;n=0;for k in $l;do i=y;` +
		`test -r /proc/$k/status && { i=;while read -r a b;do case $a$b in SigBlk:*[2367abef]|SigIgn:*[2367abef]|SigCgt:*[2367abef]) i=y;; esac;done </proc/$k/status;` +
		`read -r s </proc/$k/stat&&set -- ${s##*") "}||i=y;case $i$1 in Z|X) ;; *) test "$i" || test "$3" != "$6" || n=$((n+1));; esac;} 2>/dev/null;done;` +
		`echo fairlead:$0:$n::' ` + strconv.Itoa(pid)
}

// Kill returns a command line that kills the shell with that process id, and then all its descendants.
func Kill(pid int) string {
	return `exec sh -c '` + walk + `w $0;set -- $0 $l;kill -KILL $* 2>/dev/null;echo fairlead:$0:$#::' ` + strconv.Itoa(pid)
}

// Signaled is what a line that [Signal], [Unheard] or [Kill] made has done.
type Signaled struct {
	Count int  // processes that were sent the signal, or that Unheard counts
	Deaf  bool // the shell would not have ended its command, so there were none
	Done  bool // it ran
}

// ParseSignaled reads the output of the line that [Signal] made for a process.
func ParseSignaled(output string, pid int) (s Signaled) {
	_, rest, ok := strings.Cut(output, "fairlead:"+strconv.Itoa(pid)+":")
	f := strings.SplitN(rest, ":", 3)
	if !ok || len(f) != 3 {
		return s
	}
	count, err := strconv.Atoi(f[0])
	if err != nil || count < 0 {
		return s
	}
	return Signaled{Count: count, Deaf: f[1] == "d", Done: true}
}
