package redact_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/redact"
)

// live is a Writer with its output at hand.
type live struct {
	*redact.Writer
	t   *testing.T
	out bytes.Buffer
}

func liveWriter(t *testing.T, s *redact.Set) *live {
	l := &live{t: t}
	l.Writer = s.Writer(&l.out, redact.Guarded)
	return l
}

// says writes, falls silent, and returns all that came out so far, with marks cut down to their kind.
func (l *live) says(text string) string {
	l.t.Helper()
	_, err := l.WriteString(text)
	require.NoError(l.t, err)
	require.NoError(l.t, l.Flush())
	return l.all()
}

func (l *live) WriteString(text string) (int, error) { return l.Write([]byte(text)) }

func (l *live) all() string { return mark.ReplaceAllString(l.out.String(), "«$1»") }

func (l *live) ends() string {
	l.t.Helper()
	require.NoError(l.t, l.Close())
	return l.all()
}

func TestOrdinaryTextIsNotHeldBack(t *testing.T) {
	l := liveWriter(t, knownSet(t))
	for _, text := range []string{"$ ", "deploy@web01:~$ ", "\r 42 % ", "Get:1 9", "x\xff\xc3"} {
		before := l.out.Len()
		_, err := l.WriteString(text)
		require.NoError(t, err)
		assert.Equal(t, text, l.out.String()[before:])
	}
}

func TestSilenceShowsPrompts(t *testing.T) {
	l := liveWriter(t, knownSet(t))
	assert.Equal(t, "Password: ", l.says("Password: "))
	assert.Equal(t, "Password: \nEnter token or secret: ", l.says("\nEnter token or secret: "))
	assert.Equal(t, "Password: \nEnter token or secret: \nhttps://h/x 10%", l.says("\nhttps://h/x 10%"))
}

func TestSilenceInsideAKnownSecretShowsNoneOfIt(t *testing.T) {
	s := knownSet(t)
	for cut := 4; cut < len(known); cut++ {
		l := liveWriter(t, s)
		assert.Equal(t, "a ", l.says("a "+known[:cut]))
		assert.Equal(t, "a «vault» b", l.says(known[cut:]+" b"))
		assert.Equal(t, map[string]int{"vault": 1}, l.Counts().Kinds)
		assert.Equal(t, int64(len(known)), l.Counts().Bytes)
	}
}

func TestSilenceAfterFewBytesOfAKnownSecretStillHidesTheRest(t *testing.T) {
	l := liveWriter(t, knownSet(t))
	assert.Equal(t, "a hun", l.says("a hun"))
	assert.Equal(t, "a hun«vault» b", l.says(known[3:]+" b"))
	assert.Equal(t, int64(len(known)-3), l.Counts().Bytes)
}

func TestAnUnfinishedKnownSecretIsShownAtTheEnd(t *testing.T) {
	l := liveWriter(t, knownSet(t))
	assert.Equal(t, "a ", l.says("a hunter"))
	assert.Equal(t, "a hunter", l.ends())
}

func TestSilenceInsideAValueShowsNoneOfIt(t *testing.T) {
	l := liveWriter(t, redact.New(redact.Config{}))
	assert.Equal(t, "password=", l.says("password=hun"))
	assert.Equal(t, "password=", l.says("ter"))
	assert.Equal(t, "password=«password»\n", l.says("2\n"))
	assert.Equal(t, redact.Counts{Kinds: map[string]int{"password": 1}, Bytes: 7}, l.Counts())
}

func TestSilenceBetweenNameAndValueStillHidesTheValue(t *testing.T) {
	l := liveWriter(t, redact.New(redact.Config{}))
	assert.Equal(t, "DB_PASSWORD=", l.says("DB_PASSWORD="))
	assert.Equal(t, "DB_PASSWORD=", l.says("hunter2"))
	assert.Equal(t, "DB_PASSWORD=«password»\nx", l.says("\nx"))
}

func TestSilenceInsideATokenShowsNoneOfIt(t *testing.T) {
	l := liveWriter(t, redact.New(redact.Config{}))
	assert.Equal(t, "found ", l.says("found ghp_Zk3Q"))
	assert.Equal(t, "found «github-token» in x", l.says(expand("w9bT5xLm2{36} in x")))
}

func TestSilenceAfterAValueShowsWhatFollows(t *testing.T) {
	l := liveWriter(t, redact.New(redact.Config{}))
	assert.Equal(t, "mysql -p«password» app> ", l.says("mysql -phunter2 app> "))
	assert.Equal(t, "mysql -p«password» app> quit\n", l.says("quit\n"))
	assert.Equal(t, 1, l.Counts().Total())
}

func TestSilenceInsideAKeyShowsNoneOfIt(t *testing.T) {
	l := liveWriter(t, redact.New(redact.Config{}))
	assert.Equal(t, "x\n", l.says("x\n-----BEGIN OPENSSH PRIVATE KEY-----"))
	assert.Equal(t, "x\n", l.says("\nb3BlbnNzaC1rZXktdjE"))
	assert.Equal(t, "x\n", l.says("AAAA\n-----END OPENSSH"))
	assert.Equal(t, "x\n«private-key»\ny", l.says(" PRIVATE KEY-----\ny"))
}

func TestAKeyThatNeverEndsIsTakenOutToTheEndInBoundedMemory(t *testing.T) {
	l := liveWriter(t, redact.New(redact.Config{}))
	assert.Equal(t, "x\n", l.says("x\n-----BEGIN RSA PRIVATE KEY-----\n"))
	line := []byte(strings.Repeat("MIIEpAIBAAKCAQEA", 4) + "\n")
	allocs := testing.AllocsPerRun(1000, func() { _, _ = l.Write(line) })
	assert.Zero(t, allocs)
	assert.Equal(t, "x\n«private-key»", l.ends())
	assert.Greater(t, l.Counts().Bytes, int64(60_000))
}

func TestALongValueIsTakenOutWhole(t *testing.T) {
	for _, size := range []int{redact.Window - 7, redact.Window - 6, redact.Window, redact.Window + 1, 5 * redact.Window} {
		text := "token=" + strings.Repeat("a1B2", size/4) + "Z9 end\n"
		got, counts := redact.New(redact.Config{}).String(text, redact.Guarded)
		assert.Equal(t, "token=«token» end\n", mark.ReplaceAllString(got, "«$1»"), size)
		assert.Equal(t, int64(len(text)-len("token= end\n")), counts.Bytes)
	}
}

func TestAFailedWriteIsReportedFromThenOn(t *testing.T) {
	broken := errors.New("pipe")
	w := redact.New(redact.Config{}).Writer(writerFunc(func([]byte) (int, error) { return 0, broken }), redact.Guarded)
	_, err := w.Write([]byte("1\n"))
	require.ErrorIs(t, err, broken)
	_, err = w.Write([]byte("2\n"))
	require.ErrorIs(t, err, broken)
	assert.ErrorIs(t, w.Flush(), broken)
	assert.ErrorIs(t, w.Close(), broken)
}

func TestAClosedWriterTakesNothing(t *testing.T) {
	w := redact.New(redact.Config{}).Writer(&bytes.Buffer{}, redact.Guarded)
	require.NoError(t, w.Close())
	require.NoError(t, w.Close())
	_, err := w.Write([]byte("x"))
	assert.ErrorIs(t, err, redact.ErrClosed)
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
