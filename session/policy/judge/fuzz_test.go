package judge_test

import (
	"strings"
	"testing"
	"time"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// FuzzJudge checks what must hold for any bytes: no panic, an end, and that what is allowed stays allowed under no
// circumstances that ought to take it away.
func FuzzJudge(f *testing.F) {
	for _, c := range rows(f) {
		f.Add(c.command)
	}
	for _, unit := range hostile {
		f.Add(strings.Repeat(unit, 40))
	}
	for _, p := range pieces {
		f.Add("ls " + p)
	}
	f.Fuzz(func(t *testing.T, script string) {
		for _, shell := range shells {
			start := time.Now()
			r := judge.Judge(judge.Request{Script: script, Shell: shell})
			if d := time.Since(start); d > time.Minute { // of a machine that may have other things to do
				t.Fatalf("%v for %d bytes", d, len(script))
			}
			check(t, script, shell, r)
		}
	})
}

func check(t *testing.T, script, shell string, r judge.Report) {
	if r.Rule == "" || r.Reason == "" || len(r.Classes) == 0 {
		t.Fatalf("%q: a report without its ground: %+v", script, r)
	}
	if got := r.Classes[len(r.Classes)-1]; got != r.Class {
		t.Fatalf("%q: the worst of %v is not %s", script, r.Classes, r.Class)
	}
	for _, p := range r.Parts {
		if p.Class.Worse(r.Class) {
			t.Fatalf("%q: part %q is worse than the whole", script, p.Text)
		}
	}
	if r.Class != policy.ReadOnly {
		if !r.Taints {
			t.Fatalf("%q: %s does not taint", script, r.Class)
		}
		return
	}
	if len(r.Writes) > 0 || r.Capped {
		t.Fatalf("%q: read-only, and yet it writes %v or was capped", script, r.Writes)
	}
	if strings.Contains(script, "\x00") || strings.Contains(strings.ReplaceAll(script, "\r\n", ""), "\r") || len(script) > 64<<10 {
		t.Fatalf("%q: read-only with bytes that are refused", script)
	}
	// A shell that may be any of them is never judged milder than one of them.
	if shell == "" {
		for _, s := range []string{"bash", "dash"} {
			if s == "dash" && strings.Contains(script, "<<<") {
				continue // dash refuses such a line whole
			}
			if one := judge.Judge(judge.Request{Script: script, Shell: s}); one.Class.Worse(r.Class) {
				t.Fatalf("%q: %s for %s, read-only for any shell", script, one.Class, s)
			}
		}
	}
	// What is harmless stays so only as long as nothing follows it.
	for _, more := range []string{"\ntouch pwned", "\nls > pwned"} {
		if worse := judge.Judge(judge.Request{Script: script + more, Shell: shell}); worse.Class == policy.ReadOnly && !swallows(script) {
			t.Fatalf("%q: read-only even with %q behind it for %q", script, more, shell)
		}
	}
}

// swallows reports whether what follows a script may be part of its last word, comment or here-document.
func swallows(script string) bool {
	return strings.HasSuffix(script, "\\") || strings.Contains(script, "<<")
}
