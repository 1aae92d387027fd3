package rules

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// OwnRule names, in a Decision, that a command reaches for what belongs to Fairlead itself.
const OwnRule = "builtin/own"

// own is what an Engine keeps from agents on hosts that are this machine.
type own struct {
	judge.Own
	here func(hosts.Host) bool
}

// WithOwn returns an Engine that also denies agents everything that reads, changes or runs what o names, on hosts of which
// here says that they are this machine. No rule and no allowance changes that. Paths are taken as they are and as they are
// without symbolic links. The Engine that it was made from stays as it is.
func (e *Engine) WithOwn(o judge.Own, here func(hosts.Host) bool) *Engine {
	out := *e
	n := &own{here: here}
	n.Home = o.Home
	if before := e.own; before != nil {
		o.Paths, o.Programs = slices.Concat(before.Paths, o.Paths), slices.Concat(before.Programs, o.Programs)
		o.Except = slices.Concat(before.Except, o.Except)
		if n.Home == "" {
			n.Home = before.Home
		}
		n.here = func(h hosts.Host) bool { return before.here(h) || here(h) }
	}
	n.Paths, n.Except, n.Programs = spelled(o.Paths), spelled(o.Except), spelled(o.Programs)
	out.own = n
	return &out
}

// spelled returns the absolute ones of names, clean, and where they lead. The root is left out: it would be everything.
func spelled(names []string) []string {
	var out []string
	for _, name := range names {
		if !filepath.IsAbs(name) {
			continue
		}
		for _, p := range []string{filepath.Clean(name), reallyAt(name)} {
			if p != "/" {
				out = append(out, p)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// reallyAt is a path without symbolic links; of what is not there, as far as it is.
func reallyAt(name string) string {
	rest := ""
	for p := filepath.Clean(name); ; p = filepath.Dir(p) {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			return filepath.Join(real, rest)
		}
		if p == filepath.Dir(p) {
			return filepath.Clean(name)
		}
		rest = filepath.Join(filepath.Base(p), rest)
	}
}

// ownFor is what must be kept from a request's principal on its host; nil is nothing.
func (e *Engine) ownFor(req policy.Request) *judge.Own {
	if e.own == nil || RoleOf(req.Principal) != Agent || !e.own.here(req.Host) {
		return nil
	}
	return &e.own.Own
}

// uses says why a command may not run for what it has to do with Fairlead itself; "" if it may. Words that are no paths of
// Fairlead's are followed to where they lead: this is the machine.
func (e *Engine) uses(req policy.Request, rep *judge.Report) string {
	o := e.ownFor(req)
	if o == nil {
		return ""
	}
	if rep.Own {
		return ownReason(rep)
	}
	for _, n := range rep.Named {
		if n.Command {
			if isProgram(n.Path, o.Programs) {
				return "it runs Fairlead itself by another name"
			}
			continue
		}
		real := reallyAt(n.Path)
		if o.Excepts(real) {
			continue
		}
		for _, p := range slices.Concat(o.Paths, o.Programs) {
			if real == p || strings.HasPrefix(real, p+"/") {
				return "a word of it leads to what belongs to Fairlead itself"
			}
		}
	}
	return ""
}

func ownReason(rep *judge.Report) string {
	if p := partOf(rep.Parts, policy.Forbidden); p != nil {
		return p.Reason
	}
	return rep.Reason
}

// isProgram reports whether a command is one of the programs: by its path, or by its name in a directory that shells search.
func isProgram(name string, programs []string) bool {
	var at []string
	if strings.Contains(name, "/") {
		at = []string{name}
	} else {
		for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), "/usr/local/bin", "/usr/bin", "/bin") {
			if filepath.IsAbs(dir) {
				at = append(at, filepath.Join(dir, name))
			}
		}
	}
	for _, p := range at {
		st, _ := os.Stat(p) // nil is the same file as none
		for _, own := range programs {
			if is, err := os.Stat(own); err == nil && os.SameFile(st, is) {
				return true
			}
		}
	}
	return false
}

// ownDecision is the denial.
func ownDecision(rep *judge.Report, why string) policy.Decision {
	return policy.Decision{
		Verdict: policy.Deny, Class: policy.Forbidden, Rule: OwnRule, Reason: why, Hint: hintOperator,
		Taints: rep.Taints, Sets: rep.Sets, Uses: rep.Uses,
	}
}
