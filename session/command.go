package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/become"
	"github.com/fairlead-ssh/fairlead/session/internal/seam"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// Command is the unit of work.
type Command struct {
	// Script is shell source, sent as it is. Use [Words] for exact words. A NUL byte cannot be sent.
	Script string

	// Scripts, if not nil, is asked for the Script of each host that Pool.Each runs the command on, instead of Script. It must say
	// the same every time. Pool.Run asks it too; a session's own command refuses it.
	Scripts func(h hosts.Host) string

	// Dir, if not "", is the directory in which the command runs; a relative one is below the session's. Env are variables for
	// the command alone, as "KEY=value". With either the command runs in a subshell, and so leaves the directory, the variables
	// and the functions of the session as they were. Both are part of the text that is judged, approved, recorded and sent: see
	// [Result].Command. Where Dir cannot be entered the command does not begin, and its exit code is that of cd. They do not go
	// with Program.
	Dir string
	Env []string

	// Become, if not "", is the account as which the command runs, instead of Host.Become's; hosts.NoBecome is the one that logs in.
	// Pool.Run and Pool.Each take any; a session's commands all run as one account, and another one is an error there.
	Become string

	// Timeout is how long the command may run; then it is stopped and the session goes on. Zero or negative means no
	// limit.
	Timeout time.Duration

	// Idle is how long the command may print nothing; then it is stopped like one whose time is up. Zero or negative
	// means no limit.
	Idle time.Duration

	// SlotWait is how long the command may wait for a slot on a host on which sessions hold all of them; then its error is a
	// [FullError]. Zero or negative means the least of Timeout, the host's ConnectTimeout and DefaultSlotWait.
	SlotWait time.Duration

	// Stdin, if not nil, is the command's standard input, read to its end; nil is /dev/null. Its bytes pass exactly, as
	// fast as the command reads. The command's end does not wait for a Read that blocks. What is read ahead of the
	// command's end and not taken by it is lost. Pool.Each takes it for one host, and refuses it for several.
	Stdin io.Reader

	// Stdins, if not nil, is asked for the standard input of each host that Pool.Each runs the command on, instead of Stdin. Where
	// Scripts is refused, so is it.
	Stdins func(h hosts.Host) io.Reader

	// Interactive gives the command a terminal, cooked and with echo, of the given Size: what it prints is standard
	// output as a screen gets it, and [Exec.Input] types. It has no Stdin, and is always Merged.
	Interactive bool
	Size        Size // zero means 24 rows of 80 columns; else both are from 1 to 65535

	// Merged gives both streams as standard output, in the order in which they were written.
	Merged bool

	// Stdout and Stderr, if not nil, get every byte as it arrives, from one goroutine. A writer that blocks holds the
	// command back, also where it is stopped: Run, Stop and Close return once its Write has. A writer that fails gets nothing
	// more; the command goes on, and the Result's error says so. Pool.Each writes what several hosts print from many
	// goroutines: see Streams.
	Stdout, Stderr io.Writer

	// Streams, if not nil, is asked for the writers of each host that Pool.Each runs the command on, instead of Stdout
	// and Stderr. It is called once per host, from many goroutines. Other calls refuse it.
	//
	// What it returns is closed, where it is an [io.Closer], once the host's command has ended, and before the Result is
	// yielded: then all bytes have come. os.Stdout and os.Stderr are never closed. An error of Close is one of writing.
	Streams func(h hosts.Host) (stdout, stderr io.Writer)

	// Keep bounds the bytes of each stream that the Result holds: the first half and the last half of them. Zero means
	// DefaultKeep; negative keeps nothing.
	Keep int

	// Program runs Script, which is what Words returns, as a program with exact arguments (structured mode): no function, alias
	// or builtin of the shell takes its place, and it runs in a clean shell where commands have shaped the session's. It is
	// started by env(1), so its name must be a program's, without "=".
	Program bool

	// Held runs it in a shell that the host's kernel holds to reading: a dry run, whose refusals are the command's own errors. It
	// is judged like any other. Where the host cannot hold it, nothing is sent; see ErrNotHeld. It does not go with Interactive,
	// files or jobs.
	Held bool

	// Approver, if not nil, is asked instead of the session's: the command was approved together with others.
	Approver policy.Approver

	// Unasked refuses it where it needs approval, and nobody is asked. What may be tried first is, see policy.First.
	Unasked bool

	// Sending, if not nil, is called instead of Config.Sending.
	Sending func(text string)

	// Reason is why the command is run, for the record.
	Reason string

	// Group, if not "", is on record with all that is recorded of the command: the same for all commands of one request.
	// Pool.Each makes one up for several hosts where there is none. The shells of such commands end a little later than they do, so
	// that this holds up no other host of the request.
	Group string

	// Forks, if more than zero, is how many hosts Pool.Each runs it on at a time, instead of PoolConfig.Forks.
	Forks int

	inner inner
}

// ScriptOn is the Script for a host: that of Scripts, where there are any.
func (c *Command) ScriptOn(h hosts.Host) string {
	if c.Scripts != nil {
		return c.Scripts(h)
	}
	return c.Script
}

// Words returns shell source that runs exactly these words: the first is the command, builtins included. Each word is as
// it was given where it can be, and quoted where it must be; a bare command name gets a backslash, which keeps it from
// being an alias or a reserved word. Words fails only for words that hold a NUL byte.
func Words(words ...string) (string, error) { return framing.QuoteWords(words) }

// Text is what is judged, approved, recorded and sent: Script with Dir and Env.
func (c Command) Text() (string, error) { return c.surrounded() }

// surrounded is the script of a command with its Dir and Env: a subshell, so that neither outlives it. The script is the
// argument of eval, so that it begins and ends there whatever it holds.
func (c *Command) surrounded() (string, error) {
	if c.Dir == "" && len(c.Env) == 0 {
		return c.Script, nil
	}
	if c.Program || c.inner.action != nil || c.inner.wrapping != nil {
		return "", errors.New("Command.Dir and Command.Env go with shell source alone: not with Program, files or jobs")
	}
	var steps []string
	if c.Dir != "" {
		dir := c.Dir
		if dir != "." && dir != ".." && !strings.HasPrefix(dir, "/") && !strings.HasPrefix(dir, "./") && !strings.HasPrefix(dir, "../") {
			dir = "./" + dir // not "-", and not what CDPATH leads to
		}
		q, err := framing.Quote(dir)
		if err != nil {
			return "", fmt.Errorf("Command.Dir: %w", err)
		}
		steps = append(steps, `\cd -- `+q)
	}
	for _, kv := range c.Env {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || !isName(name) {
			return "", errors.New("Command.Env: each entry is KEY=value, with a KEY of letters, digits and _")
		}
		q, err := framing.Quote(value)
		if err != nil {
			return "", fmt.Errorf("Command.Env: %s: %w", name, err)
		}
		steps = append(steps, `\export `+name+"="+q)
	}
	script, err := evaluating(c.Script)
	if err != nil {
		return "", err
	}
	return "(" + strings.Join(append(steps, script), " && ") + ")", nil
}

// evaluating returns shell source that evaluates script. Behind a blank, a script that begins with "-" is no option of eval's.
func evaluating(script string) (string, error) {
	if strings.HasPrefix(script, "-") {
		script = " " + script
	}
	q, err := framing.Quote(script)
	if err != nil {
		return "", err
	}
	return `\eval ` + q, nil
}

// isName reports whether s is the name of a shell's variable.
func isName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c != '_' && !('a' <= c && c <= 'z') && !('A' <= c && c <= 'Z') && (i == 0 || !('0' <= c && c <= '9')) {
			return false
		}
	}
	return s != ""
}

// inner is what packages below this one do with a command: see package seam.
type inner struct {
	action   seam.Action[Transport] // done instead of running Script, which then says for the policy what the action means
	wrapping seam.Wrapping          // says what is sent instead of Script, which is judged all the same
	own      bool                   // nobody has asked for the command: it makes the session ready
	needed   bool                   // without its success the session takes no more commands
}

func init() {
	seam.Act = func(cmd, action any) { cmd.(*Command).inner.action = action.(seam.Action[Transport]) }
	seam.Wrap = func(cmd any, w seam.Wrapping) { cmd.(*Command).inner.wrapping = w }
	seam.Own = func(cmd any) { cmd.(*Command).inner.own = true }
	seam.Need = func(cmd any) { cmd.(*Command).inner.needed = true }
	seam.Lend = func(ctx context.Context, pool any, h hosts.Host, use any) (func(), error) {
		return pool.(*Pool).lend(ctx, h, use.(func(Transport) error))
	}
	seam.Traced = func(ctx context.Context, trace any, h hosts.Host) context.Context {
		return trace.(*Trace).dialing(ctx, h)
	}
	seam.Elevate = func(t any, h hosts.Host, ask any) any {
		return newElevation(h, &Config{Become: ask.(become.Ask), Ready: DefaultReady}).on(t.(Transport))
	}
}
