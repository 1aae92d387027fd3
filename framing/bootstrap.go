package framing

import (
	"bytes"
	"errors"
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

	// Reader forces how standard error is read: "perl", "hexdump" or "lines". "" takes the first of them that the host
	// has. Tests use it.
	Reader string
}

// Loader returns the command line that opens a shell's handshake. It means the same to every login shell that sshd may
// hand it to, fish and tcsh included: one line, no backslash, no "!", single quotes around everything that matters. It
// prints the nonce when it waits for [Bootstrap]'s text. noflsh keeps what is on its way when ^C is typed: without it the
// terminal throws that away, marks included (termios(3)).
func Loader(nonce Token) string {
	a, b := string(nonce[:TokenLen/2]), string(nonce[TokenLen/2:])
	return `exec sh -c 'stty raw -echo isig -iexten noflsh 2>/dev/null;printf %s%s%s ` + a + ` ` + b + ` R;IFS= read -r _fl_x;eval "$_fl_x"'`
}

// loaderRest is the first line that the loader reads: it reads the others, as far as an RS on its own.
const loaderRest = `_fl_n=$(printf '\n.');_fl_n=${_fl_n%.};_fl_x=;while IFS= read -r _fl_l;do case $_fl_l in (^)break;;esac;_fl_x=$_fl_x$_fl_l$_fl_n;done;eval "$_fl_x"` + "\n"

// cleanEnvironment unsets what the account brings. A line of a value that looks like a variable names one that is unset
// too, or none.
const cleanEnvironment = `for _fl_x in $(env|sed -n 's/=.*//p'); do case $_fl_x in
(HOME|USER|LOGNAME|SHELL|PATH|LANG|TERM|PWD|_fl_*|*[!A-Za-z0-9_]*|[0-9]*) ;; (*) unset $_fl_x 2>/dev/null;; esac; done
`

// cleanIdentity sets what the account did not bring of the variables that are left.
const cleanIdentity = `case ${LOGNAME:-} in ('') LOGNAME=${USER:-$(id -un 2>/dev/null)};; esac
case ${USER:-} in ('') USER=$LOGNAME;; esac
case ${HOME:-} in ('') HOME=$(cd && pwd);; esac
case ${LANG:-} in ('') LANG=C; for _fl_x in /usr/lib/locale/C.utf8 /usr/lib/locale/C.UTF-8; do test -d $_fl_x && LANG=C.UTF-8; done;; esac
TERM=dumb
export HOME USER LOGNAME PATH LANG TERM
`

// cleanShell comes before a clean shell's driver: what is the shell's own and no program's.
const cleanShell = "PAGER=cat\n"

// environment is what every shell gets: nothing that pages, asks, colours or keeps a history.
const environment = `unset HISTFILE PROMPT_COMMAND BASH_ENV ENV CDPATH
TERM=dumb PAGER=cat GIT_PAGER=cat GH_PAGER=cat SYSTEMD_PAGER=cat MANPAGER=cat NO_COLOR=1
GIT_TERMINAL_PROMPT=0 GIT_ASKPASS= SSH_ASKPASS= GH_PROMPT_DISABLED=1 DEBIAN_FRONTEND=noninteractive
export TERM PAGER GIT_PAGER GH_PAGER SYSTEMD_PAGER MANPAGER NO_COLOR
export GIT_TERMINAL_PROMPT GIT_ASKPASS SSH_ASKPASS GH_PROMPT_DISABLED DEBIAN_FRONTEND
for _fl_x in /usr/lib/locale/C.utf8 /usr/lib/locale/C.UTF-8; do test -d $_fl_x && { LC_ALL=C.UTF-8; export LC_ALL; }; done
`

// pickShell sets the positional parameters to the shell's command line. s is the name asked for, w is y for a login
// shell.
const pickShell = `_fl_f() { printf '^%s%sF%s\n' @1 @2 "$*"; read -r _fl_x; exit 1; }
_fl_o=$_fl_s
case $_fl_s in
(''|auto) case ${SHELL##*/} in (bash|zsh|ksh|ksh93|mksh|dash|ash) _fl_s=$SHELL;; (*) _fl_s=$(command -v bash)||_fl_s=$(command -v sh);; esac;;
(ksh) _fl_s=$(command -v ksh)||_fl_s=$(command -v mksh)||_fl_s=$(command -v ksh93);;
(*) _fl_s=$(command -v $_fl_o);;
esac
set -- "$_fl_s"
case $_fl_o$_fl_s in (ash) _fl_s=$(command -v busybox) && set -- "$_fl_s" ash;; esac
case $_fl_s in ('') _fl_f "there is no $_fl_o on the host";; esac
case $_fl_w$_fl_s in
(y*/zsh) set -- "$@" -l;; (*/zsh) set -- "$@" -f;;
(y*/bash) set -- "$@" -l;; (*/bash) set -- "$@" --norc --noprofile;;
(y*) set -- "$@" -l;;
esac
_fl_o=${_fl_s##*/}
case $_fl_o in (busybox) _fl_o=ash;; esac
`

// pickReader starts the supervisor with the best reader of the host; e is the one asked for. What the programs are travels in
// the environment, so that their lines in the host's list of processes are short, and hold no word that somebody looks for
// there: "sh -c" and eval neither.
const pickReader = `case $_fl_e in ('') for _fl_x in perl hexdump; do command -v $_fl_x >/dev/null 2>&1 && _fl_e=$_fl_x && break; done;; esac
export fairlead _fl_d
case $_fl_e in (perl) export _fl_p; exec perl -e 'eval$ENV{_fl_p}' "$@" +x -c '\e\v\a\l "$fairlead"' "$_fl_o";; esac
_fl_s=$1; shift; _fl_x=$*
export _fl_h _fl_e _fl_s _fl_x _fl_o
exec sh +x -c '\e\v\a\l "$_fl_h"' fairlead
`

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
	var b bytes.Buffer
	b.WriteString(withMarks(loaderRest, nonce))
	if sh.Clean {
		b.WriteString(cleanEnvironment)
		b.WriteString(cleanIdentity)
	} else {
		b.WriteString(environment)
	}
	for _, kv := range sh.Env {
		if !isVariable(kv) {
			return nil, errVariable
		}
		if err := appendLine(&b, "export ", kv); err != nil {
			return nil, err
		}
	}
	if sh.Dir != "" {
		if err := appendLine(&b, "cd ", sh.Dir); err != nil {
			return nil, err
		}
	}
	program := sh.Prelude + withMarks(driver, nonce)
	if sh.Clean {
		program = cleanShell + program
	}
	login := ""
	if sh.Login {
		login = "y"
	}
	for _, v := range [][2]string{
		{"_fl_d=", program},
		{"fairlead=", withMarks(driverCall, nonce)},
		{"_fl_p=", withMarks(perlSupervisor, nonce)},
		{"_fl_h=", withMarks(shellSupervisor, nonce)},
		{"_fl_s=", sh.Name},
		{"_fl_e=", sh.Reader},
		{"_fl_w=", login},
	} {
		b.WriteString(v[0])
		b.Write(appendSingleQuoted(nil, v[1]))
		b.WriteByte('\n')
	}
	b.WriteString(withMarks(pickShell, nonce))
	if sh.Clean {
		b.WriteString("unset SHELL\n") // it was needed to pick one
	}
	b.WriteString(pickReader)
	b.WriteString("\x1e\n")
	return b.Bytes(), nil
}

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
