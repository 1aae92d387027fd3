package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/held"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// Fields that are added to a Result, or to a Decision, must go through its JSON form too.
func TestNothingOfAResultIsLostInItsJSON(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 1))
	for range 500 {
		var r session.Result
		fill(rng, reflect.ValueOf(&r).Elem())
		if rng.IntN(2) == 0 { // the other texts are ours
			r.Command, r.Dir, r.Stdout = "echo \xff", "/\xfe", []byte("\xfd")
		}
		if r.OmittedStdout <= 0 {
			r.OmittedStdout, r.CutStdout = 0, 0
		}
		if r.OmittedStderr <= 0 {
			r.OmittedStderr, r.CutStderr = 0, 0
		}
		text, err := json.Marshal(r)
		require.NoError(t, err)
		var got session.Result
		require.NoError(t, json.Unmarshal(text, &got), "%s", text)
		assert.True(t, r.Started.Equal(got.Started))
		got.Started = r.Started
		assert.Equal(t, r, got, "%s", text)
	}
}

// fill gives every field that JSON is to carry a value, now and then the zero one.
func fill(rng *rand.Rand, v reflect.Value) {
	if rng.IntN(4) == 0 {
		return
	}
	words := []string{"a", "ü <b>&", "\x00", "line\nline", "\u2028"}
	switch at := v.Addr().Interface().(type) {
	case *time.Time:
		*at = time.Unix(rng.Int64N(1<<33), rng.Int64N(1e9)).In(time.FixedZone("", 3600))
		return
	case *time.Duration:
		*at = time.Duration(rng.Int64N(1e12))
		if rng.IntN(2) == 0 {
			*at = at.Truncate(time.Millisecond)
		}
		return
	case *[]byte:
		*at = []byte(words[rng.IntN(len(words))])
		return
	case *[]held.Refusal: // whose texts are UTF-8
		*at = []held.Refusal{{Call: "open for writing", Path: "/etc/x"}, {Call: "move", Path: "a", To: "b"}}
		return
	case *policy.Verdict:
		*at = policy.Verdict(rng.IntN(3))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.Tag.Get("json") != "-" && f.Name != "Err" { // which has a test of its own
				fill(rng, v.Field(i))
			}
		}
	case reflect.String:
		limit := len(words)
		if name := v.Type().Name(); name != "string" {
			limit = 2 // a word of ours
		}
		v.SetString(words[rng.IntN(limit)])
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(rng.Int64N(1 << 40))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(rng, v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		v.Index(0).SetString("cwd")
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]int{"password": 1 + rng.IntN(9)}))
	default:
		panic("session: internal error: a kind of field that this test does not know: " + v.Type().String())
	}
}

func TestAnErrorIsOfTheSameKindsOnTheOtherSide(t *testing.T) {
	kinds := []error{
		session.ErrClosed, session.ErrFull, session.ErrBusy, session.ErrAuth, session.ErrHostKey, session.ErrUnknownOutcome, session.ErrAudit,
		session.ErrDenied, session.ErrRejected, session.ErrExpired, session.ErrUnreachable, session.ErrInvalid, session.ErrVoid, session.ErrNotReady,
		session.ErrTimeout, session.ErrCanceled, session.ErrNeedsTerminal, session.ErrOutput, session.ErrNotInteractive,
		context.Canceled, context.DeadlineExceeded,
	}
	dial := &sshconn.Error{Host: "web1", Hop: "gate", Addr: "10.0.0.1:22", Step: sshconn.StepLogin, Err: fmt.Errorf("sshconn: refused: %w", session.ErrAuth)}
	for name, e := range map[string]*session.Error{
		"plain":                {Op: "run", Host: "web1", Code: "error", Err: errors.New("x: y")},
		"of two kinds":         {Op: "run", Host: "web1", Code: "lost", Sent: true, Err: fmt.Errorf("%w: %w", session.ErrUnknownOutcome, context.Canceled)},
		"of a dial":            {Op: "dial", Host: "web1", Code: "auth", Err: dial},
		"of a dial within":     {Op: "run", Host: "web1", Code: "auth", Retriable: true, Err: fmt.Errorf("open: %w", dial)},
		"of another host":      {Op: "open", Host: "web2", Code: "busy", Exec: "e_1", Err: session.ErrBusy},
		"without a cause":      {Op: "run", Host: "web1", Code: "closed"},
		"of nothing":           {Code: "closed", Err: session.ErrClosed},
		"with a colon in host": {Op: "run", Host: "web1", Code: "error", Err: errors.New("")},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := json.Marshal(session.Result{Host: "web1", Err: e})
			require.NoError(t, err)
			var got session.Result
			require.NoError(t, json.Unmarshal(text, &got))
			require.NotNil(t, got.Err)
			assert.EqualError(t, got.Err, e.Error())
			want := *e
			want.Err = got.Err.Err
			if want.Host == "" {
				want.Host = got.Err.Host // that of the result
			}
			assert.Equal(t, want, *got.Err)
			for _, kind := range kinds {
				assert.Equal(t, errors.Is(e, kind), errors.Is(got.Err, kind), "%v", kind)
			}
			var before, after session.Dialed
			require.Equal(t, errors.As(e, &before), errors.As(got.Err, &after))
			if before != nil {
				through, address, why := before.Where()
				through2, address2, why2 := after.Where()
				assert.Equal(t, []string{through, address, why.Error()}, []string{through2, address2, why2.Error()})
			}
			again, err := json.Marshal(got)
			require.NoError(t, err)
			assert.Equal(t, string(text), string(again))
		})
	}
}

func TestResultsOfOlderVersionsAreRead(t *testing.T) {
	for text, want := range map[string]session.Error{
		`{"host":"web1","status":"lost","error":{"code":"lost","message":"run web1: gone","retriable":false}}`:     {Op: "run", Sent: true, Code: "lost"},
		`{"host":"web1","status":"denied","error":{"code":"denied","message":"run web1: gone","retriable":false}}`: {Op: "run", Code: "denied"},
		`{"host":"web1","status":"error","error":{"code":"error","message":"gone","retriable":true}}`:              {Op: "run", Code: "error", Retriable: true},
	} {
		var r session.Result
		require.NoError(t, json.Unmarshal([]byte(text), &r))
		assert.ErrorContains(t, r.Err, "gone")
		got := *r.Err
		got.Err, got.Host = nil, ""
		if want.Code != "error" {
			got.Op = "run"
		}
		assert.Equal(t, want, got, text)
	}
}

func TestJSONThatIsNoResultIsRefused(t *testing.T) {
	for field, text := range map[string]string{
		"stdout": `{"encoding":"base64","stdout":"?"}`, "stderr": `{"encoding":"base64","stderr":"?"}`, "stray": `{"encoding":"base64","stray":"?"}`,
		"cwd_b64": `{"cwd_b64":"?"}`, "command_b64": `{"command_b64":"?"}`, "started": `{"started":"yesterday"}`,
	} {
		var r session.Result
		err := json.Unmarshal([]byte(text), &r)
		assert.ErrorContains(t, err, `session: a result's "`+field+`" cannot be read`)
		assert.Equal(t, session.Result{}, r)
	}
	assert.Error(t, json.Unmarshal([]byte(`[]`), new(session.Result)))
}

func FuzzResultJSON(f *testing.F) {
	seed, err := json.Marshal(fullResult())
	require.NoError(f, err)
	f.Add(seed)
	f.Add([]byte(`{"error":{"message":": "}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var r, again session.Result
		if json.Unmarshal(text, &r) != nil {
			return
		}
		first, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(first, &again); err != nil {
			t.Fatal(err)
		}
		second, err := json.Marshal(again)
		if err != nil {
			t.Fatal(err)
		}
		if string(first) != string(second) {
			t.Fatalf("%s\n%s", first, second)
		}
	})
}
