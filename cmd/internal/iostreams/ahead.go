package iostreams

import "syscall"

// DropTyped throws away what was typed at a terminal before a question is asked there: it answers another one, or none.
// What is no terminal is left alone.
func DropTyped(tty any) {
	file, ok := tty.(syscall.Conn)
	if !ok {
		return
	}
	if raw, err := file.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { dropTyped(int(fd)) })
	}
}
