package shell

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestTheProgramIsALoginShellOnASaneTerminal(t *testing.T) {
	for name, tt := range map[string]struct {
		settings, env []string
		want          string
	}{
		"plain": {want: `exec sh -c 'stty sane 2>/dev/null; exec "${SHELL:-/bin/sh}" -l'`},
		"settings": {settings: []string{"iutf8", `erase "^H"`},
			want: `exec sh -c 'stty sane iutf8 erase "^H" 2>/dev/null || stty sane 2>/dev/null; exec "${SHELL:-/bin/sh}" -l'`},
		"environment": {env: []string{"LANG=C.UTF-8", "A=it's", "broken", "0=x", "E="},
			want: `exec sh -c 'stty sane 2>/dev/null; export LANG=C.UTF-8; export A="$(printf "\151\164\047\163")"; export E=; exec "${SHELL:-/bin/sh}" -l'`},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tt.want, program(tt.settings, tt.env)) })
	}
}

func TestEveryLoginShellReadsTheProgramAlike(t *testing.T) {
	line := program([]string{"iutf8", `erase "^H"`}, []string{`X=it's "$HOME" \n !! %s`})
	for _, sh := range []string{"sh", "bash", "dash", "zsh", "ksh", "mksh", "fish", "tcsh", "csh", "busybox"} {
		t.Run(sh, func(t *testing.T) {
			path, err := exec.LookPath(sh)
			if err != nil {
				t.Skipf("%s is not installed", sh)
			}
			args := []string{"-c", line}
			if sh == "busybox" {
				args = append([]string{"sh"}, args...)
			}
			cmd := exec.Command(path, args...)
			cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + t.TempDir(), "SHELL=/bin/sh"}
			cmd.Stdin = strings.NewReader(`printf '<%s>' "$X"; exit 5`)
			out, err := cmd.Output()
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit)
			assert.Equal(t, 5, exit.ExitCode())
			assert.Equal(t, `<it's "$HOME" \n !! %s>`, string(out))
		})
	}
}

func TestOnlyNamesOfTerminalsTravel(t *testing.T) {
	for in, want := range map[string]string{
		"xterm": "xterm", "screen.xterm-256color": "screen.xterm-256color", "": DefaultTerm, "x; reboot": DefaultTerm,
		"../x": DefaultTerm, "a\nb": DefaultTerm, strings.Repeat("x", 65): DefaultTerm,
	} {
		assert.Equal(t, want, term(in), "%q", in)
	}
}

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
