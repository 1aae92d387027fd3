package session_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// masked is a session of reads that a policy wants held, by one of the supervisors, on a kernel that lacks something. Its approver approves.
func masked(t *testing.T, lacks, supervisor string) *session.Session {
	t.Helper()
	perl, err := exec.LookPath("perl")
	if err != nil {
		needs.Part(t, "perl is not installed")
	}
	tr, err := localpty.New(localpty.Config{Command: []string{perl, "testdata/mask.pl", lacks, "/bin/sh"}})
	require.NoError(t, err)
	t.Cleanup(func() { tr.Close() })
	host := bashHere
	if supervisor == "python3" {
		path := withoutPerl(t)
		require.NoError(t, os.Symlink(python(t), filepath.Join(path, "python3")))
		host.Env = []string{"PATH=" + path}
	}
	s, err := session.Open(tr, host, session.Config{Policy: heldReads, Audit: audit.Discard{}, Approver: yes{}})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// Whatever a kernel lacks, a read is held there, and the Result says by what; or it needs approval, and the request says why.
func TestAKernelThatLacksSomethingHoldsOrSaysWhyNot(t *testing.T) {
	holding(t, bashHere, session.Config{Policy: heldReads}) // skips where that cannot be
	for _, c := range []struct{ lacks, by, not string }{
		{"nothing", `^landlock [0-9]+, seccomp$`, ""},
		{"landlock", `^seccomp$`, ""},
		{"landlock that is switched on", `^seccomp$`, ""},
		{"listener", `^landlock [0-9]+, seccomp$`, ""},
		{"landlock, listener", "", "its kernel has no Landlock .*, and does not put calls to the supervisor either"},
		{"landlock, descriptors for answers", "", "its kernel has no Landlock .*, and its supervisor cannot stand in for it"},
		{"seccomp", "", "the kernel does not take the filter of system calls: Invalid argument"},
		{"landlock, seccomp", "", "its kernel has no Landlock"},
		{"no_new_privs", "", "the kernel does not take no_new_privs: Invalid argument"},
		{"close_range", "", "descriptors cannot be closed: Function not implemented"},
	} {
		for _, supervisor := range []string{"perl", "python3"} {
			t.Run(c.lacks+"/"+supervisor, func(t *testing.T) {
				if c.lacks == "no_new_privs" {
					needs.Root(t, "mask that")
				}
				s := masked(t, c.lacks, supervisor)
				r, err := s.Run(t.Context(), session.Command{Script: ": read; echo a"})
				require.NoError(t, err)
				assert.Equal(t, "a\n", string(r.Stdout), "%s", r.Stderr)
				if c.not == "" {
					assert.Equal(t, []string{"held", "kernel", "", ""}, []string{r.Lane, r.Held, r.NotHeld, r.Decision.Approval})
					assert.Regexp(t, c.by, r.HeldBy)
					assert.Equal(t, c.lacks == "listener", r.RefusedUnknown != "", r.RefusedUnknown)
					return
				}
				assert.Equal(t, []string{"session", "no", "", "approval"}, []string{r.Lane, r.Held, r.HeldBy, r.Decision.Approval})
				assert.Regexp(t, c.not, r.NotHeld)
				assert.Contains(t, r.Decision.Reason, "here cannot hold this: "+r.NotHeld)
				_, err = s.HeldBy(t.Context())
				assert.ErrorIs(t, err, session.ErrNotHeld)
			})
		}
	}
}
