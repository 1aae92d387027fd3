//go:build linux && amd64

// Oracle runs what the judge calls read-only in a throw-away sandbox and reports what it did that the judge's report does
// not name. See package proof.
//
//	go run ./cmd/internal/oracle -seed 1 -runs 100000
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/oracle/proof"
)

func main() {
	proof.InCage()
	var (
		seed    = flag.Uint64("seed", 1, "which commands are made up")
		runs    = flag.Int("runs", 10000, "how many commands run")
		length  = flag.Duration("for", 0, "stop after this time; 0 means no limit")
		workers = flag.Int("workers", 2, "sandboxes at the same time")
		shells  = flag.String("shells", "bash,zsh,dash,ksh93,mksh,busybox", "shells, separated by commas")
		extra   = flag.String("extra", "", "a directory with further programs, laid out as the root of a system")
		share   = flag.String("share", "6,3,1", "how many of ten come from the tables, from the generator, and compare the parser")
		only    = flag.String("only", "", "programs, separated by commas: only their rows")
		skip    = flag.String("skip", "", "programs that are not run, separated by commas")
		expect  = flag.String("expect", "", "a file with faults that are known, as cmd/internal/oracle/proof/expected.txt")
		corpus  = flag.String("corpus", "", "a file with commands, one a line, that the generator uses too")
		limit   = flag.Duration("limit", 5*time.Second, "of one command")
		compare = flag.String("compare", "", "a file of scripts, between lines of %%, on which judge and shells are compared")
		script  = flag.String("run", "", "run this command on each shell and print what it does")
	)
	flag.Parse()
	cfg := proof.Config{Seed: *seed, Runs: *runs, Workers: *workers, Extra: *extra, Skip: strings.Split(*skip, ","), Limit: *limit, Span: *length,
		Log: func(s string) { fmt.Println(s) }}
	if *only != "" {
		cfg.Only = strings.Split(*only, ",")
	}
	if _, err := fmt.Sscanf(*share, "%d,%d,%d", &cfg.Share[0], &cfg.Share[1], &cfg.Share[2]); err != nil {
		fail(fmt.Errorf("-share %s: three numbers with commas are needed", *share))
	}
	for name := range strings.SplitSeq(*shells, ",") {
		found := false
		for _, sh := range proof.Shells {
			if sh.Name == name {
				found = true
				if sh.Installed() {
					cfg.Shells = append(cfg.Shells, sh)
				} else {
					fmt.Fprintf(os.Stderr, "%s is not installed\n", name)
				}
			}
		}
		if !found {
			fail(fmt.Errorf("-shells: the oracle does not know %s", name))
		}
	}
	if *expect != "" {
		text, err := os.ReadFile(*expect)
		if err != nil {
			fail(err)
		}
		cfg.Expect = proof.MustReadRules(*expect, string(text))
	}
	if *corpus != "" {
		text, err := os.ReadFile(*corpus)
		if err != nil {
			fail(err)
		}
		cfg.Corpus = strings.Split(strings.TrimSpace(string(text)), "\n")
	}
	if *compare != "" {
		text, err := os.ReadFile(*compare)
		if err != nil {
			fail(err)
		}
		cfg.Workers = *workers
		found, err := proof.Compare(cfg, strings.Split(strings.TrimSuffix(string(text), "\n"), "\n%%\n"))
		if err != nil {
			fail(err)
		}
		for _, f := range found {
			fmt.Println(f)
		}
		return
	}
	if *script != "" {
		if err := proof.Show(os.Stdout, cfg, *script); err != nil {
			fail(err)
		}
		return
	}
	stop, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	cfg.Stop = stop.Done()
	begin := time.Now()
	res, err := proof.Run(cfg)
	if res != nil {
		fmt.Print(res.Summary(*seed))
		fmt.Printf("%.0f executions a second\n", float64(res.Runs)/time.Since(begin).Seconds())
	}
	if err != nil {
		fail(err)
	}
	if len(res.Findings) > 0 {
		os.Exit(1)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(2)
}
