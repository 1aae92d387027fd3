package consent

import "github.com/fairlead-ssh/fairlead/session"

// Script is what stands after "--" as shell source: one argument is source already, several are exact words. The error
// says which word cannot be sent.
func Script(words []string) (string, error) {
	if len(words) == 1 {
		return words[0], nil
	}
	return session.Words(words...)
}
