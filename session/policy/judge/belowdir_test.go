package judge_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// What lies in root's home is treated like what lies in the home of another account.
func TestDirectoriesBelowHomes(t *testing.T) {
	for dir, why := range map[string]string{
		"/root": "below it lie keys and credentials of accounts", "/root/": "below it lie keys and credentials of accounts", "/home": "below it lie keys and credentials of accounts",
		"/home/alice": "below it lie keys and credentials of accounts", "/": "below it lie keys and credentials of accounts", "~": "below it lie keys and credentials of accounts",
		"/root/.ssh": "a file below it holds private keys", "/home/alice/.ssh": "a file below it holds private keys", "/root/.aws": "a file below it holds credentials",
		"/root/.config/fairlead": "a file below it holds credentials", "/etc": "a file below it holds password hashes", "/var/lib/docker": "a file below it holds credentials",
		"/root/nginx.bak": "", "/home/alice/app": "", "/etc/nginx": "", "/srv": "",
	} {
		r := judge.Judge(judge.Request{Script: "grep -r foo " + dir, Shell: "bash"})
		switch why {
		case "":
			assert.Equal(t, policy.ReadOnly, r.Class, "%s: %s", dir, r.Reason)
		default:
			assert.Equal(t, policy.SensitiveRead, r.Class, dir)
			assert.Equal(t, why, r.Reason, dir)
		}
	}
	for _, name := range []string{".config", ".local", ".mozilla", ".cache", ".kube", ".gnupg", ".docker", ".password-store", "x", ".x", ".bash_sessions", "*", ".*", ".[a-z]*", "?ssh", ".config/gh", ".docker/contexts", ".local/share", ".config/../.config"} {
		root := judge.Judge(judge.Request{Script: "grep -r foo /root/" + name, Shell: "bash"})
		home := judge.Judge(judge.Request{Script: "grep -r foo /home/alice/" + name, Shell: "bash"})
		assert.Equal(t, home.Class, root.Class, name)
		assert.Equal(t, !slices.Contains([]string{"x", ".x", ".mozilla", "*", ".docker/contexts"}, name), root.Class != policy.ReadOnly, "%s: %s", name, root.Reason)
	}
}

// A search that names no directory reads the one in which it runs, and a repository may hold all that lies there.
func TestSearchesWhereTheyRun(t *testing.T) {
	verdicts(t, "bash", `
		sensitive-read | cd /etc && grep -r x
		sensitive-read | cd /etc; true | grep -re x
		sensitive-read | cd /root; rgrep x
		sensitive-read | cd ~/.ssh && rg x
		sensitive-read | env -C /etc grep -r x
		sensitive-read | grep -d recurse x /etc
		sensitive-read | grep --dir=rec x /etc
		sensitive-read | cd /etc; grep -nd recurse x
		read-only | grep -d skip x /etc/hosts
		read-only | cd /etc; ps | rg x
		read-only | cd /etc; ps | grep x
		read-only | cd /etc/nginx && grep -r x
		read-only | cd /srv/app && rg x && git log -p && git diff && git grep x
		sensitive-read | git -C /etc log -p
		sensitive-read | git -C / -C etc show
		sensitive-read | cd /etc && git stash show -p
		sensitive-read | cd /etc && git grep x
		sensitive-read | git -C /etc cat-file -p 12ab
		sensitive-read | git -C /etc/nginx show
		sensitive-read | git -C ~ diff HEAD~1
		read-only | git -C /etc log --stat; git -C /etc status
		read-only | git -C ~/src/app log -p
	`)
}

func TestSecretsPutAside(t *testing.T) {
	verdicts(t, "bash", `
		sensitive-read | zcat /srv/backup/etc/shadow.gz
		sensitive-read | xzcat /srv/old/etc/shadow-2026-01-02.xz
		sensitive-read | cat secret.txt
		read-only | zcat /var/log/syslog.2.gz
		read-only | cat secret.go
	`)
}

// Within double quotes HOME is what a tilde is: one word, and no option.
func TestHomeIsATilde(t *testing.T) {
	verdicts(t, "bash", `
		read-only | find "$HOME" -maxdepth 1; find "${HOME}/src" -name x
		sensitive-read | find "$HOME" -type f -exec cat {} +
		sensitive-read | cat "$HOME/.netrc"
		unknown | a="$HOME"; cat "$a/.netrc"
		forbidden | rm -rf "$HOME"
		forbidden | find "$HOME" -delete
		unknown | find $HOME -maxdepth 1
		unknown | HOME=-delete; find . "$HOME"
		unknown | printf -v HOME %s -delete; find "$HOME"
		read-only | a=(1 2); echo ${a[-1]}
		unknown | echo ${a[-$(id)]}
		unknown | echo ${a[-b]}
	`)
}
