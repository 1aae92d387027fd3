package policy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	policycmd "github.com/fairlead-ssh/fairlead/cmd/internal/policy"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// echo answers with the command that it was asked about.
var echo = policy.DeciderFunc(func(_ context.Context, req policy.Request) (policy.Decision, error) {
	return policy.Decision{Verdict: policy.Allow, Reason: req.Command}, nil
})

func answers(t *testing.T, out string) (list []string) {
	t.Helper()
	for line := range strings.Lines(out) {
		var a struct{ Verdict, Reason, Error string }
		require.NoError(t, json.Unmarshal([]byte(line), &a))
		if a.Error != "" {
			a.Reason = "error: " + a.Error
		}
		list = append(list, a.Reason)
	}
	return list
}

func TestABatchKeepsItsOrderHoweverItArrives(t *testing.T) {
	var in strings.Builder
	var want []string
	for i := range 500 {
		switch i % 5 {
		case 3:
			fmt.Fprintln(&in, "nonsense")
			want = append(want, fmt.Sprintf(`error: line %d: not a JSON object such as {"command":"…"}`, i+1))
		case 4:
			long := strings.Repeat("x", i*400)
			fmt.Fprintf(&in, "{\"command\":%q}\r\n", long)
			want = append(want, long)
		default:
			fmt.Fprintf(&in, "{\"command\":\"c%d\"}\n", i)
			want = append(want, fmt.Sprint("c", i))
		}
	}
	fmt.Fprint(&in, `{"command":"the last has no end"}`)
	want = append(want, "the last has no end")
	for name, deliver := range map[string]func(io.Reader) io.Reader{
		"whole": func(r io.Reader) io.Reader { return r },
		"bytes": iotest.OneByteReader,
		"eof":   iotest.DataErrReader,
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			err := policycmd.Batch(t.Context(), deliver(strings.NewReader(in.String())), &out, echo, policy.Request{})
			require.EqualError(t, err, "exit code 2", "some line was bad")
			assert.Equal(t, want, answers(t, out.String()))
		})
	}
}

func TestALineThatIsTooLongIsSkipped(t *testing.T) {
	in := io.MultiReader(
		strings.NewReader("{\"command\":\"a\"}\n{\"command\":\""),
		io.LimitReader(endless{}, policycmd.MaxLine+5),
		strings.NewReader("\"}\n{\"command\":\"b\"}\n"))
	var out bytes.Buffer
	err := policycmd.Batch(t.Context(), in, &out, echo, policy.Request{})
	require.EqualError(t, err, "exit code 2")
	got := answers(t, out.String())
	require.Len(t, got, 3)
	assert.Equal(t, "a", got[0])
	assert.Contains(t, got[1], "error: line 2: longer than")
	assert.Equal(t, "b", got[2])
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// A program that asks, waits for the answer and asks again must not wait for ever.
func TestAnAnswerIsNotHeldBack(t *testing.T) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- policycmd.Batch(t.Context(), inR, outW, echo, policy.Request{}) }()
	dec := json.NewDecoder(outR)
	for i := range 3 {
		_, err := fmt.Fprintf(inW, "{\"command\":\"c%d\"}\n", i)
		require.NoError(t, err)
		var a struct{ Reason string }
		require.NoError(t, dec.Decode(&a))
		assert.Equal(t, fmt.Sprint("c", i), a.Reason)
	}
	require.NoError(t, inW.Close())
	require.NoError(t, <-done)
}

func TestInputThatBreaksIsAnError(t *testing.T) {
	err := policycmd.Batch(t.Context(), iotest.ErrReader(errors.New("gone")), io.Discard, echo, policy.Request{})
	assert.ErrorContains(t, err, "cannot read standard input: gone")
}

func TestTextIsReadByteForByte(t *testing.T) {
	for in, want := range map[string]string{
		`"a\"b\\c\/d\b\f\n\r\t"`: "a\"b\\c/d\b\f\n\r\t",
		`"\u00e4\ud83d\ude00"`:   "ä😀",
		`"\udcff\udc80"`:         "\xff\x80",
		`"\ud800x"`:              "\xed\xa0\x80x",
		`"\ud800\u0041"`:         "\xed\xa0\x80A",
		"\"a\xffb\"":             "a\xffb",
		`"\ufffd"`:               "\ufffd",
		`""`:                     "",
	} {
		got, err := policycmd.ParseLine([]byte(`{"command":` + in + `}`))
		require.NoError(t, err, in)
		assert.Equal(t, want, got, in)
	}
}

func FuzzParseLine(f *testing.F) {
	f.Add([]byte(`{"command":"ls \u0000\ud800\udc00"}`))
	f.Add([]byte(`{"command":null}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		got, err := policycmd.ParseLine(line)
		if err != nil {
			return
		}
		var std struct {
			Command string `json:"command"`
		}
		// Where it is text the library reads the same.
		if utf8.ValidString(got) && (json.Unmarshal(line, &std) != nil || std.Command != got) {
			t.Fatalf("%q: %q, the library reads %q", line, got, std.Command)
		}
	})
}

func BenchmarkBatch(b *testing.B) {
	var in strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&in, "{\"command\":\"grep -n err%d /var/log/syslog | tail -5\"}\n", i)
	}
	e := rules.New(rules.Config{})
	for b.Loop() {
		if err := policycmd.Batch(b.Context(), strings.NewReader(in.String()), io.Discard, e, policy.Request{Principal: "agent/mcp"}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*1000/b.Elapsed().Seconds(), "lines/s")
}
