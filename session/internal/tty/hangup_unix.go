//go:build unix

package tty

import (
	"os"
	"os/signal"
	"syscall"
)

// hearHangups makes the programs that are started from now on hear of hangups, where this process was started with them
// ignored, as under nohup. A program inherits what is ignored, and no shell can undo that (POSIX, trap); what is caught it
// does not inherit. This process takes no notice of a hangup, as before.
func hearHangups() {
	if signal.Ignored(syscall.SIGHUP) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
}
