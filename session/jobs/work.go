package jobs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/internal/seam"
)

// Limits and defaults.
const (
	DefaultLimit = 64 << 20  // bytes kept of each output
	MaxCommand   = 512 << 10 // bytes of a command: longer ones belong into a file on the host
	DefaultGrace = 5 * time.Second
	maxPage      = 4 << 20
	maxWait      = 50 * time.Second
)

// Work is the start of a job, or what is done to one: the Wrapping of a session's command, which is judged as Script says.
type Work struct {
	op      string
	id      string
	who     string
	limit   int64    // bytes kept of each output
	ids     []string // of a start on many hosts: their names, in order; a job has its place in its id
	args    []string // of a look, after the principal
	changes bool
}

var _ seam.Wrapping = (*Work)(nil)

// NewStart returns what starts a job for a principal, which must be the one that the session's commands are for. limit is how
// many bytes of each output are kept; zero means DefaultLimit, and there is no way to keep all that comes.
func NewStart(id, principal string, limit int64) (*Work, error) {
	switch {
	case !ValidID(id):
		return nil, errRef
	case limit < 0:
		return nil, fmt.Errorf("jobs: the bytes to keep of an output cannot be negative")
	case limit == 0:
		limit = DefaultLimit
	}
	return &Work{op: "start", id: id, who: principal, limit: max(limit/1024, 1) * 1024, changes: true}, nil
}

// NewStartAll is NewStart for a command that starts a job on each of several hosts. Their ids are id, a dash and a number: one
// name is one job, also where hosts share a machine or a home directory.
func NewStartAll(id, principal string, limit int64, hs []hosts.Host) (*Work, error) {
	w, err := NewStart(id, principal, limit)
	if err != nil || len(hs) == 1 {
		return w, err
	}
	for _, h := range hs {
		w.ids = append(w.ids, h.Name)
	}
	return w, nil
}

// ID is that of the job on a host.
func (w *Work) ID(host string) string {
	if i := slices.Index(w.ids, host); i >= 0 {
		return w.id + "-" + strconv.Itoa(i+1)
	}
	return w.id
}

// Of returns the work that a command is; nil for others.
func Of(w seam.Wrapping) *Work {
	work, _ := w.(*Work)
	return work
}

// newLook returns what is done to a job later.
func newLook(op, id, principal string, args ...string) *Work {
	return &Work{op: op, id: id, who: principal, args: args, changes: op == "stop" || op == "remove"}
}

// script is shell source that would do the same as a look, for the policy: reading what the job has left. Stopping a job of
// one's own takes no more than that.
func (w *Work) script() string {
	const dir = "~/.local/state/fairlead/jobs"
	switch {
	case w.id == "":
		return "ls -- " + dir
	case w.op == "look":
		return "cat -- " + dir + "/" + w.id + "/stdout " + dir + "/" + w.id + "/stderr"
	}
	return "ls -- " + dir + "/" + w.id
}

// Text implements seam.Wrapping.
func (w *Work) Text(script string) string {
	switch {
	case w.op == "start":
		return "job_start " + w.id + "\n" + script
	case w.id == "":
		return "job_list"
	}
	return "job_" + w.op + " " + w.id
}

// Changes implements seam.Wrapping.
func (w *Work) Changes() bool { return w.changes }

// Wrap implements seam.Wrapping.
func (w *Work) Wrap(script, shown string, h hosts.Host, d framing.Dialect) (string, error) {
	if w.op != "start" {
		return run(lookText(), "fairlead-job-"+w.op, append([]string{w.op, w.id, w.who}, w.args...)...)
	}
	if err := CheckCommand(script); err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(script))
	starter, err := run(startText(), "fairlead-job-start",
		w.ID(h.Name), w.who, hex.EncodeToString(sum[:]), strconv.Itoa(len(script)), strconv.FormatInt(w.limit, 10), candidates(d), waitText(), runText())
	if err != nil {
		return "", err
	}
	text, err := framing.Quote(titleOf(shown) + "\n" + script)
	if err != nil {
		return "", err
	}
	// By a builtin, so that no process of the host shows the text.
	printer := `\command printf %s `
	switch d {
	case framing.Bash, framing.Zsh:
		printer = `\builtin printf %s `
	case framing.Mksh:
		printer = `\builtin print -rn -- `
	}
	return printer + text + " | " + starter, nil
}

// maxTitle is how much of a command its host keeps for lists, in characters.
const maxTitle = 160

// titleOf is a command as lists show it: one line.
func titleOf(shown string) string {
	line := strings.Join(strings.FieldsFunc(shown, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	if text := []rune(line); len(text) > maxTitle {
		return string(text[:maxTitle-1]) + "…"
	}
	return line
}

// CheckCommand says what is wrong with a job's command, before anybody is asked about it.
func CheckCommand(script string) error {
	if len(script) > MaxCommand {
		return fmt.Errorf("a job's command has at most %d bytes: put it into a file on the host and start that", MaxCommand)
	}
	_, err := framing.Quote(script)
	return err
}

// candidates are the names of the shells of a dialect, for a host that does not tell which one the session has.
func candidates(d framing.Dialect) string {
	switch d {
	case framing.Bash:
		return "bash"
	case framing.Zsh:
		return "zsh"
	case framing.Mksh:
		return "mksh ksh"
	case framing.Ksh93:
		return "ksh93 ksh"
	}
	return "dash ash sh"
}

// run is shell source that runs a script in sh with parameters.
func run(script, name string, args ...string) (string, error) {
	var b strings.Builder
	b.WriteString(`\command sh -c`)
	for _, word := range append([]string{script, name}, args...) {
		q, err := framing.Quote(word)
		if err != nil {
			return "", err
		}
		b.WriteByte(' ')
		b.WriteString(q)
	}
	return b.String(), nil
}

// seconds rounds up: the host counts whole ones.
func seconds(d time.Duration) string {
	return strconv.FormatInt(int64((max(d, 0)+time.Second-1)/time.Second), 10)
}
