package redact_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/redact"
)

func TestTheShortestAndTheLongestSecretThatCanBeGiven(t *testing.T) {
	s := redact.New(redact.Config{})
	assert.ErrorIs(t, s.Add("k", []byte("abc\r\n\n")), redact.ErrTooShort)
	assert.NoError(t, s.Add("k", []byte("abcd\r\n")))
	assert.Equal(t, "x«k»x", guarded(s, "xabcdx"))
	most := []byte(noise(1, redact.MaxSecret))
	assert.NoError(t, s.Add("k", append(most, '\n')))
	assert.ErrorIs(t, s.Add("k", append(most, 'x')), redact.ErrTooLong)
	assert.Equal(t, "«k»", guarded(s, string(most)))
}

func TestTheShortestAndTheLongestValueThatIsLearned(t *testing.T) {
	for n, want := range map[int]bool{redact.MinLearned - 1: false, redact.MinLearned: true} {
		s := redact.New(redact.Config{})
		assert.Equal(t, want, s.Learn("x", []byte(noise(1, n)+"\r\n")), n)
		assert.Equal(t, want, guarded(s, noise(1, n)) == "«x»", n)
	}
	for _, n := range []int{redact.MaxLearnedValue - 1, redact.MaxLearnedValue, redact.MaxLearnedValue + 1, redact.MaxLearnedValue + 9} {
		s := redact.New(redact.Config{})
		v := noise(1, n)
		require.True(t, s.Learn("x", []byte(v)))
		assert.Equal(t, "«x»!", guarded(s, v+"!"), n)
		over := max(0, n-redact.MaxLearnedValue)
		assert.Equal(t, "«x»"+"yz"[min(2, over):], guarded(s, v[:n-over]+"yz"), "as far as the value went on")
	}
}

// Of a long value of many lines its first part is learned, and further lines up to a limit of bytes.
func TestLinesOfALongValueAreLearnedUpToALimit(t *testing.T) {
	var lines []string
	for i := range redact.MaxLines/1000 + 3 {
		lines = append(lines, noise(i, 1000))
	}
	s := redact.New(redact.Config{MaxLearnedBytes: 1 << 20})
	require.True(t, s.Learn("x", []byte(strings.Join(lines, " \r\n\t"))))
	for i, line := range lines {
		assert.Equal(t, i < redact.MaxLines/1000, guarded(s, ">"+line) == ">«x»", "line %d", i)
	}

	first := strings.Repeat("-", redact.MaxLearnedValue)
	for line, want := range map[string]bool{
		noise(1, redact.MinLine-1): false, noise(1, redact.MinLine): true, "-----" + noise(1, 20): false, "----" + noise(1, 20): true,
	} {
		s := redact.New(redact.Config{})
		require.True(t, s.Learn("x", []byte(first+"\n"+line)))
		assert.Equal(t, want, guarded(s, ">"+line) == ">«x»", line)
	}
	s = redact.New(redact.Config{MaxLearnedBytes: 1 << 20})
	long := noise(7, redact.MaxLearnedValue+100)
	require.True(t, s.Learn("x", []byte(first+"\n"+long)))
	assert.Equal(t, ">«x»!", guarded(s, ">"+long+"!"))

	exactly := []string{first}
	for i := range redact.MaxLines / redact.MaxLearnedValue {
		exactly = append(exactly, noise(i, redact.MaxLearnedValue))
	}
	s = redact.New(redact.Config{MaxLearnedBytes: 1 << 20})
	require.True(t, s.Learn("x", []byte(strings.Join(append(exactly[1:], noise(99, 16)), "\n"))))
	assert.Equal(t, ">«x»", guarded(s, ">"+exactly[len(exactly)-1]), "the limit is met exactly")
	assert.NotEqual(t, ">«x»", guarded(s, ">"+noise(99, 16)), "and that is all")
}

func TestKindsFitIntoMarks(t *testing.T) {
	for kind, want := range map[string]string{
		"": "secret", "AZaz09": "azaz09", "a_b/c é": "a-b-c---", "[`{@:/": "------",
		strings.Repeat("k", 32): strings.Repeat("k", 32), strings.Repeat("k", 33): strings.Repeat("k", 32),
	} {
		assert.Equal(t, want, redact.CleanKind(kind), kind)
		s := redact.New(redact.Config{})
		require.NoError(t, s.Add(kind, []byte("correct horse")))
		got, _ := s.String("correct horse", redact.Guarded)
		assert.Regexp(t, "^«redacted:"+want+":[0-9a-f]{8}»$", got)
		assert.True(t, redact.ContainsMark([]byte(got)))
		bare := strings.TrimSuffix(strings.TrimPrefix(got, "«"), "»")
		for _, text := range []string{bare, "x" + bare + " x", "1234567" + bare} {
			assert.True(t, redact.ContainsMark([]byte(text)), text)
		}
		again, counts := s.String("x"+got+got+"x", redact.Guarded)
		assert.Equal(t, "x"+got+got+"x", again)
		assert.Zero(t, counts.Total())
	}
	for _, v := range []string{"«redacted:k:0123abcd»", "«redacted:k:0123abcd»«redacted:kk:0123abce»"} {
		assert.False(t, redact.New(redact.Config{}).Learn("x", []byte(v)), v)
		assert.True(t, redact.New(redact.Config{}).Learn("x", []byte(v+"x")), v)
	}
}

// A Writer that holds nothing back may be replaced by a new one at this place.
func TestWhenAWriterIsIdle(t *testing.T) {
	s := knownSet(t)
	long := noise(3, 3000)
	require.True(t, s.Learn("long", []byte(long)))
	for _, c := range []struct {
		text string
		who  redact.Audience
		idle bool
	}{
		{"", redact.Guarded, true},
		{"ordinary text\n", redact.Guarded, true},
		{"ordinary text", redact.Everybody, true},
		{known + "\n", redact.Guarded, true},
		{"password=hunter2\n", redact.Guarded, true},
		{long + "\n", redact.Everybody, true},
		{"sudo", redact.Everybody, false},
		{"password=hun", redact.Guarded, false},
		{"-----BEGIN RSA PRIVATE KEY-----\nAAAA", redact.Guarded, false},
		{long[:redact.MaxLearnedValue] + "?", redact.Guarded, false},
	} {
		for _, flush := range []bool{false, true} {
			var out bytes.Buffer
			w := s.Writer(&out, c.who)
			_, err := w.Write([]byte(c.text))
			require.NoError(t, err)
			if flush {
				require.NoError(t, w.Flush())
			}
			assert.Equal(t, c.idle, w.Idle(), "%.40q, after a silence: %v", c.text, flush)
			before := out.String()
			require.NoError(t, w.Close())
			if c.idle {
				assert.Equal(t, before, out.String())
			}
			if c.who == redact.Everybody {
				assert.True(t, w.Idle(), "nothing is held any more")
			}
		}
	}
}

func TestAnIdleWriterCanBeReplacedAnywhereOnALine(t *testing.T) {
	s := knownSet(t)
	for _, text := range []string{"a " + known + " b\nc", own + own + "\nx", "x abcdabxyz aaaaaaaaaaaaaaaaa\n"} {
		want, _ := s.String(text, redact.Everybody)
		idle := 0
		for i := range len(text) + 1 {
			var out bytes.Buffer
			w := s.Writer(&out, redact.Everybody)
			_, _ = w.Write([]byte(text[:i]))
			if !w.Idle() {
				continue
			}
			idle++
			w = s.Writer(&out, redact.Everybody)
			_, _ = w.Write([]byte(text[i:]))
			require.NoError(t, w.Close())
			assert.Equal(t, want, out.String(), "at %d", i)
		}
		assert.Positive(t, idle)
	}
}

func TestAShortWriteIsAnError(t *testing.T) {
	w := redact.New(redact.Config{}).Writer(writerFunc(func(p []byte) (int, error) { return len(p) - 1, nil }), redact.Guarded)
	_, err := fmt.Fprint(w, "text\n")
	assert.ErrorContains(t, err, "short write")
	assert.ErrorContains(t, w.Close(), "short write")
}
