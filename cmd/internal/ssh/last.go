package ssh

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/cmd/internal/sshopt"
)

// agent is -A and -a, of which the last counts, whatever -o says.
func (c *call) agent(option string) error {
	c.saidAgent = true
	return agent(&c.set, option)
}

func agent(set *sshopt.Flags, option string) error { return last(set, option) }

// last is an option of which the last counts, and not the first as with -o.
func last(set *sshopt.Flags, option string) error {
	keyword, _, _ := strings.Cut(option, "=")
	set.Set.Lines = slices.DeleteFunc(set.Set.Lines, func(line string) bool {
		was, _, _ := strings.Cut(line, "=")
		return strings.EqualFold(was, keyword)
	})
	return set.Option(option)
}

// inaccessible says why there is no key in a file: neither a private one, nor a public one for an agent's. Names with tokens and
// variables are read later.
func inaccessible(path string) error {
	if strings.ContainsAny(path, "%$") {
		return nil
	}
	if rest, home := strings.CutPrefix(path, "~/"); home {
		account, err := user.Current()
		if err != nil {
			return nil
		}
		path = filepath.Join(account.HomeDir, rest)
	} else if strings.HasPrefix(path, "~") {
		return nil
	}
	_, err := os.Stat(path)
	if not, ok := errors.AsType[*os.PathError](err); ok {
		err = not.Err
	}
	if err == nil || path == "" {
		return err
	}
	if _, public := os.Stat(path + ".pub"); public == nil {
		return nil
	}
	return err
}
