package policy

import "strings"

// InertNames is what [Inert] lets pass, for people.
const InertNames = "TZ, LANG, LC_*, NO_COLOR, COLUMNS and LINES"

// Inert reports whether an environment variable of that name changes at most how a program writes, never what it does. It is
// the list of what an agent may give a session without being asked.
func Inert(name string) bool {
	switch name {
	case "TZ", "LANG", "NO_COLOR", "COLUMNS", "LINES":
		return true
	}
	return strings.HasPrefix(name, "LC_")
}
