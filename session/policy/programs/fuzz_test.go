package programs_test

import (
	"strings"
	"testing"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// FuzzJudge: whatever the words are, a judgement comes back, knows its class, and a call with an option that no table
// lists is no read.
func FuzzJudge(f *testing.F) {
	names := programs.Names()
	for i, line := range []string{"-la x", "-ro f", "--output=x y", "-n '1w x'", "{print > \"x\"}", "-exec rm {} ;", "--", "a b c", "-c 'ls' x",
		"-I{} x {}", "status nginx", "tzvf a", "eww", "s/[/]/x/", "\"\\(env)\"", "-e -e -e", "-S 'a b'", "if=a of=/dev/sda"} {
		f.Add(uint16(i*37), line, uint8(i))
	}
	f.Fuzz(func(t *testing.T, which uint16, line string, bits uint8) {
		name := names[int(which)%len(names)]
		var args []programs.Arg
		for i, w := range strings.Split(line, " ") {
			a := programs.Arg{Text: w, Literal: true, Source: w}
			if bits>>(i%8)&1 == 1 && i > 2 {
				a.Literal, a.Split = false, i%2 == 0
				a.Glob = i%3 == 0
			}
			args = append(args, a)
		}
		got := programs.Judge(programs.Call{Name: name, Args: args})
		if !got.Known || got.Rule == "" || got.Reason == "" || got.Class == "" {
			t.Fatalf("%s %q: %+v", name, line, got)
		}
		if programs.Judge(programs.Call{Name: name, Args: args}).Class != got.Class {
			t.Fatalf("%s %q: judged twice, differently", name, line)
		}
		if programs.Raw(name) {
			return
		}
		// An option that no table lists, before everything else.
		strange := append([]programs.Arg{{Text: "--xyzzy-plugh", Literal: true, Source: "--xyzzy-plugh"}}, args...)
		if got := programs.Judge(programs.Call{Name: name, Args: strange}); got.Class == policy.ReadOnly {
			t.Fatalf("%s --xyzzy-plugh %q is a read", name, line)
		}
	})
}
