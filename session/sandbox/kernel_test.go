package sandbox_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sandbox"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// bubblewrapped skips where bubblewrap is not installed, or its namespaces are refused. It returns what the host can do.
func bubblewrapped(t *testing.T, s sandbox.Sandbox, b sandbox.Bubblewrap) sandbox.Ability {
	t.Helper()
	can, err := sandbox.Probe(t.Context(), runner("sh", "-c"), b, s)
	require.NoError(t, err)
	if !can.Bubblewrap {
		needs.Part(t, "%s", can.Why)
	}
	return can
}

func landlocked(t *testing.T) sandbox.Landlock {
	t.Helper()
	if v := sandbox.LandlockVersion(); v < sandbox.MinLandlock {
		needs.Part(t, "the kernel's Landlock has version %d", v)
	}
	exe, err := os.Executable()
	require.NoError(t, err)
	return sandbox.Landlock{Helper: []string{exe, "sandbox-exec"}}
}

// confined opens a session whose shells are started as wrap says.
func confined(t *testing.T, shell string, wrap func(session.Program) (session.Program, error)) *session.Session {
	t.Helper()
	tr, err := localpty.New(localpty.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { tr.Close() })
	s, err := session.Open(tr, hosts.Host{Name: "web1", Transport: hosts.Local, Shell: shell}, session.Config{Program: wrap, Policy: policy.AllowAll, Audit: audit.Discard{}, Grace: 200 * time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

func run(t *testing.T, s *session.Session, script string) session.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, err := s.Run(ctx, session.Command{Script: script})
	require.NoError(t, err, script)
	return r
}

// kernels are the ways in which a kernel holds a shell, each with a fresh tree.
func kernels(t *testing.T, fn func(t *testing.T, dir string, wrap func(session.Program) (session.Program, error))) {
	t.Run("bubblewrap", func(t *testing.T) {
		dir := treeIn(t, lasting(t))
		b, s := sandbox.Bubblewrap{}, box(dir+"/box")
		b.Keys = bubblewrapped(t, s, b).Keys
		fn(t, dir, func(p session.Program) (session.Program, error) { return b.Program(s, p) })
	})
	t.Run("landlock", func(t *testing.T) {
		dir := treeIn(t, lasting(t))
		l, s := landlocked(t), box(dir+"/box")
		fn(t, dir, func(p session.Program) (session.Program, error) { return l.Program(s, p) })
	})
}

func TestTheKernelLetsAShellChangeNothingOutside(t *testing.T) {
	kernels(t, func(t *testing.T, dir string, wrap func(session.Program) (session.Program, error)) {
		outside, other := snapshot(t, dir+"/out"), "/tmp/fl-other-"+strings.ReplaceAll(t.Name(), "/", "-")
		for _, shell := range []string{"bash", "dash"} {
			need(t, shell)
			s := confined(t, shell, wrap)
			assert.Equal(t, dir+"/box\n", string(run(t, s, "pwd").Stdout))
			for _, script := range []string{
				"echo x >../out/new", "echo x >../out/keep", "echo x >>esc/keep", "cp a.txt sub/abs/", "rm -rf ../out/*", "mv ../out/keep .", "mv a.txt ../out/", "mkdir ../out/d",
				"ln -s x ../out/l", "ln ../out/keep ./hard && echo x >hard", "truncate -s0 escfile", "sh -c 'echo x >" + dir + "/out/keep'", "find esc/ -delete", "(cd ../out && touch x)", "tar cf ../out/x.tar .",
				"perl -e 'unlink \"../out/keep\"; open F, \">\", \"../out/keep\"; print F 1; truncate \"../out/keep\", 0; rename \"../out/keep\", \"k\"'",
				"echo x >/proc/self/root" + dir + "/out/new", "echo x >/proc/1/root" + dir + "/out/new", "(cd /proc/self/cwd/.. && echo x >out/new)", "mkfifo ../out/f", "i=0; while [ $i -lt 10 ]; do i=$((i+1)); ln -sfn sub swap & ln -sfn ../out swap & echo x >swap/keep; done 2>/dev/null; wait",
				"echo x >" + other + "; test ! -e /no", "mv ../box ../moved", "rmdir ../box/nothing ../out",
				"unshare -Urm sh -c 'mount -o remount,rw / && echo x >../out/new'", "unshare -m umount " + dir, "nsenter -t 1 -m touch " + dir + "/out/new", "chroot / touch " + dir + "/out/new",
			} {
				run(t, s, script)
				assert.Equal(t, outside, snapshot(t, dir+"/out"), "%s: %s", shell, script)
			}
			assert.NoFileExists(t, other)
			run(t, s, "rm -f swap")
			r := run(t, s, "echo in >made; cat made ../out/secret; rm made; mkdir -p d/e && mv d/e d/f && rmdir d/f d; echo ${TMPDIR}")
			assert.Equal(t, "in\nout/secret\n"+dir+"/box\n", string(r.Stdout), string(r.Stderr))
			require.NoError(t, s.Close())
		}
	})
}

// The probe looks further than the PATH of the login, so what it finds is started by its path.
func TestBubblewrapIsStartedWhereItWasFound(t *testing.T) {
	dir := treeIn(t, lasting(t))
	b, s := sandbox.Bubblewrap{}, box(dir+"/box")
	bubblewrapped(t, s, b)
	bin := lasting(t) // what is in /tmp is not to be seen
	all, err := os.ReadDir("/usr/bin")
	require.NoError(t, err)
	for _, e := range all {
		if e.Name() != "bwrap" {
			require.NoError(t, os.Symlink("/usr/bin/"+e.Name(), bin+"/"+e.Name()))
		}
	}
	t.Setenv("PATH", bin)
	can, err := sandbox.Probe(t.Context(), runner("sh", "-c"), b, s)
	require.NoError(t, err)
	require.True(t, can.Bubblewrap, can.Why)
	e, err := sandbox.Choose(s, can, sandbox.Wants{})
	require.NoError(t, err)
	r := run(t, confined(t, "dash", e.Wrap(s, b, sandbox.Landlock{})), "pwd; echo x >../out/new")
	assert.Equal(t, dir+"/box\n", string(r.Stdout), string(r.Stderr))
	require.NotNil(t, r.ExitCode)
	assert.NotEqual(t, 0, *r.ExitCode)
	assert.NoFileExists(t, dir+"/out/new")
}

func TestASessionInASandboxIsASessionLikeAnyOther(t *testing.T) {
	kernels(t, func(t *testing.T, dir string, wrap func(session.Program) (session.Program, error)) {
		s := confined(t, "bash", wrap)
		r := run(t, s, "printf out; printf err >&2; x=1; (exit 7)")
		assert.Equal(t, "out", string(r.Stdout))
		assert.Equal(t, "err", string(r.Stderr))
		assert.Equal(t, 7, *r.ExitCode)
		assert.Equal(t, "1\n", string(run(t, s, "cd sub; echo $x").Stdout))
		assert.Equal(t, dir+"/box/sub\n", string(run(t, s, "pwd").Stdout))
		assert.Equal(t, "x\n", string(run(t, s, "read -r a </dev/null; cat <<EOF\nx\nEOF").Stdout))
		assert.Equal(t, "300000\n", string(run(t, s, "head -c 300000 /dev/zero | wc -c; true >/dev/null 2>/dev/tty").Stdout))

		r = run(t, s, "exit 3")
		assert.Equal(t, session.StatusExit, r.Status)
		r = run(t, s, "pwd")
		assert.Equal(t, dir+"/box/sub\n", string(r.Stdout))

		// What is given as standard input arrives.
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		in, err := s.Run(ctx, session.Command{Script: "wc -c", Stdin: strings.NewReader(strings.Repeat("x", 100_000))})
		require.NoError(t, err)
		assert.Equal(t, "100000", strings.TrimSpace(string(in.Stdout)))

		// A command can be stopped, also one that does not listen. What listens costs no shell.
		run(t, s, "x=kept")
		for _, c := range []struct{ script, then, by string }{
			{"sleep 600; echo behind", "kept\n", "INT"},
			{"sleep 600 & wait; echo behind", "kept\n", "INT"},
			{"trap '' INT; sleep 600; sleep 600", "", ""},
		} {
			x, err := s.Start(ctx, session.Command{Script: c.script})
			require.NoError(t, err)
			x.Stop()
			r, err := x.Wait(ctx)
			require.NoError(t, err)
			assert.Empty(t, string(r.Stdout), c.script)
			assert.Contains(t, r.StoppedBy, c.by, c.script)
			assert.Contains(t, string(run(t, s, "echo $x").Stdout), c.then, c.script)
		}
	})
}

// The processes of a place in which no other is seen have numbers of their own: to signal them from outside would hit
// others that happen to have the same.
func TestStoppingHitsNothingOutside(t *testing.T) {
	dir := treeIn(t, lasting(t))
	b, s := sandbox.Bubblewrap{}, box(dir+"/box")
	bubblewrapped(t, s, b)
	var lines []string
	ses := confined(t, "bash", func(p session.Program) (session.Program, error) {
		p, err := b.Program(s, p)
		lines = append(lines, p.Line)
		return p, err
	})
	run(t, ses, "true")
	x, err := ses.Start(t.Context(), session.Command{Script: "trap '' INT TERM; while :; do sleep 1; done"})
	require.NoError(t, err)
	x.Stop()
	for _, line := range lines {
		assert.True(t, strings.HasPrefix(line, "exec bwrap "), line)
	}
	assert.Equal(t, "ok\n", string(run(t, ses, "echo ok").Stdout))
}

func TestAPlaceOfItsOwnSeesNoProcessAndNoSocketOutside(t *testing.T) {
	dir := treeIn(t, lasting(t))
	b, s := sandbox.Bubblewrap{NoNetwork: true, Hide: []string{dir + "/out"}}, box(dir+"/box")
	bubblewrapped(t, s, b)
	ses := confined(t, "bash", func(p session.Program) (session.Program, error) { return b.Program(s, p) })
	pid, unhurt := outside(t)
	assert.Equal(t, "", string(run(t, ses, "ls /tmp/ /run/ | grep -v -e systemd -e resolvconf -e '^$' -e : -e "+strings.Split(dir, "/")[2]).Stdout))
	assert.Equal(t, "", string(run(t, ses, "ls ../out").Stdout))
	assert.NotContains(t, string(run(t, ses, "cat /proc/[0-9]*/cmdline | tr '\\0' ' '").Stdout), "sleep 600")
	assert.Equal(t, "0\n", string(run(t, ses, "grep -c -v -e lo: -e face -e Inter /proc/net/dev").Stdout))
	assert.Contains(t, string(run(t, ses, "grep CapEff /proc/self/status").Stdout), "0000000000000000")
	run(t, ses, fmt.Sprintf("kill -9 %d 2>/dev/null; true", pid))
	unhurt()
}

func TestNothingIsLeftOfAPlaceWhenItsSessionEnds(t *testing.T) {
	dir := treeIn(t, lasting(t))
	b, s := sandbox.Bubblewrap{}, box(dir+"/box")
	bubblewrapped(t, s, b)
	before := snapshot(t, dir)
	ses := confined(t, "bash", func(p session.Program) (session.Program, error) { return b.Program(s, p) })
	// A pipe that a process holds open ends when the last of them is gone. Opening it for both does not wait.
	require.NoError(t, exec.Command("mkfifo", dir+"/box/pipe").Run())
	both, err := os.OpenFile(dir+"/box/pipe", os.O_RDWR, 0)
	require.NoError(t, err)
	reader, err := os.Open(dir + "/box/pipe")
	require.NoError(t, err)
	defer reader.Close()
	run(t, ses, "(trap '' HUP; setsid sh -c 'echo ready; exec sleep 600' >pipe 2>/dev/null </dev/null &) ; true")
	ready := make([]byte, len("ready\n"))
	_, err = io.ReadFull(reader, ready)
	require.NoError(t, err)
	require.NoError(t, both.Close())
	require.NoError(t, ses.Close())
	require.NoError(t, reader.SetReadDeadline(time.Now().Add(time.Minute)))
	_, err = reader.Read(ready)
	require.Equal(t, io.EOF, err, "a process of the sandbox outlived its session")
	require.NoError(t, os.Remove(dir+"/box/pipe"))
	assert.Equal(t, before, snapshot(t, dir))
}

func TestAnAccountWithoutRightsCanBeHeldTooWhereTheHostAllowsIt(t *testing.T) {
	if os.Getuid() != 0 {
		needs.Part(t, "only root becomes another account")
	}
	need(t, "setpriv")
	dir := treeIn(t, lasting(t))
	require.NoError(t, exec.Command("chown", "-R", "nobody", dir).Run())
	as := runner("setpriv", "--reuid=nobody", "--clear-groups", "sh", "-c")
	s := box(dir + "/box")
	can, err := sandbox.Probe(t.Context(), as, sandbox.Bubblewrap{}, s)
	require.NoError(t, err)
	if !can.Bubblewrap {
		needs.Part(t, "%s", can.Why)
	}
	p, err := sandbox.Bubblewrap{}.Program(s, session.Program{Line: "exec sh -c 'id -u; echo x >made; echo x >../out/new; echo x >../out/keep; true'"})
	require.NoError(t, err)
	before := snapshot(t, dir+"/out")
	out, err := as(t.Context(), "", p.Line)
	require.NoError(t, err)
	assert.NotEqual(t, "0\n", out)
	assert.FileExists(t, dir+"/box/made")
	assert.Equal(t, before, snapshot(t, dir+"/out"))
}

// What a helper was given open would lead around Landlock: a directory, or a file to write.
func TestInheritedDescriptorsDoNotLeadAroundLandlock(t *testing.T) {
	dir := treeIn(t, lasting(t))
	l := landlocked(t)
	before := snapshot(t, dir+"/out")
	f, err := os.OpenFile(dir+"/out/keep", os.O_RDWR, 0)
	require.NoError(t, err)
	defer f.Close()
	d, err := os.Open(dir + "/out")
	require.NoError(t, err)
	defer d.Close()
	cmd := exec.Command(l.Helper[0], "sandbox-exec", dir+"/box", "sh", "-c", "echo x >&3; cd /proc/self/fd/4 && echo x >new; echo done")
	cmd.ExtraFiles = []*os.File{f, d}
	out, err := cmd.Output()
	require.NoError(t, err)
	assert.Equal(t, "done\n", string(out))
	assert.Equal(t, before, snapshot(t, dir+"/out"))
}

// The environment of a helper leads to no place outside: temporary files lie in the sandbox, and agents are not named.
func TestTheEnvironmentOfAHelperLeadsToNoPlaceOutside(t *testing.T) {
	l, dir := landlocked(t), treeIn(t, scratch(t))+"/box"
	cmd := exec.Command(l.Helper[0], "sandbox-exec", dir, "env")
	cmd.Env = os.Environ()
	for _, name := range []string{"TMPDIR", "TMPPREFIX", "SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS"} {
		cmd.Env = append(cmd.Env, name+"=/elsewhere")
	}
	out, err := cmd.Output()
	require.NoError(t, err)
	assert.NotContains(t, string(out), "/elsewhere")
	assert.Contains(t, string(out), "\nTMPDIR="+dir+"\nTMPPREFIX="+dir+"/.zsh\n")
}

func TestConfineRunsNothingWhereItCannotHold(t *testing.T) {
	l := landlocked(t)
	// What is refused first is said: nothing goes on without its rules.
	out, err := exec.Command(l.Helper[0], "sandbox-exec", "/nonexistent/x", "true").CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "sandbox: /nonexistent/x cannot be opened, and nothing was run")
	file := t.TempDir() + "/x"
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	out, err = exec.Command(l.Helper[0], "sandbox-exec", file, "true").CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "sandbox: Landlock refuses the rule for "+file+", and nothing was run")
	for name, args := range map[string][]string{
		"no directory":            {"/nonexistent/x", "true"},
		"the root":                {"/", "true"},
		"not a command":           {t.TempDir(), "fairlead-no-such-program"},
		"no command":              {t.TempDir(), "--no-network"},
		"an option of nobody's":   {t.TempDir(), "--network", "true"},
		"a hidden path from here": {t.TempDir(), "--hide=x", "true"},
	} {
		cmd := exec.Command(l.Helper[0], append([]string{"sandbox-exec"}, args...)...)
		out, err := cmd.CombinedOutput()
		require.Error(t, err, name)
		assert.Contains(t, string(out), "sandbox: ", name)
	}
}
