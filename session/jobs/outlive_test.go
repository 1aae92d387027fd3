package jobs_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/jobs"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// waits is a command that waits until something is written to a fifo.
func waits(t *testing.T) (command, fifo string) {
	t.Helper()
	fifo = filepath.Join(t.TempDir(), "go")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	return "echo begun; read x <" + fifo + `; echo "$x"; exit 4`, fifo
}

// goesOn looks at a job that waits, lets it go on, and takes it off its host.
func goesOn(t *testing.T, h *jobs.Host, id, fifo string) {
	t.Helper()
	l, err := h.Look(t.Context(), id, jobs.LookOptions{})
	require.NoError(t, err)
	require.Equal(t, jobs.Running, l.State)
	require.NoError(t, os.WriteFile(fifo, []byte("went on\n"), 0))
	l = ended(t, h, id)
	assert.Equal(t, jobs.Ended, l.State)
	assert.Equal(t, 4, *l.ExitCode)
	assert.Equal(t, "begun\nwent on\n", string(l.Stdout))
	_, err = h.Remove(t.Context(), id, "")
	require.NoError(t, err)
	_, err = h.Look(t.Context(), id, jobs.LookOptions{})
	assert.Equal(t, jobs.CodeNotFound, code(err))
}

func TestAJobOutlivesTheConnection(t *testing.T) {
	d := sessiontest.OpenSSHD(t)
	dial, err := sshconn.Static([]ssh.Signer{d.ClientKey}, d.HostKeys(t))
	require.NoError(t, err)
	open := func() (*session.Pool, *jobs.Host) {
		p, err := session.NewPool(session.PoolConfig{Dial: dial.Dial,
			Session: session.Config{Principal: "operator/ada", Policy: policy.AllowAll, Audit: audit.Discard{}}})
		require.NoError(t, err)
		return p, jobs.On(p, d.Host(t, "web1"))
	}
	command, fifo := waits(t)
	p, h := open()
	j := started(t, h, command)
	assert.Equal(t, "web1/"+j.ID, j.Ref().String())
	require.NoError(t, p.Close())
	p, h = open()
	defer p.Close()
	goesOn(t, h, j.ID, fifo)
}

// The process that starts the job is this test, started again.
func TestAJobOutlivesAControllerThatIsKilled(t *testing.T) {
	if command := os.Getenv("JOBS_TEST_START"); command != "" {
		fmt.Printf("job %s\n", started(t, on(t, "bash"), command).ID)
		<-t.Context().Done() // never: this process is killed
	}
	dir := home(t)
	command, fifo := waits(t)
	cmd := exec.Command(os.Args[0], "-test.run=^TestAJobOutlivesAControllerThatIsKilled$", "-test.v")
	cmd.Env = append(os.Environ(), "JOBS_TEST_START="+command)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var id string
	for lines := bufio.NewScanner(out); id == "" && lines.Scan(); {
		id, _ = strings.CutPrefix(lines.Text(), "job ")
		if !jobs.ValidID(id) {
			id = ""
		}
	}
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait() // ends by the signal
	require.NotEmpty(t, id)
	goesOn(t, on(t, "bash"), id, fifo)
	assert.Empty(t, left(t, dir))
}

// What comes beyond the limit is counted and thrown away, and holds nobody up.
func TestAFloodFillsNoDisk(t *testing.T) {
	home(t)
	h := on(t, "bash")
	j, r, err := h.Start(t.Context(), jobs.Spec{Limit: 4096, Command: "head -c 100000 /dev/zero; head -c 5000 /dev/zero >&2; echo last"})
	require.NoError(t, err, "%s%s", r.Stdout, r.Stderr)
	l := ended(t, h, j.ID)
	assert.Equal(t, 0, *l.ExitCode)
	assert.Equal(t, jobs.Stream{Bytes: 4096, Omitted: 100005 - 4096, Done: true}, l.Job.Stdout)
	assert.Equal(t, jobs.Stream{Bytes: 4096, Omitted: 5000 - 4096, Done: true}, l.Job.Stderr)
	assert.Equal(t, strings.Repeat("\x00", 4096), string(l.Stdout))
}

func TestAJobThatASignalEndsSaysSo(t *testing.T) {
	home(t)
	h := on(t, "bash")
	l := ended(t, h, started(t, h, "kill -s SEGV $$").ID)
	assert.Equal(t, "SEGV", l.Signal)
	assert.Empty(t, string(l.Stderr), "what waits for the job must not tell of that there")
}
