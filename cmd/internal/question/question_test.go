package question_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/question"
	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

var errStopped = errors.New("stopped by the person")

// desk is an Asker at a terminal, and the person who sits there.
type desk struct {
	*question.Asker
	t      *testing.T
	master *os.File
	err    *bytes.Buffer
	ctx    context.Context // of what is asked about; an interrupt ends it with errStopped

	mu     sync.Mutex
	screen bytes.Buffer
	seen   int // of the screen
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	master, tty, err := pty.Open()
	require.NoError(t, err)
	ios, _, _, errOut := iostreams.Test()
	d := &desk{Asker: question.New(ios, func(string) string { return "" }), t: t, master: master, err: errOut}
	ctx, stop := context.WithCancelCause(t.Context())
	d.ctx = ctx
	d.OnInterrupt(func() { stop(errStopped) })
	d.OnTerminal(func() (*os.File, error) {
		fd, err := syscall.Dup(int(tty.Fd())) // each question closes its own
		if err != nil {
			return nil, err
		}
		return os.NewFile(uintptr(fd), "tty"), nil
	})
	read := make(chan struct{})
	go func() {
		defer close(read)
		b := make([]byte, 4096)
		for {
			n, err := master.Read(b)
			d.mu.Lock()
			d.screen.Write(b[:n])
			d.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		tty.Close()
		<-read
		master.Close()
	})
	return d
}

// types waits until text is on the screen, after what was waited for before, and types.
func (d *desk) types(text, typed string) {
	d.t.Helper()
	require.Eventually(d.t, func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		_, after, ok := strings.Cut(d.screen.String()[d.seen:], text)
		if ok {
			d.seen = d.screen.Len() - len(after)
		}
		return ok
	}, 30*time.Second, 5*time.Millisecond, "%q is not asked", text)
	_, err := d.master.WriteString(typed)
	require.NoError(d.t, err)
}

func (d *desk) shown() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.screen.String()
}

type said struct {
	sshconn.Answer
	err error
}

// asks puts a question, whose answer comes.
func (d *desk) asks(q sshconn.Question) <-chan said {
	c := make(chan said, 1)
	go func() {
		a, err := d.Ask(d.ctx, q)
		c <- said{a, err}
	}()
	return c
}

func unknown(host, fingerprint string) sshconn.Question {
	return sshconn.Question{
		Kind: sshconn.AskHostKey, Host: host, Addr: "10.0.0.1:22", File: "/home/me/.ssh/known_hosts", Try: 1,
		Unknown: &knownhosts.UnknownError{Presented: knownhosts.Presented{Host: host, Type: "ssh-ed25519", Fingerprint: fingerprint}},
	}
}

const prompt = "all unknown keys of this command) "

func TestAnUnknownKeyIsTrustedWithYesOrItsFingerprint(t *testing.T) {
	for typed, want := range map[string]bool{"yes\r": true, "YES\r": true, "no\r": false, "SHA256:abc\r": true} {
		d := newDesk(t)
		c := d.asks(unknown("web1", "SHA256:abc"))
		d.types(prompt, typed)
		got := <-c
		require.NoError(t, got.err)
		assert.Equal(t, want, got.Trust, typed)
		assert.Contains(t, d.shown(), "The key of web1 (10.0.0.1:22) is not known: ssh-ed25519 SHA256:abc.\r\n")
		assert.Contains(t, d.shown(), "records the key in /home/me/.ssh/known_hosts")
	}
	d := newDesk(t)
	c := d.asks(unknown("web1", "SHA256:abc"))
	d.types(prompt, "y\r")
	d.types("Please type yes, no, a or the fingerprint: ", "SHA256:other\r")
	d.types("Please type yes, no, a or the fingerprint: ", "\r")
	d.types("Please type yes, no, a or the fingerprint: ", "no\r")
	assert.False(t, (<-c).Trust)
}

func TestAllUnknownKeysOfACommandAreTrustedWithOneAnswer(t *testing.T) {
	d := newDesk(t)
	first := d.asks(unknown("web1", "SHA256:1"))
	d.types(prompt, "a\r")
	assert.True(t, (<-first).Trust)
	for range 3 {
		assert.True(t, (<-d.asks(unknown("web2", "SHA256:2"))).Trust)
	}
	assert.Equal(t, 1, strings.Count(d.shown(), prompt))
}

func TestOneQuestionIsAskedAtATimeAndCtrlCEndsThemAll(t *testing.T) {
	d := newDesk(t)
	var all []<-chan said
	for range 4 {
		all = append(all, d.asks(unknown("web", "SHA256:1")))
	}
	d.types(prompt, "\x03")
	for _, c := range all {
		assert.ErrorIs(t, (<-c).err, errStopped, "as ^C does elsewhere")
	}
	assert.Equal(t, 1, strings.Count(d.shown(), prompt))
}

func TestWhoeverTypesTheEndOfInputIsAskedNothingMore(t *testing.T) {
	d := newDesk(t)
	c := d.asks(unknown("web", "SHA256:1"))
	d.types(prompt, "\x04")
	assert.ErrorContains(t, (<-c).err, "no answer was given")
	assert.ErrorContains(t, (<-d.asks(unknown("web", "SHA256:1"))).err, "no answer was given")
	assert.NoError(t, d.ctx.Err())
	assert.Equal(t, 1, strings.Count(d.shown(), prompt))
}

func TestAPassphraseServesAllHostsOfACommand(t *testing.T) {
	d := newDesk(t)
	q := sshconn.Question{Kind: sshconn.AskPassphrase, KeyFile: "/k", Try: 1}
	c := d.asks(q)
	d.types("Passphrase for /k: ", "wrong\r")
	assert.Equal(t, "wrong", string((<-c).Secrets[0]))
	q.Try = 2
	c = d.asks(q)
	d.types("The passphrase is wrong.\r\nPassphrase for /k: ", "right\r")
	got := <-c
	assert.Equal(t, "right", string(got.Secrets[0]))
	clear(got.Secrets[0]) // as the caller does
	q.Try = 1
	assert.Equal(t, "right", string((<-d.asks(q)).Secrets[0]), "another host")
	assert.NotContains(t, d.shown(), "right")

	q.Try = 2
	c = d.asks(q)
	d.types("Passphrase for /k: ", "wrong\r")
	<-c
	assert.ErrorContains(t, (<-d.asks(q)).err, "the passphrase was wrong 3 times")
	d.Close()
	q.KeyFile = "/k"
	q.Try = 1
	c = d.asks(q)
	d.types("Passphrase for /k: ", "\r")
	assert.NoError(t, (<-c).err, "it was forgotten")
}

func TestPromptsOfAServerAreCleanedAndEchoedAsItSays(t *testing.T) {
	d := newDesk(t)
	q := sshconn.Question{Kind: sshconn.AskLogin, Method: "keyboard-interactive", Host: "web1", User: "ada", Instruction: "push \x1b[2Jsent\nlook", Try: 1}
	got := <-d.asks(q)
	require.NoError(t, got.err)
	assert.Equal(t, "(ada at web1) push \ufffd[2Jsent\n(ada at web1) look\n", d.err.String(), "there is nothing to answer")

	q.Instruction, q.Try = "", 2
	q.Prompts = []sshconn.Prompt{{Text: "Password: "}, {Text: "Co\x07de: ", Echo: true}}
	c := d.asks(q)
	d.types("Permission denied, please try again.\r\n(ada at web1) Password: ", "hush\r")
	d.types("(ada at web1) Co\ufffdde: ", "12x\x7f3\r")
	got = <-c
	require.NoError(t, got.err)
	assert.Equal(t, []string{"hush", "123"}, []string{string(got.Secrets[0]), string(got.Secrets[1])})
	assert.NotContains(t, d.shown(), "hush")
	d.types("12x\b \b3", "")
}

func TestWithoutATerminalThereIsNoPerson(t *testing.T) {
	ios, _, _, _ := iostreams.Test()
	a := question.New(ios, func(string) string { return "" })
	a.OnTerminal(func() (*os.File, error) { return nil, errors.New("none") })
	assert.False(t, a.CanAsk())
	_, err := a.Ask(t.Context(), unknown("web1", "SHA256:1"))
	assert.ErrorIs(t, err, sshconn.ErrNoPerson)
}

func TestAskpassAnswersAsWithSSH(t *testing.T) {
	program := filepath.Join(t.TempDir(), "ask")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\necho \"$1\" >>"+program+".asked\necho yes\n"), 0o700))
	for name, tt := range map[string]struct {
		env  map[string]string
		want bool
	}{
		"with a display":        {map[string]string{"DISPLAY": ":0"}, true},
		"with another":          {map[string]string{"WAYLAND_DISPLAY": "w"}, true},
		"forced":                {map[string]string{"SSH_ASKPASS_REQUIRE": "force"}, true},
		"preferred, no display": {map[string]string{"SSH_ASKPASS_REQUIRE": "prefer"}, false},
		"without a display":     {nil, false},
		"never":                 {map[string]string{"SSH_ASKPASS_REQUIRE": "never", "DISPLAY": ":0"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			ios, _, _, _ := iostreams.Test()
			a := question.New(ios, func(key string) string {
				if key == "SSH_ASKPASS" {
					return program
				}
				return tt.env[key]
			})
			a.OnTerminal(func() (*os.File, error) { return nil, errors.New("none") })
			assert.Equal(t, tt.want, a.CanAsk())
			got, err := a.Ask(t.Context(), unknown("web1", "SHA256:1"))
			if !tt.want {
				assert.ErrorIs(t, err, sshconn.ErrNoPerson)
				return
			}
			require.NoError(t, err)
			assert.True(t, got.Trust)
		})
	}
	text, err := os.ReadFile(program + ".asked")
	require.NoError(t, err)
	assert.Contains(t, string(text), "The key of web1")

	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\nexit 1\n"), 0o700))
	ios, _, _, _ := iostreams.Test()
	a := question.New(ios, func(key string) string {
		return map[string]string{"SSH_ASKPASS": program, "SSH_ASKPASS_REQUIRE": "force"}[key]
	})
	_, err = a.Ask(context.Background(), unknown("web1", "SHA256:1"))
	assert.ErrorContains(t, err, "no answer was given")
}

// Who waits for a person to do what a server says has to know that there is none.
func TestWithoutATerminalWhatAServerSaysIsPrintedForNoPerson(t *testing.T) {
	ios, _, _, errOut := iostreams.Test()
	a := question.New(ios, func(string) string { return "" })
	defer a.Close()
	a.OnTerminal(func() (*os.File, error) { return nil, syscall.ENXIO })
	q := sshconn.Question{Kind: sshconn.AskLogin, Method: "banner", Host: "web1", User: "ada", Instruction: "visit https://login.example.com"}
	_, err := a.Ask(t.Context(), q)
	require.ErrorIs(t, err, sshconn.ErrNoPerson)
	assert.Equal(t, "(ada at web1) visit https://login.example.com\n", errOut.String())
	d := newDesk(t)
	_, err = d.Ask(t.Context(), q)
	require.NoError(t, err)
}
