package question

import "os"

// OnTerminal makes an Asker ask at tty, or at none where it is nil.
func (a *Asker) OnTerminal(tty func() (*os.File, error)) { a.tty = tty }
