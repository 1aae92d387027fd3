//go:build unix

package audit_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
)

// stepped is when the records of these tests are made: the files of a chain are told apart by age.
var stepped = time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)

func steppedConfig(now time.Time) audit.Config {
	return audit.Config{MaxSize: -1, MaxAge: time.Hour, Now: func() time.Time { return now }}
}

// dieAt is a child that rotates or purges, and kills itself at a step of that.
func dieAt(work, step, dir string) int {
	f, err := audit.Open(dir, steppedConfig(stepped.Add(3*time.Hour)))
	if err != nil {
		fmt.Println("open", err)
		return 1
	}
	f.At(func(name string) {
		if name == step {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	})
	switch work {
	case "rotate":
		err = f.Record(context.Background(), request("e_dies", false))
	case "purge":
		_, err = f.PurgeRecords(stepped.Add(2*time.Hour+time.Minute), audit.Event{Principal: "operator/ada"})
	}
	fmt.Println("still alive", err)
	return 1
}

// threeFiles writes a chain of three files, each an hour younger than the one before.
func threeFiles(t *testing.T) string {
	t.Helper()
	dir := newDir(t)
	for h := range 3 {
		f := open(t, dir, steppedConfig(stepped.Add(time.Duration(h)*time.Hour)))
		for i := range 4 {
			require.NoError(t, f.Record(t.Context(), request(fmt.Sprintf("e_%d_%d", h, i), false)))
		}
		require.NoError(t, f.Close())
	}
	require.Equal(t, 3, whole(t, dir).Files)
	return dir
}

func runDying(t *testing.T, role, dir string) {
	t.Helper()
	cmd, out := command(t, role, dir)
	var said []string
	for out.Scan() {
		said = append(said, out.Text())
	}
	err := cmd.Wait()
	require.Error(t, err)
	require.Equal(t, syscall.SIGKILL, cmd.ProcessState.Sys().(syscall.WaitStatus).Signal(), strings.Join(said, "\n"))
}

func TestAWriterKilledAtAnyStepOfARotationLeavesAWholeChain(t *testing.T) {
	for _, step := range []string{"written", "ended", "created", "synced", "moved"} {
		t.Run(step, func(t *testing.T) {
			dir := threeFiles(t)
			before := whole(t, dir).Records
			runDying(t, "rotate:"+step, dir)
			r := whole(t, dir)
			assert.Equal(t, before+1, r.Records, "the chain.rotate record counts")
			assert.Equal(t, step == "written", r.Behind == 1, "head moves behind it before anything else is done: %d", r.Behind)

			f := open(t, dir, steppedConfig(stepped.Add(3*time.Hour)))
			require.NoError(t, f.Record(t.Context(), request("e_after", false)))
			require.NoError(t, f.Close())
			r = whole(t, dir)
			assert.Equal(t, 4, r.Files, "the rotation was finished, once")
			assert.Equal(t, before+2, r.Records)
			assert.Empty(t, r.Sealed)
			assert.Contains(t, string(readFile(t, dir, "000004.jsonl")), `"id":"e_after"`)
		})
	}
}

func TestAPurgeKilledAtAnyStepLeavesAWholeChain(t *testing.T) {
	for step, left := range map[string]int{"written": 2, "recorded": 2, "removed": 1} {
		t.Run(step, func(t *testing.T) {
			dir := threeFiles(t)
			runDying(t, "purge:"+step, dir)
			r := whole(t, dir)
			require.NotNil(t, r.Purged)
			assert.Equal(t, step == "written", r.Behind == 1, "head moves before anything is removed: %d", r.Behind)
			assert.Equal(t, left, r.Purged.Left)

			f := open(t, dir, steppedConfig(stepped.Add(2*time.Hour)))
			p, err := f.PurgeRecords(stepped.Add(2*time.Hour+time.Minute), audit.Event{})
			require.NoError(t, err)
			assert.Equal(t, "000002.jsonl", p.Through)
			require.NoError(t, f.Close())
			r = whole(t, dir)
			assert.Equal(t, &audit.Missing{Files: 2, Records: 10}, r.Purged)
			assert.Equal(t, 1, r.Files)
		})
	}
}
