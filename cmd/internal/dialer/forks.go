package dialer

import "syscall"

// What a host costs in open files at most: a socket or a terminal, and for a demo host the server's side of both.
const (
	filesPerHost = 6
	filesOfOurs  = 64
)

// CapForks returns how many hosts may run at a time with the files that this process may open, at most want. The Go
// runtime has raised the soft limit to the hard one already, and gives programs that are started the old one back.
func CapForks(want int) (forks int, capped bool) {
	var lim syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil {
		return want, false
	}
	return capForks(want, uint64(lim.Cur))
}

func capForks(want int, files uint64) (forks int, capped bool) {
	most := uint64(1)
	if files > filesOfOurs+filesPerHost {
		most = (files - filesOfOurs) / filesPerHost
	}
	if uint64(want) <= most {
		return want, false
	}
	return int(most), true
}
