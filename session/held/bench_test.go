package held_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fairlead-ssh/fairlead/framing"
)

// turns takes the time of each thing once in each round of a benchmark, in an order that is drawn for each: what else the machine does, and
// what is warm from before, meets all of them alike.
type turns struct {
	run  []func() (after func())
	took [][]time.Duration
	// renew is called before each round, and takes no time.
	renew []func()
}

// add adds a thing. What it returns ends it, and takes no time; nil is nothing to do.
func (t *turns) add(run func() (after func())) {
	t.run, t.took = append(t.run, run), append(t.took, nil)
}

// loop makes so many rounds each time: one would say little.
func (t *turns) loop(b *testing.B, rounds int) {
	order := rand.New(rand.NewPCG(1, 2))
	for b.Loop() {
		for range rounds {
			t.round(order)
		}
	}
}

func (t *turns) round(order *rand.Rand) {
	for _, renew := range t.renew {
		renew()
	}
	for _, i := range order.Perm(len(t.run)) {
		began := time.Now()
		after := t.run[i]()
		t.took[i] = append(t.took[i], time.Since(began))
		if after != nil {
			after()
		}
	}
}

// median is the one of a thing.
func (t *turns) median(i int) time.Duration {
	all := slices.Sorted(slices.Values(t.took[i]))
	return all[len(all)/2]
}

// What a shell costs that is held, and one in which a command is tried, beside a plain one of the same host: medians, in turns. Ratios are to
// plain ones. Its start:
//
//	go test ./session/held -run '^$' -bench 'Held/start' -benchtime 5x
//
// and commands:
//
//	go test ./session/held -run '^$' -bench 'Held/(silent|program|find)' -benchtime 10x
func BenchmarkHeld(b *testing.B) {
	has(b, "bash")
	type host struct {
		supervisor string
		version    int
	}
	hosts := []host{{"perl", newest}, {"perl", 0}, {"python3", newest}, {"python3", 0}}
	kinds := func(b *testing.B, h host) map[string]framing.Shell {
		return map[string]framing.Shell{
			"plain": by(b, h.supervisor, framing.Shell{Name: "bash"}),
			"held":  by(b, h.supervisor, shellFor("bash", h.version, true)),
			"tried": by(b, h.supervisor, shellToTryAt(h.version, "bash")),
		}
	}
	order := []string{"plain", "held", "tried"}
	open := func(b *testing.B, spec framing.Shell) *shell {
		s, err := start(b, spec, nil)
		if err != nil {
			b.Skip(err)
		}
		return s
	}
	name := func(h host) string {
		return h.supervisor + map[bool]string{true: ", no Landlock"}[h.version == 0]
	}
	for _, h := range hosts {
		b.Run("start/"+name(h), func(b *testing.B) {
			specs, t := kinds(b, h), &turns{}
			for _, kind := range order {
				t.add(func() func() { return open(b, specs[kind]).close })
			}
			t.loop(b, 10)
			ms := func(i int) float64 { return t.median(i).Seconds() * 1e3 }
			for i, kind := range order {
				b.ReportMetric(ms(i), kind+"-ms")
			}
			b.ReportMetric(ms(1)-ms(0), "held-plain-ms")
			b.ReportMetric(ms(2)-ms(0), "tried-plain-ms")
		})
	}
	for _, what := range []struct{ name, script string }{{"silent", ":"}, {"program", "/bin/true"}, {"find", "find /usr/share/perl/ -name x"}} {
		for _, h := range hosts {
			b.Run(what.name+"/"+name(h), func(b *testing.B) {
				specs, t := kinds(b, h), &turns{}
				for _, kind := range order {
					// A shell and its supervisor stay where they are on the processors for long: there is a new one now and then.
					s, n := open(b, specs[kind]), 0
					t.renew = append(t.renew, func() {
						if n++; n%20 == 0 {
							s.close()
							s = open(b, specs[kind])
							s.run(what.script)
						}
					})
					t.add(func() func() {
						if o := s.run(what.script); o.code != 0 {
							b.Fatalf("%+v", o)
						}
						return nil
					})
				}
				t.loop(b, 40)
				for i, kind := range order {
					b.ReportMetric(float64(t.median(i).Microseconds()), kind+"-us")
				}
				b.ReportMetric(float64(t.median(1))/float64(t.median(0)), "held/plain")
				b.ReportMetric(float64(t.median(2))/float64(t.median(0)), "tried/plain")
			})
		}
	}
}
