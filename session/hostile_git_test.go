package session_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// hostile makes a repository in $DIR that makes git leave $MARK when a read runs what the repository names.
const hostile = `set -e
unset GIT_CONFIG_PARAMETERS; HOME=/nonexistent GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
export HOME GIT_CONFIG_NOSYSTEM GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
mkdir -p $DIR; cd $DIR
printf '#!/bin/sh\ntouch %s\nexit 0\n' $MARK >run; chmod +x run
git init -q repo; cd repo
echo one >f; echo g >g; git add .; git commit -qm one; echo two >f; git commit -qam two
printf 'tree %s\nparent %s\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----\n\nsigned\n' $(git write-tree) $(git rev-parse HEAD) >../commit
git reset -q --hard $(git hash-object -t commit -w ../commit)
echo staged >f; git add f
`

// ways are what a repository can name, and what runs it when nothing keeps git from that: the control.
var ways = []struct{ name, set, control string }{
	{"fsmonitor", "git config core.fsmonitor $DIR/run", "git grep two"},
	{"a signature", "git config log.showSignature true; git config gpg.program $DIR/run", "git log -1"},
	{"a signature of SSH", "git config log.showSignature true; git config gpg.format ssh; git config gpg.ssh.program $DIR/run; git config gpg.program $DIR/run", ""},
	{"a format", "git config format.pretty '%h %G?'; git config pretty.zork '%G?'; git config gpg.program $DIR/run", "git log -1"},
	{"an external diff", "git config diff.external $DIR/run", "git diff --cached"},
	{"a driver's diff", "git config diff.zork.command $DIR/run; echo '* diff=zork' >.git/info/attributes", "git diff --cached"},
	{"a driver's diff by a file", "git config diff.zork.command $DIR/run; echo '* diff=zork' >.gitattributes", "git diff --cached"},
	{"a text conversion", "git config diff.zork.textconv $DIR/run; echo '* diff=zork' >.git/info/attributes", "git show HEAD~1"},
	{"a filter", "git config filter.zork.clean $DIR/run; git config filter.zork.smudge $DIR/run; echo '* filter=zork' >.git/info/attributes; touch -d 2001-01-01 f g", "git status"},
	{"a filter's process", "git config filter.zork.process $DIR/run; echo '* filter=zork' >.git/info/attributes; touch -d 2001-01-01 f g", "git status"},
	{"a pager", "git config core.pager $DIR/run; git config pager.log $DIR/run; git config pager.diff $DIR/run", ""},
	{"an alias", "git config alias.log '!'$DIR/run; git config alias.show '!'$DIR/run; git config alias.zork '!'$DIR/run", "git zork"},
	{"an editor", "git config core.editor $DIR/run; git config sequence.editor $DIR/run", ""},
	{"hooks", "for h in post-index-change reference-transaction post-checkout pre-auto-gc; do cp $DIR/run .git/hooks/$h; done; touch -d 2001-01-01 f g", "git status; touch -d 2002-01-01 f g"},
	{"a path of hooks", "mkdir h; cp $DIR/run h/post-index-change; git config core.hooksPath $PWD/h; touch -d 2001-01-01 f g", "git diff; touch -d 2002-01-01 f g"},
	{"an include", "printf '[core]\n\tfsmonitor = %s\n[log]\n\tshowSignature = true\n[gpg]\n\tprogram = %s\n' $DIR/run $DIR/run >inc; git config include.path $PWD/inc", "git grep two"},
	{"a remote's program", "git config core.sshCommand $DIR/run; git config credential.helper '!'$DIR/run; git config core.askPass $DIR/run", ""},
	{"a partial clone", "git config remote.origin.url $DIR; git config remote.origin.promisor true; git config remote.origin.uploadpack $DIR/run; git config extensions.partialClone origin; git config core.repositoryFormatVersion 1; rm -f .git/objects/$(git rev-parse HEAD:g | sed 's,^..,&/,')", "git show HEAD:g"},
	{"a bare repository within", "git clone -q --bare . in; git -C in config core.fsmonitor $DIR/run; git -C in config core.bare false; git -C in config core.worktree $PWD; git -C in config log.showSignature true; git -C in config gpg.program $DIR/run; cd in", "git log -1"},
	{"a filter of a work tree", "git config extensions.worktreeConfig true; git config --worktree filter.zork.clean $DIR/run; echo '* filter=zork' >.git/info/attributes; touch -d 2001-01-01 f g", "git status"},
	{"a filter that is included", "printf '[filter \"zork\"]\n\tclean = %s\n' $DIR/run >inc; git config include.path $PWD/inc; echo '* filter=zork' >.gitattributes; touch -d 2001-01-01 f g", "git status"},
	{"a submodule's filter", "git init -q sub; echo x >sub/x; git -C sub add x; git -C sub commit -qm a; git add sub 2>/dev/null; git commit -qm sub; git -C sub config filter.zork.clean $DIR/run; echo '* filter=zork' >sub/.git/info/attributes; touch -d 2001-01-01 sub/x", "git status"},
	{"a submodule that is not to be ignored", "git init -q sub; echo x >sub/x; git -C sub add x; git -C sub commit -qm a; git add sub 2>/dev/null; printf '[submodule \"sub\"]\n\tpath = sub\n\tignore = none\n' >.gitmodules; git add .gitmodules; git commit -qm sub; git config submodule.sub.ignore none; git -C sub config filter.zork.clean $DIR/run; echo '* filter=zork' >sub/.git/info/attributes; touch -d 2001-01-01 sub/x", "git diff"},
	{"a submodule's configuration", "git init -q sub; git -C sub commit -q --allow-empty -m a; git add sub 2>/dev/null; git commit -qm sub; git -C sub commit -q --allow-empty -m b; git add sub; git -C sub config diff.external $DIR/run; git config diff.submodule diff", ""},
}

// gitReads are reads of every kind that has a way to be allowed, and some that have none.
var gitReads = strings.Split(strings.TrimSpace(`
git status
git status --porcelain
git log
git log --oneline -3
git log --stat
git log --graph --decorate --all
git log --pretty=oneline
git log --format=zork -1
git log -p
git log -p --no-ext-diff --no-textconv
git log --oneline -- f
git show
git show --stat
git show --no-ext-diff --no-textconv
git show --no-ext-diff --no-textconv HEAD~1
git show HEAD:g
git diff
git diff --stat
git diff --cached
git diff --cached --stat
git diff --cached --no-ext-diff --no-textconv
git diff --no-ext-diff --no-textconv
git diff --no-ext-diff --no-textconv HEAD~2 HEAD --
git diff --no-ext-diff --no-textconv HEAD~2..HEAD -- f
git diff --name-only HEAD --
git blame f
git blame --no-textconv f
git blame --no-textconv HEAD -- f
git grep two
git grep two HEAD
git ls-files
git ls-files -m
git ls-files -o --exclude-standard
git ls-tree -r HEAD
git describe --always
git describe --always --dirty
git rev-parse HEAD
git rev-list --count HEAD
git branch -vv
git tag -l
git for-each-ref
git stash list
git reflog
git shortlog -s HEAD
git cat-file -p HEAD:f
git remote -v
git worktree list
git count-objects -v
git fsck
git check-ignore f
git config --get core.bare
git -C . log -1
git -C .. -C repo status
git -P diff
git zork
env -i git log -1
env -u GIT_CONFIG_PARAMETERS git grep two
GIT_CONFIG_PARAMETERS= git grep two
/usr/bin/git status
env git status
timeout 5 git status
echo status | xargs git
sh -c "git status"
command git status
(exec git status)
git -c core.fsmonitor=false grep two
unset GIT_CONFIG_PARAMETERS; git grep two
export GIT_CONFIG_PARAMETERS=; git grep two
unset -f git; git status
`), "\n")

// mustRead are those that agents have to be allowed.
var mustRead = []string{"git log --oneline -3", "git show --stat", "git show", "git status", "git diff", "git log -p", "git -P diff", "git diff --cached --stat",
	"git diff --no-ext-diff --no-textconv HEAD~2 HEAD --", "git blame f", "git grep two", "git ls-files"}

// What an agent runs without approval in a repository that wants to run code runs none of it. Each way is first seen to work.
func TestReadsRunNothingOfAHostileRepository(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		needs.Part(t, "git is not installed")
	}
	engine := rules.New(rules.Config{})
	var allowed []string
	for _, read := range gitReads {
		if d, err := engine.Decide(t.Context(), policy.Request{Principal: "agent/test", Command: read}); err == nil && d.Verdict == policy.Allow {
			allowed = append(allowed, read)
		}
	}
	for _, read := range mustRead {
		assert.Contains(t, allowed, read)
	}
	// Where the kernel holds reads, nothing could be left behind.
	unheld := policy.DeciderFunc(func(ctx context.Context, r policy.Request) (policy.Decision, error) {
		d, err := engine.Decide(ctx, r)
		d.Hold = false
		return d, err
	})
	s, err := session.Open(transports[0].open(t), hosts.Host{Name: "host", Shell: "sh"}, session.Config{
		Principal: "agent/test", Policy: unheld, Audit: audit.Discard{},
	})
	require.NoError(t, err)
	defer s.Close()
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			dir, mark := filepath.Join(t.TempDir(), "d"), filepath.Join(t.TempDir(), "ran")
			sh := exec.Command("sh", "-c", hostile+way.set+"\npwd")
			sh.Env = append(os.Environ(), "DIR="+dir, "MARK="+mark)
			out, err := sh.Output()
			require.NoError(t, err)
			lines := strings.Fields(string(out))
			at := lines[len(lines)-1]
			if way.control != "" {
				_ = os.Remove(mark)
				control := exec.Command("sh", "-c", way.control)
				control.Dir, control.Env = at, append(os.Environ(), "HOME=/nonexistent")
				_ = control.Run()
				require.FileExists(t, mark, "the repository does not do what it is made for")
			}
			_ = os.Remove(mark)
			res, _ := s.Run(t.Context(), session.Command{Script: "cd " + at + "\n" + strings.Join(allowed, "\n")})
			require.Equal(t, policy.Allow, res.Decision.Verdict, "%s", res.Decision.Reason)
			require.NotEqual(t, session.StatusError, res.Status, "%v", res.Err)
			if _, err := os.Stat(mark); err == nil { // which of them was it?
				for _, read := range allowed {
					_ = os.Remove(mark)
					_, _ = s.Run(t.Context(), session.Command{Script: "cd " + at + " && " + read})
					assert.NoFileExists(t, mark, "%s ran it", read)
				}
				t.Error("a read ran what the repository names")
			}
		})
	}
}

// Files that a hostile repository's configuration names are not shown by what an agent runs without approval. Each way is first seen to
// work, and each read works again without the setting.
func TestReadsShowNoFileThatAHostileRepositoryNames(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		needs.Part(t, "git is not installed")
	}
	engine := rules.New(rules.Config{})
	for _, way := range []struct{ setting, file, read string }{
		{"blame.ignoreRevsFile", "hunter2hunter:x:1", "git blame f"},
		{"fsck.skipList", "hunter2hunter:x:1", "git fsck"},
		{"include.path", "[client]\n\tpath = hunter2hunter", "git config -l"},
		{"include.path", "[client]\n\tpath = hunter2hunter", "git config --get client.path"},
		{"includeIf.gitdir:/.path", "[client]\n\tpath = hunter2hunter", "git var -l"},
		{"core.attributesFile", "machine login hunter2hunter", "git check-attr -a machine"},
		{"core.excludesFile", "hunter2*", "git check-ignore -v hunter2hunter"},
	} {
		t.Run(way.read, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "d")
			sh := exec.Command("sh", "-c", hostile)
			sh.Env = append(os.Environ(), "DIR="+dir, "MARK="+dir+"/ran")
			out, err := sh.CombinedOutput()
			require.NoError(t, err, "%s", out)
			repo, secret := filepath.Join(dir, "repo"), filepath.Join(dir, "secret")
			require.NoError(t, os.WriteFile(secret, []byte(way.file+"\n"), 0o600))
			control := func(script string) string {
				sh := exec.Command("sh", "-c", script)
				sh.Dir, sh.Env = repo, append(os.Environ(), "HOME=/nonexistent")
				out, _ := sh.CombinedOutput()
				return string(out)
			}
			control("git config '" + way.setting + "' " + secret)
			require.Contains(t, control(way.read), "hunter2", "the repository does not do what it is made for")

			s, err := session.Open(transports[0].open(t), hosts.Host{Name: "host", Shell: "sh"}, session.Config{Principal: "agent/test", Policy: engine, Audit: audit.Discard{}})
			require.NoError(t, err)
			defer s.Close()
			_, err = s.Run(t.Context(), session.Command{Script: "cd " + repo})
			require.NoError(t, err)
			res, err := s.Run(t.Context(), session.Command{Script: way.read})
			require.Equal(t, policy.Allow, res.Decision.Verdict, "%v", err)
			assert.Equal(t, 126, *res.ExitCode)
			assert.NotContains(t, string(res.Stdout)+string(res.Stderr), "hunter2")
			assert.Contains(t, string(res.Stderr), "this needs approval: command git ")

			control("git config --unset '" + way.setting + "'")
			res, _ = s.Run(t.Context(), session.Command{Script: way.read})
			assert.NotContains(t, string(res.Stderr), "this needs approval")
		})
	}
}

// The function that stands in for git in shells of agents is git, in every shell: with the same words, output and exit code. In a
// repository that names programs it says so.
func TestGitOfAgentsIsGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		needs.Part(t, "git is not installed")
	}
	dir := t.TempDir()
	sh := exec.Command("sh", "-c", hostile+`echo x >'a  b*'; git add .; echo y >>'a  b*'; mkdir -p 'd e'; echo z >'d e/new'`)
	sh.Env = append(os.Environ(), "DIR="+dir, "MARK="+dir+"/ran")
	out, err := sh.CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, shell := range []string{"bash", "zsh", "ksh93", "mksh", "dash", "ash", "sh"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			needShell(t, shell)
			name := shell
			if name == "ksh93" {
				name = "ksh"
			}
			open := func(principal string) *session.Session {
				s, err := session.Open(transports[0].open(t), hosts.Host{Name: "host", Shell: name}, session.Config{
					Principal: principal, Policy: policy.AllowAll, Audit: audit.Discard{},
				})
				require.NoError(t, err)
				t.Cleanup(func() { s.Close() })
				_, err = s.Run(t.Context(), session.Command{Script: "cd " + dir + "/repo"})
				require.NoError(t, err)
				return s
			}
			agent, person := open("agent/test"), open("operator/test")
			for _, script := range []string{
				"git status --short", "git -C 'd e' status --short", "git -C 'd e' -C .. diff -- 'a  b*'", "git --no-pager diff --stat", "git", "git -C",
				"git -C nowhere status", "git log --oneline", "git show --format='%s  x' --no-patch", "git blame 'a  b*' | cut -c1-3", "git diff --no-index f g",
				"git nonsense", "git diff --quiet", "set -eu; git status --short; git diff --quiet; echo not reached", "git status -s | wc -l",
				"cd /; git status", "git rev-parse --show-toplevel", "x=$(git diff); echo ${#x}", "git show HEAD:f </dev/null", "echo f | git check-ignore --stdin",
			} {
				want, _ := person.Run(t.Context(), session.Command{Script: "(" + script + "\n)"})
				got, _ := agent.Run(t.Context(), session.Command{Script: "(" + script + "\n)"})
				assert.Equal(t, string(want.Stdout), string(got.Stdout), script)
				assert.Equal(t, string(want.Stderr), string(got.Stderr), script)
				assert.Equal(t, want.ExitCode, got.ExitCode, script)
			}
			_, err := agent.Run(t.Context(), session.Command{Script: "cp -R " + dir + "/repo " + dir + "/" + shell + "; cd " + dir + "/" + shell + "; git config filter.zork.clean x"})
			require.NoError(t, err)
			got, _ := agent.Run(t.Context(), session.Command{Script: "git status"})
			require.NotNil(t, got.ExitCode)
			assert.Equal(t, 126, *got.ExitCode)
			assert.Contains(t, string(got.Stderr), "command git status")
			assert.Contains(t, string(got.Stderr), "filter.zork.clean")
			got, err = agent.Run(t.Context(), session.Command{Script: "command git status -s; git log --oneline -1; git config --get filter.zork.clean"})
			require.NoError(t, err)
			assert.Empty(t, got.Stderr)
			assert.Contains(t, string(got.Stdout), "signed")
		})
	}
}
