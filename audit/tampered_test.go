package audit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/golden"
)

// sampleChain writes a chain with something of everything, in several files, which is the same each time.
func sampleChain(t *testing.T) string {
	dir := newDir(t)
	require.NoError(t, os.Mkdir(dir, 0o700))
	writeFile(t, []byte(goldenKey), dir, "key")
	at := time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)
	f := open(t, dir, audit.Config{MaxSize: 2500, Now: func() time.Time { at = at.Add(time.Second); return at }})
	fail := 3
	for i, e := range []audit.Event{
		{Kind: audit.SessionOpen, Host: "web1", Session: "s_1", Principal: "operator/ada"},
		request("e_1", false), request("e_2", true), result("e_2"),
		{Kind: audit.CommandRequest, ID: "e_3", Principal: "operator/ada", Host: "db1", Session: "s_2", Command: "rm -rf /srv/x", Exact: []byte("rm -rf /srv/x"), Verdict: "deny", Rule: "r", Class: "dangerous"},
		{Kind: audit.CommandResult, ID: "e_3", Host: "db1", Session: "s_2", State: "denied", Status: "denied"},
		{Kind: audit.CommandRequest, ID: "e_4", Principal: "agent/other", Host: "web12", Session: "s_3", Command: "false *", Exact: []byte("false *"), Verdict: "ask"},
		{Kind: audit.CommandResult, ID: "e_4", Host: "web12", Session: "s_3", State: "done", Status: "failed", ExitCode: &fail},
		result("e_1"),
		{Kind: audit.SessionClose, Host: "web1", Session: "s_1"},
		request("e_5", true),
	} {
		require.NoError(t, f.Record(t.Context(), e), i)
	}
	require.NoError(t, f.Close())
	return dir
}

// What is found in a chain of which one byte, line or file is not what was written: by Verify, by who reads it, and by who opens it.
func TestWhatIsFoundInAChangedChainIsWhatItWas(t *testing.T) {
	f := golden.Open(t, "testdata/changed.tsv")
	dir := sampleChain(t)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	good := map[string][]byte{}
	for _, e := range entries {
		if text := readFile(t, dir, e.Name()); len(text) > 0 {
			good[e.Name()] = text
		}
	}
	f.Check("nothing", seenIn(t, dir))
	for _, name := range slices.Sorted(maps.Keys(good)) {
		text := good[name]
		bytewise := map[string]func(i int) []byte{
			"changed":  func(i int) []byte { b := bytes.Clone(text); b[i] ^= 1; return b },
			"removed":  func(i int) []byte { return slices.Delete(bytes.Clone(text), i, i+1) },
			"inserted": func(i int) []byte { return slices.Insert(bytes.Clone(text), i, '0') },
			"the end":  func(i int) []byte { return text[:i] },
			"a break":  func(i int) []byte { return slices.Insert(bytes.Clone(text), i, '\n') },
		}
		for _, how := range slices.Sorted(maps.Keys(bytewise)) {
			key := fmt.Sprintf("%s: of each byte %s", name, how)
			if !f.Due(key) {
				continue
			}
			var runs []string
			last := ""
			for i := 0; i < len(text); i += 1 + len(text)/200 {
				writeFile(t, bytewise[how](i), dir, name)
				if got := seenIn(t, dir); got != last {
					last = got
					h := fnv.New32a()
					_, _ = h.Write([]byte(got))
					got, _, _ = strings.Cut(got, "; ")
					runs = append(runs, fmt.Sprintf("%d %s %08x", i, got, h.Sum32()))
				}
			}
			f.Check(key, strings.Join(runs, " | "))
		}
		lines := bytes.SplitAfter(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
		if strings.HasSuffix(name, ".jsonl") {
			for i := range lines {
				changed := map[string][][]byte{
					"missing": slices.Delete(slices.Clone(lines), i, i+1), "twice": slices.Insert(slices.Clone(lines), i, lines[i]), "first": slices.Insert(slices.Delete(slices.Clone(lines), i, i+1), 0, lines[i]),
					"followed by junk": slices.Insert(slices.Clone(lines), i+1, []byte("junk\n")), "followed by a torn one": slices.Insert(slices.Clone(lines), i+1, append(bytes.Clone(lines[i][:40]), "~\n"...)),
				}
				for _, how := range slices.Sorted(maps.Keys(changed)) {
					some := changed[how]
					key := fmt.Sprintf("%s: line %d %s", name, i+1, how)
					if f.Due(key) {
						writeFile(t, append(bytes.Join(some, nil), '\n'), dir, name)
						f.Check(key, seenIn(t, dir))
					}
				}
			}
		}
		whole := map[string][]byte{"empty": {}, "of another": good["000001.jsonl"], "twice": append(bytes.Clone(text), text...), "with a torn line": append(bytes.Clone(text), `{"v":1,"seq":`...), "with a sealed one": append(bytes.Clone(text), `{"v":1,"seq":~`+"\n"...), "with a newline": append(bytes.Clone(text), '\n')}
		for _, how := range slices.Sorted(maps.Keys(whole)) {
			b := whole[how]
			key := name + ": " + how
			if !f.Due(key) {
				continue
			}
			writeFile(t, b, dir, name)
			said := seenIn(t, dir)
			log, err := audit.Open(dir, audit.Config{MaxSize: 2500, Now: func() time.Time { return time.Unix(1e9, 0) }})
			said += "; opened: " + strings.ReplaceAll(fmt.Sprint(err), dir, "DIR")
			if err == nil {
				said += fmt.Sprint("; recorded: ", log.Record(t.Context(), request("e_9", false)), log.Close())
			}
			said += "; then " + seenIn(t, dir)
			f.Check(key, said)
			all, err := os.ReadDir(dir) // opening may have changed the others, and begun more
			require.NoError(t, err)
			for _, e := range all {
				require.NoError(t, os.Remove(filepath.Join(dir, e.Name())))
			}
			for again, text := range good {
				writeFile(t, text, dir, again)
			}
		}
		writeFile(t, text, dir, name)
	}
}

// seenIn is what Verify and those who read say, in one line.
func seenIn(t *testing.T, dir string) string {
	r, err := audit.Verify(dir)
	require.NoError(t, err)
	if r.Anchor != "" {
		r.Anchor = "there is one" // with the time
	}
	text, err := json.Marshal(r)
	require.NoError(t, err)
	said := "whole"
	if r.Problem != nil {
		said = fmt.Sprintf("%s:%d %s: %s", filepath.Base(r.Problem.File), r.Problem.Line, r.Problem.Kind, r.Problem.Text)
	}
	n, faults := 0, ""
	for _, err := range audit.All(dir) {
		if n++; err != nil {
			faults += fmt.Sprint(" ", err)
		}
	}
	tail, err := audit.Tail(dir, 2)
	all := fmt.Sprintf("%s; %s; %d events,%s; the last %v %v", said, text, n, faults, len(tail), err)
	for _, e := range tail {
		all += fmt.Sprint(" ", e.Kind, e.ID)
	}
	return strings.ReplaceAll(strings.ReplaceAll(all, strings.ReplaceAll(dir, `\`, `\\`), "DIR"), dir, "DIR")
}

// What is found by every query over one chain.
func TestWhatIsFoundByQueriesIsWhatItWas(t *testing.T) {
	f := golden.Open(t, "testdata/queries.tsv")
	dir := sampleChain(t)
	zero, three := 0, 3
	at := func(s int) time.Time { return time.Date(2026, 11, 21, 2, 0, s, 0, time.UTC) }
	queries := map[string]audit.Query{"all": {}, "exit 0": {ExitCode: &zero}, "exit 3": {ExitCode: &three}, "web1 and ok": {Host: "web1", Status: "ok"}, "web* and deny": {Host: "web*", Verdict: "deny"}}
	for _, host := range []string{"web1", "web*", "*1", "web?", "web??", "*", "?", "*b*", "**", "w*1", "w*2*", "WEB1", "web1*", "e", "?eb1?", "d*1", "**1", "*?2", "[w]eb1"} {
		queries["host "+host] = audit.Query{Host: host}
		queries["principal "+host] = audit.Query{Principal: "agent/" + host}
	}
	for _, text := range []string{"uptime", "rm", "RM", "*", "false *", "x", "srv/x", "upt", "nothing"} {
		queries["text "+text] = audit.Query{Text: text}
	}
	for _, s := range []string{"allow", "deny", "ask", "ok", "failed", "denied", "done", "running"} {
		queries["verdict "+s], queries["status "+s] = audit.Query{Verdict: s}, audit.Query{Status: s}
	}
	for s := range 20 {
		queries[fmt.Sprint("since ", s)], queries[fmt.Sprint("until ", s)] = audit.Query{Since: at(s)}, audit.Query{Until: at(s)}
	}
	for _, key := range slices.Sorted(maps.Keys(queries)) {
		var said []string
		for events, err := range audit.Search(dir, queries[key]) {
			require.NoError(t, err)
			one := ""
			for _, e := range events {
				one += fmt.Sprint(" ", e.Kind, e.ID)
			}
			said = append(said, strings.TrimSpace(one))
		}
		f.Check(key, strings.Join(said, " | "))
	}
	for _, id := range []string{"e_1", "e_2", "e_3", "e_5", "e_9", "s_1", "e_", "", "1"} {
		events, err := audit.Show(dir, id)
		said := fmt.Sprint(len(events), " ", err)
		for _, e := range events {
			said += fmt.Sprint(" ", e.Kind, e.Seq)
		}
		f.Check("show "+id, said)
	}
}
