package session

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fairlead-ssh/fairlead/framing"
)

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
	script, err := framing.Quote(c.Script)
	if err != nil {
		return "", err
	}
	return "(" + strings.Join(append(steps, `\eval `+script), " && ") + ")", nil
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
