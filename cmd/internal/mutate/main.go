//go:build unix

// Command mutate changes the code of packages in small ways, one at a time, and reports which changes their tests do not
// notice.
//
//	go run ./cmd/internal/mutate -seed 1 -per-func 2 ./audit ./session/policy/...
//
// The mutants of a package are compiled together, from an overlay (go help build, -overlay): no file of the tree changes. With the
// same seed and code it chooses the same mutants.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"text/tabwriter"
	"time"
)

// checked are the packages that refuse, limit, sign or record.
var checked = []string{
	"./framing", "./audit", "./audit/sinks", "./session/approval", "./session/approval/sshsig", "./session/policy/...", "./session/sandbox",
	"./session/redact", "./hosts/knownhosts", "./hosts/sshconfig", "./cmd/internal/config", "./cmd/internal/notify",
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	fl := flag.NewFlagSet("mutate", flag.ContinueOnError)
	seed := fl.Uint64("seed", 1, "choose mutants by this `number`")
	perFunc := fl.Int("per-func", 1, "try at most `n` mutants of a function")
	most := fl.Int("max", 0, "try at most `n` mutants of a package; 0 is all that were chosen")
	limit := fl.Duration("timeout", 2*time.Minute, "stop the tests of a mutant after this `time`, or three times what they take without a change if that is longer")
	list := fl.Bool("list", false, "print the mutants and run nothing")
	first := fl.String("first", "", "run the tests that this `pattern` names before all others: those that fail most often")
	skip := fl.String("skip", "", "leave out the tests that this `pattern` names, as those that take too long: what survives may still be killed by them")
	only := fl.String("only", "", "try only the mutants that this `pattern` finds, as those that survived before")
	verbose := fl.Bool("v", false, "print each mutant, and the test that fails")
	if err := fl.Parse(args); err != nil {
		return err
	}
	patterns := fl.Args()
	if len(patterns) == 0 {
		patterns = checked
	}
	pkgs, err := packages(ctx, patterns)
	if err != nil {
		return err
	}
	wanted, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	var totals []total
	for _, p := range pkgs {
		all, err := mutants(p)
		if err != nil {
			return err
		}
		chosen := choose(all, rand.New(rand.NewPCG(*seed, 0)), *perFunc, *most)
		chosen = slices.DeleteFunc(chosen, func(m mutant) bool { return !wanted.MatchString(m.String()) })
		if *list {
			for _, m := range chosen {
				fmt.Fprintln(out, m)
			}
			continue
		}
		if len(chosen) == 0 {
			continue
		}
		t, err := tryAll(ctx, p, chosen, options{first: *first, skip: *skip, limit: *limit, verbose: *verbose}, out)
		if err != nil {
			return err
		}
		totals = append(totals, t)
	}
	return report(out, totals)
}

// options are how mutants are tried.
type options struct {
	first   string
	skip    string
	limit   time.Duration
	verbose bool
}

// tryAll tries the mutants of one package.
func tryAll(ctx context.Context, p pkg, chosen []mutant, o options, out io.Writer) (total, error) {
	t := total{pkg: p.ImportPath}
	b, err := build(ctx, p, chosen)
	if err != nil {
		return t, err
	}
	defer b.close()
	began := time.Now()
	if r, said, err := b.try(ctx, 0, options{skip: o.skip}); err != nil {
		return t, err
	} else if r != survived {
		return t, fmt.Errorf("the tests of %s do not pass without a change (%s):\n%s", p.ImportPath, r, said)
	}
	o.limit = max(o.limit, 3*time.Since(began))
	for i, m := range chosen {
		r, said, err := b.try(ctx, i+1, o)
		if err != nil {
			return t, err
		}
		t.n[r]++
		switch {
		case r == survived:
			fmt.Fprintln(out, "survived:", m)
		case o.verbose:
			fmt.Fprintf(out, "%s: %s: %s\n", r, m, firstFailure(said))
		}
	}
	return t, nil
}

type total struct {
	pkg string
	n   [results]int
}

// report prints a line for each package. Mutants that do not compile count for nothing.
func report(out io.Writer, totals []total) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for i, t := range totals {
		if i == 0 {
			fmt.Fprintln(w, "package\tmutants\tkilled\ttimeout\tsurvived\tkilled in %")
		}
		dead := t.n[killed] + t.n[late]
		if all := dead + t.n[survived]; all > 0 {
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\n", t.pkg, all, t.n[killed], t.n[late], t.n[survived], 100*dead/all)
		}
	}
	return w.Flush()
}

// choose returns at most perFunc mutants of each function and at most most of all; 0 is no limit.
func choose(all []mutant, rnd *rand.Rand, perFunc, most int) []mutant {
	all = slices.Clone(all)
	rnd.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	count := map[string]int{}
	var out []mutant
	for _, m := range all {
		key := m.file + " " + m.function
		if perFunc > 0 && count[key] == perFunc || most > 0 && len(out) == most {
			continue
		}
		count[key]++
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b mutant) int {
		if a.file != b.file {
			if a.file < b.file {
				return -1
			}
			return 1
		}
		return a.from - b.from
	})
	return out
}
