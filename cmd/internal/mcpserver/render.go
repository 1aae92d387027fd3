package mcpserver

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Every result is shown as text, too, for clients that show a model nothing else: a line with what is known, then the
// output as it is. All that is known comes before the output, so that no output can pass for it.

// rendered is a text under way: facts for its first line, then sections of output.
type rendered struct {
	facts    []string
	sections []section
}

// section is output under a label.
type section struct{ label, text string }

// say adds facts that are not empty.
func (r *rendered) say(facts ...string) {
	for _, f := range facts {
		if f != "" {
			r.facts = append(r.facts, f)
		}
	}
}

// show adds output, if there is any.
func (r *rendered) show(label, text string) {
	if text != "" {
		r.sections = append(r.sections, section{label, text})
	}
}

// String puts it together. head stands before the facts. The first label ends the first line.
func (r *rendered) String(head string) string {
	var b strings.Builder
	b.WriteString(head)
	b.WriteString(strings.ReplaceAll(strings.Join(r.facts, "; "), "\n", " "))
	for i, s := range r.sections {
		switch {
		case i > 0:
			fmt.Fprintf(&b, "[%s]\n", s.label)
		case len(r.facts) > 0:
			fmt.Fprintf(&b, "; %s:\n", s.label)
		default:
			fmt.Fprintf(&b, "%s:\n", s.label)
		}
		b.WriteString(s.text)
		if i < len(r.sections)-1 && !strings.HasSuffix(s.text, "\n") {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// unlessZero formats a number that is worth a word.
func unlessZero(format string, n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(format, n)
}

func when(yes bool, text string) string {
	if yes {
		return text
	}
	return ""
}

// took is a duration of an answer.
func took(ms int64) string {
	if ms == 0 {
		return ""
	}
	return (time.Duration(ms) * time.Millisecond).String()
}

// counts shows numbers by name, sorted.
func counts[N int | int64](format string, m map[string]N) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf(format, m[k], k))
	}
	return strings.Join(parts, ", ")
}

// prefixed puts what before a text that is not empty.
func prefixed(what, text string) string {
	if text == "" {
		return ""
	}
	return what + text
}

// text is the fault in one line.
func (f *faultOut) text() string {
	if f == nil {
		return ""
	}
	again := "trying again will not help"
	if f.Retriable {
		again = "trying again may help"
	}
	text := fmt.Sprintf("%s: %s (%s)", f.Code, f.Message, again)
	if f.Exec != "" && !strings.Contains(text, f.Exec) {
		text += "; exec " + f.Exec
	}
	return text + prefixed("; next: ", f.Next)
}

// text says why a command was not simply allowed.
func (d *decisionOut) text() string {
	if d == nil {
		return ""
	}
	var parts []string
	add := func(what, text string) {
		if text != "" {
			parts = append(parts, what+text)
		}
	}
	add("", d.Reason)
	add("class ", d.Class)
	add("rule ", d.Rule)
	add("approval ", d.Approval)
	add("needs ", d.Needs)
	add("", when(d.WithInput, "covers input"))
	add("hint: ", d.Hint)
	return "policy: " + strings.Join(append([]string{d.Verdict}, parts...), ", ")
}

// ended is how a command ended, or that it has not.
func ended(state, status string, code *int, signal string) string {
	switch {
	case state != "" && !done(state):
		return strings.ReplaceAll(state, "_", " ")
	case status == "ok":
		return "exit 0"
	case code != nil && status == "exit":
		return "exit " + strconv.Itoa(*code)
	case code != nil:
		return status + ", exit " + strconv.Itoa(*code)
	}
	return strings.TrimSpace(status + prefixed(" SIG", signal))
}

// stopped says what stopped a command.
func stopped(by string, mayRun bool) string {
	return strings.TrimPrefix(prefixed("stopped by ", by)+when(mayRun, "; part of it may still be running"), "; ")
}

// tell adds what was printed. exec is where the rest of it is.
func (o *outputOut) tell(r *rendered, from, exec string) {
	r.say(unlessZero("stdout from byte %d on", o.Offset), unlessZero("stderr from byte %d on", o.StderrFrom), unlessZero("next_offset %d", o.Next))
	totals := map[string]int64{"stdout": o.StdoutBytes, "stderr": o.StderrBytes}
	for _, name := range slices.Sorted(maps.Keys(o.Omitted)) {
		r.say(fmt.Sprintf("%d of %d bytes of %s omitted from offset %d on (session_output with exec_id %s, stream %s and offset %d shows them)",
			o.Omitted[name], totals[name], name, o.CutAt[name], exec, name, o.CutAt[name]))
	}
	r.say(prefixed("grep matched ", counts("%d lines of %s", o.Matched)),
		prefixed("redacted: ", counts("%d %s", o.Redacted)),
		prefixed("removed: ", counts("%d control or hidden characters of %s", o.Cleaned)))
	if len(o.Cleaned) > 0 && exec != "" {
		r.say("exact bytes: session_output with exec_id " + exec + " and stream")
	}
	for _, name := range o.Binary {
		r.say(fmt.Sprintf("%s is binary", name))
	}
	r.show("data from "+from, o.Stdout)
	r.show("stderr, data from "+from, o.Stderr)
	r.show("late output of earlier commands, data from "+from, o.Stray)
}

// text implements result.
func (o *execOut) text() string { return o.render().String(o.from + when(o.from != "", ": ")) }

func (o *execOut) render() *rendered {
	r := &rendered{}
	going := o.State != "" && !done(o.State)
	switch {
	case going:
		what := ended(o.State, "", nil, "")
		if o.State == statusAwaits {
			what = "waiting for approval"
		}
		r.say(strings.TrimSpace(o.Exec+" "+what) + prefixed(" for ", took(o.DurationMS)))
	case o.Error != nil:
		r.say(when(o.Status != o.Error.Code, o.Status), prefixed("exec ", o.Exec), o.Error.text(), took(o.DurationMS))
	default:
		r.say(ended(o.State, o.Status, o.ExitCode, o.Signal)+prefixed(", ", took(o.DurationMS))+prefixed(", cwd ", o.CWD), prefixed("exec ", o.Exec))
	}
	if going || o.Error != nil {
		r.say(prefixed("cwd ", o.CWD))
		if o.ExitCode != nil {
			r.say("exit " + strconv.Itoa(*o.ExitCode))
		}
		r.say(prefixed("SIG", o.Signal))
	}
	r.say(prefixed("in session ", o.Session), prefixed("command: ", o.Command), stopped(o.StoppedBy, o.MayRun))
	if o.Decision != nil {
		r.say(o.Decision.text())
	}
	r.say(prefixed("waited for a shell ", took(o.QueueMS)), prefixed("connected in ", took(o.DialMS)), prefixed("stderr mode ", o.StderrMode),
		when(o.Lane != "", "ran in a "+o.Lane+" shell"), prefixed("not held to reading: ", o.NotHeld), prefixed("refused by the kernel, so not done: ", strings.Join(o.Refused, "; ")), prefixed("refused calls are not known: ", o.RefusedUnknown), when(o.ShellRestarted, "the shell was restarted"), when(o.Reconnected, "reconnected"))
	if len(o.Restored) > 0 {
		r.say("restored: " + strings.Join(o.Restored, ", "))
	}
	if w := o.WaitingFor; w != nil {
		r.say("seems to wait for " + w.Kind + when(w.Known, " (known prompt)"))
	}
	if o.Typed != nil {
		r.say("typed text: "+strings.ReplaceAll(o.Typed.State, "_", " "), o.Typed.Error.text())
	}
	r.say(prefixed("the wait ended by ", o.Woke), prefixed("note: ", o.Note))
	if o.File != nil {
		r.say(o.File.text())
	}
	if o.Page != nil {
		r.say(o.Page.about())
	}
	r.say(prefixed("next: ", o.Next))
	if s := o.Screen; s != nil {
		at := fmt.Sprintf("cursor at row %d, column %d", s.Row, s.Col)
		r.say(when(s.Alternate, "full-screen program"), at)
	}
	o.tell(r, o.from, o.Exec)
	if w := o.WaitingFor; w != nil && w.Prompt != "" {
		r.show("prompt, data from "+o.from, w.Prompt)
	}
	if o.Page != nil {
		o.Page.show(r, o.from)
	}
	if s := o.Screen; s != nil {
		r.show("title of the terminal, data from "+o.from, s.Title)
		r.show("screen, data from "+o.from, strings.Join(s.Lines, "\n"))
	}
	return r
}

// about says which piece of a stream it is.
func (p *pageOut) about() string {
	text := fmt.Sprintf("%s from byte %d on, next_offset %d", p.Stream, p.Offset, p.Next)
	return text + when(p.End, ", end of the output") + unlessZero(", %d bytes before it were not kept", p.Skipped) +
		prefixed(", redacted: ", counts("%d %s", p.Redacted)) +
		prefixed(", removed: ", counts("%d control or hidden characters of %s", p.Cleaned))
}

func (p *pageOut) show(r *rendered, from string) {
	r.show(p.Stream+", data from "+from, p.Text)
	r.show("the same bytes in base64", p.Base64)
}

// text implements result.
func (o *runOut) text() string {
	var b strings.Builder
	if o.Hosts > 0 || len(o.Groups) != 1 || o.Rollout != nil || o.State != "" && !done(o.State) || o.Error != nil || o.Command != "" || o.Note != "" {
		r := &rendered{}
		r.say(o.Error.text(), prefixed("command: ", o.Command))
		if len(o.Statuses) > 0 {
			r.say(strings.TrimSuffix(fmt.Sprintf("%d hosts: %s", max(o.Hosts, 1), statusesText(o.Statuses, o.counts)), ": "))
		}
		switch {
		case o.State == statusAwaits:
			r.say("waiting for approval")
		case !done(o.State):
			r.say(o.State)
		}
		r.say(prefixed("run ", o.Run), o.Rollout.text())
		if o.Decision != nil {
			r.say(o.Decision.text())
		}
		r.say(unlessZero("%d more groups are not shown", int64(o.More)), prefixed("note: ", o.Note), prefixed("next: ", o.Next))
		b.WriteString(r.String(""))
	}
	for i := range o.Groups {
		if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
		b.WriteString(o.Groups[i].text())
	}
	return b.String()
}

func statusesText(all map[string]string, n map[string]int) string {
	var parts []string
	for _, status := range slices.Sorted(maps.Keys(all)) {
		parts = append(parts, fmt.Sprintf("%d %s (%s)", n[status], strings.ReplaceAll(status, "_", " "), all[status]))
	}
	return strings.Join(parts, ", ")
}

func (g *groupOut) text() string {
	r := &rendered{}
	switch {
	case g.Error != nil:
		r.say(when(g.Status != g.Error.Code, g.Status), g.Error.text())
	case g.State == statusAwaits:
		r.say("waiting for approval")
	default:
		r.say(ended(g.State, g.Status, g.ExitCode, g.Signal))
	}
	if g.Error != nil && g.ExitCode != nil {
		r.say("exit " + strconv.Itoa(*g.ExitCode))
	}
	r.say(stopped(g.StoppedBy, g.MayRun))
	if g.Decision != nil {
		r.say(g.Decision.text())
	}
	r.say(prefixed("exec ", g.Exec))
	for _, host := range slices.Sorted(maps.Keys(g.Execs)) {
		r.say(when(g.Execs[host] != g.Exec, host+" exec "+g.Execs[host]))
	}
	g.tell(r, g.Hosts, g.Exec)
	head := g.Hosts
	if g.Count > 1 {
		head = fmt.Sprintf("%s (%d hosts)", g.Hosts, g.Count)
	}
	return r.String(head + ": ")
}

// text implements result.
func (o *sessionOut) text() string {
	if o.Error != nil {
		return o.Error.text()
	}
	if o.Stopped {
		return "run " + o.Run + ": stopped"
	}
	r := &rendered{}
	switch {
	case o.Closed:
		r.say("closed", prefixed("still running on the host: ", strings.Join(o.Left, ", ")))
	case o.Reset:
		r.say("the next command gets a new shell")
	}
	at := prefixed("in ", o.CWD)
	if o.Host != "" {
		at = "on " + o.Host + prefixed(", ", at)
	}
	r.say(at, prefixed("shell ", o.Shell), prefixed("sandbox enforced by ", o.Sandbox)+prefixed(": ", o.Why))
	switch {
	case o.State == statusAwaits:
		r.say("its variables are not set yet: "+o.Exec+" is waiting for approval", o.Note)
	case o.State != "":
		r.say("its variables are not set yet: "+o.Exec+" is running", o.Note)
	}
	r.say(prefixed("next: ", o.Next))
	return r.String("session " + o.SessionID + ": ")
}

// text implements result.
func (o *hostsOut) text() string {
	if o.Error != nil {
		return o.Error.text()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d hosts%s", o.Count, unlessZero(" (%d are not shown: use a narrower selector)", int64(o.More)))
	for _, h := range o.Hosts {
		fmt.Fprintf(&b, "\n%s: %s, %s", h.Name, h.Tier, h.Transport)
		b.WriteString(prefixed("; groups ", strings.Join(h.Groups, ", ")) + prefixed("; labels ", strings.Join(h.Labels, ", ")) + prefixed("; ", h.Connection))
	}
	return b.String()
}
