package session_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

func hexSum(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// shelf keeps outputs in memory.
type shelf struct {
	kept map[string]string
	err  error
}

func (s *shelf) Put(_ context.Context, data []byte) (string, error) {
	if s.err != nil {
		return "", s.err
	}
	s.kept[hexSum(string(data))] = string(data)
	return hexSum(string(data)), nil
}

func (s *shelf) Get(context.Context, string) ([]byte, error) { return nil, audit.ErrNoOutput }

func (s *shelf) Purge(context.Context, time.Time, func(audit.Purged) error) (audit.Purged, error) {
	return audit.Purged{}, nil
}

// fields are what a record says of the output.
func fields(e audit.Event) []any {
	return []any{e.StdoutKept, e.StderrKept, e.StdoutSHA256, e.Omitted, e.StdoutBytes}
}

func TestTheRecordSaysWhatCameAndByWhichPolicy(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		long := strings.Repeat("0123456789", 20_000)
		d.On("work", reply{Stdout: long, Stderr: "password=hunter2\n", Exit: 1})
		d.On("true", reply{})
		book, kept := &ledger{}, &shelf{kept: map[string]string{}}
		db := hosts.Host{Name: "db1", Tier: "staging", Via: []string{"edge", "inner"}}
		s := on(t, d, db, session.Config{Audit: book, Outputs: kept,
			Redact: func(text string) string { return strings.ReplaceAll(text, "hunter2", "•") },
			Policy: policy.DeciderFunc(func(context.Context, policy.Request) (policy.Decision, error) {
				return policy.Decision{Verdict: policy.Allow, Class: policy.Write, Policy: "0123456789abcdef"}, nil
			})})
		r, err := s.Run(t.Context(), session.Command{Script: "work"})
		require.NoError(t, err)
		require.Positive(t, r.OmittedStdout)
		runOK(t, s, "true")

		quiet, err := s.Run(t.Context(), session.Command{Script: "work", Keep: -1})
		require.NoError(t, err)
		assert.Empty(t, quiet.Stdout)
		assert.EqualValues(t, len(long), quiet.OmittedStdout)

		events := book.all()
		require.Len(t, events, 6)
		assert.Equal(t, fields(events[1]), fields(events[5]), "the same is kept where the Result keeps nothing")
		ask, end, silent := events[0], events[1], events[3]
		assert.Equal(t, "0123456789abcdef", ask.Policy)
		assert.Equal(t, "staging", ask.Tier)
		assert.Equal(t, "SHA256:key", end.Key)
		assert.Equal(t, "edge,inner", end.Route)
		assert.Equal(t, hexSum(long), end.StdoutSHA256, "of all bytes, those that were left out too")
		assert.Equal(t, hexSum("password=hunter2\n"), end.StderrSHA256)
		assert.Equal(t, "password=•\n", kept.kept[end.StderrKept], "what is kept is redacted")
		assert.Equal(t, string(r.Stdout), kept.kept[end.StdoutKept])
		assert.Empty(t, silent.StdoutSHA256)
		assert.Empty(t, silent.StdoutKept)
	})
}

func TestOutputThatCannotBeKeptIsToldInTheRecordOnly(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("work", reply{Stdout: "done"})
		book := &ledger{}
		s := on(t, d, web1, session.Config{Audit: book, Policy: policy.AllowAll, Outputs: &shelf{err: errors.New("the disk is full")}})
		r, err := s.Run(t.Context(), session.Command{Script: "work"})
		require.NoError(t, err)
		assert.Equal(t, session.StatusOK, r.Status)
		end := book.all()[1]
		assert.Equal(t, audit.Fault{Code: "outputs", Message: "the disk is full"}, end.Error)
		assert.Equal(t, hexSum("done"), end.StdoutSHA256)
	})
}
