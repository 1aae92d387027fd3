package become_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/become"
	remote "github.com/fairlead-ssh/fairlead/session/files"
	"github.com/fairlead-ssh/fairlead/session/jobs"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

// terminal types a line at a terminal of h, and returns what it shows.
func (m *machine) terminal(t *testing.T, h hosts.Host, p *person, line string) (shows string, exit session.Exit, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var stream session.Stream
	release, err := registry.Lend(ctx, m.pool, h, func(on session.Transport) (err error) {
		stream, err = registry.Elevate(on, h, p.ask).Open(ctx, session.Program{Line: "exec sh -c 'stty sane; exec sh'", Term: "dumb", Size: session.Size{Rows: 7, Cols: 90}, Cooked: true})
		return err
	})
	if err != nil {
		return "", exit, err
	}
	defer release()
	_, err = stream.Write([]byte(line + "\n"))
	require.NoError(t, err)
	text, err := io.ReadAll(stream)
	require.NoError(t, err)
	exit, err = stream.Wait()
	require.NoError(t, err)
	return string(text), exit, stream.Close()
}

// A terminal has the outcomes that commands have.
func TestATerminalIsOfTheOtherAccount(t *testing.T) {
	p := &person{}
	m := newMachine(t, p.ask)
	for _, tt := range []struct {
		method, user, password string
		want                   error
		asked                  int
	}{
		{"sudo", "flfree", "", nil, 0}, {"sudo", "flpass", "pass-pw-2", nil, 1}, {"sudo", "flpass", "no", become.ErrWrongPassword, 1},
		{"sudo", "flnone", "none-pw-3", become.ErrNotAllowed, 1}, {"doas", "flfree", "", nil, 0}, {"doas", "flpass", "pass-pw-2", nil, 1},
		{"su", "flnone", "other-pw-4", nil, 1},
	} {
		t.Run(tt.method+" "+tt.user+" "+tt.password, func(t *testing.T) {
			p.reset(tt.password)
			h, as := m.as(t, tt.user, tt.method), "root"
			if tt.method == "su" {
				h.Become.User, as = "flother", "flother"
			}
			shows, exit, err := m.terminal(t, h, p, `printf '<%s|%s>' "$(id -un)" "$(stty size)"; exit 3`)
			assert.Len(t, p.questions(), tt.asked)
			if tt.want != nil {
				assert.ErrorIs(t, err, tt.want)
				return
			}
			require.NoError(t, err)
			assert.Contains(t, shows, "<"+as+"|7 90>")
			assert.Equal(t, session.Exit{Code: 3}, exit)
			if tt.password != "" {
				assert.NotContains(t, shows, tt.password)
			}
		})
	}
}

// Files and jobs are the other account's, and what belongs to it can be changed.
func TestFilesAndJobsAreOfTheOtherAccount(t *testing.T) {
	p := &person{password: "pass-pw-2"}
	m := newMachine(t, p.ask)
	h := m.as(t, "flpass", "sudo")
	dir := filepath.Join(m.sshd.Dir, "roots")
	require.NoError(t, os.Mkdir(dir, 0o700))
	path := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o640))
	on := remote.On(m.pool, h)
	_, err := on.Write(t.Context(), path, []byte("new"), remote.WriteOptions{})
	require.NoError(t, err)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "new", string(text))
	st, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o640), st.Mode())

	j, _, err := jobs.On(m.pool, h).Start(t.Context(), jobs.Spec{Command: "id -un >" + dir + "/who; exit 4"})
	require.NoError(t, err)
	l, err := jobs.On(m.pool, h).Look(t.Context(), j.ID, jobs.LookOptions{Wait: time.Minute, EndOnly: true})
	require.NoError(t, err)
	require.NotNil(t, l.ExitCode)
	assert.Equal(t, 4, *l.ExitCode)
	text, err = os.ReadFile(dir + "/who")
	require.NoError(t, err)
	assert.Equal(t, "root\n", string(text))
	_, err = jobs.On(m.pool, h).Remove(t.Context(), j.ID, "")
	require.NoError(t, err)
	h.Become = hosts.Become{}
	_, err = remote.On(m.pool, h).Write(t.Context(), path, []byte("not"), remote.WriteOptions{})
	assert.Error(t, err, "the account that logs in may not")
}
