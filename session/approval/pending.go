package approval

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// MaxDocument bounds a document, in bytes: nobody can look through more than that.
const MaxDocument = 256 << 10

// Pending is a question that waits for an answer, or one that was shown to somebody.
type Pending struct {
	ID       string // "a_…", not to be guessed
	Question policy.Question

	// WithInput makes it what a yes says that covers whatever is typed at the command while it runs, too. What waits is
	// without it.
	WithInput bool

	// ForSession makes it what a yes says that holds for more commands of the session. What waits is without it.
	ForSession *Scope
}

// TakesInput reports whether there may be a yes to p that covers what is typed.
func (p Pending) TakesInput() bool { return p.Question.Interactive && p.Question.Typed == "" }

// Digest is the SHA-256 of a document: "sha256:" and 64 hexadecimal digits.
type Digest string

// magic opens a document and names its format.
const magic = "fairlead-approval-v1\n"

// Document returns what an answer is bound to, in the one form that these facts have: after a line that names the format,
// each field as its name, the number of its bytes, a newline, the bytes as they are and a newline. Fields stand in a fixed
// order; lists repeat theirs. Of the host it holds what says where commands go and how, of the decision what is shown.
func (p Pending) Document() []byte {
	q, h := p.Question, p.Question.Host
	d := document{}
	d.WriteString(magic)
	d.field("id", p.ID)
	d.field("exec", q.Exec)
	d.field("session", q.Session)
	if q.Sandbox != "" {
		d.field("sandbox", q.Sandbox)
	}
	d.field("principal", q.Principal)
	d.host(h)
	for _, member := range q.Hosts {
		d.field("member", hostText(member))
	}
	d.field("shell", q.Shell)
	d.field("dir", q.Dir)
	d.field("command", q.Command)
	d.field("interactive", truth(q.Interactive))
	if q.Typed != "" {
		d.field("typed", q.Typed)
	}
	d.field("stdin-bytes", strconv.FormatInt(q.StdinBytes, 10))
	d.field("stdin-sha256", q.StdinSHA256)
	d.field("stdin-head", q.StdinHead)
	d.field("reason", q.Reason)
	d.field("class", string(q.Decision.Class))
	d.field("rule", q.Decision.Rule)
	d.field("because", q.Decision.Reason)
	d.field("hint", q.Decision.Hint)
	d.field("least-proof", string(q.Decision.LeastProof))
	d.field("asked", stamp(q.Asked))
	d.field("expires", stamp(q.Expires))
	d.flag("with-input", p.WithInput) // the last, with the scope: what they are added to is what was shown
	d.scope(p.ForSession)
	return d.Bytes()
}

// Digest returns the digest of the document.
func (p Pending) Digest() Digest {
	sum := sha256.Sum256(p.Document())
	return Digest("sha256:" + hex.EncodeToString(sum[:]))
}

type document struct{ bytes.Buffer }

// hostText is what a document holds of a host.
func hostText(h hosts.Host) string {
	var d document
	d.host(h)
	return d.String()
}

func (d *document) host(h hosts.Host) {
	d.field("host", h.Name)
	d.field("transport", string(h.Transport))
	d.field("addr", h.Addr)
	d.field("port", strconv.Itoa(int(h.Port)))
	d.field("user", h.User)
	d.list("via", h.Via)
	d.field("tier", h.Tier)
	d.list("identity", h.Identity)
	d.flag("identity-only", h.IdentityOnly)
	d.flag("sandboxed", h.Sandboxed)
	d.field("ssh-config", h.SSHConfig)
	d.field("host-shell", h.Shell)
	d.field("login", truth(h.Login))
	d.list("env", h.Env)
	d.list("argv", h.Command)
	d.field("become-user", h.Become.User)
	d.field("become-method", h.Become.Program())
	d.flag("become-by-call", h.Become.ByCall)
}

func (d *document) field(name, value string) {
	fmt.Fprintf(d, "%s %d\n%s\n", name, len(value), value)
}

func (d *document) list(name string, values []string) {
	for _, v := range values {
		d.field(name, v)
	}
}

// flag is a field only where it is set: documents from before there were such fields are read, too.
func (d *document) flag(name string, set bool) {
	if set {
		d.field(name, truth(true))
	}
}

func truth(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// stamp is a moment to the nanosecond; "" is no moment.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

var errDocument = errors.New("approval: this is not a document of a request for approval")

// Parse reads what Document wrote, and nothing else: whatever it returns without an error has doc as its document.
func Parse(doc []byte) (Pending, error) {
	if len(doc) > MaxDocument {
		return Pending{}, fmt.Errorf("%w: it has %d bytes, and %d is the limit", errDocument, len(doc), MaxDocument)
	}
	rest, ok := strings.CutPrefix(string(doc), magic)
	if !ok {
		return Pending{}, fmt.Errorf("%w: it does not begin with %q", errDocument, strings.TrimSpace(magic))
	}
	var p Pending
	if left, ok := fields(rest, p.set); !ok {
		return Pending{}, fmt.Errorf("%w: a field is not as it should be, %d bytes before the end", errDocument, left)
	}
	if !bytes.Equal(p.Document(), doc) {
		return Pending{}, fmt.Errorf("%w: fields are missing, twice there or out of order", errDocument)
	}
	return p, nil
}

// fields gives each field to set, until one is not as it should be: then it says how many bytes are left.
func fields(rest string, set func(name, value string) bool) (left int, ok bool) {
	for rest != "" {
		head, after, _ := strings.Cut(rest, "\n")
		name, size, _ := strings.Cut(head, " ")
		n, err := strconv.ParseUint(size, 10, 31)
		if err != nil || int(n) >= len(after) || after[n] != '\n' || !set(name, after[:n]) {
			return len(rest), false
		}
		rest = after[n+1:]
	}
	return 0, true
}

// set reports whether name is a field and value one of its values. A number or a time that cannot be read is another one, or
// none, which Parse notices.
func (p *Pending) set(name, value string) bool {
	q := &p.Question
	switch name {
	case "member":
		var h hosts.Host
		if _, ok := fields(value, func(name, value string) bool { known, ok := setHost(&h, name, value); return known && ok }); !ok {
			return false
		}
		q.Hosts = append(q.Hosts, h)
	case "id":
		p.ID = value
	case "exec":
		q.Exec = value
	case "session":
		q.Session = value
	case "principal":
		q.Principal = value
	case "shell":
		q.Shell = value
	case "dir":
		q.Dir = value
	case "command":
		q.Command = value
	case "interactive":
		q.Interactive = value == truth(true)
	case "typed":
		q.Typed = value
	case "stdin-bytes":
		q.StdinBytes, _ = strconv.ParseInt(value, 10, 64)
		return q.StdinBytes >= 0
	case "stdin-sha256":
		q.StdinSHA256 = value
	case "stdin-head":
		q.StdinHead = value
	case "reason":
		q.Reason = value
	case "class":
		q.Decision.Class = policy.Class(value)
	case "rule":
		q.Decision.Rule = value
	case "because":
		q.Decision.Reason = value
	case "hint":
		q.Decision.Hint = value
	case "least-proof":
		q.Decision.LeastProof = Proof(value)
		return value == "" || q.Decision.LeastProof.Known()
	case "asked":
		q.Asked, _ = time.Parse(time.RFC3339Nano, value)
	case "expires":
		q.Expires, _ = time.Parse(time.RFC3339Nano, value)
	case "with-input":
		p.WithInput = value == truth(true)
	case "sandbox":
		q.Sandbox = value
	case "for-session", "prefix", "for-seconds":
		known, ok := setScope(p, name, value)
		return known && ok
	default:
		known, ok := setHost(&q.Host, name, value)
		return known && ok
	}
	return true
}

// setHost reports whether name is a field of a host, and value one of its values.
func setHost(h *hosts.Host, name, value string) (known, ok bool) {
	switch name {
	case "host":
		h.Name = value
	case "transport":
		h.Transport = hosts.Kind(value)
	case "addr":
		h.Addr = value
	case "port":
		n, _ := strconv.ParseUint(value, 10, 16)
		h.Port = uint16(n)
	case "user":
		h.User = value
	case "via":
		h.Via = append(h.Via, value)
	case "tier":
		h.Tier = value
	case "identity":
		h.Identity = append(h.Identity, value)
	case "identity-only":
		h.IdentityOnly = value == truth(true)
	case "sandboxed":
		h.Sandboxed = value == truth(true)
	case "ssh-config":
		h.SSHConfig = value
	case "host-shell":
		h.Shell = value
	case "login":
		h.Login = value == truth(true)
	case "env":
		h.Env = append(h.Env, value)
	case "argv":
		h.Command = append(h.Command, value)
	case "become-user":
		h.Become.User = value
	case "become-method":
		h.Become.Method = value
	case "become-by-call":
		h.Become.ByCall = value == truth(true)
	default:
		return false, false
	}
	return true, true
}
