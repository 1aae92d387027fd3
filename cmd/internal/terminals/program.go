package terminals

import (
	"fmt"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// DefaultTerm is what programs are told about a terminal that has no name.
const DefaultTerm = "xterm-256color"

// termName keeps what is no name of a terminal from travelling.
var termName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$`)

// Term is the TERM to tell the host.
func Term(name string) string {
	if !termName.MatchString(name) {
		return DefaultTerm
	}
	return name
}

// Line is the command line that becomes the account's own login shell, on a terminal with the settings that a login
// would give it, and those that people change. Some transports start programs on raw ones, whatever they are asked for.
//
// It is read by the login shell, whichever that is, so it is one word in single quotes that holds neither a quote nor
// what fish and tcsh take for special in them: a backslash before a quote or a backslash, and an exclamation mark.
func Line(settings, env []string) string {
	var b strings.Builder
	b.WriteString("exec sh -c '")
	if len(settings) > 0 {
		// One setting that the host does not know makes stty change nothing.
		fmt.Fprintf(&b, "stty sane %s 2>/dev/null || ", strings.Join(settings, " "))
	}
	b.WriteString("stty sane 2>/dev/null; ")
	for _, kv := range env {
		if name, value, ok := strings.Cut(kv, "="); ok && variable.MatchString(name) {
			fmt.Fprintf(&b, "export %s=%s; ", name, word(value))
		}
	}
	b.WriteString(`exec "${SHELL:-/bin/sh}" -l'`)
	return b.String()
}

var (
	variable = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
	plain    = lazyregexp.New(`^[A-Za-z0-9_@%+=:,./-]*$`)
)

// word gives value to sh: as it is where that is safe, else in octal, for printf to turn back.
func word(value string) string {
	if plain.MatchString(value) {
		return value
	}
	var b strings.Builder
	b.WriteString(`"$(printf "`)
	for _, c := range []byte(value) {
		fmt.Fprintf(&b, `\%03o`, c)
	}
	b.WriteString(`")"`)
	return b.String()
}
