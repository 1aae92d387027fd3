package hosts

import "strings"

// ShownOptions is SSHOptions in one line, for the audit log and for people. Values of SetEnv, which may be secrets, are left
// out.
func (h Host) ShownOptions() string {
	shown := make([]string, len(h.SSHOptions))
	for i, line := range h.SSHOptions {
		name, _, _ := strings.Cut(line, "=")
		if strings.EqualFold(name, "SetEnv") {
			line = name + "=…"
		}
		shown[i] = line
	}
	return strings.Join(shown, "; ")
}
