package terminals

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
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
		t.Run(name, func(t *testing.T) { assert.Equal(t, tt.want, Line(tt.settings, tt.env)) })
	}
}

func TestEveryLoginShellReadsTheProgramAlike(t *testing.T) {
	line := Line([]string{"iutf8", `erase "^H"`}, []string{`X=it's "$HOME" \n !! %s`})
	for _, sh := range []string{"sh", "bash", "dash", "zsh", "ksh", "mksh", "fish", "tcsh", "csh", "busybox"} {
		t.Run(sh, func(t *testing.T) {
			path, err := exec.LookPath(sh)
			if err != nil {
				needs.Part(t, "%s is not installed", sh)
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
		assert.Equal(t, want, Term(in), "%q", in)
	}
}
