package lacking_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/internal/lacking"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// Every shell that may be a host's sh is asked for a program that it has not.
func TestEveryShellSaysWhatItHasNotFound(t *testing.T) {
	for _, shell := range []string{"sh", "bash", "dash", "busybox sh", "zsh", "mksh", "ksh93"} {
		t.Run(shell, func(t *testing.T) {
			argv := strings.Fields(shell)
			path, err := exec.LookPath(argv[0])
			if err != nil {
				needs.Part(t, "%s is not installed", argv[0])
			}
			cmd := exec.Command(path, append(argv[1:], "-c", "eval 'no-such-thing <\"$1\" || exit'", "sh", "/dev/null")...)
			cmd.Env = []string{"PATH=/nowhere", "LC_ALL=C"}
			out, err := cmd.CombinedOutput()
			assert.Error(t, err)
			assert.Equal(t, "no-such-thing", lacking.Program("something else\n"+string(out), "cat", "no-such-thing"), "%s", out)
			assert.Empty(t, lacking.Program(string(out), "cat", "no"))
		})
	}
}

func TestWhatIsNotAboutAProgram(t *testing.T) {
	for _, text := range []string{"", "not found", ": not found", "cat: x: No such file or directory", "cat not found", "sh: 1: cats: not found", "cat: not found: x"} {
		assert.Empty(t, lacking.Program(text, "cat"), text)
	}
}
