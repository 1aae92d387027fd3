package rules

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/strictyaml"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// Allowance is a yes that holds for more than one time: for one session, and there for the exact same command or for
// commands that begin with the same words. It answers asks that need an approval; it never changes a denial.
type Allowance struct {
	Approval  string // the approval that it came from; required
	Principal string // whom it was given to; required
	Host      string // the name of the host; required
	Dir       string // where the command must run; "" is anywhere

	Command string   // the exact bytes; or
	Prefix  []string // literal words that the command begins with
}

// ErrAllowance is wrapped by errors about an allowance that is not given.
var ErrAllowance = errors.New("rules: not to be allowed for a session")

// WithAllowance returns an Engine that also knows a; the one it was made from stays as it is. A prefix must be at least
// a program and one more word, and there is none for programs that run other programs or code: interpreters, wrappers,
// editors, git, sudo and whatever else is not just what its first words say.
func (e *Engine) WithAllowance(a Allowance) (*Engine, error) {
	switch {
	case a.Approval == "" || a.Principal == "" || a.Host == "":
		return nil, fmt.Errorf("%w: approval, principal and host are required", ErrAllowance)
	case (a.Command == "") == (len(a.Prefix) == 0):
		return nil, fmt.Errorf("%w: either the command or a prefix", ErrAllowance)
	case len(a.Prefix) == 1:
		return nil, fmt.Errorf("%w: a prefix is a program and at least one more word", ErrAllowance)
	}
	if len(a.Prefix) > 0 {
		if name := a.Prefix[0]; !bareName(name) || runsOthers(name) {
			return nil, fmt.Errorf("%w: a prefix that begins with %q may run anything; allow the exact command", ErrAllowance, strictyaml.Clip(name))
		}
	}
	a.Prefix = slices.Clone(a.Prefix)
	out := *e
	out.allowed = append(slices.Clip(slices.Clone(e.allowed)), a)
	return &out, nil
}

// allowance finds what allows a request that would be asked about.
func (e *Engine) allowance(req policy.Request, j *judged, d policy.Decision) (Allowance, bool) {
	if len(e.allowed) == 0 || d.Verdict != policy.Ask || d.Needs != policy.NeedsApproval {
		return Allowance{}, false
	}
	for _, a := range e.allowed {
		if a.Principal != req.Principal || a.Host != req.Host.Name || a.Dir != "" && a.Dir != req.Dir {
			continue
		}
		if a.Command != "" {
			if a.Command == req.Command {
				return a, true
			}
			continue
		}
		if grave(j.rep.Class) || j.rep.Class == policy.SensitiveRead {
			continue
		}
		c := j.command()
		if len(c.units) == 1 && c.units[0].begins(a.Prefix) {
			return a, true
		}
	}
	return Allowance{}, false
}

func (u *unit) begins(prefix []string) bool {
	return pattern{words: prefix, rest: true}.covers(u.words)
}

// runsOthers knows programs whose later words can be programs or code. It is no list to rely on alone: a prefix comes
// from an approver, and the classes that matter most are asked about each time.
func runsOthers(name string) bool {
	name = strings.TrimRight(name, "0123456789.")
	switch name {
	case "", ".", "[",
		"sh", "bash", "zsh", "ksh", "mksh", "dash", "ash", "fish", "csh", "tcsh", "busybox", "toybox",
		"python", "python-config", "perl", "ruby", "node", "nodejs", "deno", "bun", "php", "lua", "luajit", "tclsh", "expect",
		"java", "jshell", "R", "Rscript", "guile", "erl", "elixir", "ghci", "osascript", "pwsh",
		"awk", "gawk", "mawk", "nawk", "sed", "jq", "ed", "ex", "vi", "vim", "nvim", "view", "emacs", "nano", "less", "more",
		"man", "env", "command", "builtin", "exec", "eval", "source", "nohup", "nice", "ionice", "timeout", "setsid", "stdbuf",
		"flock", "script", "xargs", "parallel", "watch", "time", "find", "fd", "fdfind", "strace", "ltrace", "gdb", "unshare",
		"nsenter", "chroot", "setpriv", "capsh", "chrt", "taskset", "numactl", "prlimit", "systemd-run", "at", "batch",
		"sudo", "sudo-rs", "su", "doas", "run0", "pkexec", "runuser", "gosu", "su-exec",
		"git", "hg", "svn", "make", "gmake", "cmake", "ninja", "npm", "npx", "yarn", "pnpm", "pip", "pipx", "uv", "cargo", "go",
		"ssh", "scp", "sftp", "rsync", "mosh", "tmux", "screen", "docker", "podman", "nerdctl", "kubectl", "oc", "helm",
		"ansible", "ansible-playbook", "terraform", "tofu", "curl", "wget", "tar", "zip", "psql", "mysql", "mariadb", "sqlite",
		"trap", "alias", "set", "export", "declare", "typeset", "local", "readonly", "printf", "read", "mapfile", "readarray",
		"let", "test", "[[", "unset", "enable", "hash", "bind", "complete", "compgen", "coproc", "function":
		return true
	}
	return false
}
