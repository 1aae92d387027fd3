package run_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
)

// planted are secrets, each as a command prints it, with the part that must not be seen by who is not the operator.
var planted = map[string]struct{ text, hidden string }{
	"a learned value":   {"it is " + secret + " then", secret},
	"a token":           {"t=ghp_" + strings.Repeat("aB3x", 9) + " then", "ghp_"},
	"a URL":             {"postgres://app:s3cr3t-word@db:5432/app", "s3cr3t-word"},
	"an assignment":     {"API_TOKEN=q9w8e7r6t5y4; then", "q9w8e7r6t5y4"},
	"a header":          {"Authorization: Bearer 0123456789abcdefABCDEF01", "0123456789abcdefABCDEF01"},
	"an AWS access key": {"AKIA" + strings.Repeat("Q7", 8), "AKIA"},
}

// printed is a command that prints text in two writes, cut at n; the command itself holds only octal digits.
func printed(text string, n int, to string) string {
	octal := func(s string) string {
		var b strings.Builder
		for i := range len(s) {
			fmt.Fprintf(&b, `\%03o`, s[i])
		}
		return b.String()
	}
	return fmt.Sprintf("printf '%s' %s; printf '%s\\n' %s", octal(text[:n]), to, octal(text[n:]), to)
}

func TestASecretCutAnywhereIsTakenOutAndTheOperatorsBytesAreExact(t *testing.T) {
	for name, p := range planted {
		t.Run(name, func(t *testing.T) {
			// Every cut, in as many lines of one command, on both streams.
			var script, want strings.Builder
			fmt.Fprintf(&script, "DB_PASSWORD=%s; ", secret)
			for n := range len(p.text) {
				fmt.Fprintln(&script, printed(p.text, n, ""))
				fmt.Fprintln(&script, printed(p.text, n, ">&2"))
				fmt.Fprintln(&want, p.text)
			}
			w := newWorld(t, "web1")
			events := w.record()
			code, err := w.run(t.Context(), "web1", "--", script.String())
			require.NoError(t, err)
			assert.Zero(t, code)
			assert.Equal(t, want.String(), w.out.String(), "the operator gets the bytes")
			assert.Equal(t, want.String(), w.err.String())

			w.out.Reset()
			w.err.Reset()
			_, err = w.run(t.Context(), "web1", "--redact", "--", script.String())
			require.NoError(t, err)
			assert.NotContains(t, w.out.String(), p.hidden)
			assert.NotContains(t, w.err.String(), p.hidden)
			assert.Equal(t, len(p.text), strings.Count(w.out.String(), "«redacted:"))
			for _, e := range events.events {
				e.Exact = nil
				text, err := json.Marshal(e)
				require.NoError(t, err)
				assert.NotContains(t, string(text), secret)
				assert.NotContains(t, string(text), p.hidden)
			}
		})
	}
}

func TestAResultSaysWhatWasTakenOut(t *testing.T) {
	w := newWorld(t, "web1")
	_, err := w.run(t.Context(), "web1", "--redact", "--json", "--", tells)
	require.NoError(t, err)
	var r struct{ Redacted map[string]int }
	require.NoError(t, json.Unmarshal([]byte(strings.SplitN(w.out.String(), "\n", 2)[0]), &r))
	assert.Equal(t, map[string]int{"password": 3}, r.Redacted, "once in the command, once on each stream")
	w.out.Reset()
	_, err = w.run(t.Context(), "web1", "--json", "--", tells)
	require.NoError(t, err)
	r.Redacted = nil
	require.NoError(t, json.Unmarshal([]byte(strings.SplitN(w.out.String(), "\n", 2)[0]), &r))
	assert.Equal(t, map[string]int{}, r.Redacted, "nothing was")
	assert.Contains(t, w.out.String(), secret)
}

// Who is asked must see the question, although what follows it might have been a secret.
func TestAQuestionIsShownWhileTheProgramWaits(t *testing.T) {
	for name, question := range map[string]string{"a keyword": "Password: ", "the start of a value": "say hun"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "web1")
			in, answer := io.Pipe()
			seen := &until{text: question, then: func() {
				fmt.Fprintln(answer, "yes")
				answer.Close()
			}}
			w.IO = iostreams.New(in, seen, w.err)
			script := "DB_PASSWORD=" + secret + "; printf '" + question + "'; read x; echo got $x"
			code, err := w.run(t.Context(), "web1", "--redact", "--stdin", "--timeout", "60s", "--", script)
			require.NoError(t, err)
			seen.wg.Wait()
			assert.Zero(t, code, w.err.String())
			assert.Equal(t, question+"got yes\n", seen.String())
		})
	}
}

// until calls then once text has been written to it.
type until struct {
	bytes.Buffer
	text string
	then func()
	wg   sync.WaitGroup
}

func (u *until) Write(p []byte) (int, error) {
	n, err := u.Buffer.Write(p)
	if u.then != nil && strings.Contains(u.String(), u.text) {
		u.wg.Go(u.then)
		u.then = nil
	}
	return n, err
}
