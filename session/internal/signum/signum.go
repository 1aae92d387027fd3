// Package signum says how shells and people tell signals.
package signum

import "strconv"

// Exit is the code by which a shell reports the end of a program that a signal ended; 0 for no signal.
func Exit(n int) int {
	if n == 0 {
		return 0
	}
	return 128 + n
}

// Name returns a signal's name without SIG. The numbers are those that POSIX and every system we know share
// (signal(7)); others are told as they are.
func Name(n int) string {
	switch n {
	case 1:
		return "HUP"
	case 2:
		return "INT"
	case 3:
		return "QUIT"
	case 4:
		return "ILL"
	case 6:
		return "ABRT"
	case 8:
		return "FPE"
	case 9:
		return "KILL"
	case 11:
		return "SEGV"
	case 13:
		return "PIPE"
	case 14:
		return "ALRM"
	case 15:
		return "TERM"
	}
	return strconv.Itoa(n)
}
