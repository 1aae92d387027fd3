package approvals

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session/approval"
)

// text is everything about p, whole.
func text(p approval.Pending, now time.Time) string {
	q := p.Question
	var b strings.Builder
	fact := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "  %-8s %s\n", name, value)
		}
	}
	fmt.Fprintf(&b, "request %s\n", line(p.ID))
	fact("who", line(q.Principal))
	if len(q.Hosts) == 0 {
		fact("host", place(q.Host))
	} else {
		fact("hosts", fmt.Sprintf("%d, all of them once: %s", len(q.Hosts), line(q.Host.Name)))
	}
	for _, h := range q.Hosts {
		fact("", place(h))
		for _, e := range h.Env {
			fact("", "  env "+line(e))
		}
	}
	fact("cwd", cmp.Or(line(q.Dir), "not known yet"))
	fact("shell", line(q.Shell))
	if q.Host.Login {
		fact("login", "the account's profile is read first")
	}
	for _, e := range q.Host.Env {
		fact("env", line(e))
	}
	for _, k := range q.Host.Identity {
		fact("key", line(k))
	}
	if q.Host.IdentityOnly {
		fact("", "and no other key is offered")
	}
	if q.Host.Sandboxed {
		fact("account", "it can do no more than the sandboxes, its operator says")
	}
	fact("config", line(q.Host.SSHConfig))
	fact("options", line(q.Host.ShownOptions()))
	fact("input", input(p))
	if q.StdinSHA256 != "" {
		fact("stdin", cmdutil.Count(q.StdinBytes, "byte")+", SHA-256 "+line(q.StdinSHA256))
	}
	if p.ForSession != nil {
		fact("covers", line(p.ForSession.String())+"; in this session and directory, on this host")
	}
	fact("why", cmp.Or(line(q.Reason), "the asker gives no reason"))
	fact("class", line(string(q.Decision.Class)))
	fact("rule", line(q.Decision.Rule))
	fact("because", line(q.Decision.Reason))
	fact("hint", line(q.Decision.Hint))
	if least := q.Decision.LeastProof; !approval.Unproven.AtLeast(least) {
		fact("needs", proves(least)+", of an enrolled approver")
	}
	fact("session", line(q.Session))
	fact("sandbox", line(q.Sandbox))
	fact("exec", line(q.Exec))
	fact("asked", moment(q.Asked, now, "%s ago"))
	fact("expires", cmp.Or(moment(q.Expires, now, "in %s"), "never"))
	fact("digest", string(p.Digest()))
	whole := func(name, text, mark string) {
		lines, escaped := printable.Script(text)
		how := "as it is"
		if escaped {
			how = `with \ doubled, and what cannot be seen written as in Go`
		}
		fact("letters", foreign(text))
		fact(name, fmt.Sprintf("%s in %s, %s", cmdutil.Count(len(text), "byte"), cmdutil.Count(len(lines), "line"), how))
		for _, l := range lines {
			b.WriteString("  " + mark + " " + l + "\n")
		}
	}
	whole("command", q.Command, "|")
	if q.Typed != "" {
		whole("typed", q.Typed, ">")
	}
	if q.StdinHead != "" {
		head, escaped := printable.Script(q.StdinHead)
		what := "all of it"
		if int64(len(q.StdinHead)) < q.StdinBytes {
			what = "its first " + cmdutil.Count(len(q.StdinHead), "byte")
		}
		if escaped {
			what += `, with \ doubled, and what cannot be seen written as in Go`
		}
		fact("stdin", what)
		for _, l := range head {
			b.WriteString("  < " + l + "\n")
		}
	}
	return b.String()
}

// input says what an answer makes of what is typed.
func input(p approval.Pending) string {
	switch {
	case p.Question.Typed != "":
		return "the command runs already: this is about what is typed at it, and about nothing more"
	case p.WithInput:
		return "whatever is typed into it while it runs is approved, too, and is not known yet"
	case p.TakesInput():
		return "input to it needs approval when it is sent; --with-input approves it too"
	}
	return ""
}

// with is what is said of an answer besides.
func with(p approval.Pending) string {
	text := ""
	if p.WithInput {
		text = " with input"
	}
	if p.ForSession != nil {
		text += " for the session: " + line(p.ForSession.String())
	}
	return text
}

// whether is the question that a yes answers.
func whether(p approval.Pending) string {
	where := fmt.Sprintf("on %s, for %s", line(p.Question.Host.Name), line(p.Question.Principal))
	switch {
	case p.ForSession != nil && len(p.ForSession.Prefix) > 0:
		return "Let this run " + where + ", and the session's " + line(p.ForSession.String()) + "?"
	case p.ForSession != nil:
		return "Let this run " + where + ", and the same command again in the session?"
	case p.Question.Typed != "":
		return "Let this be typed " + where + "?"
	case p.WithInput:
		return "Let this run " + where + ", and whatever is typed into it?"
	}
	return "Let this run " + where + "?"
}

// place says where commands go, and how.
func place(h hosts.Host) string {
	how := string(cmp.Or(h.Transport, hosts.SSH))
	addr := h.Addr
	if addr != "" && h.Port != 0 {
		addr += ":" + strconv.Itoa(int(h.Port))
	} else if h.Port != 0 {
		addr = "port " + strconv.Itoa(int(h.Port))
	}
	if h.User != "" {
		addr = h.User + "@" + addr
	}
	if addr != "" {
		how += " " + line(addr)
	}
	if len(h.Via) > 0 {
		how += " through " + words(h.Via)
	}
	if len(h.Command) > 0 {
		how += ": " + words(h.Command)
	}
	if h.Become.User != "" {
		how += "; becomes " + line(h.Become.String())
	}
	if h.Tier == "" {
		return fmt.Sprintf("%s (%s; no tier, which counts as prod)", line(h.Name), how)
	}
	return fmt.Sprintf("%s (%s; tier %s)", line(h.Name), how, line(h.Tier))
}

func words(list []string) string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = line(w)
	}
	return strings.Join(out, " ")
}

// moment is a time for people, and how far it is.
func moment(t, now time.Time, far string) string {
	if t.IsZero() {
		return ""
	}
	return fmt.Sprintf(far, span(t.Sub(now))) + t.Local().Format(" (2006-01-02 15:04:05 -0700)")
}

// span is how long something takes, to the second.
func span(d time.Duration) string { return d.Abs().Round(time.Second).String() }
