package shell

import (
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestTheTerminalHereSaysWhatItsKeysAre(t *testing.T) {
	master, slave, err := pty.Open()
	require.NoError(t, err)
	defer master.Close()
	defer slave.Close()
	fd := int(slave.Fd())
	term, err := openTerminal(slave)
	require.NoError(t, err)
	defer term.close()

	tio, err := unix.IoctlGetTermios(fd, getTermios)
	require.NoError(t, err)
	tio.Iflag = tio.Iflag&^unix.IXON | unix.IUTF8
	for i, c := range map[int]byte{unix.VINTR: 3, unix.VQUIT: 28, unix.VERASE: 8, unix.VKILL: 'k', unix.VEOF: noKey, unix.VSUSP: 26,
		unix.VWERASE: 23, unix.VLNEXT: 22} {
		tio.Cc[i] = c
	}
	require.NoError(t, setTermios(fd, tio))
	assert.Equal(t, []string{"iutf8", "-ixon", `erase "^H"`, "eof undef"}, term.settings())
}
