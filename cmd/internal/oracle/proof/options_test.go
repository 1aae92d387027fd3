//go:build linux && amd64

package proof_test

import (
	"flag"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/cmd/internal/oracle/proof"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

var onlyOf = flag.String("oracle.of", "", "ask only programs whose names begin so")

const no = "--fairlead-no-such" // an option that no program has; the file no-such of the cage holds it

// complaint is what programs say of an option only: many say of any word that there is no such file, and some print it.
var complaint = regexp.MustCompile(`(?i)(invalid|illegal|unknown|unrecogni[sz]ed|bad|unsupported|unexpected) (option|flag|switch)|not an option|not recogni[sz]ed`)

// A prober asks one program of the tables what it does with words.
type prober struct {
	cage *proof.Cage
	spec proof.Spec
	said string // its complaint of an option that it does not have
}

// complains lists which of the calls make the program complain of that option.
func (p *prober) complains(t *testing.T, calls [][]string) (which [][]string) {
	script := `ulimit -t 2; q() { n=$1 o=$("${@:2}" </dev/null 2>&1); case $o in *"$said"*) echo $n;; esac; }; said=` + quote(p.said) + "\n"
	for i, words := range calls {
		script += "q " + strconv.Itoa(i)
		for _, w := range slices.Concat(p.spec.Words, words) {
			script += " " + quote(w)
		}
		script += "\n"
	}
	limit := time.Second + time.Duration(len(calls))*100*time.Millisecond
	out := p.cage.Run([]string{"/bin/bash", "-c", script}, "null", limit, false)
	if out.Endless || out.Failed != "" {
		if len(calls) == 1 {
			t.Logf("%v %v: it did not end, %s", p.spec.Words, calls[0], out.Failed)
			return nil
		}
		return append(p.complains(t, calls[:len(calls)/2]), p.complains(t, calls[len(calls)/2:])...)
	}
	for line := range strings.Lines(out.Output) {
		if i, err := strconv.Atoi(strings.TrimSpace(line)); err == nil && i < len(calls) {
			which = append(which, calls[i])
		}
	}
	return which
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func (p *prober) script(words []string) string {
	return strings.Join(slices.Concat(p.spec.Words, words), " ")
}

// An option hides the word behind it where the table says that it takes that word, and the program does not: the word may be
// an option that writes. The same holds for words behind "--", behind the first operand, behind a cluster, and in a file that
// the program reads its options from; and an option of the program that no table lists must not be taken for the start of one
// that is listed. The programs that are here are asked, in an order that the seed gives: all of them with -oracle.for 1h.
func TestNoWordHidesAnOption(t *testing.T) {
	t.Parallel()
	c := cage(t)
	specs := slices.DeleteFunc(proof.FromTables(), func(s proof.Spec) bool {
		_, err := exec.LookPath(s.Program)
		return err != nil || slices.Contains(slow, s.Program) && *onlyOf == "" || !strings.HasPrefix(s.Program, *onlyOf)
	})
	r := rand.New(rand.NewPCG(*seed, 5))
	r.Shuffle(len(specs), func(i, j int) { specs[i], specs[j] = specs[j], specs[i] })
	asked, calls, begin := 0, 0, time.Now()
	for _, s := range specs {
		if time.Since(begin) > *span/slowdown {
			break
		}
		p := &prober{cage: c, spec: s}
		if len(s.Words) == 1 {
			for _, n := range p.taken() {
				assert.Fail(t, "an option is taken for another", "%s %s", s.Program, n)
			}
		}
		reads := slices.DeleteFunc(arrangements(s), func(words []string) bool { return !p.read(words...) })
		if len(reads) == 0 || !p.hear() {
			continue
		}
		asked++
		calls += len(reads)
		for _, words := range p.complains(t, reads) {
			if len(p.complains(t, [][]string{plain(words)})) == 0 { // what it says anyway means nothing
				assert.Fail(t, "a word hides an option", "%s\n%s", p.script(words), p.said)
			}
		}
	}
	t.Logf("%d of %d programs and subcommands were asked, with %d calls", asked, len(specs), calls)
}

func (p *prober) read(words ...string) bool {
	return judge.Judge(judge.Request{Script: p.script(words), Shell: "bash"}).Class == policy.ReadOnly
}

var possibility = regexp.MustCompile(`['‘](--[^'’=]+)['’]`)

// taken lists the options of the program that the judge takes for the start of another. getopt_long names them all.
func (p *prober) taken() (names []string) {
	_, list, _ := strings.Cut(p.ask("--="), "possibilities:")
	for _, m := range possibility.FindAllStringSubmatch(list, -1) {
		begins := false
		for _, o := range p.spec.Options {
			if slices.Contains(o.Names, m[1]) {
				begins = false
				break
			}
			begins = begins || slices.ContainsFunc(o.Names, func(n string) bool { return strings.HasPrefix(n, m[1]) })
		}
		if begins && p.read(m[1]) {
			names = append(names, m[1])
		}
	}
	return names
}

// hear learns how the program complains.
func (p *prober) hear() bool {
	for line := range strings.Lines(p.ask(no)) {
		if complaint.MatchString(line) {
			p.said = strings.TrimSpace(line)
			return true
		}
	}
	return false
}

func (p *prober) ask(word string) string {
	script := "ulimit -t 2; exec 2>&1 </dev/null; exec"
	for _, w := range append(slices.Clip(p.spec.Words), word) {
		script += " " + quote(w)
	}
	return p.cage.Run([]string{"/bin/bash", "-c", script}, "null", 5*time.Second, false).Output
}

func plain(words []string) []string {
	out := slices.Clone(words)
	for i, w := range out {
		switch w {
		case no:
			out[i] = "f"
		case "@no-such":
			out[i] = "@f"
		}
	}
	return out
}

// arrangements are the words that a program is asked about.
func arrangements(s proof.Spec) [][]string {
	all := [][]string{{"--", no}, {"f", no}, {"f", "--", no}, {"@no-such"}, {"f", "@no-such"}, {"--", "@no-such"}, {"+x", no}}
	takes := ""
	for _, o := range s.Options {
		for _, n := range o.Names {
			if len(n) == 2 && o.Value && !o.Optional && n != "-#" {
				takes = n[1:]
			}
		}
	}
	for _, o := range s.Options {
		for _, n := range o.Names {
			if n == "-#" {
				n = "-3"
			}
			all = append(all, []string{n, no}, []string{n, "--", no}, []string{n, "1", no})
			if len(n) == 2 && takes != "" {
				all = append(all, []string{n + takes, no})
			}
		}
	}
	return all
}
