package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// maxPart bounds how much of a part is shown, and maxBlamed how many of them are.
const (
	maxPart   = 100
	maxBlamed = 3
)

// parts says which parts of a command need approval, or are refused, and what the others are; "" where no part can be named.
// reads says that there are others, which look would run.
func (s *Server) parts(ctx context.Context, h hosts.Host, script, dir string) (text string, reads bool) {
	rep := judge.Judge(judge.Request{Script: script, Shell: h.Shell, Dir: dir})
	var blamed []string
	seen := map[string]bool{}
	more, allowed, harmless := 0, 0, 0
	for i := range rep.Parts {
		p := &rep.Parts[i]
		if s.allows(ctx, h, p, dir) {
			allowed++
			if p.Class == policy.ReadOnly {
				harmless++
			}
			continue
		}
		text := s.redactor().blame(deepest(p))
		switch {
		case seen[text]:
		case len(blamed) == maxBlamed:
			more++
		default:
			seen[text] = true
			blamed = append(blamed, text)
		}
	}
	if len(blamed) == 0 {
		return "", false
	}
	text = strings.Join(blamed, "; ")
	if more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	what := "reads"
	if harmless < allowed {
		what = "allowed"
	}
	switch {
	case allowed == 1 && what == "reads":
		text += "; the other part is a read"
	case allowed == 1:
		text += "; the other part is allowed"
	case allowed > 1:
		text += fmt.Sprintf("; the other %d parts are %s", allowed, what)
	}
	return text, harmless > 0
}

// allows reports whether a part would be allowed by itself.
func (s *Server) allows(ctx context.Context, h hosts.Host, p *judge.Part, dir string) bool {
	if p.Class == policy.ReadOnly {
		return true
	}
	d, err := s.cfg.Policy.Decide(ctx, policy.Request{Principal: s.cfg.Principal, Host: h, Shell: h.Shell, Command: p.Text, Dir: dir})
	return err == nil && d.Verdict == policy.Allow && d.Class == p.Class // else its text was cut
}

// deepest is what within a part gave it its class.
func deepest(p *judge.Part) *judge.Part {
	for i := range p.Parts {
		if p.Parts[i].Class == p.Class {
			return deepest(&p.Parts[i])
		}
	}
	return p
}

// blame names a part and says what is wrong with it.
func (red redactor) blame(p *judge.Part) string {
	text, _ := red(strings.Join(strings.Fields(strings.TrimRight(p.Text, "; \n")), " "))
	text, _ = red.command(text)
	return printable.Clip(text, maxPart) + ": " + reasonOf(p)
}

// reasonOf is the judge's reason in the words of an agent.
func reasonOf(p *judge.Part) string {
	switch p.Rule {
	case "shell/command-path":
		return "unknown program"
	case "shell/redirect":
		return "redirect, " + p.Reason
	}
	if p.Class == policy.Unknown {
		return "unknown, " + p.Reason
	}
	return string(p.Class) + ", " + p.Reason
}
