package redact_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/redact"
)

var mark = regexp.MustCompile(`«redacted:([a-z0-9-]+):[0-9a-f]{8}»`)

func TestTheSameSecretHasTheSameIDInAnyForm(t *testing.T) {
	s := knownSet(t)
	ids := map[string]bool{}
	for _, text := range encodings(known) {
		got, _ := s.String(text, redact.Guarded)
		ids[mark.FindString(got)] = true
	}
	got, _ := s.String("password="+known, redact.Guarded)
	ids[mark.FindString(got)] = true
	assert.Len(t, ids, 1)
}

func TestIDsOfDifferentSetsDiffer(t *testing.T) {
	a, _ := redact.New(redact.Config{}).String("password=hunter2", redact.Guarded)
	b, _ := redact.New(redact.Config{}).String("password=hunter2", redact.Guarded)
	assert.NotEqual(t, a, b)
}

func TestMarksAreFoundOnTheWayBack(t *testing.T) {
	s := redact.New(redact.Config{})
	require.NoError(t, s.Add("Vault Key/1", []byte("correct horse")))
	got, _ := s.String("echo correct horse | login\npassword=hunter2", redact.Guarded)
	require.Contains(t, got, "«redacted:vault-key-1:")
	for _, text := range []string{
		got, "x" + got, "«redacted:password:0123abcd»", "«Redacted:password", `"\u00abredacted:password:0123abcd\u00bb"`,
		"%C2%ABredacted%3Apassword redacted:password:0123abcd", "%c2%abredacted:x", "redacted:password:0123abcd",
		"<<redacted:password:0123abcd>>", "\xabredacted:password", "&laquo;redacted:x", "a: redacted: redacted:b:00000000 c",
	} {
		assert.True(t, redact.ContainsMark([]byte(text)), text)
	}
	for _, text := range []string{
		"", "redacted", "redacted: yes", "the log was redacted: see below", "«quoted»", "redacted:password:nothex00",
		"redacted:password:0123abcdef", "cat <<EOF", strings.Repeat("redacted:", 100),
	} {
		assert.False(t, redact.ContainsMark([]byte(text)), text)
	}
}

func TestAForgedMarkHidesNothing(t *testing.T) {
	s := knownSet(t)
	for _, text := range []string{
		"«redacted:password:" + known + "»", "«redacted:" + known + ":0123abcd»", "password=«redacted:password:0123abcd»" + known,
		"password=«redacted:password:0123abcd»hunter2",
	} {
		got, _ := s.String(text, redact.Guarded)
		assert.NotContains(t, got, "hunter2", text)
	}
}
