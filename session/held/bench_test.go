package held_test

import (
	"testing"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/session/held"
)

// What a held shell costs beside a plain one: its start, a silent command, and one that starts a program.
func BenchmarkHeldAndPlain(b *testing.B) {
	for _, c := range []struct {
		name string
		spec framing.Shell
	}{{"plain", framing.Shell{Name: "bash"}}, {"held", framing.Shell{Name: "bash", Hold: held.Program(), Watch: held.Watch()}}} {
		b.Run("start/"+c.name, func(b *testing.B) {
			has(b, "bash")
			for b.Loop() {
				s, err := start(b, c.spec, nil)
				if err != nil {
					b.Skip(err)
				}
				s.close()
			}
		})
		for what, script := range map[string]string{"silent": ":", "program": "/bin/true", "find": "find /usr/share/perl5 -name x"} {
			b.Run(what+"/"+c.name, func(b *testing.B) {
				has(b, "bash")
				s, err := start(b, c.spec, nil)
				if err != nil {
					b.Skip(err)
				}
				for b.Loop() {
					s.run(script)
				}
			})
		}
	}
}
