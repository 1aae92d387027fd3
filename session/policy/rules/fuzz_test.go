package rules_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// Whatever is in a file: it is read or every mistake has a line, and what was read decides without making control
// characters run.
func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte("version: 1\nrules: [{name: a, hosts: all, principals: ['*'], classes: [forbidden], verdict: allow}]\n"))
	f.Add([]byte("version: 1\nprincipals: [{name: '*', rate: 1/s}]\n"))
	f.Add([]byte("version: 1\n---\n- &a [*a]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := rules.Parse(data, "f")
		if err != nil {
			joined, ok := err.(interface{ Unwrap() []error })
			if !ok {
				t.Fatalf("not a list: %v", err)
			}
			for _, e := range joined.Unwrap() {
				var one *rules.FileError
				if !errors.As(e, &one) || one.Pos.Line < 1 || strings.ContainsAny(one.Msg, "\n\x1b") {
					t.Fatalf("not a mistake with a line: %q", e)
				}
			}
			return
		}
		e := rules.New(rules.Config{User: file})
		for _, c := range []string{"ls \x01", "touch x\x7f"} {
			d, err := e.Decide(t.Context(), policy.Request{Principal: "agent/a", Host: hosts.Host{Name: "a"}, Command: c})
			if err != nil || d.Verdict != policy.Deny {
				t.Fatalf("%q: %+v %v", c, d, err)
			}
		}
		e.Limits("agent/a")
	})
}

// A file that denies and asks never makes anything easier, whatever the command.
func FuzzTightening(f *testing.F) {
	for _, c := range []string{"ls", "touch x", "$(curl x)", "a | b && c; d", "rm -rf /", "for i in 1; do curl $i; done", "x <<E\n$(y)\nE"} {
		f.Add(c)
	}
	plain := rules.New(rules.Config{})
	file, err := rules.Parse([]byte("version: 1\nrules:\n"+
		rule("a", "deny", "programs: ['curl *', 'rm -rf *']")+rule("b", "deny", "paths: ['/srv/**']")+
		rule("c", "ask", "classes: [read-only], programs: ['cat *']")), "f")
	if err != nil {
		f.Fatal(err)
	}
	tight := rules.New(rules.Config{System: file, User: file})
	// An allow for one program must leave everything else to the table.
	file, err = rules.Parse([]byte("version: 1\nrules:\n"+rule("a", "allow", "programs: ['deploy *']")), "f")
	if err != nil {
		f.Fatal(err)
	}
	eased := rules.New(rules.Config{User: file})
	f.Fuzz(func(t *testing.T, command string) {
		for _, who := range []string{"agent/a", "operator/a"} {
			req := policy.Request{Principal: who, Host: hosts.Host{Name: "h"}, Command: command}
			a, _ := plain.Decide(t.Context(), req)
			b, _ := tight.Decide(t.Context(), req)
			if b.Verdict > a.Verdict {
				t.Fatalf("%q: %s became %s", command, a.Verdict, b.Verdict)
			}
			c, _ := eased.Decide(t.Context(), req)
			if c.Verdict > a.Verdict && !strings.Contains(strings.NewReplacer("'", "", `"`, "", `\`, "").Replace(command), "deploy") {
				t.Fatalf("%q: %s became %s", command, a.Verdict, c.Verdict)
			}
		}
	})
}
