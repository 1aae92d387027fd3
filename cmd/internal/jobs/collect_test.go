package jobs

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/jobs"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

// endedJobs is where jobs are that have ended, and notes which ones are taken away.
type endedJobs struct {
	site
	reading func(id string) // nil does nothing

	mu        sync.Mutex // guards collected
	collected []string
}

func (e *endedJobs) jobNow(id string) *wire.Job {
	code := 0
	return &wire.Job{ID: id, Host: filepath.Dir(id), State: string(jobs.Ended), ExitCode: &code}
}

func (e *endedJobs) job(_ context.Context, id string, _ time.Duration) (*wire.Job, error) {
	return e.jobNow(id), nil
}

func (e *endedJobs) output(_ context.Context, id, stream string, offset int64, _ time.Duration) (*wire.JobPage, error) {
	text := ""
	if stream == registry.Stdout {
		text = "of " + id // no newline: the end of a line that has not come is written last
	}
	if e.reading != nil {
		e.reading(id)
	}
	return &wire.JobPage{Job: *e.jobNow(id), Page: wire.Page{Data: text[offset:], Next: int64(len(text)), End: true}}, nil
}

func (e *endedJobs) collect(_ context.Context, id string) (*wire.Job, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.collected = append(e.collected, id)
	return e.jobNow(id), nil
}

func (e *endedJobs) close() {}

// group is of two hosts.
func (e *endedJobs) group() *group {
	return &group{site: e, all: []wire.Job{*e.jobNow("web1/j_a"), *e.jobNow("web2/j_b")}}
}

// A job whose output cannot be written to its directory is left on its host, and others are collected.
func TestCollectLeavesAJobThatItCannotWriteOnItsHost(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		ios, _, _, errOut := iostreams.Test()
		dir := t.TempDir()
		e := &endedJobs{reading: func(id string) {
			if id == "web1/j_a" { // its file cannot be made, as on a disk that is full
				_ = os.Mkdir(filepath.Join(dir, ".web1.partial", "result.json"), 0o700)
			}
		}}
		o := &Options{IO: ios, OutDir: dir, JSON: asJSON}
		require.Equal(t, exitcode.Internal, exitCodeOf(t, o.collectAll(t.Context(), e.group())))
		assert.Equal(t, []string{"web2/j_b"}, e.collected)
		assert.Contains(t, errOut.String(), "fairlead: web1: Fairlead cannot write the output, and leaves the job on the host: ")
		assert.NoDirExists(t, filepath.Join(dir, ".web1.partial"), "the next attempt finds its place free")
		text, err := os.ReadFile(filepath.Join(dir, "web2", "stdout"))
		require.NoError(t, err)
		assert.Equal(t, "of web2/j_b", string(text))
	}
}

// Standard output that takes nothing leaves all jobs where they are.
func TestCollectLeavesJobsThatItCannotPrint(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		errFull := errors.New("full")
		o := &Options{IO: iostreams.New(nil, failing{errFull}, io.Discard), JSON: asJSON}
		e := &endedJobs{}
		require.ErrorIs(t, o.unprinted(o.collectAll(t.Context(), e.group())), errFull)
		assert.Empty(t, e.collected, "%v", asJSON)
		require.ErrorIs(t, o.unprinted(o.collectOne(t.Context(), e, "web1/j_a", "web1")), errFull)
		assert.Empty(t, e.collected, "%v", asJSON)
	}
}

// failing takes nothing.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
