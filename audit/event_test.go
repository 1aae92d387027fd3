package audit_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
)

// fill sets every field of v to something that is not its zero value.
func fill(v reflect.Value, n *int64) {
	*n++
	switch v.Kind() {
	case reflect.String:
		v.SetString(strings.Repeat("v", int(*n%7)) + "é\"\\\n\t\x01")
	case reflect.Int, reflect.Int64:
		v.SetInt(*n)
	case reflect.Uint64:
		v.SetUint(uint64(*n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.String {
			v.Set(reflect.ValueOf([]string{"one", "two \"\n"}))
			return
		}
		v.SetBytes([]byte("exact"))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2026, 11, 21, 2, 0, 0, int(*n), time.UTC)))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	default:
		panic("no value for " + v.Kind().String())
	}
}

func TestEveryFieldIsWrittenUnderItsJSONName(t *testing.T) {
	var want audit.Event
	n := int64(0)
	fill(reflect.ValueOf(&want).Elem(), &n)
	dir := newDir(t)
	f := open(t, dir, audit.Config{})
	require.NoError(t, f.Record(t.Context(), want))
	require.NoError(t, f.Close())
	events, err := audit.Tail(dir, 1)
	require.NoError(t, err)
	require.Len(t, events, 1)

	hmac, err := audit.CommandHMAC(dir, want.Exact)
	require.NoError(t, err)
	want.V, want.Seq, want.CommandHMAC, want.Exact, want.ReadOnly = audit.Version, 1, hmac, nil, false
	assert.Equal(t, want, events[0])

	// The bytes themselves: the same members as encoding/json writes, and prev and mac.
	var got, std map[string]any
	require.NoError(t, json.Unmarshal(readFile(t, dir, "000001.jsonl"), &got))
	b, err := json.Marshal(want)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &std))
	assert.Len(t, got["prev"], 64)
	assert.Len(t, got["mac"], 64)
	delete(got, "prev")
	delete(got, "mac")
	assert.Equal(t, std, got)
}

func TestEmptyFieldsAreLeftOut(t *testing.T) {
	dir := newDir(t)
	f := open(t, dir, audit.Config{Now: func() time.Time { return time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC) }})
	require.NoError(t, f.Record(t.Context(), audit.Event{Kind: audit.SessionOpen, Error: audit.Fault{Code: "busy"}}))
	line := string(readFile(t, dir, "000001.jsonl"))
	const want = `{"v":1,"seq":1,"time":"2026-11-21T02:00:00Z","kind":"session.open","error":{"code":"busy"},"prev":"`
	assert.Equal(t, want+strings.Repeat("0", 64)+`","mac":"`, line[:len(want)+64+9])
}

func TestExactBytesAreNeverWritten(t *testing.T) {
	dir := newDir(t)
	f := open(t, dir, audit.Config{})
	e := request("e_1", false)
	e.Command, e.Exact = "login «redacted:password:1»", []byte("login hunter2")
	require.NoError(t, f.Record(t.Context(), e))
	line := readFile(t, dir, "000001.jsonl")
	assert.NotContains(t, string(line), "hunter2")
	hmac, err := audit.CommandHMAC(dir, e.Exact)
	require.NoError(t, err)
	assert.Contains(t, string(line), `"command_hmac":"`+hmac+`"`)
}

func FuzzEncodedStringsAreJSON(f *testing.F) {
	f.Add("plain")
	f.Add("\x00\x1f\x7f\u0085\u2028\xff\xc3")
	dir := newDir(f)
	file := open(f, dir, audit.Config{})
	f.Fuzz(func(t *testing.T, s string) {
		require.NoError(t, file.Record(t.Context(), audit.Event{Kind: audit.CommandResult, Command: s}))
		events, err := audit.Tail(dir, 1)
		require.NoError(t, err)
		require.Len(t, events, 1)
		assert.Equal(t, strings.ToValidUTF8(s, "\ufffd"), collapse(events[0].Command, s))
	})
}

// collapse makes runs of replacement characters comparable: ToValidUTF8 writes one for each run of bad bytes.
func collapse(got, s string) string {
	var b strings.Builder
	for _, r := range s {
		b.WriteRune(r)
	}
	if got == b.String() {
		return strings.ToValidUTF8(s, "\ufffd")
	}
	return got
}
