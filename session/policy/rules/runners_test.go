package rules_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/policy/programs"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

func givesPrefix(program string) bool { return rules.CheckPrefix([]string{program, "x"}) == nil }

// What the tables call a wrapper, an interpreter, an editor and so on runs others, whatever its version is.
func TestNoPrefixOfWhatTheTablesSayRunsOthers(t *testing.T) {
	seen := map[string]int{}
	for _, name := range programs.Names() {
		table, ok := programs.Lookup(name)
		require.True(t, ok)
		switch kind := strings.TrimSuffix(strings.TrimPrefix(table.File, "tables/"), ".txt"); kind {
		case "wrappers", "interpreters", "editors", "remotes", "builders", "languages", "git", "containers":
			seen[kind]++
			for _, n := range []string{name, name + "3", name + "-12", name + "3.11.2", name + ".tiny", strings.ToUpper(name)} {
				assert.False(t, givesPrefix(n), "%s of %s", n, kind)
			}
		}
	}
	assert.Len(t, seen, 8)
	for _, name := range []string{"systemctl", "mkdir", "deploy", "apt-get", "cp", "kill", "mkfs.ext4", "7z"} {
		assert.True(t, givesPrefix(name), name)
	}
	assert.False(t, givesPrefix("42"), "a version of nothing")
}

// Calls in which a later word is a program or code. The first words of none of them say so.
func TestNoPrefixOfProgramsThatCanRunOthers(t *testing.T) {
	for _, call := range []string{
		"R -e 'system(\"id\")'", "Rscript -e 'system(\"id\")'", "aptitude -o DPkg::Pre-Invoke::=id install x", "at -f x now", "batch -f x", "bpftrace -e 'BEGIN { system(\"id\"); }'",
		"bun -e 'x'", "bunx x", "cargo run", "chef exec id", "chpst -u x id", "conda run id", "corepack yarn x", "crontab x", "curl -K x", "dbus-run-session id", "deno eval x",
		"direnv exec . id", "dumb-init id", "elixir -e x", "entr id", "envdir d id", "erl -eval x", "expect -c 'spawn id'", "faketime now id", "fd -x id", "fdfind -x id", "find . -exec id ';'",
		"gdb -ex '!id'", "gem exec x", "ghci -e x", "gmake -f x", "guile -c x", "guix shell x -- id", "hyperfine id", "incus exec c id", "jq -L d x", "jshell x", "ld -plugin x", "lldb -o 'shell id'", "ltrace id",
		"lxc exec c id", "machinectl shell x", "mamba run id", "mariadb -e 'system id'", "mysql -e 'system id'", "nc -e id h 1", "ncat -e id h 1", "nerdctl run x", "netcat -e id h 1", "nix run x",
		"nix-env -f x -i", "nix-shell --run id", "npm exec id", "npx id", "numactl -l id", "openssl req -engine x", "openvt id", "osascript -e 'do shell script \"id\"'", "perf stat id", "pip install x", "pipx run x",
		"poetry run id", "prlimit --nproc=1 id", "psql -c '\\! id'", "python-config x", "rlwrap id", "rsh h id", "setuidgid x id", "socat - EXEC:id", "softlimit id", "sqlite3 x '.shell id'", "strace id", "sudo-rs id", "systemd-run id",
		"tar -cf x y --to-command=id", "tclsh x", "telnet h", "terraform apply", "tini id", "tofu apply", "unbuffer id", "uv run id", "uvx x", "pnpx x", "vagrant ssh -c id", "valgrind id", "watchexec id",
		"wget --use-askpass=id x", "zip x y -TT id", "ld.so /bin/id",
	} {
		_, err := rules.ParsePrefix(call)
		assert.ErrorIs(t, err, rules.ErrPrefix, call)
		assert.ErrorContains(t, err, "can run any program", call)
	}
}

// What a shell has built in runs others or changes what later commands mean, but for a few.
func TestNoPrefixOfWhatShellsHaveBuiltIn(t *testing.T) {
	harmless := strings.Fields(`bg break bye caller case cd chdir continue dirs disown do done echo echotc echoti elif else end esac exit
		false fg fi help history if in jobs kill limit log logout popd pushd pushln pwd rehash return select shift suspend stop sleep
		compset for then times true ttyctl type ulimit umask unlimit until wait whence where which while
		comparguments compadd compdescribe compfiles compgroups compquote comptags comptry compvalues getln`)
	for shell, list := range map[string]string{
		"bash": "compgen -b; compgen -k", "zsh": "print -l ${(k)builtins} ${(k)reswords}", "ksh93": "builtin",
	} {
		t.Run(shell, func(t *testing.T) {
			if _, err := exec.LookPath(shell); err != nil {
				needs.Part(t, "%s is not installed", shell)
			}
			out, err := exec.Command(shell, "-c", list).Output()
			require.NoError(t, err)
			names := strings.Fields(string(out))
			require.Greater(t, len(names), 30)
			for _, name := range names {
				if givesPrefix(name) && !slices.Contains(harmless, name) {
					t.Errorf("%s has %s built in", shell, name)
				}
			}
		})
	}
}
