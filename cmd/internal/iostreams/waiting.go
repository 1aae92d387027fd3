package iostreams

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// InWaits reports whether bytes wait on In that nobody has read. Nothing is read to find out. Terminals and devices never
// count, nor does what is no file of the system.
func (s *IOStreams) InWaits() bool {
	f, ok := s.In.(*os.File)
	if !ok || s.InTTY {
		return false
	}
	st, err := f.Stat()
	if err != nil {
		return false
	}
	switch mode := st.Mode(); {
	case mode.IsRegular():
		at, err := f.Seek(0, io.SeekCurrent)
		return err == nil && at < st.Size()
	case mode&(os.ModeNamedPipe|os.ModeSocket) != 0:
		raw, err := f.SyscallConn()
		if err != nil {
			return false
		}
		n := 0
		err = raw.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), fionread) })
		return err == nil && n > 0
	}
	return false
}
