//go:build unix

package audit_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
)

// small files, so that the children rotate under each other
var childConfig = audit.Config{MaxSize: 8 << 10}

// child is what the test binary does when it is started as a writer. It prints each id once it is acknowledged.
func child(role, dir string) int {
	ctx, cfg, limit := context.Background(), childConfig, 200
	if work, step, ok := strings.Cut(role, ":"); ok {
		return dieAt(work, step, dir)
	}
	switch role {
	case "endless":
		limit = 1_000_000
	case "limited":
		cfg = audit.Config{}
		// Writes beyond the limit fail with EFBIG, after a part of the line has been written.
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 3000, Max: 3000}); err != nil {
			fmt.Println("setrlimit", err)
			return 1
		}
	}
	f, err := audit.Open(dir, cfg)
	if err != nil {
		fmt.Println("open", err)
		return 1
	}
	for i := range limit {
		id := fmt.Sprintf("e_%d_%d", os.Getpid(), i)
		e := request(id, i%10 != 0)
		e.Command = strings.Repeat("x", i%500)
		if err := f.Record(ctx, e); err != nil {
			fmt.Println("error", errors.Is(err, audit.ErrUnavailable), err)
			break
		}
		fmt.Println("ok", id)
	}
	if err := f.Close(); err != nil {
		fmt.Println("close", err)
		return 1
	}
	return 0
}

func command(t *testing.T, role, dir string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), "FAIRLEAD_AUDIT_TEST_ROLE="+role, "FAIRLEAD_AUDIT_TEST_DIR="+dir)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	return cmd, bufio.NewScanner(out)
}

// requireIDs fails unless every acknowledged id is on the record.
func requireIDs(t *testing.T, dir string, acked []string) {
	t.Helper()
	there := map[string]bool{}
	for e, err := range audit.All(dir) {
		if err == nil {
			there[e.ID] = true
		}
	}
	for _, id := range acked {
		require.True(t, there[id], "%s was acknowledged and is not there", id)
	}
}

func TestProcessesShareOneChain(t *testing.T) {
	dir := newDir(t)
	type running struct {
		cmd *exec.Cmd
		out *bufio.Scanner
	}
	var all []running
	for range 3 {
		cmd, out := command(t, "bounded", dir)
		all = append(all, running{cmd, out})
	}
	var acked []string
	for _, r := range all {
		for r.out.Scan() {
			id, ok := strings.CutPrefix(r.out.Text(), "ok ")
			require.True(t, ok, r.out.Text())
			acked = append(acked, id)
		}
		require.NoError(t, r.cmd.Wait())
	}
	require.Len(t, acked, 600)
	r := whole(t, dir)
	assert.Greater(t, r.Files, 3, "the chain was rotated")
	requireIDs(t, dir, acked)
}

func TestKilledWritersLoseNothingAcknowledged(t *testing.T) {
	dir := newDir(t)
	var acked []string
	for range 8 {
		cmd, out := command(t, "endless", dir)
		other, otherOut := command(t, "endless", dir)
		for n := rand.IntN(60); n >= 0 && out.Scan(); n-- {
			acked = append(acked, out.Text())
		}
		for _, c := range []*exec.Cmd{cmd, other} {
			require.NoError(t, c.Process.Kill())
		}
		for _, s := range []*bufio.Scanner{out, otherOut} {
			for s.Scan() {
				acked = append(acked, s.Text())
			}
		}
		_, _ = cmd.Wait(), other.Wait()
		whole(t, dir)
	}
	var ids []string
	for _, line := range acked {
		id, ok := strings.CutPrefix(line, "ok ")
		if ok {
			ids = append(ids, id)
		}
	}
	require.NotEmpty(t, ids)
	requireIDs(t, dir, ids)

	f := open(t, dir, childConfig)
	require.NoError(t, f.Record(t.Context(), request("e_after", false)))
	require.NoError(t, f.Close())
	r := whole(t, dir)
	assert.Zero(t, r.Behind)
	assert.Nil(t, r.Torn)
}

func TestWriteCutByALimitIsTakenBackAndReported(t *testing.T) {
	dir := newDir(t)
	cmd, out := command(t, "limited", dir)
	var acked []string
	var failure string
	for out.Scan() {
		if id, ok := strings.CutPrefix(out.Text(), "ok "); ok {
			acked = append(acked, id)
		} else {
			failure = out.Text()
		}
	}
	require.NoError(t, cmd.Wait())
	require.NotEmpty(t, acked)
	assert.Contains(t, failure, "error true audit: cannot write "+dir+"/000001.jsonl: file too large; free space")
	r := whole(t, dir)
	assert.Nil(t, r.Torn, "a part of the line was left")
	assert.EqualValues(t, len(acked), r.Records)
	requireIDs(t, dir, acked)
}
