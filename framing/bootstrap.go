package framing

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
)

// Shell says which shell to start and how.
type Shell struct {
	Name  string   // "bash", "zsh", "ksh", "dash", "ash" or "sh"; "" or "auto" is the account's, else bash, else sh
	Login bool     // read the account's profile first
	Dir   string   // directory to start in; "" is where the account's login leads
	Env   []string // "KEY=value" pairs, exported

	// Clean starts the shell with HOME, USER, LOGNAME, PATH, LANG and TERM alone, and with Env. Those that the account does
	// not bring are set. Shells themselves export PWD, OLDPWD, SHLVL and _, each as it does, and ksh93 A__z and _AST_FEATURES.
	Clean bool

	// Prelude is what the shell runs in itself before anything else, as its functions: source that means the same in every
	// [Dialect]. It must print nothing.
	Prelude string

	// Hold, if not "", is perl that the supervisor's child runs before it becomes the shell, and that restricts it: package session/held
	// has it. Its value says what restricts the shell, for [Hello].HeldBy, and what it dies with why nothing does: then there is no
	// shell, but a *[UnheldError], as where the host has neither perl nor python3. The child finds in TMPDIR a directory of its own, which the
	// supervisor removes. In $_[0] it finds a descriptor of a pair of local streams, over which it may pass another one to Watch,
	// with a zero as the first of two bytes. Where Watch answers nothing, what it reads there ends.
	Hold string

	// Watch, if not "", is perl for the supervisor where Hold has passed a descriptor to it: @_ holds the end of the pair where that waits,
	// the shell's process id and the shell's TMPDIR. Its value is a list of the descriptor to wait for, a sub that is called when there
	// is something to read, and one that ends what the shell has left running. What the first sub returns become events of the kind [Refused]; undef at the end is the last of them. Where the shell
	// leaves files or processes behind when it ends, "left;FILES;PROCESSES" is another one.
	Watch string

	// HoldPython and WatchPython, if not "", are the same for the python3 (3.6 or newer) of a host that has no perl. HoldPython defines
	// hold(CHANNEL, ENVIRONMENT), which the child calls with that descriptor and the shell's environment, a dict of bytes that it may change;
	// it returns what restricts the shell, or raises why nothing does. WatchPython defines watch(CHANNEL, PID, TMPDIR), which returns a
	// tuple of the descriptor and two functions, or (). The first one returns a list of bytes, None at the end. See [BootstrapPython].
	HoldPython, WatchPython string

	// Reader forces how standard error is read: "perl", "hexdump" or "lines". "" takes the first of them that the host
	// has. Tests use it.
	Reader string

	// NoPerl does without the host's perl, which does not start.
	NoPerl bool
}

// Loader returns the command line that opens a shell's handshake. It means the same to every login shell that sshd may
// hand it to, fish and tcsh included. It prints the nonce when it waits for [Bootstrap]'s text.
func Loader(nonce Token) string { return forLogin(withMarks(loaderText(), nonce), "") }

// Bootstrap returns what to type once the loader has printed nonce. It starts the supervisor and the shell, which say
// hello; see [Startup]. A value that holds a NUL byte is refused with a *QuoteError.
//
// # On the host
//
// The account's login shell runs the loader and is replaced by it. Two processes stay: the shell that runs the
// commands, with a small driver as its program, and a supervisor, its parent, which relays the shell's two pipes to the
// terminal. So a command's output is no terminal (programs print as they do into a pipe), a flood on either stream is
// held back by flow control, and no file is made. A command that starts no process costs none. The supervisor is perl
// where there is perl, else sh with cat and hexdump, else sh alone, which reads errors by line and is told as such.
//
// Their programs come in the environment, and are taken out of it: in the host's list of processes each of them has a short
// line that says fairlead, without words that people search for.
func Bootstrap(nonce Token, sh Shell) ([]byte, error) {
	var settings bytes.Buffer
	for _, kv := range sh.Env {
		if !isVariable(kv) {
			return nil, errVariable
		}
		if err := appendLine(&settings, "export ", kv); err != nil {
			return nil, err
		}
	}
	if sh.Dir != "" {
		if err := appendLine(&settings, "cd ", sh.Dir); err != nil {
			return nil, err
		}
	}
	text, program := bootstrapText(), sh.Prelude+withMarks(driverText(), nonce)
	if sh.Clean {
		text, program = bootstrapCleanText(), shellCleanText()+"\n"+program
	}
	login := ""
	if sh.Login {
		login = "y"
	}
	supervisor, pick := perlSupervisorText(), ""
	if sh.Hold != "" {
		pick = withMarks(holdPickText(), nonce, "perl", perlOf(sh.NoPerl)) + "\n"
		supervisor, sh.Reader = perlSupervisorHeldText(), "perl"
	}
	text = withMarks(text, nonce,
		"settings", settings.String(),
		"hold_pick", pick,
		"perl", perlOf(sh.NoPerl),
		"driver", word(program),
		"driver_call", word(withMarks(driverCallText(), nonce)),
		"supervisor_pl", word(withMarks(supervisor, nonce, "hold", perlWord.Replace(sh.Hold), "watch", perlWord.Replace(sh.Watch))),
		"supervisor_sh", word(withMarks(shellSupervisorText(), nonce)),
		"shell", word(sh.Name),
		"reader", word(sh.Reader),
		"login", word(login))
	return toRead(nonce, text), nil
}

// BootstrapPython returns what to type once [Startup.Python] says that the host wants it: it has no perl for sh.Hold, but python3.
// Only HoldPython and WatchPython of sh are used.
func BootstrapPython(nonce Token, sh Shell) ([]byte, error) {
	if sh.HoldPython == "" {
		return nil, &UnheldError{"it has no perl"}
	}
	var b []byte
	for _, text := range []string{pythonHoldBeginText(), sh.HoldPython, withMarks(pythonSupervisorText(), nonce), sh.WatchPython} {
		b = append(append(strconv.AppendInt(b, int64(len(text)), 10), '\n'), text...)
	}
	return b, nil
}

// perlOf is the name by which a host's programs look for perl: one that is found nowhere for a perl that does not start.
func perlOf(none bool) string {
	if none {
		return "/dev/null/perl"
	}
	return "perl"
}

// toRead returns what is typed at a loader that is to evaluate text.
func toRead(nonce Token, text string) []byte {
	text += "\n\x1e\n"
	return []byte(withMarks(readBootstrapText(), nonce, "size", strconv.Itoa(len(text))) + "\n" + text)
}

// word quotes what holds no NUL byte.
func word(text string) string { return string(appendSingleQuoted(nil, text)) }

// perlWord makes text what stands between single quotes of perl.
var perlWord = strings.NewReplacer(`\`, `\\`, `'`, `\'`)

var errVariable = errors.New("framing: a variable for the shell must be NAME=value, with a NAME of letters, digits and _")

func isVariable(kv string) bool {
	name, _, ok := strings.Cut(kv, "=")
	if !ok || name == "" || '0' <= name[0] && name[0] <= '9' {
		return false
	}
	for i := range len(name) {
		if c := name[i]; c == '-' || !isTokenByte(c) {
			return false
		}
	}
	return true
}

// appendLine writes a builtin with one quoted word, over as many short lines as it takes.
func appendLine(b *bytes.Buffer, builtin, word string) error {
	if i := strings.IndexByte(word, 0); i >= 0 {
		return &QuoteError{Offset: i}
	}
	b.WriteString(builtin)
	q := lineQuoter{dst: b.AvailableBuffer()}
	q.text(word)
	b.Write(q.finish())
	b.WriteByte('\n')
	return nil
}
