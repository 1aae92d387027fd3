package held_test

import (
	"slices"
	"testing"
	"time"

	"github.com/fairlead-ssh/fairlead/framing"
)

// What a shell costs beside a plain one that is held, and one in which a command is tried: its start, a silent command, and one that starts
// a program. The starts take turns, and the fastest of each count: the others show what else the machine does.
func BenchmarkHeldAndPlain(b *testing.B) {
	kinds := []struct {
		name string
		spec framing.Shell
	}{{"plain", framing.Shell{Name: "bash"}}, {"held", shellFor("bash", newest, true)}, {"tried", shellToTry("bash")},
		{"held-python", by(b, "python3", shellFor("bash", newest, true))}, {"tried-python", by(b, "python3", shellToTry("bash"))}}
	b.Run("start", func(b *testing.B) {
		has(b, "bash")
		took := map[string][]time.Duration{}
		for b.Loop() {
			for _, c := range kinds {
				began := time.Now()
				s, err := start(b, c.spec, nil)
				if err != nil {
					b.Skip(err)
				}
				took[c.name] = append(took[c.name], time.Since(began))
				s.close()
			}
		}
		fastest := func(name string) float64 { return slices.Min(took[name]).Seconds() * 1e3 }
		for _, c := range kinds {
			b.ReportMetric(fastest(c.name), c.name+"-ms")
		}
		b.ReportMetric(fastest("held")-fastest("plain"), "held-plain-ms")
		b.ReportMetric(fastest("held")/fastest("plain"), "held/plain")
	})
	for _, c := range kinds {
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
