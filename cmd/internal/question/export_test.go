package question

import "os"

// OnInterrupt has ^C at a question call f, and not interrupt this process.
func (a *Asker) OnInterrupt(f func()) { a.interrupt = f }

// OnTerminal makes an Asker ask at tty, or at none where it is nil.
func (a *Asker) OnTerminal(tty func() (*os.File, error)) { a.tty = tty }
