package approval

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/session/id"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// Limits of a Desk.
const (
	DefaultPerPrincipal = 64
	maxPending          = 1024    // of all principals together
	maxPendingBytes     = 4 << 20 // of all their documents
	maxBytesOfOne       = 1 << 20 // of the documents of one principal
	maxSettled          = 256     // how many are remembered, to tell why they wait no longer
	maxReason           = 4 << 10 // bytes of what the answer says
)

// Config is what may be chosen about a Desk. The zero Config is the default.
type Config struct {
	PerPrincipal int // how many questions of one principal wait at most; 0 means DefaultPerPrincipal, negative no limit but that of all

	// Approvers returns who is enrolled now; nil means nobody. It is called for every question and every signed answer,
	// concurrently. While it fails, no signature counts, and questions need what they would with an approver.
	Approvers func() ([]Approver, error)

	// Begins reports why a question's command is not surely one that begins with these words, and does nothing else; nil means
	// that it is. Without it there are no approvals for a prefix.
	Begins func(q policy.Question, prefix []string) error

	// Lasts reports whether an approval can hold for the session of a question: it is open, and takes more than one command.
	// nil means that every session does.
	Lasts func(q policy.Question) bool

	// Ended is called when an approval for a session has ended; nil means that nothing is.
	Ended func(Ended)

	// Unread says why the desk may not have all that is pending, for those who list it: a store cannot be read. nil means that it
	// has all.
	Unread func() error

	// Now is the clock of the questions' Expires, and of how long approvals for sessions hold; nil means this machine's, which goes
	// on while the machine is suspended. Desks that several machines share a question between take it from one place. It may be set:
	// what counts is what it says when the time seems to be over.
	Now func() time.Time
}

// Desk is where questions wait. It implements policy.Approver.
type Desk struct {
	perPrincipal int
	approvers    func() ([]Approver, error)
	begins       func(policy.Question, []string) error
	lasts        func(policy.Question) bool
	ended        func(Ended)
	unread       func() error
	now          func() time.Time

	mu      sync.Mutex // guards what follows
	waiting map[string]*question

	forSession map[string]*given // by the id of the approval

	settled []settled // the last maxSettled, the newest last
	readers map[chan Event]struct{}
}

// question is a Pending with what its asker waits for.
type question struct {
	Pending
	digest Digest
	bytes  int            // of its document
	named  Proof          // the least proof that the policy names; "" leaves it to the tier
	prod   bool           // a host is on prod, or of no tier
	answer *policy.Answer // set before done is closed
	done   chan struct{}
	kept   chan error // who asked says here whether the answer could be kept; nil where it need not be
}

// settled says what became of a question.
type settled struct{ id, how string }

// NewDesk returns an empty Desk. What waits ends with the context of who asked. Close ends the approvals for sessions; a Desk
// that has given none needs no closing.
func NewDesk(cfg Config) *Desk {
	if cfg.Now == nil {
		cfg.Now = func() time.Time { return time.Now().Round(0) } // what is monotonic stands still while a machine is suspended
	}
	return &Desk{
		perPrincipal: cmp.Or(cfg.PerPrincipal, DefaultPerPrincipal), approvers: enrolled(cfg.Approvers),
		begins: cfg.Begins, lasts: cfg.Lasts, ended: cfg.Ended, unread: cfg.Unread, now: cfg.Now, forSession: map[string]*given{},
		waiting: map[string]*question{}, readers: map[chan Event]struct{}{},
	}
}

// Approve keeps q until it is answered, and returns the answer. It returns the cause of ctx when ctx ends first, an
// ErrExpired when q does, and an ErrFull or ErrInvalid at once where q cannot be asked.
func (d *Desk) Approve(ctx context.Context, q policy.Question) (policy.Answer, error) {
	a, err := d.Ask(q)
	if err != nil {
		return policy.Answer{}, err
	}
	return a.Wait(ctx)
}

// Waiting is a question that lies at a desk. Who asked must call Wait, once.
type Waiting struct {
	d *Desk
	w *question
}

// Ask puts q to the desk and does not wait: when it returns the question can be answered. Its errors are those of Approve.
func (d *Desk) Ask(q policy.Question) (*Waiting, error) { return d.ask(q, nil) }

// AskKept is Ask for who keeps the answer elsewhere, and calls Kept: whoever answers is told what failed there.
func (d *Desk) AskKept(q policy.Question) (*Waiting, error) { return d.ask(q, make(chan error, 1)) }

func (d *Desk) ask(q policy.Question, kept chan error) (*Waiting, error) {
	w, err := d.put(q, kept)
	if err != nil {
		return nil, err
	}
	return &Waiting{d, w}, nil
}

// Kept says that the answer is kept, or why it is not and does not count. Only the first call has an effect.
func (a *Waiting) Kept(err error) {
	select {
	case a.w.kept <- err:
	default:
	}
}

// keepTime is how long whoever answers waits to hear that the answer is kept. It ends before the patience of a client.
const keepTime = patience - 2*time.Second

// inKeeping waits until the answer to w is kept, and returns why it is not.
func (w *question) inKeeping() error {
	t := time.NewTimer(keepTime)
	defer t.Stop()
	select {
	case err := <-w.kept:
		return err
	case <-t.C:
		return fmt.Errorf("%w: the store has not taken it in time, and whether it will is unknown; `fairlead approvals` shows whether the request is still pending", ErrUnkept)
	}
}

// Pending is what lies there, as it is shown.
func (a *Waiting) Pending() Pending { return a.w.Pending }

// Wait waits for the answer as Approve does, and takes the question from the desk.
func (a *Waiting) Wait(ctx context.Context) (policy.Answer, error) {
	d, w := a.d, a.w
	for {
		end := d.look(ctx, w.Question.Expires)
		select {
		case <-w.done:
			end.Stop()
			return *w.answer, nil
		case <-ctx.Done():
			end.Stop()
			return d.drop(w, Canceled, context.Cause(ctx))
		case <-end.C:
			if over(w.Pending, d.now()) && !due(ctx) {
				return d.drop(w, Expired, ErrExpired)
			}
		}
	}
}

// due reports whether a context is about to end by itself, which says better than we could why it ends.
func due(ctx context.Context) bool {
	end, ok := ctx.Deadline()
	return ok && time.Until(end) <= 0
}

// lookEvery is how often a question's time is looked at by the desk's clock, while a timer may stand still: whoever answers looks at
// that clock too.
const lookEvery = 10 * time.Second

// look returns a timer for when to look at the desk's clock again.
func (d *Desk) look(ctx context.Context, expires time.Time) *time.Timer {
	left := expires.Sub(d.now())
	if sooner, ok := ctx.Deadline(); expires.IsZero() || left > lookEvery || ok && time.Until(sooner) <= left {
		left = lookEvery
	}
	return time.NewTimer(left)
}

// put makes q wait.
func (d *Desk) put(q policy.Question, kept chan error) (*question, error) {
	named := q.Decision.LeastProof
	q.Decision.LeastProof = d.least(q)
	p := Pending{ID: "a_" + id.Secret(), Question: q}
	doc := p.Document()
	if q.Principal == "" {
		return nil, fmt.Errorf("%w: it does not name its requester", ErrInvalid)
	}
	if len(doc) > MaxDocument {
		return nil, fmt.Errorf("%w: a command of %d bytes is more than a person can look through; split it", ErrInvalid, len(q.Command))
	}
	p, err := Parse(doc) // from here on there is what is bound, and no more
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if over(p, d.now()) {
		return nil, ErrExpired
	}
	p.Question.Enforcement = q.Enforcement
	p.Question.Decision.Rests, p.Question.Decision.Sets = q.Decision.Rests, q.Decision.Sets // what no document says, and a scope depends on
	w := &question{Pending: p, digest: p.Digest(), bytes: len(doc), named: named, prod: onProd(q), done: make(chan struct{}), kept: kept}
	d.mu.Lock()
	defer d.mu.Unlock()
	same, bytes, sameBytes := 0, len(doc), len(doc)
	for _, other := range d.waiting {
		bytes += other.bytes
		if other.Question.Principal == q.Principal {
			same++
			sameBytes += other.bytes
		}
	}
	if bytes > maxPendingBytes || sameBytes > maxBytesOfOne {
		return nil, fmt.Errorf("%w: its pending requests have %d bytes, %d of them of %s; wait until some are answered", ErrFull, bytes, sameBytes, q.Principal)
	}
	if len(d.waiting) >= maxPending || d.perPrincipal > 0 && same >= d.perPrincipal {
		return nil, fmt.Errorf("%w: %d questions, %d of them of %s; wait until some are answered", ErrFull, len(d.waiting), same, q.Principal)
	}
	d.waiting[p.ID] = w
	d.tell(Event{Kind: Asked, ID: p.ID, Principal: q.Principal, Exec: q.Exec, Question: &w.Question})
	return w, nil
}

// drop takes w away, unless an answer was faster.
func (d *Desk) drop(w *question, kind EventKind, cause error) (policy.Answer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if w.answer != nil {
		return *w.answer, nil
	}
	how := "who asked has given it up"
	if kind == Expired || over(w.Pending, d.now()) {
		kind, how = Expired, "it was not answered in time"
	}
	d.settle(w, kind, how)
	return policy.Answer{}, cause
}

// settle ends the waiting of w. d.mu is held.
func (d *Desk) settle(w *question, kind EventKind, how string) {
	delete(d.waiting, w.ID)
	if len(d.settled) == maxSettled {
		d.settled = slices.Delete(d.settled, 0, 1)
	}
	d.settled = append(d.settled, settled{w.ID, how})
	d.tell(Event{Kind: kind, ID: w.ID, Principal: w.Question.Principal, Exec: w.Question.Exec})
}

// over reports whether the time of p is over.
func over(p Pending, now time.Time) bool {
	return !p.Question.Expires.IsZero() && !now.Before(p.Question.Expires)
}

// List returns what waits, the oldest first.
func (d *Desk) List() []Pending {
	d.mu.Lock()
	list := make([]Pending, 0, len(d.waiting))
	now := d.now()
	for _, w := range d.waiting {
		if !over(w.Pending, now) {
			list = append(list, w.Pending)
		}
	}
	d.mu.Unlock()
	slices.SortFunc(list, func(a, b Pending) int {
		return cmp.Or(a.Question.Asked.Compare(b.Question.Asked), strings.Compare(a.ID, b.ID))
	})
	return list
}

// Get returns what waits under id; else an ErrUnknown, or an ErrSettled that says what became of it.
func (d *Desk) Get(id string) (Pending, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	w, err := d.get(id)
	if err != nil {
		return Pending{}, err
	}
	return w.Pending, nil
}

// get is Get. d.mu is held.
func (d *Desk) get(id string) (*question, error) {
	if w := d.waiting[id]; w != nil {
		if over(w.Pending, d.now()) {
			return nil, fmt.Errorf("%w: it was not answered in time", ErrSettled)
		}
		return w, nil
	}
	for _, s := range d.settled {
		if s.id == id {
			return nil, fmt.Errorf("%w: %s", ErrSettled, s.how)
		}
	}
	return nil, ErrUnknown
}

// Response is somebody's answer to what they were shown.
type Response struct {
	ID       string
	Digest   Digest // of what was shown
	By       string // who answers: "operator/ada"
	Approved bool
	Reason   string // printable text of up to 4 KiB; "" where there is none

	// WithInput has a yes to an interactive command cover what is typed at it, too. Digest and Signature are then of what was
	// shown with Pending.WithInput set.
	WithInput bool

	// ForSession, if not nil, has a yes hold for more commands of the session. Digest and Signature are then of what was shown
	// with Pending.ForSession set.
	ForSession *Scope

	// Signature is what Sign returns for what was shown; nil is a bare answer, which is Unproven. It holds the public key.
	// Only a yes is signed. Proof is the most that whoever answers says about it: a key that a passphrase opens is Unproven
	// where an agent held it open. "" says nothing.
	Signature []byte
	Proof     Proof
}

// Answer passes r on to who asked, once. It returns an ErrUnknown or ErrSettled where nothing waits under the id (any
// more), an ErrMismatch where something else was shown, an ErrForbidden where By may not answer, an ErrProof where a yes
// needs a better proof or the signature is none, and an ErrInvalid for a reason that is no text. After an error the question
// waits on. Where the answer must be kept and is not, the error says why.
func (d *Desk) Answer(r Response) error {
	w, said, err := d.pass(r)
	if err != nil || w.kept == nil {
		return err
	}
	if err := w.inKeeping(); err != nil {
		return err
	}
	if r.Approved && r.ForSession != nil {
		d.mu.Lock()
		d.give(said, *w.answer)
		d.mu.Unlock()
	}
	return nil
}

// pass is Answer up to where who asked has the answer. An approval for a session holds from then on, unless it must be kept first.
func (d *Desk) pass(r Response) (w *question, said Pending, err error) {
	if err := mayAnswer(r.By); err != nil {
		return nil, said, err
	}
	if err := checkReason(r.Reason); err != nil {
		return nil, said, err
	}
	answer, err := d.prove(r)
	if err != nil {
		return nil, said, err
	}
	if err := d.checkScope(r); err != nil {
		return nil, said, err
	}
	mayProve := d.mayProve()
	d.mu.Lock()
	defer d.mu.Unlock()
	if w, err = d.get(r.ID); err != nil {
		return nil, said, err
	}
	said = w.Pending
	said.WithInput, said.ForSession = r.WithInput, r.ForSession
	least := w.leastNow(mayProve)
	switch {
	case alike(w.Question.Principal, r.By) || answer.Approver != "" && alike(w.Question.Principal, "operator/"+answer.Approver):
		return nil, said, fmt.Errorf("%w: %s made this request, and requesters cannot answer their own requests", ErrForbidden, w.Question.Principal)
	case r.WithInput && !(r.Approved && w.TakesInput()):
		return nil, said, fmt.Errorf("%w: only the approval of an interactive command covers its input", ErrInvalid)
	case said.Digest() != r.Digest:
		return nil, said, mismatch(w, r)
	case r.Approved && !answer.Proof.AtLeast(least):
		return nil, said, d.tooWeak(least, answer)
	case r.Signature == nil && r.Proof != "" && r.Proof != Unproven:
		return nil, said, fmt.Errorf("%w: a proof is about a signature, and the answer has none", ErrInvalid)
	}
	answer.Digest, answer.Document, answer.WithInput = string(r.Digest), string(said.Document()), said.WithInput
	if r.Approved && r.ForSession != nil {
		if d.heldBy(w.Question.Principal) >= maxForSession {
			return nil, said, fmt.Errorf("%w: %s has %d approvals for sessions; revoke one", ErrFull, w.Question.Principal, maxForSession)
		}
		if w.kept == nil {
			d.give(said, answer)
		}
		answer.ForSession = r.ForSession.String()
	}
	w.answer = &answer
	close(w.done)
	kind, how := Rejected, "it was rejected by "+r.By
	if r.Approved {
		kind, how = Approved, "it was approved by "+r.By
	}
	d.settle(w, kind, how)
	return w, said, nil
}

// checkScope reports why r cannot hold for a session. It reads what waits, which does not change.
func (d *Desk) checkScope(r Response) error {
	if r.ForSession == nil {
		return nil
	}
	if !r.Approved {
		return fmt.Errorf("%w: a rejection is for one command", ErrScope)
	}
	if p, err := d.Get(r.ID); err == nil {
		p.ForSession = r.ForSession
		return d.MayCover(p)
	}
	return nil // Answer says why it does not wait
}

// MayCover reports why what is shown as an approval for a session cannot be one. nil too where it is one for one command.
func (d *Desk) MayCover(p Pending) error {
	if p.ForSession == nil {
		return nil
	}
	if len(p.Question.Hosts) == 0 && p.Question.Typed == "" && d.lasts != nil && !d.lasts(p.Question) {
		return fmt.Errorf("%w: the session ends with this command; approve it once", ErrScope)
	}
	return p.ForSession.check(p, d.begins)
}

// heldBy counts the approvals for a principal's sessions. d.mu is held.
func (d *Desk) heldBy(principal string) (n int) {
	for _, g := range d.forSession {
		if g.Owner == principal {
			n++
		}
	}
	return n
}

// alike reports whether two principals may be one person: some systems tell no case apart in the names of accounts, and
// who answers must not be able to ask under the same name in other letters.
func alike(a, b string) bool { return strings.EqualFold(a, b) }

// mismatch says what an answer is not to.
func mismatch(w *question, r Response) error {
	if r.ForSession != nil && r.Digest == w.digest {
		return fmt.Errorf("%w; an approval for the session names the digest of the document with its scope", ErrMismatch)
	}
	if r.WithInput && r.Digest == w.digest {
		return fmt.Errorf("%w; an approval with input names the digest with input", ErrMismatch)
	}
	return ErrMismatch
}

// mayAnswer refuses those who answer nothing, whoever asks.
func mayAnswer(by string) error {
	role, name, _ := strings.Cut(by, "/")
	switch {
	case role == "" || name == "":
		return fmt.Errorf("%w: it does not say who it is", ErrForbidden)
	case strings.EqualFold(role, "agent"):
		return fmt.Errorf("%w: %s is an agent, and a person has to answer", ErrForbidden, by)
	}
	return nil
}

func checkReason(reason string) error {
	if len(reason) > maxReason || !utf8.ValidString(reason) || strings.ContainsFunc(reason, unprintable) {
		return fmt.Errorf("%w: a reason is printable text of up to %d bytes", ErrInvalid, maxReason)
	}
	return nil
}

func unprintable(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsGraphic(r) }
