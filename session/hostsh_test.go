package session_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// The host's sh runs what helps a session, and it is bash on many systems, and another shell on some.
func TestTheShOfAHostMayBeAnyShell(t *testing.T) {
	for _, sh := range []string{"bash", "zsh", "mksh", "ksh93", "busybox", "dash"} {
		t.Run(sh, func(t *testing.T) {
			path, err := exec.LookPath(sh)
			if err != nil {
				needs.Part(t, "%s is not installed", sh)
			}
			bin := t.TempDir()
			require.NoError(t, os.Symlink(path, filepath.Join(bin, "sh")))
			for _, shell := range []string{"bash", "sh"} {
				host := hosts.Host{Name: "box", Transport: hosts.Command, Command: []string{"env", "HOME=" + bin, "PATH=" + bin + ":/usr/bin:/bin", shell}}
				tr, err := localpty.Dial(t.Context(), host)
				require.NoError(t, err)
				defer tr.Close()
				s, err := session.Open(tr, host, session.Config{Policy: policy.AllowAll, Audit: audit.Discard{}})
				require.NoError(t, err)
				defer s.Close()
				in := make([]byte, 1<<14)
				for i := range in {
					in[i] = byte(i)
				}
				for range 4 {
					for _, some := range [][]byte{in[:6], in} {
						r, err := s.Run(t.Context(), session.Command{Script: "cat", Stdin: bytes.NewReader(some), Keep: 2 * len(in)})
						require.NoError(t, err)
						assert.True(t, bytes.Equal(some, r.Stdout), "%d of %d bytes", len(r.Stdout), len(some))
					}
				}
			}
		})
	}
}

// Where a host has neither perl nor hexdump, its sh relays errors, and says how the shell ended.
func TestTheShThatReadsErrorsMayBeAnyShell(t *testing.T) {
	for _, sh := range []string{"bash", "zsh", "mksh", "ksh93", "busybox", "dash"} {
		t.Run(sh, func(t *testing.T) {
			bin := t.TempDir()
			for as, name := range map[string]string{"sh": sh, "bash": "bash", "cat": "cat", "env": "env", "head": "head", "printf": "printf", "stty": "stty", "tr": "tr"} {
				path, err := exec.LookPath(name)
				if err != nil {
					needs.Part(t, "%s is not installed", name)
				}
				require.NoError(t, os.Symlink(path, filepath.Join(bin, as)))
			}
			host := hosts.Host{Name: "box", Transport: hosts.Command, Command: []string{filepath.Join(bin, "env"), "HOME=" + bin, "PATH=" + bin, "sh"}, Shell: "bash"}
			tr, err := localpty.Dial(t.Context(), host)
			require.NoError(t, err)
			defer tr.Close()
			s, err := session.Open(tr, host, session.Config{Policy: policy.AllowAll, Audit: audit.Discard{}})
			require.NoError(t, err)
			defer s.Close()
			r, err := s.Run(t.Context(), session.Command{Script: `printf 'é\n\n-n\n  \\n%s\r\n' % >&2; head -c 200000 /dev/zero | tr '\0' e >&2`, Keep: 1 << 20})
			require.NoError(t, err)
			assert.Equal(t, "lines", r.StderrMode)
			assert.Equal(t, "é\n\n-n\n  \\n%\r\n"+strings.Repeat("e", 200000), string(r.Stderr))
			r, err = s.Run(t.Context(), session.Command{Script: "echo err >&2; kill -9 $$"})
			require.NoError(t, err)
			assert.Equal(t, "KILL", r.Signal)
			assert.Equal(t, "err\n", string(r.Stderr))
		})
	}
}
