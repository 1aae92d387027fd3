//go:build unix

package tty

import (
	"os"
	"os/signal"
	"syscall"
)

// hearSignals makes the programs that are started from now on hear of hangups and interrupts, where this process was
// started with them ignored, as under nohup or behind an & in a script. A program inherits what is ignored, and no shell
// can undo that (POSIX, trap); what is caught it does not inherit. This process takes no notice of them, as before. Other
// signals are caught by every Go program (os/signal).
func hearSignals() {
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
}
