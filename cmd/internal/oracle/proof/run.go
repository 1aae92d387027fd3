//go:build linux && amd64

package proof

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// Config says what is run.
type Config struct {
	Seed    uint64
	Runs    int             // executions, those that confirm and minimise findings not counted
	Span    time.Duration   // no more are begun after this; zero is no limit
	Stop    <-chan struct{} // no more are begun once it is closed; nil is never
	Workers int             // sandboxes
	Shells  []Shell         //
	Extra   string          // a directory with further programs
	Corpus  []string        // commands that the generator of shell source uses too
	Share   [3]int          // how many of ten come from the tables, from the generator, and compare the parser
	Limit   time.Duration   // of one command
	Only    []string        // programs: only their rows; none is all
	Skip    []string        // programs that are not run
	Expect  Rules           // faults that are known
	Log     func(string)    // says each finding at once
}

// Result is what came out.
type Result struct {
	Candidates int // judged
	Runs       int
	PerShell   map[string]int
	PerProgram map[string]int
	PerKind    [3]int
	Findings   []Finding
	Allowed    int            // how many of them are about what the judge calls read-only
	More       map[string]int // how many more were like each finding
	Expected   int            // what Config.Expect names
	Missing    []string       // programs that are not on this machine
	NotAllowed []string       // programs of the tables of which nothing was allowed
}

const (
	fromTables = iota
	fromSource
	ofParser
)

type candidate struct {
	kind   int
	shell  Shell
	script string
	stdin  string
	rep    judge.Report
}

// Judge gives the report for a script that the oracle would run.
func (c candidate) judged() candidate {
	c.rep = judge.Judge(judge.Request{Script: c.script, Shell: c.shell.Judge, Dir: Work})
	return c
}

func (c candidate) runnable() bool {
	return len(c.script) > 0 && !strings.Contains(c.script, "\x00") && (c.kind == ofParser || c.rep.Class == policy.ReadOnly)
}

// producer makes candidates, always the same for one seed.
type producer struct {
	cfg      Config
	r        *rand.Rand
	commands *Commands
	source   *Source
	parser   *Source
	pending  []candidate
	tried    int
}

func newProducer(cfg Config) *producer {
	specs := FromTables()
	if len(cfg.Only) > 0 {
		specs = slices.DeleteFunc(specs, func(s Spec) bool { return !slices.Contains(cfg.Only, s.Program) })
	}
	specs = slices.DeleteFunc(specs, func(s Spec) bool { return slices.Contains(cfg.Skip, s.Program) })
	return &producer{cfg: cfg, r: rand.New(rand.NewPCG(cfg.Seed, 4)), commands: NewCommands(cfg.Seed, specs, cfg.Extra),
		source: NewSource(cfg.Seed, cfg.Corpus), parser: NewParserSource(cfg.Seed)}
}

func (p *producer) next() candidate {
	for {
		if n := len(p.pending); n > 0 {
			c := p.pending[n-1]
			p.pending = p.pending[:n-1]
			return c
		}
		p.tried++
		c := candidate{shell: p.cfg.Shells[p.r.IntN(len(p.cfg.Shells))], stdin: []string{"null", "pipe"}[p.r.IntN(2)]}
		switch k := p.r.IntN(10); {
		case k < p.cfg.Share[fromTables]:
			c.kind, c.script = fromTables, p.commands.Next()
		case k < p.cfg.Share[fromTables]+p.cfg.Share[fromSource]:
			c.kind, c.script = fromSource, p.source.Next()
		default:
			c.kind, c.script = ofParser, p.parser.Next()
		}
		c.script = judge.Normalize(c.script)
		if c.kind == fromTables && slices.Contains(builtins, first(c.script)) {
			for _, sh := range p.cfg.Shells { // what a builtin means, each shell says for itself
				d := c
				d.shell = sh
				if d = d.judged(); d.runnable() {
					p.pending = append(p.pending, d)
				}
			}
			continue
		}
		if c = c.judged(); c.runnable() {
			return c
		}
	}
}

// Run runs what the config says.
func Run(cfg Config) (*Result, error) {
	if cfg.Limit == 0 {
		cfg.Limit = 5 * time.Second
	}
	res := &Result{PerShell: map[string]int{}, PerProgram: map[string]int{}, More: map[string]int{}}
	p := newProducer(cfg)
	res.Missing = p.commands.Missing
	var mu sync.Mutex
	var wg sync.WaitGroup
	errs := make([]error, cfg.Workers)
	var begin time.Time
	for w := range cfg.Workers {
		cage, err := NewCage(cfg.Extra)
		if err != nil {
			return nil, err
		}
		if w == 0 {
			begin = time.Now()
		}
		wg.Go(func() {
			defer cage.Close()
			for {
				mu.Lock()
				if res.Runs >= cfg.Runs || closed(cfg.Stop) || cfg.Span > 0 && time.Since(begin) > cfg.Span {
					mu.Unlock()
					return
				}
				c := p.next()
				res.count(c)
				mu.Unlock()
				out := c.run(cage, cfg.Limit)
				if out.Failed != "" {
					if out.Failed == tooLong {
						continue
					}
					errs[w] = fmt.Errorf("%s: %q: %s", c.shell.Name, c.script, out.Failed)
					return
				}
				did, faults := c.complaints(out, cfg.Expect)
				if faults > 0 {
					mu.Lock()
					res.Expected++
					mu.Unlock()
				}
				if len(did) > 0 {
					cfg.found(cage, &mu, res, c, did)
				}
			}
		})
	}
	wg.Wait()
	res.Candidates = p.tried
	for _, s := range p.commands.specs {
		if res.PerProgram[s.Program] == 0 && !slices.Contains(res.NotAllowed, s.Program) {
			res.NotAllowed = append(res.NotAllowed, s.Program)
		}
	}
	for _, err := range errs {
		if err != nil {
			return res, err
		}
	}
	return res, nil
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (r *Result) count(c candidate) {
	r.Runs++
	r.PerShell[c.shell.Name]++
	r.PerKind[c.kind]++
	if c.kind == fromTables {
		r.PerProgram[first(c.script)]++
	}
}

func first(script string) string {
	word, _, _ := strings.Cut(script, " ")
	return word
}

func (c candidate) run(cage *Cage, limit time.Duration) Outcome {
	return cage.Run(append(slices.Clip(c.shell.Argv), c.script), c.stdin, limit, c.kind == ofParser)
}

func (c candidate) complaints(out Outcome, expected Rules) (list []string, faults int) {
	if c.kind == ofParser {
		return Differences(c.rep, out), 0
	}
	return Complaints(first(c.script), c.rep, out, expected)
}

var numbers = regexp.MustCompile(`[0-9]+|/tmp/\S+|"[^"]*"`)

func (c candidate) key(did string) string {
	program := ""
	if c.kind == fromTables {
		program = first(c.script)
	}
	if strings.HasPrefix(did, string(Start)) {
		did = strings.Join(strings.Fields(did)[:3], " ")
	} else if len(did) > 60 {
		did = did[:60]
	}
	return program + "\t" + numbers.ReplaceAllString(did, "#")
}

// found confirms and minimises a finding. Of findings that look alike only the first few are kept.
func (cfg Config) found(cage *Cage, mu *sync.Mutex, res *Result, c candidate, did []string) {
	key := c.key(did[0])
	mu.Lock()
	res.More[key]++
	many := res.More[key] > 2
	if c.kind == fromTables && !many {
		res.More[first(c.script)]++
		many = res.More[first(c.script)] > 6
	}
	mu.Unlock()
	if many {
		return
	}
	if did, _ = c.complaints(c.run(cage, 5*cfg.Limit), cfg.Expect); len(did) == 0 { // it was the machine
		mu.Lock()
		res.More[key]--
		mu.Unlock()
		return
	}
	limit := cfg.Limit
	same := func(script string) bool {
		d := c
		d.script = script
		if d = d.judged(); !d.runnable() {
			return false
		}
		now, _ := d.complaints(d.run(cage, limit), cfg.Expect)
		return len(now) > 0 && c.key(now[0]) == c.key(did[0])
	}
	rounds := 120
	if c.kind == fromTables {
		rounds = 25
	}
	if strings.Contains(did[0], "end") {
		rounds = 8
	}
	allowed := c.rep.Class == policy.ReadOnly
	c.script = minimise(c.script, rounds, same)
	c = c.judged()
	if now, _ := c.complaints(c.run(cage, limit), cfg.Expect); len(now) > 0 {
		did = now
	}
	f := Finding{Shell: c.shell.Name, Script: c.script, Did: did, Said: fmt.Sprintf("%s (%s)", c.rep.Class, c.rep.Rule)}
	mu.Lock()
	defer mu.Unlock()
	if slices.ContainsFunc(res.Findings, func(g Finding) bool { return g.Script == f.Script && g.Shell == f.Shell }) {
		return
	}
	res.Findings = append(res.Findings, f)
	if allowed || c.rep.Class == policy.ReadOnly {
		res.Allowed++
	}
	if cfg.Log != nil {
		cfg.Log(f.String())
	}
}

// minimise takes parts of a script away as long as what is left still does the same.
func minimise(script string, rounds int, same func(string) bool) string {
	for size := max(1, len(script)/2); size >= 1 && rounds > 0; {
		smaller := false
		for i := 0; i+size <= len(script) && rounds > 0; i += max(1, size/2) {
			next := script[:i] + script[i+size:]
			if strings.TrimSpace(next) == "" {
				continue
			}
			rounds--
			if same(next) {
				script, smaller = next, true
				break
			}
		}
		if !smaller {
			size /= 2
		} else if size > len(script)/2 {
			size = max(1, len(script)/2)
		}
	}
	return script
}

// Summary says how many ran, by shell and program.
func (r *Result) Summary(seed uint64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %d executions of %d candidates: %d from the tables, %d from the generator, %d to compare the parser\n",
		seed, r.Runs, r.Candidates, r.PerKind[fromTables], r.PerKind[fromSource], r.PerKind[ofParser])
	for _, name := range slices.Sorted(maps.Keys(r.PerShell)) {
		fmt.Fprintf(&b, "  %s %d", name, r.PerShell[name])
	}
	b.WriteString("\n")
	fmt.Fprintf(&b, "programs (%d):", len(r.PerProgram))
	for _, name := range slices.Sorted(maps.Keys(r.PerProgram)) {
		fmt.Fprintf(&b, " %s %d", name, r.PerProgram[name])
	}
	fmt.Fprintf(&b, "\nnothing of these was allowed (%d): %s\n", len(r.NotAllowed), strings.Join(r.NotAllowed, " "))
	fmt.Fprintf(&b, "not on this machine, could not be run (%d): %s\n", len(r.Missing), strings.Join(r.Missing, " "))
	fmt.Fprintf(&b, "findings about what is read-only: %d; about the words of what is not: %d; runs with faults that are known: %d\n",
		r.Allowed, len(r.Findings)-r.Allowed, r.Expected)
	return b.String()
}

// Show runs one script on each shell, whatever the judge says of it, and prints both.
func Show(w io.Writer, cfg Config, script string) error {
	cage, err := NewCage(cfg.Extra)
	if err != nil {
		return err
	}
	defer cage.Close()
	for _, sh := range cfg.Shells {
		c := candidate{shell: sh, script: judge.Normalize(script), stdin: "null"}.judged()
		out := c.run(cage, cfg.Limit)
		fmt.Fprintf(w, "== %s: %s (%s: %s)\n", sh.Name, c.rep.Class, c.rep.Rule, c.rep.Reason)
		for _, e := range out.Events {
			if !known.Match(e) {
				fmt.Fprintf(w, "   %s\n", e)
			}
		}
		list, _ := Complaints(first(script), c.rep, out, cfg.Expect)
		for _, s := range list {
			fmt.Fprintf(w, "   ! %s\n", s)
		}
		fmt.Fprint(w, out.Output, out.Failed)
	}
	return nil
}

// Compare runs each script on each shell and lists where a shell runs what the judge does not list.
func Compare(cfg Config, scripts []string) (findings []Finding, err error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	errs := make([]error, cfg.Workers)
	work := make(chan candidate)
	for w := range cfg.Workers {
		wg.Go(func() {
			cage, err := NewCage("")
			if err != nil {
				errs[w] = err
				for range work {
				}
				return
			}
			defer cage.Close()
			for c := range work {
				did, _ := c.complaints(c.run(cage, cfg.Limit), nil)
				if len(did) > 0 {
					mu.Lock()
					findings = append(findings, Finding{Shell: c.shell.Name, Script: c.script, Did: did, Said: fmt.Sprintf("%s (%s)", c.rep.Class, c.rep.Rule)})
					mu.Unlock()
				}
			}
		})
	}
	for _, s := range scripts {
		for _, sh := range cfg.Shells {
			if c := (candidate{kind: ofParser, shell: sh, script: judge.Normalize(s), stdin: "null"}).judged(); c.runnable() {
				work <- c
			}
		}
	}
	close(work)
	wg.Wait()
	return findings, errors.Join(errs...)
}
