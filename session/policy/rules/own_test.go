package rules_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// ours is a home with Fairlead's state in it, and an Engine that knows it. Rules allow agents everything that rules can.
func ours(t *testing.T) (home string, e *rules.Engine) {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, name := range []string{".local/state/fairlead/audit/key", ".local/state/fairlead/store.db", ".config/fairlead/config.yaml", "bin/fairlead", "work/x"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(home+"/"+name), 0o700))
		require.NoError(t, os.WriteFile(home+"/"+name, []byte("x"), 0o700))
	}
	require.NoError(t, os.Symlink(home+"/.local/state", home+"/work/link"))
	require.NoError(t, os.Symlink(home+"/bin/fairlead", home+"/work/fl"))
	require.NoError(t, os.Link(home+"/bin/fairlead", home+"/work/hard"))
	f, err := rules.Parse([]byte(`version: 1
rules:
  - name: everything
    hosts: "all"
    principals: ["role=agent"]
    classes: [read-only, sensitive-read, write, unknown, dangerous, privileged, forbidden]
    verdict: allow
`), "policy.yaml")
	require.NoError(t, err)
	e = rules.New(rules.Config{User: f}).WithOwn(judge.Own{
		Paths: []string{home + "/.local/state/fairlead", home + "/.config/fairlead"}, Programs: []string{home + "/bin/fairlead"}, Home: home,
		Except: []string{home + "/.local/state/fairlead/jobs"},
	}, func(h hosts.Host) bool { return h.Transport == hosts.Local })
	return home, e
}

func TestWhatIsFairleadsOwnIsForbiddenToAgents(t *testing.T) {
	home, e := ours(t)
	work := home + "/work"
	for _, command := range []string{
		// Words, however they are spelled.
		"cat ~/.local/state/fairlead/audit/key", "cat $HOME/.local/state/fairlead/audit/key", "cat ${HOME}/.local/state/fairlead/audit/key",
		"cat " + home + "/.local/state/fairlead/audit/key", "cat ../.local/state/fairlead/audit/key", `cat ~/.local/st""ate/fairlead/aud'i't/key`,
		"cat //" + home + "/.local//state/./fairlead/x/../audit/key", "head -c 10 <~/.local/state/fairlead/store.db", "ls ~/.config/fairlead", "stat ~/.local/state/fairlead",
		"cat /proc/self/root" + home + "/.config/fairlead/config.yaml", "cp -r ~/.local/state/fairlead x", "tar cf - ~/.local/state/fairlead", "cat ~/.local/state/fairlead/store.db-wal",
		"grep --file=" + home + "/.config/fairlead/config.yaml x", "grep -f" + home + "/.config/fairlead/config.yaml x", "curl -d @" + home + "/.config/fairlead/config.yaml localhost",
		"dd if=" + home + "/.config/fairlead/config.yaml", "git -C ~/.local/state/fairlead log", "rsync x:y " + home + "/.config/fairlead/", "scp " + home + "/.config/fairlead/config.yaml web1:",
		// Globs and braces.
		"cat ~/.local/state/fair*/audit/key", "cat ~/.local/state/*/audit/key", "cat ~/.l*/st?te/f[a]irlead/audit/*", "cat ~/.{local,x}/state/fairlead/audit/key", "cat ~/.config/f*/config.yaml", "cat ~/.local/state/fairlead*/audit/key",
		// A directory first, or a variable.
		"cd ~/.local/state/fairlead && cat audit/key", "cd ~/.local/state && cat fairlead/audit/key", "cd; cat .local/state/fairlead/audit/key", "cd ~/.local; cd state; cat fairlead/audit/key",
		"(cd ../.local/state; cat fairlead/audit/key)", "d=~/.local/state/fairlead; cat $d/audit/key", "for f in ~/.local/state/fairlead/audit/*; do cat $f; done", "pushd ~/.local/state/fairlead",
		"D=fairlead; cat ~/.local/state/$D/audit/key", "export P=" + home + "/.config/fairlead",
		// In other programs' words.
		"python3 -c 'print(open(\"" + home + "/.local/state/fairlead/audit/key\").read())'", "sh -c 'cat ~/.config/fairlead/config.yaml'", "bash <<EOF\ncat $HOME/.config/fairlead/config.yaml\nEOF",
		"echo ~/.local/state/fairlead/audit/key | xargs cat", "find ~/.local/state/fairlead -exec cat {} +", "env -C ~/.local/state/fairlead cat audit/key", "$(echo cat) ~/.config/fairlead/config.yaml",
		"ssh localhost cat " + home + "/.config/fairlead/config.yaml", "sudo cat ~/.config/fairlead/config.yaml", "cat x; echo $(cat ~/.config/fairlead/config.yaml)",
		// Changes.
		"touch ~/.config/fairlead/policy.yaml", "echo x >~/.config/fairlead/policy.yaml", "rm ~/.local/state/fairlead/audit/000001.jsonl", "mv ~/.local/state ~/x", "rm -rf ~/.local", "ln -s ~/.local/state/fairlead x", "chmod 777 ~/.local/state/fairlead",
		// Jobs are beside it.
		"cat ~/.local/state/fairlead/jobs/../audit/key", "cat ~/.local/state/fairlead/j*/../audit/key", "cat ~/.local/state/fairlead/jobs2/x", "python3 -c 'open(\"" + home + "/.local/state/fairlead/jobs/../audit/key\")'",
		// Links that lead there.
		"cat " + work + "/link/fairlead/audit/key", "cat link/fairlead/audit/key", "cd link && cat fairlead/audit/key", "touch link/fairlead/new",
		// The program.
		"fairlead approvals approve a_x", home + "/bin/fairlead version", "/usr/local/bin/fairlead approvals approve a_x", "./fairlead x", "env fairlead x", "env A=b timeout 5 fairlead x", "sudo fairlead x", "command fairlead x", "exec fairlead x",
		"nohup fairlead x", "setsid fairlead x", "sh -c 'fairlead x'", "echo x | xargs fairlead", "find . -exec fairlead {} \\;", `fair"lead" x`, "f=fairlead; $f x", "fairl?ad x", "~/bin/fair* x", "eval fairlead x", "$(echo fairlead) x", "(fairlead x)", "fairlead x &",
		"./fl x", work + "/fl x", "./hard x", "cp ~/bin/fairlead x", "cat ~/bin/fairlead", "ld.so ~/bin/fairlead x", "printf 'fairlead x' | sh", "nice -n 5 fairlead x", "stdbuf -o0 fairlead x", "\\fairlead x", "'fairlead' x", "bash -c \"exec fairlead x\"",
	} {
		d, err := e.Decide(t.Context(), policy.Request{Principal: "agent/claude", Host: hosts.Host{Name: "here", Transport: hosts.Local}, Command: command, Dir: work, Shell: "bash"})
		require.NoError(t, err)
		assert.Equal(t, policy.Deny, d.Verdict, "%s: %s %s", command, d.Rule, d.Reason)
		assert.Equal(t, policy.Forbidden, d.Class, command)
		d, err = e.Decide(t.Context(), policy.Request{Principal: "operator/ada", Host: hosts.Host{Name: "here", Transport: hosts.Local}, Command: command, Dir: work, Shell: "bash"})
		require.NoError(t, err)
		assert.NotEqual(t, "builtin/own", d.Rule, command)
	}
}

func TestWhatLiesAboveFairleadsOwnIsAskedAbout(t *testing.T) {
	home, e := ours(t)
	for _, command := range []string{
		"tar cf - ~", "tar cf x.tar -C " + home + " .", "grep -r x ~/.local", "grep -rn x " + home, "cp -a ~/.local x", "rsync -a ~/ y", "find ~ -exec cat {} +", "zip -r x.zip ~/.config", "rg x ~", "cd ~ && grep -r x", "cd ~ && rg x", "diff -r ~ y", "grep -r x ../",
	} {
		d, err := e.Decide(t.Context(), policy.Request{Principal: "agent/claude", Host: hosts.Host{Name: "here", Transport: hosts.Local}, Command: command, Dir: home + "/work", Shell: "bash"})
		require.NoError(t, err)
		assert.NotEqual(t, policy.Allow, d.Verdict, command)
	}
}

func TestWhatIsNotFairleadsOwnIsLeftAlone(t *testing.T) {
	home, _ := ours(t)
	e := rules.New(rules.Config{}).WithOwn(judge.Own{
		Paths: []string{home + "/.local/state/fairlead", home + "/.config/fairlead"}, Programs: []string{home + "/bin/fairlead"}, Home: home,
		Except: []string{home + "/.local/state/fairlead/jobs"},
	}, func(h hosts.Host) bool { return h.Transport == hosts.Local })
	for _, command := range []string{
		"ls", "cat x", "ls ~", "ls ~/.config", "cat ~/notes", "grep fairlead x", "ps aux | grep fairlead", "which fairlead", "cat ../work/x", "ls -la ~/.local/state", "cat " + home + "/.local/state/fairlead-other/x",
		"grep -r x .", "find ~ -name x", "ls /usr/bin/*", "cat /etc/os-release", "du -sh ~", "echo fairlead", "git log fairlead", "systemctl status fairlead",
		"cat ~/.local/state/fairlead/jobs/j_x/out", "ls " + home + "/.local/state/fairlead/jobs", "cat ~/.local/state/fairlead/jobs/*/out",
	} {
		d, err := e.Decide(t.Context(), policy.Request{Principal: "agent/claude", Host: hosts.Host{Name: "here", Transport: hosts.Local}, Command: command, Dir: home + "/work", Shell: "bash"})
		require.NoError(t, err)
		assert.Equal(t, policy.Allow, d.Verdict, "%s: %s %s", command, d.Rule, d.Reason)
	}
	// Another machine has another Fairlead.
	for command, want := range map[string]policy.Verdict{
		"ls " + home + "/.config/fairlead": policy.Allow, "cat ~/.local/state/fairlead/audit/key": policy.Ask, "cat /srv/fairlead/store.db-wal": policy.Ask, "fairlead version": policy.Ask,
		"cat /x/fairlead/recordings/a.cast": policy.Ask, "cat /run/user/1/fairlead/run/keeper.sock": policy.Ask, "cd /x/fairlead/audit && cat 000001.jsonl": policy.Ask,
	} {
		d, err := e.Decide(t.Context(), policy.Request{Principal: "agent/claude", Host: hosts.Host{Name: "web1"}, Command: command})
		require.NoError(t, err)
		assert.Equal(t, want, d.Verdict, command)
	}
}

func TestInputThatNamesFairleadsOwnIsDenied(t *testing.T) {
	home, e := ours(t)
	d, err := e.Decide(t.Context(), policy.Request{Principal: "agent/claude", Host: hosts.Host{Name: "here", Transport: hosts.Local}, Command: "python3", Interactive: true, Input: "open('" + home + "/.local/state/fairlead/audit/key').read()\n"})
	require.NoError(t, err)
	assert.Equal(t, policy.Deny, d.Verdict)
}

// What one part of Fairlead keeps from agents stays kept when another part keeps more.
func TestWhatIsKeptFromAgentsAddsUp(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, name := range []string{"a", "b"} {
		require.NoError(t, os.WriteFile(home+"/"+name, []byte("x"), 0o700))
		require.NoError(t, os.Symlink(home+"/"+name, home+"/to-"+name))
	}
	on := func(name string) func(hosts.Host) bool { return func(h hosts.Host) bool { return h.Name == name } }
	first := rules.New(rules.Config{}).WithOwn(judge.Own{Paths: []string{home + "/a", home + "/d"}, Except: []string{home + "/d/x"}, Home: home}, on("one"))
	both := first.WithOwn(judge.Own{Paths: []string{home + "/b", "relative"}, Programs: []string{home + "/b"}}, on("two"))
	other := both.WithOwn(judge.Own{Home: "/elsewhere"}, on("two"))
	for _, tt := range []struct {
		e             *rules.Engine
		host, command string
		own           bool
	}{
		{first, "one", "cat a", true}, {first, "one", "cat b", false}, {first, "two", "cat a", false}, {first, "one", "cat to-a", true}, {first, "one", "cat ~/a", true}, {first, "one", "cat d/x", false}, {first, "one", "cat d/y", true},
		{both, "one", "cat a", true}, {both, "one", "cat b", true}, {both, "two", "cat a", true}, {both, "two", "cat b", true}, {both, "three", "cat a", false}, {both, "one", "cat to-b", true}, {both, "one", "cat ~/a", true},
		{both, "one", "cat d/x", false}, {both, "one", "cat d/y", true}, {both, "one", "cat relative", false}, {both, "one", "./to-b", true}, {both, "one", "cat to-c", false},
		{other, "two", "cat ~/a", false}, {other, "two", "cat a", true},
	} {
		d, err := tt.e.Decide(t.Context(), policy.Request{Principal: "agent/a", Host: hosts.Host{Name: tt.host}, Command: tt.command, Dir: home, Shell: "bash"})
		require.NoError(t, err)
		assert.Equal(t, tt.own, d.Rule == rules.OwnRule && d.Verdict == policy.Deny, "%s on %s: %s %s", tt.command, tt.host, d.Rule, d.Reason)
	}
}

// A denial is no question, even where what is Fairlead's own lies below.
func TestWhatIsDeniedIsNotAskedAbout(t *testing.T) {
	home, e := ours(t)
	denied := rules.New(rules.Config{User: file(t, rule("no", "deny", "programs: ['grep *']"))}).WithOwn(judge.Own{Paths: []string{home + "/.config/fairlead"}, Home: home}, func(hosts.Host) bool { return true })
	for _, tt := range []struct {
		e    *rules.Engine
		want string
	}{{e, "ask builtin/own approval"}, {denied, "deny policy/no "}} {
		d, err := tt.e.Decide(t.Context(), policy.Request{Principal: "agent/a", Host: hosts.Host{Name: "here", Transport: hosts.Local}, Command: "grep -r x " + home, Dir: home, Shell: "bash"})
		require.NoError(t, err)
		assert.Equal(t, tt.want, d.Verdict.String()+" "+d.Rule+" "+string(d.Needs))
	}
}
