package sshconn

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/allowed"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/clock"
)

// Error says why there is no connection to a host. Err is, or wraps, *[HostKeyError], *[AuthError], *[session.NoLoginError],
// an error of the network, context.DeadlineExceeded where the time was up, the error of the caller's context and its cause, or only a text.
type Error struct {
	Host  string // the host that was wanted
	Hop   string // the jump host where it ended; "" means the host itself
	Addr  string // "10.0.0.11:22"; "" if it was not known yet
	Step  Step   // how far it came
	Early bool   // the server hung up before it knew who asks: it may be too busy, and later it may answer
	Err   error

	heard string // what the server said instead of a greeting
}

// Step is where a connection ended that was not made.
type Step string

// The steps, in order.
const (
	StepConfig   Step = ""             // before anything was sent: what says how to connect is wrong
	StepResolve  Step = "resolve"      // the name has no address
	StepReach    Step = "tcp"          // nobody is reached there
	StepGreet    Step = "greeting"     // whoever takes the connection does not say that it speaks SSH
	StepExchange Step = "key exchange" // no keys were agreed on
	StepHostKey  Step = "host key"     // the host's key is not trusted
	StepLogin    Step = "login"        // the host is who it should be, and lets nobody in
)

func (e *Error) Error() string {
	text := "sshconn: " + e.Host
	if e.Hop != "" {
		text += ": through " + e.Hop
	}
	if e.Addr != "" {
		text += " (" + e.Addr + ")"
	}
	return text + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Where implements [session.Dialed].
func (e *Error) Where() (through, address string, why error) { return e.Hop, e.Addr, e.Err }

// HostKeyError says that a host's key is not trusted. It wraps [session.ErrHostKey], and one of knownhosts'
// *UnknownError, *ChangedError and *RevokedError, which hold the keys. A changed key must never be offered as a yes-or-no
// question.
type HostKeyError struct{ Err error }

func (e *HostKeyError) Error() string { return e.Err.Error() }

// Unwrap returns session.ErrHostKey and the cause.
func (e *HostKeyError) Unwrap() []error { return []error{session.ErrHostKey, e.Err} }

// Offered is a key that was shown to a server.
type Offered struct {
	From        string // the file, "agent" or "given"
	Type        string // "ssh-ed25519" …
	Fingerprint string // SHA256:…
	Accepted    bool   // the server wanted a signature with it
	Failed      string // why there was no signature; "" otherwise

	limits string // of a certificate: whom it is for, where that is not the user, and from where
}

// Skipped is a key that was not offered, and why.
type Skipped struct {
	From   string
	Reason string
}

// AuthError says that a server refused to log a user in. It wraps [session.ErrAuth]. Trying again without a change only
// counts against the address it comes from.
type AuthError struct {
	User    string
	Methods []string // what the server would still take
	Partial []string // what it took as one of several that it wants
	Offered []Offered
	Skipped []Skipped
	Typed   []string  // what a person answered, in vain or as one of several: "password (3 times)"
	Untried []Untried // what the server would take and was not tried
	Reason  string    // what the server said when it hung up, or refused; "" if nothing
	Expired bool      // the password was right and has expired: the server demands a new one, which Fairlead cannot give it
}

// Untried is a way to log in that was not tried, and why.
type Untried struct{ Method, Reason string }

// Unwrap returns session.ErrAuth.
func (e *AuthError) Unwrap() error { return session.ErrAuth }

func (e *AuthError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s may not log in", e.User)
	if e.Reason != "" {
		fmt.Fprintf(&b, ", the server says %q", e.Reason)
	}
	for i, o := range e.Offered {
		b.WriteString([]string{"; offered ", ", "}[min(i, 1)])
		fmt.Fprintf(&b, "%s %s (%s)", o.Type, o.Fingerprint, o.From)
		switch {
		case o.Failed != "":
			fmt.Fprintf(&b, " which was accepted, but there is no signature: %s", o.Failed)
		case o.Accepted:
			b.WriteString(" which was accepted")
		default:
			b.WriteString(o.limits)
		}
	}
	for i, s := range e.Skipped {
		b.WriteString([]string{"; skipped ", ", "}[min(i, 1)])
		fmt.Fprintf(&b, "%s (%s)", s.From, s.Reason)
	}
	if len(e.Typed) > 0 {
		fmt.Fprintf(&b, "; typed: %s", strings.Join(e.Typed, ", "))
	}
	keysOff := slices.ContainsFunc(e.Untried, func(u Untried) bool { return u.Method == allowed.ByKey })
	takesKeys := slices.Contains(e.Methods, allowed.ByKey) && !keysOff
	switch {
	case e.Expired:
		b.WriteString("; the password has expired, and the server demands a new one: log in with ssh, change it there, and try again")
		return b.String()
	case len(e.Partial) > 0:
		fmt.Fprintf(&b, "; the server accepted %s and also requires %s", strings.Join(e.Partial, ", "), strings.Join(e.Methods, " or "))
	case keysOff:
	case len(e.Methods) > 0 && !takesKeys:
		fmt.Fprintf(&b, "; the server takes no keys, but %s", strings.Join(e.Methods, " or "))
	case len(e.Typed) > 0:
	case len(e.Offered) == 0:
		b.WriteString("; there was no key to offer: name one with identity, or add one to the agent")
	case strings.Contains(strings.ToLower(e.Reason), "too many authentication failures"):
		b.WriteString("; the server takes no more tries: name the right key with identity, or with IdentityFile and IdentitiesOnly in ssh_config")
	case slices.ContainsFunc(e.Offered, func(o Offered) bool { return o.Failed != "" }):
		if !strings.Contains(b.String(), "ssh-add") {
			b.WriteString("; try again, or add the key to the agent with ssh-add")
		}
	case slices.ContainsFunc(e.Offered, func(o Offered) bool { return o.Accepted }):
		b.WriteString("; the key is the account's: the log of the server says why it does not let the account in")
	default:
		b.WriteString("; is the user right, and is one of these keys in its authorized_keys?")
	}
	if takesKeys && len(e.Partial) == 0 {
		return b.String() // keys are what helps first
	}
	for i, u := range e.Untried {
		b.WriteString([]string{"; not tried: ", ", "}[min(i, 1)])
		fmt.Fprintf(&b, "%s (%s)", u.Method, u.Reason)
	}
	return b.String()
}

// limitsOf says what of a certificate may be why a server refuses it.
func limitsOf(key ssh.PublicKey, user string) string {
	cert, ok := key.(*ssh.Certificate)
	if !ok {
		return ""
	}
	var all []string
	if !slices.Contains(cert.ValidPrincipals, user) {
		names := "no account"
		if len(cert.ValidPrincipals) > 0 {
			names = printable.Heard(strings.Join(cert.ValidPrincipals, " "), maxHeard/4)
		}
		all = append(all, fmt.Sprintf(" which is for %s and not for %s", names, user))
	}
	if from := cert.CriticalOptions["source-address"]; from != "" {
		all = append(all, " which counts only from "+printable.Heard(from, maxHeard/4))
	}
	return strings.Join(all, " and")
}

// decided reports whether the server said no, as opposed to having gone away.
func (l *login) decided(err error) bool {
	text := err.Error()
	return l.barred || l.expired(err) || strings.Contains(text, "unable to authenticate") || strings.Contains(text, "ssh: disconnect") ||
		strings.Contains(text, "no common public key signature") || errors.Is(err, errNoWay) || len(l.tried) > 0 && l.tried[len(l.tried)-1].Failed != ""
}

// expired reports whether the server has answered a password with the demand for a new one (SSH_MSG_USERAUTH_PASSWD_CHANGEREQ), which
// the library does not know.
func (l *login) expired(err error) bool {
	return l.puzzled && strings.Contains(err.Error(), "unexpected message type 60 (expected 52)")
}

// farewell is what a server says as it hangs up (SSH_MSG_DISCONNECT).
func farewell(err error) (said string, ok bool) {
	_, after, ok := strings.Cut(err.Error(), "ssh: disconnect, reason ")
	if !ok {
		return "", false
	}
	_, said, _ = strings.Cut(after, ": ")
	if text, err := strconv.Unquote(said); err == nil {
		said = text
	}
	return printable.Heard(said, maxHeard), true
}

// turnedAway says why a server has ended the connection before it has said how to log in; nil where it has not done so.
func (l *login) turnedAway(err error) error {
	said, ok := farewell(err)
	if !ok || l.methods != nil || l.ring != nil {
		return nil
	}
	return fmt.Errorf("the server hung up before %s could log in, and says %q", l.t.user, said)
}

func (l *login) refusal(err error) error {
	e := &AuthError{Expired: l.expired(err), User: l.t.user, Methods: l.methods, Partial: l.partial, Offered: l.tried, Typed: l.tries(), Untried: l.untried()}
	if e.Reason, _ = farewell(err); e.Reason == "" {
		e.Reason = printable.Heard(l.told, maxHeard)
	}
	if l.ring != nil {
		for _, s := range l.ring.Skipped {
			e.Skipped = append(e.Skipped, Skipped(s))
		}
		for _, id := range l.ring.Identities[len(l.tried):] {
			e.Skipped = append(e.Skipped, Skipped{id.From, fmt.Sprintf("servers hang up after %d tries", len(l.tried))})
		}
	}
	return e
}

// silent explains a dial whose time is up, or which the caller gave up.
func silent(clk *clock.Clock, what string) error {
	if e, ok := errors.AsType[*clock.TimeoutError](context.Cause(clk)); ok {
		return fmt.Errorf("%s: %w", what, e)
	}
	return ended(clk)
}

// ended is why a dial's time is over: it is up, or the caller's context has ended.
func ended(ctx context.Context) error {
	if e, ok := errors.AsType[*clock.TimeoutError](context.Cause(ctx)); ok {
		return e
	}
	return ctxerr.Of(ctx)
}

// hushed says where a server fell silent. heard is what it had said until it greeted.
func hushed(at stage, heard string) string {
	if text := printable.Heard(heard, maxHeard); at == greeting && text != "" {
		return greets(text)
	}
	return map[stage]string{
		reaching: "the address does not answer; is the host up, is a firewall in between?",
		greeting: "something takes connections there but does not speak; is sshd stuck, is it another service?",
		agreeing: "the server went silent during the key exchange; a small MTU on the way may be the reason",
		entering: "the server went silent while logging in",
	}[at]
}

// greets says what a service is that speaks no SSH, or none that is spoken here.
func greets(text string) string {
	if strings.HasPrefix(text, "SSH-1.") {
		return fmt.Sprintf("it speaks version 1 of SSH alone (%q), which is not safe and not supported; its operator must update it", text)
	}
	return fmt.Sprintf("it does not greet as an SSH server, but says %q; is the port right?", text)
}

// explain says in plain words why a connection was not made. heard is what the server said first.
func explain(clk *clock.Clock, at stage, err error, heard string) error {
	if clk.Err() != nil {
		return silent(clk, hushed(at, heard))
	}
	if e, ok := errors.AsType[*ssh.AlgorithmNegotiationError](err); ok {
		return nothingInCommon(e)
	}
	switch {
	case at == greeting:
		text := printable.Heard(heard, maxHeard)
		if saysBusy(heard) {
			return fmt.Errorf("the server says %q: it is too busy (MaxStartups), or keeps this address out for a while"+
				" (PerSourcePenalties)", text)
		}
		if text != "" {
			return errors.New(greets(text))
		}
		return fmt.Errorf("the server hung up before it said anything; it may be too busy (MaxStartups), or keep this"+
			" address out for a while (PerSourcePenalties)%s", plain(err))
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%w: nothing listens there; is sshd running, is the port right?", syscall.ECONNREFUSED)
	case at == reaching:
		if e, ok := errors.AsType[*net.DNSError](err); ok {
			return fmt.Errorf("the name %s has no address (%w)", e.Name, err)
		}
		return fmt.Errorf("cannot be reached: %w", bare(err))
	case at == agreeing:
		return fmt.Errorf("the key exchange failed%s", plain(err))
	default:
		return fmt.Errorf("the connection broke while logging in%s", plain(err))
	}
}

// bare is err without the addresses of its connection: an Error has that of the host, the port at this end is another one with each
// connection, and hosts that fail for the same reason are to say the same.
func bare(err error) error {
	op, ok := errors.AsType[*net.OpError](err)
	if !ok {
		return err
	}
	inner := op.Err
	if call, ok := errors.AsType[*os.SyscallError](inner); ok {
		inner = call.Err
	}
	return &reworded{err, strings.Replace(err.Error(), op.Error(), inner.Error(), 1)}
}

// reworded is an error in other words.
type reworded struct {
	error
	text string
}

func (e *reworded) Error() string { return e.text }
func (e *reworded) Unwrap() error { return e.error }

// plain returns the text of an error of the SSH library, without its layers; nothing for a bare end of the stream.
func plain(err error) string {
	err = bare(err)
	text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "ssh: handshake failed: "), "ssh: ")
	switch text {
	case "", "EOF", "unexpected EOF":
		return ": the server hung up"
	}
	return ": " + printable.Heard(text, maxHeard)
}

// closePatience is how long a server may take to confirm that a program was hung up.
const closePatience = 5 * time.Second

// nothingInCommon explains that there is no algorithm for something, and how to allow one that the server has, where there is any.
func nothingInCommon(e *ssh.AlgorithmNegotiationError) error {
	secure, insecure := ssh.SupportedAlgorithms(), ssh.InsecureAlgorithms()
	keyword, usual, old := "KexAlgorithms", secure.KeyExchanges, insecure.KeyExchanges
	switch {
	case strings.HasSuffix(e.What, "host key"):
		keyword, usual, old = "HostKeyAlgorithms", knownhosts.DefaultAlgorithms(), insecure.HostKeys
	case strings.HasSuffix(e.What, "cipher"):
		keyword, usual, old = "Ciphers", secure.Ciphers, insecure.Ciphers
	case strings.HasSuffix(e.What, "MAC"):
		keyword, usual, old = "MACs", secure.MACs, insecure.MACs
	}
	offers := printable.Heard(strings.Join(e.RequestedAlgorithms, ","), 2*maxHeard)
	text := fmt.Sprintf("no algorithm in common for %s: the server offers %q", e.What, offers)
	first := func(of []string) string {
		i := slices.IndexFunc(e.RequestedAlgorithms, func(a string) bool { return slices.Contains(of, a) })
		if i < 0 {
			return ""
		}
		return e.RequestedAlgorithms[i]
	}
	if a := first(usual); a != "" {
		return fmt.Errorf("%s, and %s in ssh_config leaves out %s", text, keyword, a)
	}
	if a := first(old); a != "" {
		return fmt.Errorf("%s, which is old and not safe; to allow it for this host alone, write \"%s +%s\" into its Host block in ssh_config", text, keyword, a)
	}
	return fmt.Errorf("%s, and Fairlead supports none of these; ssh may: set ControlPath for the host in ssh_config,"+
		" and connect with \"ssh -fNM\": Fairlead uses that connection", text)
}
