package sshconn

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/allowed"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/clock"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/keyring"
)

// DefaultMaxTries is how many keys are offered to one host: as many as ssh takes from its configuration. OpenSSH's server hangs up
// after 6, and others after other numbers (MaxAuthTries), which they do not say before.
const DefaultMaxTries = 100

// login is one attempt to become t.user at t. The SSH library calls it from one goroutine, except where told.
type login struct {
	t   *target
	clk *clock.Clock
	w   *wire
	max int

	trace session.DialTrace

	mu      sync.Mutex    // guards these three: the library checks the host key in a goroutine that may outlast the dial
	hostKey ssh.PublicKey // trusted; nil until the host has shown it
	vouched bool          // trusted, and recorded nowhere
	refused error         // why the host's key is not trusted

	ring    *keyring.Ring
	keysErr error
	tried   []Offered
	trying  *session.AuthTry // not answered yet
	methods []string         // what the server would take, as it said last
	partial []string         // what it has taken as one of several
	broke   bool             // the connection went away, or the time ran out, before everything was tried

	typed    map[string]int // how often a person was to answer, by method
	given    []attempt      // at which a person has typed something
	prompted bool           // the server has asked something with keyboard-interactive
	puzzled  bool           // the server has not said yes or no to a password
	noPerson bool           // there is none to ask
	notTyped error          // why a person has not answered
	asked    atomic.Bool    // a person was asked anything
	notice   notice
	told     string // what the server has said since something was tried, and has not asked
	barred   bool   // some of that when it had a signature or an answer, to which it says why that is not enough
}

// next picks what to try now.
func (l *login) next(c *ssh.ClientAuthContext) (ssh.AuthMethod, error) {
	partial := fewMethods(c.PartialSuccessMethods)
	taken := len(partial) > len(l.partial)
	l.answered(taken)
	l.methods, l.partial = fewMethods(c.AllowedMethods), partial
	if l.broke = l.clk.Err() != nil || l.w.broken.Load(); l.broke {
		return nil, nil
	}
	if l.notTyped != nil {
		return nil, l.notTyped
	}
	if l.puzzled = l.puzzled && !taken; l.puzzled {
		return nil, nil // the library tells now what it has got
	}
	for _, method := range l.t.methods.Order {
		var auth ssh.AuthMethod
		var err error
		switch {
		case !slices.Contains(c.AllowedMethods, method):
		case method == allowed.ByKey:
			auth, err = l.nextKey(c.Metadata.SessionID())
		default:
			auth = l.byPerson(method)
		}
		if auth != nil || err != nil {
			return auth, err
		}
	}
	if len(l.typed) > 0 {
		return nil, errNoWay // the library would give the error of an attempt
	}
	return nil, nil
}

// nextKey picks the key to try now; nil where none is left. One at a time, because the library gives up on all keys when one
// cannot sign.
func (l *login) nextKey(sessionID []byte) (ssh.AuthMethod, error) {
	if l.ring == nil {
		hostKey, signature := l.w.shown()
		ring, err := l.t.keys(l.clk, &keyring.Binding{HostKey: hostKey, ID: sessionID, Signature: signature})
		if err != nil {
			l.keysErr = err
			return nil, err
		}
		l.ring = ring
	}
	if l.max > 0 && len(l.tried) >= l.max || !l.ring.Known(l.clk, len(l.tried)) {
		return nil, nil
	}
	id := l.ring.Identities[len(l.tried)]
	l.tried = append(l.tried, Offered{From: id.From, Type: id.Public.Type(), Fingerprint: keyring.Fingerprint(id.Public), limits: limitsOf(id.Public, l.t.user)})
	l.begin(session.AuthTry{Method: allowed.ByKey, From: id.From, Fingerprint: keyring.Fingerprint(id.Public)})
	s := &lazySigner{id: id, l: l, at: len(l.tried) - 1}
	return ssh.PublicKeys(s), nil
}

// verdict returns the host's key if it is trusted, else why it is not; neither before the host has shown one.
func (l *login) verdict() (key ssh.PublicKey, vouched bool, refused error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hostKey, l.vouched, l.refused
}

// end frees what the keys needed, and what tells of the server's banner.
func (l *login) end() {
	l.notice.quiet()
	if l.ring != nil && l.ring.Close != nil {
		l.ring.Close()
	}
}

// proven reports whether the server has got a signature, or what a person typed.
func (l *login) proven() bool {
	n := len(l.tried)
	return n > 0 && l.tried[n-1].Accepted || len(l.given) > 0
}

// credential returns the key that logged in, and the certificate that did so for it; nil without one.
func (l *login) credential() (fingerprint string, cert *ssh.Certificate) {
	n := len(l.tried)
	if n == 0 || !l.tried[n-1].Accepted {
		return "", nil
	}
	cert, _ = l.ring.Identities[n-1].Public.(*ssh.Certificate)
	return l.tried[n-1].Fingerprint, cert
}

// lazySigner offers a public key, and opens the private one when the server wants a signature.
type lazySigner struct {
	id keyring.Identity
	l  *login
	at int // in login.tried
}

func (s *lazySigner) PublicKey() ssh.PublicKey { return s.id.Public }

// Algorithms lists what the key can sign with, SHA-512 first, as OpenSSH prefers.
func (s *lazySigner) Algorithms() []string { return s.l.t.algorithms.ForKey(s.id.Public) }

func (s *lazySigner) Sign(rand io.Reader, data []byte) (*ssh.Signature, error) {
	return s.SignWithAlgorithm(rand, data, s.Algorithms()[0])
}

func (s *lazySigner) SignWithAlgorithm(rand io.Reader, data []byte, algorithm string) (*ssh.Signature, error) {
	o := &s.l.tried[s.at]
	o.Accepted = true
	sig, err := s.sign(rand, data, algorithm)
	if err != nil {
		o.Failed = strings.TrimPrefix(err.Error(), "ssh: ")
	}
	return sig, err
}

func (s *lazySigner) sign(rand io.Reader, data []byte, algorithm string) (*ssh.Signature, error) {
	signer, err := s.id.Open(s.l.clk)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(s.id.Public.Type(), "sk-") {
		over, err := s.l.touch(s.id.Public)
		if err != nil {
			return nil, err
		}
		defer over()
	}
	if as, ok := signer.(ssh.AlgorithmSigner); ok {
		return as.SignWithAlgorithm(rand, data, algorithm)
	}
	if strings.HasPrefix(algorithm, "rsa-sha2-") {
		return nil, errors.New("it can only sign with SHA-1, which is not secure")
	}
	return signer.Sign(rand, data)
}

// failed turns the library's error into one of ours.
func (l *login) failed(err error, heard string) error {
	e := &Error{Host: l.t.name, Addr: l.t.addr(), Step: StepLogin, heard: heard}
	hostKey, _, refused := l.verdict()
	switch {
	case refused != nil:
		e.Step, e.Err = StepHostKey, &HostKeyError{Err: refused}
	case l.clk.Err() == nil && l.keysErr != nil:
		e.Err = fmt.Errorf("cannot get the keys to log in with: %w", l.keysErr)
	case l.clk.Err() == nil && l.notTyped != nil:
		e.Err = fmt.Errorf("%s is not logged in: %w", l.t.user, l.notTyped)
	case hostKey != nil && l.clk.Err() == nil && l.broke && !l.barred:
		e.Err = l.cutOff(io.EOF, heard) // the library would speak of methods
	case hostKey != nil && l.clk.Err() == nil && l.turnedAway(err) != nil:
		e.Err = l.turnedAway(err)
	case hostKey != nil && l.clk.Err() == nil && l.decided(err):
		e.Err = l.refusal(err)
	case hostKey != nil:
		e.Err = l.cutOff(err, heard)
	case strings.HasPrefix(heard, "SSH-2.0-") || strings.Contains(heard, "\nSSH-2.0-") ||
		strings.HasPrefix(heard, "SSH-1.99-"):
		e.Step, e.Err = StepExchange, explain(l.clk, agreeing, err, heard)
		e.Early = l.w.broken.Load() && l.clk.Err() == nil
	default:
		e.Step, e.Err = StepGreet, explain(l.clk, greeting, err, heard)
		e.Early = l.clk.Err() == nil
	}
	return e
}

// cutOff says why a login was not finished. sshd hangs up without a word on whom PAM's rules for accounts keep out.
func (l *login) cutOff(err error, heard string) error {
	why := explain(l.clk, entering, err, heard)
	if n := len(l.tried); n > 0 && l.tried[n-1].Accepted && l.clk.Err() == nil {
		return fmt.Errorf("%w, after it had accepted the key: if it does so again, its log says why (as PAM's rules for accounts)", why)
	}
	return why
}

// fewMethods are names of methods that a server gives, as many as fit a message.
func fewMethods(all []string) []string {
	const most, longest = 16, 64
	few := make([]string, 0, min(len(all), most))
	for _, name := range all[:min(len(all), most)] {
		few = append(few, printable.Heard(name[:min(len(name), longest)], maxHeard))
	}
	return few
}
