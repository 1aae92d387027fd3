package rules

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// Offer returns the rule that would allow a command that is not allowed, to the one who asks, on that host, and nothing wider: the
// text of a policy file. The error says why no rule should, or can.
func (e *Engine) Offer(req policy.Request) (string, error) {
	d, err := e.decide(req)
	switch {
	case err != nil:
		return "", err
	case d.Class == policy.Forbidden:
		return "", errors.New("no rule should allow what is forbidden")
	case d.Class == policy.Privileged:
		return "", errors.New("no rule should lend another account's rights: become: in the inventory does, for a host")
	}
	j := e.judged(req)
	c := j.command()
	var names []string
	var classes []policy.Class
	for i := range c.units {
		u := &c.units[i]
		if u.words == nil || j.rep.Capped {
			return "", errors.New("a rule names programs by literal words, and this is more than simple commands")
		}
		if slices.Equal(u.classes, []policy.Class{policy.ReadOnly}) {
			continue
		}
		var words []string
		for _, w := range u.words {
			if !w.literal || w.text == "" || strings.ContainsAny(w.text, " \t\n") {
				return "", errors.New("a rule names programs by literal words without blanks, and not all of these are")
			}
			words = append(words, w.text)
		}
		if err := steady(words[0]); err != nil {
			return "", err
		}
		for _, s := range c.all() { // behind a wrapper
			if name := s.words[0]; name.literal && s.class != policy.ReadOnly && runsText(name.text) {
				return "", steady(name.text)
			}
		}
		text := strings.Join(words, " ")
		if p, err := parsePattern(text); err != nil || p.rest {
			return "", errors.New("a rule cannot name these words literally")
		}
		if !slices.Contains(names, text) {
			names = append(names, text)
		}
		for _, k := range u.classes {
			if k != policy.ReadOnly && !slices.Contains(classes, k) {
				classes = append(classes, k)
			}
		}
	}
	return e.offered(req, names, classes, j.rep.To)
}

// steady reports why the words of a command do not say what it does from one day to the next.
func steady(name string) error {
	base := name[strings.LastIndexByte(name, '/')+1:]
	if runsText(name) {
		return fmt.Errorf("%s runs what a file or its input says, which may be something else by the time it is allowed", base)
	}
	if !sameProgram(base, name) {
		return errors.New("what this path leads to may be something else by the time it is allowed")
	}
	return nil
}

// runsText reports whether a program runs what a file or its input says.
func runsText(name string) bool {
	base := name[strings.LastIndexByte(name, '/')+1:]
	for _, n := range []string{base, strings.TrimRight(base, "0123456789.")} {
		if programs.Is(n, "shell") || programs.Is(n, "interpreter") || programs.Is(n, "unsteady") {
			return true
		}
	}
	return false
}

// offered writes the rule, and tries it: where another one stands in its way, it is no use.
func (e *Engine) offered(req policy.Request, names []string, classes []policy.Class, to []string) (string, error) {
	if len(names) == 0 {
		return "", errors.New("nothing in it needs a rule of its own: what decides is not a class")
	}
	where := req.Host.Name
	if _, err := hosts.ParseSelector(where); where == "" || err != nil {
		where = "tier=" + hosts.Prod
		if req.Host.Tier != "" {
			where = "tier=" + req.Host.Tier
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "version: 1\nrules:\n  - name: %s\n    hosts: %q\n    principals: [%q]\n    classes: [", ruleName(names[0]), where, req.Principal)
	for i, k := range classes {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(k))
	}
	b.WriteString("]\n    programs:\n")
	for _, p := range names {
		fmt.Fprintf(&b, "      - %q\n", p)
	}
	if slices.Equal(classes, []policy.Class{policy.NetworkRead}) && !slices.Contains(to, "") {
		fmt.Fprintf(&b, "    to: [%s]\n", strings.Join(offeredAddresses(to), ", "))
	}
	b.WriteString("    verdict: allow\n")
	f, err := Parse([]byte(b.String()), "offer")
	if err != nil {
		return "", errors.New("a rule cannot name this")
	}
	with := *e
	with.layers = slices.Clone(e.layers)
	if n := len(with.layers); n > 0 && with.layers[n-1].kind == "policy/" {
		whole := *with.layers[n-1].file
		whole.rules = append(slices.Clone(whole.rules), f.rules...)
		with.layers[n-1].file = &whole
	} else {
		with.layers = append(with.layers, layer{file: f, kind: "policy/", tighten: n > 0})
	}
	switch d, err := with.decide(req); {
	case err != nil:
		return "", err
	case d.Verdict != policy.Allow:
		return "", fmt.Errorf("%s decides, and a rule beside it does not change that", d.Rule)
	}
	return b.String(), nil
}

// offeredAddresses are the words of a rule that match these hosts and no more, but for the machine's own.
func offeredAddresses(to []string) (out []string) {
	for _, host := range to {
		word := strconv.Quote(host)
		if (addressPattern{loopback: true}).matches(host) {
			word = "loopback"
		}
		if !slices.Contains(out, word) {
			out = append(out, word)
		}
	}
	return out
}

// ruleName makes a name of a command's words.
func ruleName(words string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' {
			return r
		}
		return '-'
	}, words)
	if len(name) > 40 {
		name = name[:40]
	}
	return "allow-" + strings.Trim(name, "-")
}
