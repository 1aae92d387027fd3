package session_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// upWriter reports the first thing that a command prints.
type upWriter struct {
	once sync.Once
	seen chan struct{}
}

func newUpWriter() *upWriter { return &upWriter{seen: make(chan struct{})} }

func (w *upWriter) Write(p []byte) (int, error) {
	w.once.Do(func() { close(w.seen) })
	return len(p), nil
}

// onEveryShell runs f on every shell on this machine, and on some over every other transport.
func onEveryShell(t *testing.T, f func(t *testing.T, s *session.Session)) {
	onEveryShellWithin(t, grace, f)
}

// onEveryShellWithin is onEveryShell with another grace for each step of a stop.
func onEveryShellWithin(t *testing.T, grace time.Duration, f func(t *testing.T, s *session.Session)) {
	t.Parallel()
	for _, via := range transports {
		t.Run(via.name, func(t *testing.T) {
			t.Parallel()
			connect := dialers[via.name](t)
			for _, shell := range shellsOver(via.name) {
				t.Run(shell, func(t *testing.T) {
					needShell(t, shell)
					t.Parallel()
					f(t, openWithin(t, connect(t), shell, grace))
				})
			}
		})
	}
}

// stopOnceUp starts a command, calls stop when it has printed something, and returns the Result.
func stopOnceUp(t *testing.T, s *session.Session, script string, stop func(x *session.Exec)) session.Result {
	t.Helper()
	up := newUpWriter()
	x, err := s.Start(t.Context(), session.Command{Script: script, Stdout: up})
	require.NoError(t, err)
	<-up.seen
	stop(x)
	<-x.Done()
	return x.Result()
}

// trapSettings are what a command may do against being stopped.
var trapSettings = []string{
	`:`, `trap "" INT`, `trap "" INT TERM`, `trap "echo cleanup" INT`, `trap : INT TERM HUP QUIT`, `trap "" HUP INT TERM`, `trap : INT TSTP`,
	`trap "" 1 2 3 15 20 23`, `for n in 1 2 3 10 12 13 14 15 20 21 22 23 24 29; do trap : $n; done`,
}

// No part of a command that is stopped runs after the part that was interrupted, whatever the command trapped or ignored.
// On this machine each setting meets each command in every other shell; over the other transports each setting and each command occur.
func TestStoppedIsStopped(t *testing.T) {
	onEveryShell(t, func(t *testing.T, s *session.Session) {
		dir := t.TempDir()
		marker := filepath.Join(dir, "marker")
		lib := filepath.Join(dir, "lib")
		require.NoError(t, os.WriteFile(lib, []byte("trap 'echo cleanup' INT TERM\n"), 0o600))
		for i, traps := range append(trapSettings, ". "+lib) {
			for j, part := range []string{"/bin/sleep 30; echo STILL; touch %s", "for i in 1 2 3; do /bin/sleep 30; touch %s; done", "(/bin/sleep 30); touch %s",
				`sh -c 'trap "" INT TERM; /bin/sleep 30; touch "$1"' sh %s`} {
				every := 2
				if needs.Sample || !strings.Contains(t.Name(), "/local/") {
					every = 4
				}
				if (i+j+slices.Index(shells, s.Host().Shell))%every != 0 {
					continue
				}
				if s.Host().Shell == "ksh" && strings.HasPrefix(part, "(") {
					continue // ksh93 may take the word in the subshell, and has forgotten it after that
				}
				script := traps + "; echo up; " + fmt.Sprintf(part, marker)
				r := stopOnceUp(t, s, script, (*session.Exec).Stop)
				assert.Equal(t, session.StatusCanceled, r.Status, script)
				assert.NotContains(t, string(r.Stdout), "STILL", script)
				require.NoFileExists(t, marker, script)
				r, err := s.Run(t.Context(), session.Command{Script: "trap - INT TERM HUP QUIT TSTP; echo ok"})
				require.NoError(t, err, script)
				assert.Equal(t, "ok\n", string(r.Stdout), script)
				s.Reset()
			}
		}
	})
}

// What stops a command may come between two of its parts, where no program runs: the next one may have started when it arrives.
func TestStoppedIsStoppedBetweenTwoParts(t *testing.T) {
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			needShell(t, shell)
			t.Parallel()
			// The names are in paths, and so in the script, from which Fairlead would know of the traps.
			for does, traps := range map[string]string{"nothing": ":", "cleans up": `trap "echo cleanup" INT TERM`, "goes on": "trap : INT; trap : TERM"} {
				for name, when := range map[string]gap{"before the key": {key: true}, "before the signals": {}, "never": {late: true}} {
					t.Run(does+", "+name, func(t *testing.T) { betweenTwoParts(t, shell, traps, when) })
				}
			}
		})
	}
}

// gap is where the program starts that no look at the shell's programs has seen.
type gap struct {
	key  bool // before ^C is typed, if it is
	late bool // never, unless the command goes on
}

func betweenTwoParts(t *testing.T, shell, traps string, when gap) {
	dir := t.TempDir()
	marker, lib, running := filepath.Join(dir, "marker"), filepath.Join(dir, "lib"), filepath.Join(dir, "running")
	require.NoError(t, os.WriteFile(lib, []byte(traps+"\n"), 0o600))
	pause := filepath.Join(dir, "pause")
	require.NoError(t, syscall.Mkfifo(running, 0o600))
	goOn := func() {
		assert.NoError(t, os.WriteFile(pause, nil, 0o600))
		f, err := os.Open(running) // opens with the program
		if assert.NoError(t, err) {
			f.Close()
		}
	}
	tr := gapTransport{Transport: transports[0].open(t)}
	switch {
	case when.key:
		tr.beforeKey = goOn
	case !when.late:
		tr.inLine = ": >" + pause + ";read x <" + running + ";"
	}
	s := openWithin(t, tr, shell, 4*time.Second)
	script := ". " + lib + "; echo up; until test -e " + pause + "; do :; done; sh -c 'echo >" + running + "; exec /bin/sleep 30'; touch " + marker
	r := stopOnceUp(t, s, script, (*session.Exec).Stop)
	assert.Equal(t, session.StatusCanceled, r.Status)
	require.NoFileExists(t, marker)
	if shell != "ksh" { // ksh93 hears of the key alone
		assert.Equal(t, "INT", r.StoppedBy)
	}
}

// gapTransport makes something happen in the middle of a stop.
type gapTransport struct {
	session.Transport
	beforeKey func()
	inLine    string // what the line does before it signals a shell that runs no program
}

func (t gapTransport) Open(ctx context.Context, p session.Program) (session.Stream, error) {
	const alone = ";else "
	p.Line = strings.Replace(p.Line, alone+"kill -URG", alone+t.inLine+"kill -URG", 1)
	s, err := t.Transport.Open(ctx, p)
	if err != nil || t.beforeKey == nil {
		return s, err
	}
	return gapStream{s, t.beforeKey}, nil
}

type gapStream struct {
	session.Stream
	beforeKey func()
}

func (s gapStream) Write(p []byte) (int, error) {
	if len(p) == 1 && p[0] == 3 {
		s.beforeKey()
	}
	return s.Stream.Write(p)
}

// The interrupt of a command that has just been started finds it, on the first step.
func TestStopRightAfterTheStart(t *testing.T) {
	onEveryShellWithin(t, 10*time.Second, func(t *testing.T, s *session.Session) {
		marker := filepath.Join(t.TempDir(), "marker")
		var took []time.Duration
		for i := range 6 {
			x, err := s.Start(t.Context(), session.Command{Script: []string{"/bin/sleep 100; touch " + marker, "while :; do :; done; touch " + marker}[i%2]})
			require.NoError(t, err)
			began := time.Now()
			x.Stop()
			took = append(took, time.Since(began))
			r := x.Result()
			assert.Equal(t, session.StatusCanceled, r.Status)
			assert.Contains(t, []string{"", "INT"}, r.StoppedBy) // "": it was not sent
			require.NoFileExists(t, marker)
		}
		slices.Sort(took)
		t.Logf("p50 %v, worst %v", took[len(took)/2], took[len(took)-1])
	})
}

// A signal that a caller sends ends the whole command too, and KILL whatever the command does.
func TestASignalEndsTheWholeCommand(t *testing.T) {
	onEveryShell(t, func(t *testing.T, s *session.Session) {
		marker := filepath.Join(t.TempDir(), "marker")
		for _, script := range []string{
			`trap "" INT TERM; echo up; while :; do /bin/sleep 1; done; touch ` + marker,
			`trap "" INT TERM; echo up; while :; do :; done; touch ` + marker,
			`trap "" INT TERM; echo up; /bin/sleep 30; touch ` + marker,
			`trap : INT TERM; echo up; /bin/sleep 30; touch ` + marker,
			`for n in 1 2 3 10 12 13 14 15 20 21 22 23 24 29; do trap : $n; done; echo up; while :; do /bin/sleep 1; done; touch ` + marker,
			`echo up; /bin/sleep 30; touch ` + marker,
		} {
			stopOnceUp(t, s, script, func(x *session.Exec) { require.NoError(t, x.Signal(t.Context(), "KILL")) })
			require.NoFileExists(t, marker, script)
			s.Reset()
		}
		for _, name := range []string{"INT", "TERM"} {
			stopOnceUp(t, s, `trap "echo cleanup" INT; echo up; /bin/sleep 30; touch `+marker, func(x *session.Exec) { require.NoError(t, x.Signal(t.Context(), name)) })
			require.NoFileExists(t, marker, name)
			s.Reset()
		}
	})
}

// Random commands: settings of traps, sleeps, and marks that say which part was reached.
func TestStoppedIsStoppedWhateverTheCommand(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	signals := []string{"INT", "TERM", "HUP", "QUIT", "USR1", "ALRM", "TSTP", "CHLD", "PIPE"}
	onEveryShell(t, func(t *testing.T, s *session.Session) {
		rnd := rand.New(rand.NewPCG(uint64(seed), 1))
		marker := filepath.Join(t.TempDir(), "marker")
		for range 6 {
			var b strings.Builder
			for range rnd.IntN(4) {
				fmt.Fprintf(&b, "trap %s %s\n", []string{`""`, ":", `"echo cleanup"`, "-"}[rnd.IntN(4)], signals[rnd.IntN(len(signals))])
			}
			sleep := []string{"/bin/sleep 30", "{ /bin/sleep 30; }", "/bin/sleep 30 | cat", "f", "eval '/bin/sleep 30'", "if /bin/sleep 30; then :; fi", "! /bin/sleep 30"}[rnd.IntN(7)]
			fmt.Fprintf(&b, "f() { /bin/sleep 30; touch %s; }\necho up\n", marker)
			fmt.Fprintf(&b, []string{"%s; touch %s", "%s && touch %s", "%s || touch %s", "while :; do %s; touch %s; done", "%s\n\ntouch %s\n"}[rnd.IntN(5)], sleep, marker)
			script := b.String()
			stopOnceUp(t, s, script, (*session.Exec).Stop)
			require.NoFileExists(t, marker, script)
			s.Reset()
		}
	})
}

// A key that comes just before a program is one may be forgotten by ksh93, and is typed again.
func TestAKeyThatAProgramHasMissedIsTypedAgain(t *testing.T) {
	needShell(t, "ksh")
	s := openWithin(t, transports[0].open(t), "ksh", 10*grace)
	for range 50 {
		r := stopOnceUp(t, s, "echo up; /bin/sleep 100; echo never", (*session.Exec).Stop)
		require.Equal(t, session.StatusCanceled, r.Status)
		require.Equal(t, "INT", r.StoppedBy)
		require.Equal(t, "up\n", string(r.Stdout))
	}
}
