package run

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/reason"
	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session"
)

// maxScript bounds a script: it is held in memory, here and by the shell that reads it.
const maxScript = 64 << 20

// script reads --script and returns the shell source to send, and the shell that its first line names, "" if it names
// none. Every error is the caller's to correct.
func (o *Options) script() (source, shell string, err error) {
	name, in := o.ScriptFile, o.IO.In
	if name == "-" {
		name = "standard input"
	} else {
		f, err := os.Open(name)
		if err != nil {
			return "", "", cmdutil.Usagef("--script: %w", reason.File(name, err))
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, maxScript+1))
	if err != nil {
		return "", "", cmdutil.Usagef("--script: %w", reason.File(name, err))
	}
	source, shell, err = compose(text, o.Args)
	if err != nil {
		return "", "", cmdutil.Usagef("--script: %s %w", name, err)
	}
	return source, shell, nil
}

// compose puts before a script what gives it its arguments and the options of its first line, on that same line, so
// that the shell counts lines as the script's author does. The error continues a sentence that begins with its name.
func compose(text []byte, args []string) (source, shell string, err error) {
	if len(text) > maxScript {
		return "", "", fmt.Errorf("holds more than %d MiB", maxScript>>20)
	}
	if i := bytes.IndexByte(text, 0); i >= 0 {
		return "", "", fmt.Errorf("is not a shell script: it has a NUL byte at offset %d", i)
	}
	first, _, _ := strings.Cut(string(text[:min(len(text), 4096)]), "\n")
	shell, options, err := interpreter(first)
	if err != nil {
		return "", "", err
	}
	set, err := session.Words(append([]string{"set", "--"}, args...)...)
	if err != nil {
		return "", "", fmt.Errorf("cannot get its arguments: %w", err)
	}
	set += "; "
	if len(options) > 0 {
		more, err := session.Words(append([]string{"set"}, options...)...)
		if err != nil {
			return "", "", err
		}
		set += more + "; "
	}
	return set + string(text), shell, nil
}

// shells are the interpreters that read shell source, and the names that hosts know them by.
var shells = map[string]string{
	"sh": "sh", "bash": "bash", "dash": "dash", "ash": "ash", "zsh": "zsh", "ksh": "ksh", "ksh93": "ksh", "mksh": "ksh",
	"yash": "sh", "posh": "sh",
}

// Options of a shell that "set" knows, too.
var (
	setLetters = lazyregexp.New(`^[-+]([abefhmuvxBCET]+o?|o)$`)
	setName    = lazyregexp.New(`^[a-z]+$`)
)

// interpreter reads the first line of a script: the shell that it names, "" without #!, and the options it gives it.
func interpreter(line string) (shell string, options []string, err error) {
	line = strings.TrimSuffix(line, "\r")
	rest, ok := strings.CutPrefix(line, "#!")
	if !ok {
		return "", nil, nil
	}
	words := strings.Fields(rest)
	if len(words) > 1 && path.Base(words[0]) == "env" {
		words = words[1:]
		if words[0] == "-S" && len(words) > 1 {
			words = words[1:]
		}
	}
	if len(words) > 1 && path.Base(words[0]) == "busybox" {
		words = words[1:]
	}
	if len(words) == 0 {
		return "", nil, fmt.Errorf("begins with %q, which names no program", line)
	}
	program := path.Base(words[0])
	shell = shells[program]
	if shell == "" {
		return "", nil, fmt.Errorf("begins with %q, and only scripts for sh and its family are sent as shell source: "+
			"give it to its own interpreter, as in fairlead run TARGETS --stdin -- %s - < FILE", line, printable.Word(program))
	}
	options = words[1:]
	for i := 0; i < len(options); i++ {
		switch w := options[i]; {
		case w == "-" || w == "--":
			return shell, options[:i], nil
		case !setLetters.MatchString(w), strings.HasSuffix(w, "o") && (i+1 == len(options) || !setName.MatchString(options[i+1])):
			return "", nil, fmt.Errorf("begins with %q, and %s takes %q only when it starts: set what you need inside the script", line, program, w)
		case strings.HasSuffix(w, "o"):
			i++
		}
	}
	return shell, options, nil
}
