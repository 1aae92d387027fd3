package cmdutil_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/session/redact"
)

func TestTheTextsOfARecordHoldNoSecret(t *testing.T) {
	set := redact.New(redact.Config{})
	set.Learn("password", []byte("open-sesame-42"))
	var got []audit.Event
	sink := cmdutil.CleanSink(audit.SinkFunc(func(_ context.Context, e audit.Event) error {
		got = append(got, e)
		return nil
	}), set)
	given := []audit.Event{
		{Reason: "for open-sesame-42", CWD: "/srv/open-sesame-42", Error: audit.Fault{Code: "error", Message: "no open-sesame-42"}},
		{Reason: "plain", CWD: "/srv", Exact: []byte("open-sesame-42")},
	}
	require.NoError(t, sink.Record(t.Context(), given[0]))
	require.NoError(t, audit.RecordAll(t.Context(), sink, given))
	require.Len(t, got, 3)
	for _, e := range got[:2] {
		assert.Regexp(t, `^for «redacted:password:[0-9a-f]{8}»$`, e.Reason)
		assert.Regexp(t, `^/srv/«redacted:password:[0-9a-f]{8}»$`, e.CWD)
		assert.Regexp(t, `^no «redacted:password:[0-9a-f]{8}»$`, e.Error.Message)
	}
	assert.Equal(t, given[1], got[2], "its keyed hash is made of the exact bytes")
	assert.Equal(t, "for open-sesame-42", given[0].Reason, "the caller's events stay as they are")
}
