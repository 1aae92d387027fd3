package filework

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/files"
)

// Work is a Request that has been started, as an action of a session. Its methods may be called concurrently.
//
// Files are read whole from the beginning, whatever page is wanted: a secret that begins before a page must not end on it.
type Work struct {
	req  Request
	path string     // as asked for; of all but a look it is absolute
	dir  string     // of a look: where relative paths begin; "" is the account's home
	seen files.Info // what a look has found; of all but a look

	patience *patience   // with the host, before the work begins
	left     atomic.Bool // nobody waits for its beginning any more, as for work that is approved later

	mu  sync.Mutex // guards got
	got files.Info // afterwards
}

var _ session.Action = (*Work)(nil)

// Of returns the work that a command is; nil for others.
func Of(a session.Action) *Work {
	w, _ := a.(*Work)
	return w
}

// Waited is how long the host has taken since its files were first opened for this work.
func (w *Work) Waited() time.Duration { return w.patience.used() }

// Op is what it does.
func (w *Work) Op() Op { return w.req.Op }

// script is shell source that would do the same, for the policy. Both the path that was asked for and the one that it leads
// to count.
func (w *Work) script() (string, error) {
	var quoted []string
	for _, p := range []string{w.path, w.seen.Target} {
		if p == "" || len(quoted) > 0 && p == w.path {
			continue
		}
		word, err := framing.Quote(p)
		if err != nil {
			return "", invalid("path: %w", err)
		}
		quoted = append(quoted, word)
	}
	words, redirects := " -- "+strings.Join(quoted, " "), " >"+strings.Join(quoted, " >")
	switch w.req.Op {
	case look:
		return "realpath" + words, nil
	case List:
		return "ls -a -l" + words, nil // not -la, in which a guard sees a name
	case Read, check:
		return "cat" + words, nil
	case Edit:
		return "cat" + words + redirects, nil
	}
	script := "cat" + redirects
	if w.req.Mode != nil {
		script += fmt.Sprintf("; chmod %04o%s", unixMode(*w.req.Mode), words)
	}
	return script, nil
}

// Text implements session.Action: what a person approves, everything that will be done.
func (w *Work) Text(hide func(string) string) string {
	if hide == nil {
		hide = func(s string) string { return s }
	} else {
		hidden := hide
		hide = func(s string) string { return recorded(hidden(s)) }
	}
	r := &w.req
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", r.Op, w.path)
	if r.Op == look {
		return b.String()
	}
	if w.seen.Linked() {
		fmt.Fprintf(&b, "that leads to %s\n", w.seen.Target)
	}
	if r.Op == Read || r.Op == List || r.Op == check {
		return b.String()
	}
	switch w.seen.Kind {
	case files.None:
		b.WriteString("a new file\n")
	default:
		fmt.Fprintf(&b, "there is a file of %d bytes, mode %04o\n", w.seen.Size, unixMode(w.seen.Mode))
	}
	if r.Mode != nil {
		fmt.Fprintf(&b, "its mode becomes %04o\n", unixMode(*r.Mode))
	}
	if drop := w.seen.Mode & (fs.ModeSetuid | fs.ModeSetgid); drop != 0 && r.Mode == nil {
		fmt.Fprintf(&b, "its mode becomes %04o: new content is not set-uid or set-gid unless mode says so\n", unixMode(w.seen.Mode&^drop))
	}
	if r.IfSHA256 != "" {
		fmt.Fprintf(&b, "only if its content has the sha256 %s\n", r.IfSHA256)
	}
	if r.Op == Write {
		fmt.Fprintf(&b, "all of its content becomes these %d bytes, sha256 %s:\n", len(r.Content), sumOf(r.Content))
		diff(&b, "+", hide(string(r.Content)))
		return b.String()
	}
	fmt.Fprintf(&b, "the only place that has these %d bytes gets those %d bytes instead:\n", len(r.Old), len(r.New))
	diff(&b, "-", hide(string(r.Old)))
	diff(&b, "+", hide(string(r.New)))
	return b.String()
}

// maxRecorded is how much of a content is recorded whole: of an entry there is a limit, and it takes up to six times as much.
// What is longer stands there with its beginning, its size and, like everything, its hash.
const (
	maxRecorded   = 1 << 20
	recordedFirst = 64 << 10
)

func recorded(text string) string {
	if len(text) <= maxRecorded {
		return text
	}
	return fmt.Sprintf("%s\n(truncated: %d bytes in all)", strings.ToValidUTF8(text[:recordedFirst], "?"), len(text))
}

// diff writes text as the lines of a diff are, so that none of them can pass for anything else.
func diff(b *strings.Builder, mark, text string) {
	if text == "" {
		return
	}
	for line := range strings.Lines(text) {
		b.WriteString(mark)
		b.WriteString(line)
	}
	if !strings.HasSuffix(text, "\n") {
		b.WriteString("\n\\ no newline at the end\n")
	}
}

func sumOf(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// Record implements session.Action.
func (w *Work) Record(e *audit.Event) {
	switch got := w.result(); w.req.Op {
	case Read:
		e.StdoutSHA256 = got.SHA256
	case Write, Edit:
		e.StdinBytes, e.StdinSHA256 = got.Size, got.SHA256
	}
}

// forget lets go of contents that were to be written, once the work has ended.
func (w *Work) forget(ended <-chan struct{}) {
	<-ended
	w.req.Content, w.req.Old, w.req.New = nil, nil, nil
}

// result is what was found or made; zero if the work was not done.
func (w *Work) result() files.Info {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.got
}

// Facts is what is known of a file once its work is done.
type Facts struct {
	Path     string // absolute
	Target   string // where Path leads, if a symbolic link is on the way; else ""
	Size     *int64 // of an ordinary file; nil before the work is done
	SHA256   string // of all its bytes; "" likewise
	Mode     string // in octal; "" likewise
	Created  bool
	Replaced bool
}

// Facts tells them as they are now.
func (w *Work) Facts() Facts {
	i := w.result()
	if i.Path == "" {
		i = files.Info{Target: w.seen.Target}
	}
	i.Path = w.path
	f := Facts{Path: i.Path, SHA256: i.SHA256}
	if i.Target != "" && i.Linked() {
		f.Target = i.Target
	}
	if i.Kind == files.Regular {
		f.Size, f.Mode = &i.Size, FormatMode(i.Mode)
		f.Created = w.req.Op == Write && w.seen.Kind == files.None
		f.Replaced = (w.req.Op == Write || w.req.Op == Edit) && !f.Created
	}
	return f
}
