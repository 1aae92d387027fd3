package jobs

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/jobs"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

// ending is where a job is that prints last words and ends once some reads were answered.
type ending struct {
	site
	reads, end int
	text       map[string]string
	last       map[string]string
}

func (e *ending) job(context.Context, string, time.Duration) (*wire.Job, error) {
	j := &wire.Job{State: string(jobs.Running)}
	if e.reads++; e.reads > e.end {
		j.State = string(jobs.Ended)
	}
	return j, nil
}

func (e *ending) output(ctx context.Context, id, stream string, offset int64, wait time.Duration) (*wire.JobPage, error) {
	j, err := e.job(ctx, id, wait)
	text := e.text[stream]
	if j.State == string(jobs.Ended) {
		text += e.last[stream]
	}
	return &wire.JobPage{Job: *j, Page: wire.Page{Data: text[offset:], Next: int64(len(text)), End: j.State == string(jobs.Ended)}}, err
}

// Wherever a job ends between two reads of it, its last words are printed.
func TestFollowPrintsWhatAJobSaysAtItsEnd(t *testing.T) {
	for end := range 12 {
		for _, stream := range []string{registry.Stdout, registry.Stderr} {
			var out, errs strings.Builder
			e := &ending{end: end, text: map[string]string{registry.Stdout: "one\n"}, last: map[string]string{stream: "last\n"}}
			j, err := (&Options{Follow: true}).print(t.Context(), e, "", &out, &errs)
			require.NoError(t, err)
			assert.Equal(t, string(jobs.Ended), j.State)
			want := "one\nlast\n"
			if stream == registry.Stderr {
				want = "one\n"
				assert.Equal(t, "last\n", errs.String(), "%d", end)
			}
			assert.Equal(t, want, out.String(), "%d", end)
		}
	}
}
