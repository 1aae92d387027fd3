package audit_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/audit"
)

func TestMomentsAreReadInThreeForms(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"2026-11-20":                now.AddDate(0, 0, -1).Add(-12 * time.Hour),
		"2026-11-20T03:00:00Z":      time.Date(2026, 11, 20, 3, 0, 0, 0, time.UTC),
		"2026-11-20T03:00:00+02:00": time.Date(2026, 11, 20, 1, 0, 0, 0, time.UTC),
		"90m":                       now.Add(-90 * time.Minute),
		"30d":                       now.AddDate(0, 0, -30),
		"0s":                        now,
	} {
		got, err := audit.ParseWhen("--since", text, now)
		require.NoError(t, err, text)
		assert.True(t, want.Equal(got), "%s: %s", text, got)
	}
	for _, text := range []string{"", "yesterday", "-5m", "-1d", "5", "d", "99999999d", "2026-13-01"} {
		_, err := audit.ParseWhen("--since", text, now)
		assert.ErrorContains(t, err, "--since", text)
	}
}
