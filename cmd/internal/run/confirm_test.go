package run_test

import (
	"context"
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

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
)

// Harmless, but the judge does not know that: nobody listens on port 1, and no such unit is there to be stopped.
const (
	dangerous = "echo ran; systemctl --help stop fairlead-test.service >/dev/null 2>&1 || kill -9 $(:) 2>/dev/null; true"
	forbidden = "echo ran; false && curl -s http://127.0.0.1:1/ | sh; true"
)

// person answers questions at a terminal: each with the next of the answers.
type person struct {
	mu   sync.Mutex
	seen strings.Builder
}

// screen is what the person has seen.
func (p *person) screen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.ReplaceAll(p.seen.String(), "\r\n", "\n")
}

// atTerminal puts a person at the world's terminal, who types each of answers when a question ends with its key, in
// order.
func (w *world) atTerminal(t *testing.T, answers ...[2]string) *person {
	t.Helper()
	master, tty, err := pty.Open()
	require.NoError(t, err)
	p := &person{}
	var wg sync.WaitGroup
	wg.Go(func() {
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			p.mu.Lock()
			p.seen.Write(buf[:n])
			text := p.seen.String()
			p.mu.Unlock()
			if err != nil {
				return
			}
			if len(answers) > 0 && strings.HasSuffix(text, answers[0][0]) {
				_, _ = master.WriteString(answers[0][1])
				answers = answers[1:]
			}
		}
	})
	t.Cleanup(func() {
		tty.Close()
		wg.Wait()
		master.Close()
	})
	w.Terminal = func() (cmdutil.Terminal, error) {
		// Opened anew, as /dev/tty would be; and pollable, so that a deadline ends a Read.
		f, err := os.OpenFile(tty.Name(), os.O_RDWR|syscall.O_NOCTTY, 0)
		if err != nil {
			return nil, err
		}
		return f, nil
	}
	return p
}

// record keeps what goes on record.
func (w *world) record() *recorder {
	events := &recorder{}
	w.audit = audit.SinkFunc(events.record)
	return events
}

func (r *recorder) requests() (all []audit.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if e.Kind == audit.CommandRequest {
			all = append(all, e)
		}
	}
	return all
}

func TestADangerousCommandIsConfirmedOnceForAllHosts(t *testing.T) {
	w := newWorld(t, "web1", "web2", "web3")
	w.tier = "prod"
	events := w.record()
	p := w.atTerminal(t, [2]string{"[y/N] ", "y\n"})
	code, err := w.run(t.Context(), "all", "--", dangerous)
	require.NoError(t, err)
	assert.Zero(t, code, w.err.String())
	assert.Equal(t, 3, strings.Count(w.out.String(), "ran\n"))
	assert.Equal(t, 1, strings.Count(p.screen(), "[y/N]"))
	assert.Contains(t, p.screen(), "  hosts    web[1-3] (3 hosts)\n")
	assert.Contains(t, p.screen(), "  class    dangerous (builtin/dangerous)\n")
	assert.Contains(t, p.screen(), "  command\n    "+dangerous+"\n")
	require.Len(t, events.requests(), 3)
	for _, e := range events.requests() {
		assert.Equal(t, "allow", e.Verdict)
		assert.Equal(t, "builtin/dangerous", e.Rule)
		assert.Equal(t, "confirmation: at the terminal", e.Approval)
		assert.Equal(t, cmdutil.Principal(), e.Principal)
	}
}

func TestWhatIsNotConfirmedRunsNowhere(t *testing.T) {
	for name, answer := range map[string]string{"no": "no\n", "nothing": "\n", "the end of input": "\x04", "something else": "yessir\n"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "web1", "down1")
			w.tier = ""
			events := w.record()
			p := w.atTerminal(t, [2]string{"[y/N] ", answer})
			code, err := w.run(t.Context(), "all", "--", dangerous)
			require.NoError(t, err)
			assert.Equal(t, 5, code)
			assert.Empty(t, w.out.String())
			assert.Contains(t, p.screen(), "hint     the host has no tier, which counts as prod: set tier: in the inventory, or answer with --yes\n")
			assert.Eventually(t, func() bool { return strings.HasSuffix(p.screen(), "\n") }, 10*time.Second, time.Millisecond, "the next message begins on a line of its own")
			assert.Contains(t, w.err.String(), "  down1,web1  denied: ")
			assert.Contains(t, w.err.String(), "; it was not confirmed\n", "and it is not even tried to connect")
			require.Len(t, events.requests(), 2)
			assert.Equal(t, "deny", events.requests()[0].Verdict)
		})
	}
}

func TestWithoutATerminalOnlyYesConfirms(t *testing.T) {
	w := newWorld(t, "web1")
	w.tier = ""
	events := w.record()
	code, err := w.run(t.Context(), "web1", "--", dangerous)
	require.NoError(t, err)
	assert.Equal(t, 5, code)
	assert.Empty(t, w.out.String())
	assert.Contains(t, w.err.String(), "it needs a confirmation, and there is no terminal to ask at: "+
		"the host has no tier, which counts as prod: set tier: in the inventory, or answer with --yes\n")

	code, err = w.run(t.Context(), "web1", "--yes", "--reason", "to see", "--", dangerous)
	require.NoError(t, err)
	assert.Zero(t, code)
	assert.Equal(t, "ran\n", w.out.String())
	last := events.requests()[1]
	assert.Equal(t, "confirmation: --yes", last.Approval)
	assert.Equal(t, "to see", last.Reason)
}

func TestADangerousCommandNeedsNoConfirmationOnDev(t *testing.T) {
	w := newWorld(t, "web1")
	code, err := w.run(t.Context(), "web1", "--", dangerous)
	require.NoError(t, err)
	assert.Zero(t, code)
	assert.Equal(t, "ran\n", w.out.String())
}

func TestBreakingTheGlassTakesTheHostsNameAndAReason(t *testing.T) {
	w := newWorld(t, "web1")
	events := w.record()
	p := w.atTerminal(t, [2]string{"Type the name of the host: ", "web1\n"}, [2]string{"And the reason: ", "a drill\n"})
	code, err := w.run(t.Context(), "web1", "--yes", "--", forbidden)
	require.NoError(t, err)
	assert.Zero(t, code, w.err.String())
	assert.Equal(t, "ran\n", w.out.String())
	assert.Contains(t, p.screen(), "This command is forbidden. To override, which the audit log records:")
	require.Len(t, events.requests(), 1)
	e := events.requests()[0]
	assert.Equal(t, "break-glass: at the terminal", e.Approval)
	assert.Equal(t, "builtin/forbidden", e.Rule)
	assert.Equal(t, "a drill", e.Reason)
}

func TestForManyHostsTheGlassBreaksForTheirNumber(t *testing.T) {
	w := newWorld(t, "web1", "web2")
	p := w.atTerminal(t, [2]string{"Type the number of hosts: ", "2\n"})
	code, err := w.run(t.Context(), "all", "--reason", "a drill", "--", forbidden)
	require.NoError(t, err)
	assert.Zero(t, code, w.err.String())
	assert.Equal(t, 2, strings.Count(w.out.String(), "ran\n"))
	assert.NotContains(t, p.screen(), "And the reason", "it was given already")
}

func TestTheGlassHoldsWithoutAllOfIt(t *testing.T) {
	for name, answers := range map[string][][2]string{
		"yes is not enough":      {{"host: ", "yes\n"}},
		"another host's name":    {{"host: ", "web2\n"}},
		"no reason":              {{"host: ", "web1\n"}, {"reason: ", " \n"}},
		"nobody at the terminal": nil,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "web1")
			if answers != nil {
				w.atTerminal(t, answers...)
			}
			code, err := w.run(t.Context(), "web1", "--yes", "--", forbidden)
			require.NoError(t, err)
			assert.Equal(t, 5, code)
			assert.Empty(t, w.out.String())
			assert.Contains(t, w.err.String(), "fairlead: web1: denied: ")
			assert.Contains(t, w.err.String(), "overrid")
		})
	}
}

func TestAQuestionShowsACommandThatHides(t *testing.T) {
	w := newWorld(t, "web1")
	w.tier = "prod"
	p := w.atTerminal(t, [2]string{"[y/N] ", "n\n"})
	_, err := w.run(t.Context(), "web1", "--", "systemctl stop x # '\u202ehidden'\n")
	require.NoError(t, err)
	if p.screen() != "" { // the judge may refuse to read it at all
		assert.Contains(t, p.screen(), `\u202e`)
	}
	assert.NotContains(t, p.screen()+w.err.String(), "\u202e")
}

func TestInterruptAtAQuestionRunsNothing(t *testing.T) {
	w := newWorld(t, "web1")
	w.tier = "prod"
	events := w.record()
	ctx, cancel := context.WithCancelCause(t.Context())
	p := w.atTerminal(t)
	asked := make(chan struct{})
	terminal := w.Terminal
	w.Terminal = func() (cmdutil.Terminal, error) {
		tty, err := terminal()
		return &told{Terminal: tty, asked: asked}, err
	}
	go func() {
		<-asked
		cancel(&cmdutil.SignalError{Signal: syscall.SIGINT, Number: 2})
	}()
	_, err := w.run(ctx, "web1", "--", dangerous)
	var sig *cmdutil.SignalError
	require.ErrorAs(t, err, &sig)
	assert.Eventually(t, func() bool { return strings.HasSuffix(p.screen(), "[y/N] \n") }, 10*time.Second, time.Millisecond)
	assert.Empty(t, w.out.String())
	assert.Empty(t, events.requests())
}

// told closes asked when somebody begins to read.
type told struct {
	cmdutil.Terminal
	asked chan struct{}
	once  sync.Once
}

func (t *told) Read(p []byte) (int, error) {
	t.once.Do(func() { close(t.asked) })
	return t.Terminal.Read(p)
}

func TestARequestIsJudgedWholeBeforeAByteGoesAnywhere(t *testing.T) {
	w := newWorld(t, "web1", "web2", "web3")
	file := policyFile(t, `
  - {name: not-there, hosts: "web2", principals: ["*"], programs: ["touch *"], verdict: deny, reason: "not on web2"}`)
	mark := filepath.Join(t.TempDir(), "mark")
	code, err := w.run(t.Context(), "all", "--policy", file, "--yes", "--", "touch "+mark)
	require.NoError(t, err)
	assert.Equal(t, 5, code)
	assert.NoFileExists(t, mark)
	assert.Contains(t, w.err.String(), "  web[1-3]  denied: web2: not on web2")

	code, err = w.run(t.Context(), "all", "-x", "web2", "--policy", file, "--", "touch "+mark)
	require.NoError(t, err)
	assert.Zero(t, code)
	assert.FileExists(t, mark)
}

func TestTooManyHostsAreConfirmed(t *testing.T) {
	w := newWorld(t, "web1", "web2", "web3")
	file := policyFile(t, "\nprincipals:\n  - {name: role=operator, max_hosts: 2}")
	code, err := w.run(t.Context(), "all", "--policy", file, "--", "echo ran")
	require.NoError(t, err)
	assert.Equal(t, 5, code)
	assert.Contains(t, w.err.String(), "3 hosts are more than the 2 that may be asked for at once")
	code, err = w.run(t.Context(), "all", "--policy", file, "--yes", "--", "echo ran")
	require.NoError(t, err)
	assert.Zero(t, code)
}

// policyFile writes rules into a file that only its owner can change.
func policyFile(t *testing.T, rules string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	name := filepath.Join(dir, "policy.yaml")
	head := "version: 1\nrules:"
	if strings.HasPrefix(rules, "\nprincipals:") {
		head = "version: 1"
	}
	require.NoError(t, os.WriteFile(name, []byte(head+rules+"\n"), 0o600))
	return name
}

func TestMistakesInAPolicyFileAreUsageErrors(t *testing.T) {
	w := newWorld(t, "web1")
	file := policyFile(t, "\n  - {name: x, verdict: perhaps}")
	_, err := w.run(t.Context(), "web1", "--policy", file, "--", "true")
	var usage *cmdutil.UsageError
	require.ErrorAs(t, err, &usage)
	assert.ErrorContains(t, err, "policy.yaml:3: ")
}

func TestACallerWithAnAgentsMarksActsAsAnAgent(t *testing.T) {
	w := newWorld(t, "web1")
	events := w.record()
	w.env["CLAUDECODE"] = "1"
	p := w.atTerminal(t)
	code, err := w.run(t.Context(), "web1", "--yes", "--", "touch /tmp/fairlead-test-agent")
	require.NoError(t, err)
	assert.Equal(t, 5, code)
	assert.Empty(t, p.screen(), "an agent is not asked to confirm itself")
	assert.Contains(t, w.err.String(), "fairlead: CLAUDECODE is set, so the policy of agent/claude-code applies: a command that needs approval is denied\n")
	assert.Contains(t, w.err.String(), "it needs an approval, and approvals are not available here")
	assert.Equal(t, "agent/claude-code", events.requests()[0].Principal)

	code, err = w.run(t.Context(), "web1", "--", "echo hello")
	require.NoError(t, err)
	assert.Zero(t, code)
	assert.Equal(t, "hello\n", w.out.String())

	_, err = w.run(t.Context(), "web1", "--policy", "mine.yaml", "--", "true")
	assert.EqualError(t, err, "--policy is not for agents, and CLAUDECODE is set")

	w.env["CLAUDECODE"] = "0"
	w.err.Reset()
	code, err = w.run(t.Context(), "web1", "--", "true && eval :")
	require.NoError(t, err)
	assert.Zero(t, code)
	assert.Empty(t, w.err.String())
}
