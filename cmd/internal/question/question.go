// Package question asks the person who runs this program what connecting wants to know: whether to trust the key of a host,
// passphrases, passwords, and prompts of servers. It asks at the terminal of the process, wherever its streams go, or with the
// program that SSH_ASKPASS names.
//
// An [Asker] asks one question at a time, and may be used concurrently. Agents are never asked.
package question

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// Asker asks for one command. Close it: it knows passphrases.
type Asker struct {
	io  *iostreams.IOStreams
	tty func() (*os.File, error)
	by  askpass

	interrupt func() // of the program

	asked atomic.Bool

	over context.Context // ends with the program

	turn chan struct{} // holds one token: who has it may ask, and touch what follows
	all  bool          // every unknown key is trusted
	gone error         // the person wants to be asked nothing more
	keys map[string]*passphrase
}

// passphrase is what was typed for one key file.
type passphrase struct {
	secret []byte
	asked  int
}

// maxAsked is how often a passphrase is asked for in one command.
const maxAsked = 3

// New returns an Asker for the terminal of this process.
func New(ios *iostreams.IOStreams, getenv func(string) string) *Asker {
	return &Asker{
		io: ios, by: askpassOf(getenv), over: context.Background(), turn: make(chan struct{}, 1), keys: map[string]*passphrase{},
		tty:       func() (*os.File, error) { return os.OpenFile("/dev/tty", os.O_RDWR, 0) },
		interrupt: func() { _ = syscall.Kill(os.Getpid(), syscall.SIGINT) },
	}
}

// CanAsk reports whether there is a person to ask.
func (a *Asker) CanAsk() bool {
	if a.by.program != "" {
		return true
	}
	tty, err := a.tty()
	if err != nil {
		return false
	}
	tty.Close()
	return true
}

// Asked reports whether the person was asked anything.
func (a *Asker) Asked() bool { return a.asked.Load() }

// Until has each question end when over does, too: nothing can be printed while one is asked, so that a program that is told to end
// could not. It is to be called before the first one. a may be nil.
func (a *Asker) Until(over context.Context) {
	if a != nil {
		a.over = over
	}
}

// within is ctx, until the program is over.
func (a *Asker) within(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(a.over, func() { cancel(context.Cause(a.over)) })
	return ctx, func() { stop(); cancel(nil) }
}

// Ask implements [sshconn.Ask].
func (a *Asker) Ask(ctx context.Context, q sshconn.Question) (sshconn.Answer, error) {
	asker := ctx
	ctx, done := a.within(ctx)
	defer done()
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-ctx.Done():
		return sshconn.Answer{}, a.ended(asker, context.Cause(ctx))
	}
	if a.gone != nil {
		return sshconn.Answer{}, a.gone
	}
	if q.Kind == sshconn.AskTouch {
		fmt.Fprintf(a.io.Err, "fairlead: %s: touch the security key %s\n", printable.Cell(q.Host), printable.Cell(q.KeyFile))
		return sshconn.Answer{}, nil
	}
	if q.Kind == sshconn.AskLogin && len(q.Prompts) == 0 {
		fmt.Fprint(a.io.Err, said(q)) // such as "approve it on your phone"
		if !a.CanAsk() {
			return sshconn.Answer{}, sshconn.ErrNoPerson // who waits need wait no longer than without it
		}
		return sshconn.Answer{}, nil
	}
	ask, end, err := a.begin()
	if err != nil {
		return sshconn.Answer{}, err
	}
	defer end()
	a.asked.Store(true)
	var answer sshconn.Answer
	a.io.Hold(func() {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
			return
		}
		switch q.Kind {
		case sshconn.AskHostKey:
			answer.Trust, err = a.hostKey(ctx, ask, q)
		case sshconn.AskHostKeys:
			answer.Trust, err = hostKeys(ctx, ask, q)
		case sshconn.AskPassphrase:
			answer.Secrets, err = a.passphrase(ctx, ask, q)
		case sshconn.AskLogin:
			answer.Secrets, err = login(ctx, ask, q)
		default:
			err = fmt.Errorf("a question of the kind %q is not known", q.Kind)
		}
	})
	if errors.Is(err, errCanceled) {
		a.gone = err
	}
	switch {
	case errors.Is(err, errInterrupted): // the terminal was raw and sent no signal; so does readpassphrase(3) of OpenSSH
		a.interrupt()
		err = a.ended(asker, err)
	case err != nil && a.over.Err() != nil:
		err = a.ended(asker, err)
	}
	return answer, err
}

// endTime is how long a question that the end of the program ends waits for the end of what it is about.
const endTime = 2 * time.Second

// ended waits until nothing wants the answer any more: a host could tell of its missing answer before the program knows that it is to
// stop. The screen is free meanwhile.
func (a *Asker) ended(asker context.Context, err error) error {
	end := time.NewTimer(endTime)
	defer end.Stop()
	select {
	case <-asker.Done():
		return context.Cause(asker)
	case <-end.C: // ^C means something else here
		return err
	}
}

// Confirm shows a text and asks for a word, which it returns without blanks and in lower case. It wraps [sshconn.ErrNoPerson] where
// there is no person.
func (a *Asker) Confirm(ctx context.Context, text, prompt string) (string, error) {
	if a == nil {
		return "", sshconn.ErrNoPerson
	}
	ctx, done := a.within(ctx)
	defer done()
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	ask, end, err := a.begin()
	if err != nil {
		return "", err
	}
	defer end()
	var typed []byte
	a.io.Hold(func() { typed, err = ask(ctx, text, prompt, true) })
	return strings.ToLower(strings.TrimSpace(string(typed))), err
}

// Close forgets what was typed.
func (a *Asker) Close() {
	a.turn <- struct{}{}
	defer func() { <-a.turn }()
	for _, k := range a.keys {
		clear(k.secret)
	}
	clear(a.keys)
}

// asking shows a text and a prompt, and returns what was typed.
type asking func(ctx context.Context, text, prompt string, echo bool) ([]byte, error)

// begin returns what asks, and what to call afterwards.
func (a *Asker) begin() (_ asking, end func(), _ error) {
	bySSH := func(ctx context.Context, text, prompt string, echo bool) ([]byte, error) {
		return a.by.ask(ctx, text+prompt, "")
	}
	if a.by.first && a.by.program != "" {
		return bySSH, func() {}, nil
	}
	tty, err := a.tty()
	if err != nil && a.by.program != "" {
		return bySSH, func() {}, nil
	}
	if err != nil {
		return nil, nil, sshconn.ErrNoPerson
	}
	return func(ctx context.Context, text, prompt string, echo bool) ([]byte, error) {
		typed, err := readAt(ctx, tty, strings.ReplaceAll(text, "\n", "\r\n")+prompt, echo)
		if errors.Is(err, errNoTerminal) {
			err = sshconn.ErrNoPerson
		}
		return typed, err
	}, func() { tty.Close() }, nil
}

// hostKey asks whether to trust a key.
func (a *Asker) hostKey(ctx context.Context, ask asking, q sshconn.Question) (bool, error) {
	if a.all {
		return true, nil
	}
	text := HostKeyText(q)
	prompt := "Trust it? (yes/no/fingerprint, a: trust all unknown keys of this command) "
	for {
		typed, err := ask(ctx, text, prompt, true)
		if err != nil {
			return false, err
		}
		switch word := strings.TrimSpace(string(typed)); {
		case word == q.Unknown.Fingerprint, strings.EqualFold(word, "yes"):
			return true, nil
		case word == "a" || word == "A":
			a.all = true
			return true, nil
		case strings.EqualFold(word, "no"):
			return false, nil
		}
		text, prompt = "", "Please type yes, no, a or the fingerprint: "
	}
}

// HostKeyText says in lines what is known about a key, and what a yes does.
func HostKeyText(q sshconn.Question) string {
	var b strings.Builder
	u := q.Unknown
	fmt.Fprintf(&b, "The key of %s (%s) is not known: %s %s.\n", printable.Cell(q.Host), printable.Cell(q.Addr), u.Type, u.Fingerprint)
	if u.Certificate != nil {
		fmt.Fprintf(&b, "Its certificate does not count: %s.\n", printable.Line(u.Certificate.Error()))
	}
	for _, k := range u.Near {
		fmt.Fprintf(&b, "For port 22, %s:%d has another key: %s %s.\n", printable.Line(k.File), k.Line, k.Type, k.Fingerprint)
	}
	for _, w := range u.Skipped {
		fmt.Fprintf(&b, "%s:%d is about this host, but %s.\n", printable.Line(w.File), w.Line, w.Reason)
	}
	if q.File != "" {
		fmt.Fprintf(&b, "Compare the fingerprint with one that you got in another way. Fairlead records the key in %s.\n", printable.Line(q.File))
	}
	return b.String()
}

// hostKeys asks whether to record what a host says of its keys.
func hostKeys(ctx context.Context, ask asking, q sshconn.Question) (bool, error) {
	if q.Change == nil {
		return false, nil
	}
	text, prompt := HostKeysText(q), "Record it? (yes/no) "
	for {
		typed, err := ask(ctx, text, prompt, true)
		if err != nil {
			return false, err
		}
		switch word := strings.TrimSpace(string(typed)); {
		case strings.EqualFold(word, "yes"):
			return true, nil
		case strings.EqualFold(word, "no"):
			return false, nil
		}
		text, prompt = "", "Please type yes or no: "
	}
}

// HostKeysText says in lines which keys a host has, and what a yes does.
func HostKeysText(q sshconn.Question) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s) says that its keys have changed. The key that you trust vouches for it.\n", printable.Cell(q.Host), printable.Cell(q.Addr))
	for _, k := range q.Change.New {
		fmt.Fprintf(&b, "  new: %s\n", printable.Line(k))
	}
	for _, k := range q.Change.Old {
		fmt.Fprintf(&b, "  removed: %s\n", printable.Line(k))
	}
	fmt.Fprintf(&b, "Fairlead records this in %s.\n", printable.Line(q.File))
	return b.String()
}

// passphrase asks for that of a key file, once for all hosts of the command.
func (a *Asker) passphrase(ctx context.Context, ask asking, q sshconn.Question) ([][]byte, error) {
	k := a.keys[q.KeyFile]
	if k == nil {
		k = &passphrase{}
		a.keys[q.KeyFile] = k
	}
	if q.Try <= 1 && k.secret != nil {
		return [][]byte{append([]byte(nil), k.secret...)}, nil
	}
	if k.asked == maxAsked {
		return nil, fmt.Errorf("the passphrase was wrong %d times", maxAsked)
	}
	k.asked++
	again := ""
	if q.Try > 1 {
		again = "The passphrase is wrong.\n"
	}
	typed, err := ask(ctx, again, "Passphrase for "+printable.Cell(q.KeyFile)+": ", false)
	if err != nil {
		return nil, err
	}
	clear(k.secret)
	k.secret = append([]byte(nil), typed...)
	return [][]byte{typed}, nil
}

// login asks what a server wants to know.
func login(ctx context.Context, ask asking, q sshconn.Question) (answers [][]byte, err error) {
	text := said(q)
	if q.Try > 1 {
		text = "Permission denied, please try again.\n" + text
	}
	for _, p := range q.Prompts {
		prompt := printable.Line(p.Text)
		if q.Method != "password" {
			prompt = who(q) + prompt
		}
		typed, err := ask(ctx, text, prompt, p.Echo)
		if err != nil {
			for _, s := range answers {
				clear(s)
			}
			return nil, err
		}
		answers, text = append(answers, typed), ""
	}
	return answers, nil
}

// said is what the server says beside its prompts, in lines.
func said(q sshconn.Question) string {
	var b strings.Builder
	for _, text := range []string{q.Name, q.Instruction} {
		for line := range strings.Lines(text) {
			b.WriteString(who(q) + printable.Line(strings.TrimRight(line, "\r\n")) + "\n")
		}
	}
	return b.String()
}

// who says which login a text of a server belongs to.
func who(q sshconn.Question) string {
	return "(" + printable.Cell(q.User) + " at " + printable.Cell(q.Host) + ") "
}
