package serve_test

import "golang.org/x/sys/unix"

func syscallGetsid(pid int) (int, error) { return unix.Getsid(pid) }
