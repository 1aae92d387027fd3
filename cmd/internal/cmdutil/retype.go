package cmdutil

import (
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session/redact"
)

// Retype returns the words of a command as a person types them after --, or COMMAND where they hold a secret: errors are
// kept in places where secrets must not be.
func Retype(words []string) string {
	safe, plain := Redactor(redact.New(redact.Config{})), strings.Join(words, " ")
	if safe(plain) != plain {
		return "COMMAND"
	}
	return printable.Words(words)
}
