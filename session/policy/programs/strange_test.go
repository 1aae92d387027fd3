package programs_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// echo prints whatever it is given, tput's clear needs no words, and find's neighbours take a command's words as they
// are; everything else must know its options.
var printers = map[string]bool{"echo": true}

func TestNoProgramReadsWithAnOptionThatNoTableLists(t *testing.T) {
	lit := func(s string) programs.Arg { return programs.Arg{Text: s, Literal: true, Source: s} }
	for _, name := range programs.Names() {
		if printers[name] {
			continue
		}
		for _, option := range []string{"--xyzzy-plugh", "--xyzzy=plugh"} {
			got := programs.Judge(programs.Call{Name: name, Args: []programs.Arg{lit(option)}})
			if got.Class == policy.ReadOnly && len(got.Nested) == 0 {
				t.Errorf("%s %s is a read", name, option)
			}
		}
	}
}

func TestAWordThatMayBeAnOptionIsNoReadWhereOptionsAreDangerous(t *testing.T) {
	for _, name := range programs.Names() {
		for _, a := range []programs.Arg{
			{Split: true, Source: "$x"}, {Source: `"$x"`}, {Glob: true, Source: "*"}, {Text: "-", Source: `-"$x"`},
		} {
			lit := programs.Judge(programs.Call{Name: name})
			got := programs.Judge(programs.Call{Name: name, Args: []programs.Arg{a}})
			if got.Class != policy.ReadOnly {
				continue
			}
			for _, option := range programs.OptionNames(name) {
				class := programs.Judge(programs.Call{Name: name, Args: []programs.Arg{{Text: option, Literal: true, Source: option}, {Text: "x", Literal: true, Source: "x"}}}).Class
				// Options that ask without changing anything do no harm.
				assert.LessOrEqual(t, class.Rank(), policy.Unknown.Rank(), "%s %s", name, option)
				assert.NotEqual(t, policy.Write, class, "%s %s with %s (bare: %s)", name, a.Source, option, lit.Class)
			}
		}
	}
}

func BenchmarkJudge(b *testing.B) {
	lit := func(words ...string) programs.Call {
		c := programs.Call{Name: words[0]}
		for _, w := range words[1:] {
			c.Args = append(c.Args, programs.Arg{Text: w, Literal: true, Source: w})
		}
		return c
	}
	for _, c := range []programs.Call{
		lit("ls", "-la", "/var/log"), lit("grep", "-rn", "listen 80", "/etc/nginx"), lit("journalctl", "-u", "nginx", "-n", "100", "--no-pager"),
		lit("awk", "$3 > 80 {print $1}", "f"), lit("find", ".", "-type", "f", "-name", "*.go"), lit("kubectl", "get", "pods", "-n", "web"),
	} {
		b.Run(c.Name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				programs.Judge(c)
			}
		})
	}
}
