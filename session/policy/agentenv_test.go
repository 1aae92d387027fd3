package policy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/policy"
)

// The functions keep the programs from settings of the account, change nothing else, and are there only for what is installed.
func TestFunctionsOfAgentsKeepSettingsAway(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"curl", "wget", "python3", "python", "lsof", "blkid", "pip", "pip3", "npm", "go", "docker", "chronyc"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho "+name+" \"$HOME\" \"$@\" $PIP_DISABLE_PIP_VERSION_CHECK $npm_config_cache $npm_config_logs_max $npm_config_update_notifier $npm_config_timing $GOTOOLCHAIN $COMPOSE_EXPERIMENTAL_GIT_REMOTE $COMPOSE_EXPERIMENTAL_OCI_REMOTE\n"), 0o755))
	}
	script := policy.AgentPrelude + "set -u; curl -s 'a b'; wget x; python3; python3 -m json.tool f; python3 -m http f; python -m json.tool f; python x; command -v dig; echo $HOME; " +
		"lsof -i; blkid -o 'a b'; pip list; pip3 list; npm ls x; npm i ls; go version; go version x; go env X; go list; docker -D compose ps; docker compose -p x logs 'a b'; docker compose up; docker ps; chronyc sources"
	want := "curl /h -q -s a b\nwget /dev/null x\npython3 /h\npython3 /h -I -m json.tool f\npython3 /h -m http f\npython /h -I -m json.tool f\npython /h x\n/h\n" +
		"lsof /h -n -i\nblkid /h -c /dev/null -o a b\npip /h list 1\npip3 /h list 1\nnpm /h ls x /dev/null 0 false false\nnpm /h i ls\n" +
		"go /h version local\ngo /h version x\ngo /h env X local\ngo /h list\n" +
		"docker /h -D compose ps false false\ndocker /h compose -p x logs a b false false\ndocker /h compose up\ndocker /h ps false false\nchronyc /h -n sources\n"
	for _, shell := range []string{"bash", "zsh", "dash", "ksh93", "mksh", "busybox ash"} {
		words := strings.Fields(shell)
		path, err := exec.LookPath(words[0])
		if err != nil {
			require.Empty(t, os.Getenv("CI"), "%s is not installed", shell)
			t.Logf("%s is not installed", shell)
			continue
		}
		cmd := exec.CommandContext(t.Context(), path, append(words[1:], "-c", script)...)
		cmd.Env = []string{"HOME=/h", "PATH=" + dir}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s: %s", shell, out)
		assert.Equal(t, want, string(out), shell)
	}
}

// With the variables, and with the function that takes their place, Git has every setting whatever the account's own file says.
func TestGitOfAgentsHasItsSettings(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		require.Empty(t, os.Getenv("CI"), "git is not installed")
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".gitconfig"), []byte("[core]\nfsmonitor=x\npager=x\n[log]\nshowSignature=true\n[safe]\nbareRepository=all\n[format]\npretty=%GG\n[diff]\nsubmodule=diff\n[status]\nsubmoduleSummary=true\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "git-variables"), []byte("#!/bin/sh\nprintf '%s\\n' \"$GIT_NO_LAZY_FETCH\" \"$GIT_OPTIONAL_LOCKS\" \"$GIT_TERMINAL_PROMPT\"\n"), 0o755))
	asked := "git variables; git var GIT_PAGER; for s in core.fsmonitor log.showSignature safe.bareRepository format.pretty diff.submodule status.submoduleSummary; do git config --get $s; done"
	want := "1\n0\n0\ncat\nfalse\nfalse\nexplicit\nmedium\nshort\nfalse\n"
	for name, tt := range map[string]struct {
		env    []string
		script string
	}{
		"variables":    {policy.AgentEnviron(), asked},
		"the function": {nil, policy.AgentPrelude + asked},
	} {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", tt.script)
		cmd.Dir = dir
		cmd.Env = append([]string{"HOME=" + dir, "PATH=" + dir + ":" + filepath.Dir(git) + ":/usr/bin:/bin"}, tt.env...)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s: %s", name, out)
		assert.Equal(t, want, string(out), name)
	}
	assert.Contains(t, policy.AgentEnviron(), "PYTHONSAFEPATH=1")
}

// A view of a database may run a program, and sqlite3 of agents refuses that. What writes is left as it is, and an old SQLite, which
// cannot be kept from it, runs no view.
func TestSQLiteOfAgentsRunsNoProgramOfADatabase(t *testing.T) {
	sqlite, err := exec.LookPath("sqlite3")
	if err != nil {
		require.Empty(t, os.Getenv("CI"), "sqlite3 is not installed")
		t.Skip("sqlite3 is not installed")
	}
	for _, shell := range []string{"bash", "zsh", "dash", "ksh93", "mksh", "busybox ash"} {
		words := strings.Fields(shell)
		path, err := exec.LookPath(words[0])
		if err != nil {
			require.Empty(t, os.Getenv("CI"), "%s is not installed", shell)
			continue
		}
		dir := t.TempDir()
		out, err := exec.CommandContext(t.Context(), sqlite, filepath.Join(dir, ".tables.db"), "create table t(a); insert into t values (7); create view v as select edit('x', 'echo ran >pwned; cat') as a").CombinedOutput()
		require.NoError(t, err, "%s", out)
		out, err = exec.CommandContext(t.Context(), sqlite, filepath.Join(dir, "stat.db"), `create view x as select 1; pragma writable_schema = on; update sqlite_master
			set name = 'sqlite_stat1', tbl_name = 'sqlite_stat1', sql = 'create view sqlite_stat1 as select edit(''x'', ''echo ran >pwned; cat'') as a'`).CombinedOutput()
		require.NoError(t, err, "%s", out)
		run := func(script string, programs ...string) (string, error) {
			cmd := exec.CommandContext(t.Context(), path, append(words[1:], "-c", policy.AgentPrelude+"set -u; "+script)...)
			cmd.Dir, cmd.Env = dir, []string{"HOME=/h", "PATH=" + strings.Join(append(programs, filepath.Dir(sqlite), "/bin"), ":")}
			out, err := cmd.CombinedOutput()
			return string(out), err
		}
		for _, ask := range []string{
			`sqlite3 -readonly .tables.db 'select * from v'`, `sqlite3 --readonly ./.tables.db "select a from v"`, `sqlite3 -csv -readonly .tables.db 'select * from v where a > 0'`,
			`sqlite3 -readonly -safe .tables.db 'select * from v'`, `sqlite3 -readonly .tables.db .tables`, `sqlite3 -readonly .tables.db .schema`, `sqlite3 -readonly stat.db .fullschema`,
		} {
			out, _ := run(ask)
			assert.NoFileExists(t, filepath.Join(dir, "pwned"), "%s: %s: %s", shell, ask, out)
		}
		said, err := run(`sqlite3 -readonly .tables.db 'select a from t'`)
		assert.NoError(t, err, shell)
		assert.Equal(t, "7\n", said, shell)
		_, err = run(`sqlite3 .tables.db "select edit('x', 'echo ran >meant; cat')"`)
		assert.NoError(t, err, shell)
		assert.FileExists(t, filepath.Join(dir, "meant"), "%s: what is approved does what it says", shell)

		old := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(old, "sqlite3"), []byte("#!/bin/sh\ncase $1 in (-safe) echo 'Error: unknown option: -safe' >&2; exit 1;; esac\nexec "+sqlite+" \"$@\"\n"), 0o755))
		said, err = run(`sqlite3 -readonly .tables.db 'select * from v'`, old)
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit, shell)
		assert.Equal(t, 126, exit.ExitCode(), shell)
		assert.Contains(t, said, "needs approval: command sqlite3", shell)
		assert.NoFileExists(t, filepath.Join(dir, "pwned"), shell)
		said, err = run(`sqlite3 -readonly .tables.db .tables`, old)
		assert.NoError(t, err, shell)
		assert.Equal(t, []string{"t", "v"}, strings.Fields(said), shell)
	}
}
