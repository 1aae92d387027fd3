package prompt_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/fairlead-ssh/fairlead/cmd/internal/prompt"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const atMost = 30 * time.Second

// seat is a terminal with a prompt, and a person before it.
type seat struct {
	t      *testing.T
	master *os.File
	done   chan struct{} // closed when the prompt has ended
	code   int
	err    error

	mu   sync.Mutex // guards what follows
	cond *sync.Cond
	seen bytes.Buffer
	from int
	ran  []prompt.Request
	only []string
	gone bool
}

func (s *seat) Write(p []byte) (int, error) {
	return s.tty().Write(p)
}

var ttys sync.Map // of seats

func (s *seat) tty() *os.File {
	f, _ := ttys.Load(s)
	return f.(*os.File)
}

// sit begins a prompt on three hosts.
func sit(t *testing.T, ctx context.Context, change func(*prompt.Config)) *seat {
	t.Helper()
	opened, slave, err := pty.Open()
	require.NoError(t, err)
	fd, err := unix.Dup(int(opened.Fd()))
	require.NoError(t, err)
	require.NoError(t, opened.Close())
	require.NoError(t, unix.SetNonblock(fd, true))
	master := os.NewFile(uintptr(fd), "terminal") // one whose reads end with Close
	require.NoError(t, pty.Setsize(slave, &pty.Winsize{Rows: 30, Cols: 100}))
	tty, err := os.OpenFile(slave.Name(), os.O_RDWR|unix.O_NOCTTY, 0) // one that can be polled
	require.NoError(t, err)
	require.NoError(t, slave.Close())
	s := &seat{t: t, master: master, done: make(chan struct{})}
	s.cond = sync.NewCond(&s.mu)
	ttys.Store(s, tty)
	cfg := prompt.Config{
		Terminal: tty, Notices: s, Hosts: []string{"web1", "web2", "db1"}, Forks: 7,
		Folded: func(names []string) string { return strings.Join(names, ",") },
		Run: func(_ context.Context, r prompt.Request) (prompt.Answer, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.ran = append(s.ran, r)
			if strings.Contains(r.Command, "false") {
				return prompt.Answer{Code: 1, Failed: 2}, nil
			}
			return prompt.Answer{}, nil
		},
		Only: func(word string) ([]int, error) {
			s.mu.Lock()
			s.only = append(s.only, word)
			s.mu.Unlock()
			switch word {
			case "failed":
				return []int{0, 2}, nil
			case "ok":
				return nil, nil
			}
			return nil, errors.New("there is no such host")
		},
		History: func() []string { return []string{"uptime -p", "two\nlines", "uptime -p", "df -h"} },
	}
	if change != nil {
		change(&cfg)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		buf := make([]byte, 1024)
		for {
			n, err := master.Read(buf)
			s.mu.Lock()
			s.seen.Write(buf[:n])
			s.gone = err != nil
			s.cond.Broadcast()
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	})
	go func() {
		defer close(s.done)
		s.code, s.err = prompt.New(cfg).Run(ctx)
		tty.Close()
	}()
	t.Cleanup(func() {
		master.Close()
		<-s.done
		wg.Wait()
		ttys.Delete(s)
	})
	return s
}

// sees waits until the terminal shows text behind what it showed before.
func (s *seat) sees(text string) *seat {
	s.t.Helper()
	late := time.AfterFunc(atMost, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.gone = true
		s.cond.Broadcast()
	})
	defer late.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if at := strings.Index(s.seen.String()[s.from:], text); at >= 0 {
			s.from += at + len(text)
			return s
		}
		if s.gone {
			require.Fail(s.t, "not seen: "+text, "%q", s.seen.String())
		}
		s.cond.Wait()
	}
}

func (s *seat) types(text string) *seat {
	s.t.Helper()
	_, err := s.master.WriteString(text)
	require.NoError(s.t, err)
	return s
}

func (s *seat) ends() *seat {
	s.t.Helper()
	select {
	case <-s.done:
	case <-time.After(atMost):
		require.Fail(s.t, "the prompt has not ended", "%q", s.seen.String())
	}
	return s
}

func (s *seat) commands() (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.ran {
		all = append(all, r.Command)
	}
	return all
}

func TestEachLineIsACommandOnAllHosts(t *testing.T) {
	s := sit(t, context.Background(), nil)
	s.sees("3 hosts: web1,web2,db1. Each line runs on all of them").sees("3 hosts> ").types("uname -a\r").sees("3 hosts> ")
	s.types("\r").sees("3 hosts> ").types("false\r").sees("3 hosts, 2 failed> ").types("\x04").ends()
	require.NoError(t, s.err)
	assert.Equal(t, 1, s.code, "that of the last command")
	assert.Equal(t, []prompt.Request{{Command: "uname -a", Hosts: []int{0, 1, 2}, Forks: 7}, {Command: "false", Hosts: []int{0, 1, 2}, Forks: 7}}, s.ran)
}

func TestThePromptHasCommandsOfItsOwn(t *testing.T) {
	s := sit(t, context.Background(), nil)
	s.sees("> ").types(":only failed\r").sees("2 hosts: web1,db1").sees("2 of 3 hosts> ")
	s.types("a\r").sees("> ").types(":fold\r").sees("grouped").sees("> ").types(":forks 3\r").sees("> ").types("b\r").sees("> ")
	s.types(":only ok\r").sees("no host is ok").sees("2 of 3 hosts> ").types(":only nowhere\r").sees("no such host").sees("2 of 3 hosts> ")
	s.types(":all\r").sees("3 hosts> ").types(":diff\r").sees("compared").sees("> ").types("c\r").sees("> ")
	s.types(":diff off\r").sees("line by line").sees("> ").types("d\r").sees("> ").types(":hosts\r").sees("3 hosts: web1,web2,db1\r\n").sees("> ")
	for _, tt := range [][2]string{
		{":become", ":become takes an account, as in :become root, or none"}, {":become a b", "must not contain"}, {":forks many", ":forks takes a number of hosts, as in :forks 20; it is 3"},
		{":only", ":only takes failed, ok, unreachable, notrun or a selector"}, {":hosts web", ":hosts takes no arguments"},
		{":nothing", "there is no :nothing; :help lists what there is"}, {":fold maybe", ":fold takes on or off"}, {":help", ":only WHICH     go on with"},
		{"cd /srv", "cd alone has no effect"},
	} {
		s.types(tt[0] + "\r").sees(tt[1]).sees("> ")
	}
	s.types(": a command of the shell\r").sees("> ").types("cd /srv && make\r").sees("> ").types(":quit\r").ends()
	require.NoError(t, s.err)
	assert.Equal(t, []prompt.Request{
		{Command: "a", Hosts: []int{0, 2}, Forks: 7}, {Command: "b", Hosts: []int{0, 2}, Form: prompt.Fold, Forks: 3},
		{Command: "c", Hosts: []int{0, 1, 2}, Form: prompt.Diff, Forks: 3}, {Command: "d", Hosts: []int{0, 1, 2}, Forks: 3},
		{Command: ": a command of the shell", Hosts: []int{0, 1, 2}, Forks: 3}, {Command: "cd /srv && make", Hosts: []int{0, 1, 2}, Forks: 3},
	}, s.ran)
	assert.Equal(t, []string{"failed", "ok", "nowhere"}, s.only)
}

const up = "\x1b[A"

func TestEarlierCommandsComeBack(t *testing.T) {
	s := sit(t, context.Background(), nil)
	s.sees("> ").types(up + "\r").sees("> ").types("ls\r").sees("> ")
	s.types(up + up + up + "\r").sees("> ") // ls, uptime -p, df -h: each once, and none of two lines
	s.types("up\t\r").sees("> ").types("exit\r").ends()
	assert.Equal(t, []string{"uptime -p", "ls", "df -h", "uptime -p"}, s.commands())
}

func TestTabCompletesWhatThePromptAndItsCallerKnow(t *testing.T) {
	s := sit(t, context.Background(), func(c *prompt.Config) {
		c.Complete = func(_ context.Context, line string, at int) (string, []string) {
			blank := strings.LastIndex(line[:at], " ") + 1
			switch word := line[blank:at]; {
			case strings.HasPrefix(word, "/etc/"):
				return line[:blank], []string{"/etc/hosts", "/etc/hostname"}
			case strings.HasPrefix(word, "/"):
				return line[:blank], []string{"/etc/", "/exe"}
			}
			return "", nil
		}
	})
	const asks = "\x1b[?2004h2 of 3 hosts> " // once a line: what completes writes the prompt again
	s.sees("> ").types(":on\tfa\t\r").sees(asks).types("ls /e\t").sees("/etc/  /exe").types("xe\r").sees(asks)
	s.types("ls /etc/h\t").sees("/etc/host").types("\t").sees("/etc/hosts  /etc/hostname").types("s\r").sees(asks)
	s.types("zzz\t!\r").sees(asks).types("\x04").ends()
	assert.Equal(t, []string{"ls /exe", "ls /etc/hosts", "zzz!"}, s.commands())
}

// Keys are what terminals send for them: those in tmux and screen, in application mode, and of consoles.
func TestKeysAreTheSameInEachTerminal(t *testing.T) {
	s := sit(t, context.Background(), nil)
	for _, home := range []string{"\x01", "\x1b[H", "\x1b[1~", "\x1b[7~", "\x1bOH"} {
		for _, end := range []string{"\x05", "\x1b[F", "\x1b[4~", "\x1b[8~", "\x1bOF"} {
			s.sees("3 hosts> ").types("cho a").types(home).types("e").types(end).types("b\r")
		}
	}
	s.sees("3 hosts> ").types("one two\x1b").types("[1;5D").types("\x1bb\x1bfx\x1bOD\x1bODy\r").sees("3 hosts> ").types("\x1bOAz\r").sees("3 hosts> ")
	s.types("\x1b[200~a\x1bbc\x1b[201~d\r").sees("3 hosts> ").types("\x04").ends()
	all := s.commands()
	for _, one := range all[:25] {
		assert.Equal(t, "echo ab", one)
	}
	assert.Equal(t, []string{"oney xtwo", "oney xtwoz"}, all[25:27])
	assert.NotContains(t, all[27], "\x01")
}

// ^R finds lines that hold what is typed, and goes on to older ones.
func TestEarlierLinesAreSearched(t *testing.T) {
	s := sit(t, context.Background(), nil)
	s.sees("3 hosts> ").types("echo time\r").sees("3 hosts> ").types("date\r").sees("3 hosts> ")
	s.types("time\x12\r").sees("3 hosts> ").types("tim\x12\x12\r").sees("3 hosts> ").types("nosuch\x12\r").sees("3 hosts> ").types("df\x12\x12 /\r").sees("3 hosts> ").types("\x04").ends()
	assert.Equal(t, []string{"echo time", "date", "echo time", "uptime -p", "nosuch", "df -h /"}, s.commands())
}

// A line that is typed is drawn for the width that the window has now.
func TestTheLineFollowsTheSizeOfTheWindow(t *testing.T) {
	s := sit(t, context.Background(), nil)
	s.sees("3 hosts> ").types("echo one two").sees("echo one two")
	require.NoError(t, pty.Setsize(s.tty(), &pty.Winsize{Rows: 30, Cols: 20}))
	require.NoError(t, unix.Kill(unix.Getpid(), unix.SIGWINCH)) // what the system does for those whose terminal it is
	s.sees("3 hosts> echo one tw\r\no").types(" three\r").sees("3 hosts> ").types("\x04").ends()
	require.NoError(t, s.err)
	assert.Equal(t, []string{"echo one two three"}, s.commands())
}

func TestAnInterruptDropsTheLineThatIsTyped(t *testing.T) {
	s := sit(t, context.Background(), nil)
	s.sees("> ").types("rm -rf /srv\x1b[D\x1b[D\x03").sees("\r\n").sees("3 hosts> ").types("date\r").sees("> ").types("\x03").sees("> ").types("\x04").ends()
	require.NoError(t, s.err)
	assert.Equal(t, []string{"date"}, s.commands())
}

func TestWhatIsPastedRunsWithEnterAndAsOneCommand(t *testing.T) {
	s := sit(t, context.Background(), nil)
	s.sees("3 hosts> ").types("\x1b[200~cd /srv\rmake all\r\x1b[201~").sees("(pasted) > ").sees("(pasted) > ")
	assert.Empty(t, s.commands(), "nothing runs by being pasted")
	s.types("\r").sees("3 hosts> ").types("\x1b[200~one\rtwo\x1b[201~").sees("(pasted) > ").sees("two").types(" three\r").sees("3 hosts> ")
	s.types("\x1b[200~evil\rmore\r\x1b[201~").sees("(pasted) > ").sees("(pasted) > ").types("\x03").sees("3 hosts> ").types("\x04").ends()
	require.NoError(t, s.err)
	assert.Equal(t, []string{"cd /srv\nmake all", "one\ntwo three"}, s.commands())
}

// What is too long is not run in part: the rest of it is another command.
func TestWhatIsTooLongIsNotRunInPart(t *testing.T) {
	s := sit(t, context.Background(), nil)
	s.sees("3 hosts> ").types("\x1b[200~" + strings.Repeat("echo "+strings.Repeat("x", 1000)+"\r", 70) + "rm -rf /srv\r\x1b[201~").sees("rm -rf /srv").sees("(pasted) > ")
	s.types("\r").sees("more than 65536 bytes were pasted, and nothing of it was run: use --script FILE").sees("3 hosts> ")
	s.types("rm -rf " + strings.Repeat("x", 4096) + "/old\r").sees("the line has 4096 characters, as many as can be typed").sees("3 hosts> ")
	s.types("date\r").sees("3 hosts> ").types("\x04").ends()
	require.NoError(t, s.err)
	assert.Equal(t, []string{"date"}, s.commands())
}

func TestThePromptEndsWithItsContextAndWithItsTerminal(t *testing.T) {
	why := errors.New("terminated")
	ctx, cancel := context.WithCancelCause(context.Background())
	s := sit(t, ctx, nil)
	s.sees("> ").types("half a li")
	cancel(why)
	s.ends()
	assert.Equal(t, why, s.err)
	assert.Empty(t, s.commands())

	s = sit(t, context.Background(), nil)
	s.sees("> ")
	require.NoError(t, s.master.Close())
	s.ends()
	assert.NoError(t, s.err)

	broken := errors.New("standard output was closed")
	s = sit(t, context.Background(), func(c *prompt.Config) {
		c.Run = func(context.Context, prompt.Request) (prompt.Answer, error) { return prompt.Answer{Code: 141}, broken }
	})
	s.sees("> ").types("yes\r").ends()
	assert.Equal(t, broken, s.err)
}

func TestTheTerminalIsAsItWasWhileACommandRuns(t *testing.T) {
	running, goOn := make(chan struct{}), make(chan struct{})
	s := sit(t, context.Background(), func(c *prompt.Config) {
		c.Run = func(context.Context, prompt.Request) (prompt.Answer, error) {
			close(running)
			<-goOn
			return prompt.Answer{}, nil
		}
	})
	interrupts := func() bool {
		raw, err := s.master.SyscallConn()
		require.NoError(t, err)
		var now *unix.Termios
		require.NoError(t, raw.Control(func(fd uintptr) { now, err = unix.IoctlGetTermios(int(fd), getTermios) }))
		require.NoError(t, err)
		return now.Lflag&unix.ISIG != 0
	}
	s.sees("> ")
	assert.False(t, interrupts(), "keys are read one by one")
	s.types("sleep 9\r")
	<-running
	assert.True(t, interrupts(), "^C is a signal")
	close(goOn)
	s.sees("> ").types("\x04").ends()
}

func TestLaterLinesRunAsTheAccountThatWasSaid(t *testing.T) {
	s := sit(t, context.Background(), nil)
	s.sees("> ").types("a\r").sees("> ").types(":become root\r").sees("> ").types("b\r").sees("> ").types(":become -x\r").sees("must not").sees("> ")
	s.types("c\r").sees("> ").types(":become none\r").sees("> ").types("d\r").sees("> ").types("\x04").ends()
	require.NoError(t, s.err)
	var as []string
	for _, r := range s.ran {
		as = append(as, r.Command+" "+r.Become)
	}
	assert.Equal(t, []string{"a ", "b root", "c root", "d none"}, as)
}
