package framing

import (
	"strconv"
	"strings"
)

// Signal returns a command line that sends a signal ("TERM", "KILL") to all descendants of a process, but not to the
// process itself, and prints how many there were; see [Signaled]. Like [Loader]'s, it means the same to every login
// shell. It finds them through /proc where Linux lists children there (proc(5), task/TID/children), else through ps.
func Signal(pid int, signal string) string {
	p := strconv.Itoa(pid)
	return `exec sh -c 'l=;` +
		`f() { for t in /proc/$1/task/*/children;do read -r c <$t;for k in $c;do l="$l $k";f $k;done;done; };` +
		`if test -r /proc/$0/task/$0/children;then f $0;else ` +
		`q=" $0 ";a=$(ps -A -o pid= -o ppid=);n=y;while test "$n";do n=;set -- $a;` +
		`while test "$2";do case $q in *" $1 "*);; *) case $q in *" $2 "*) q="$q$1 ";l="$l $1";n=y;; esac;; esac;shift 2;done;done;fi;` +
		`set -- $l;test "$1" && kill -` + signal + ` $l 2>/dev/null;echo fairlead:$0:$#:' ` + p
}

// Signaled reads from the output of the line that Signal made how many processes there were; 0 if it does not say.
func Signaled(output string, pid int) int {
	_, rest, ok := strings.Cut(output, "fairlead:"+strconv.Itoa(pid)+":")
	if !ok {
		return 0
	}
	n, _, ok := strings.Cut(rest, ":")
	if !ok {
		return 0
	}
	count, err := strconv.Atoi(n)
	if err != nil || count < 0 {
		return 0
	}
	return count
}
