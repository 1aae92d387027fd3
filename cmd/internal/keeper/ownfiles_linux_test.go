package keeper_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/sandbox"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// enforced are the ways in which this machine's kernel holds a session of a keeper.
func enforced(t *testing.T, fn func(t *testing.T, how string, change func(*keeper.Config))) {
	exe, err := os.Executable()
	require.NoError(t, err)
	t.Run("bubblewrap", func(t *testing.T) {
		if _, err := exec.LookPath("bwrap"); err != nil {
			missing(t, "bubblewrap")
		}
		fn(t, "bubblewrap", func(*keeper.Config) {})
	})
	t.Run("landlock", func(t *testing.T) {
		if sandbox.LandlockVersion() < sandbox.MinLandlock {
			missing(t, "Landlock")
		}
		fn(t, "landlock", func(c *keeper.Config) { c.Confine = []string{exe, "sandbox-exec"}; c.NoBubblewrap() })
	})
}

// missing skips, or fails where everything must be there.
func missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is not there, and here it must be", what)
	}
	t.Skipf("%s is not there", what)
}

// over adds a host "lab" to a world's inventory: this machine over OpenSSH's server.
func over(w *keepertest.World, sshd *sessiontest.SSHD) {
	w.T.Helper()
	require.NoError(w.T, os.WriteFile(w.Inventory, []byte(fmt.Sprintf("%s  - {name: lab, tier: dev, addr: %s, ssh_config: %s}\n", keepertest.Here, hostOf(sshd.Addr), labConfig(w, sshd))), 0o600))
}

func hostOf(addr string) string { host, _, _ := strings.Cut(addr, ":"); return host }

// labConfig is the server's configuration for a host of another name.
func labConfig(w *keepertest.World, sshd *sessiontest.SSHD) string {
	text, err := os.ReadFile(sshd.Config)
	require.NoError(w.T, err)
	name := filepath.Join(w.Dir, "ssh_config")
	require.NoError(w.T, os.WriteFile(name, []byte(strings.Replace(string(text), "Host sshd", "Host lab", 1)), 0o600))
	return name
}

// kernel checks how a sandbox is held.
func kernel(w *keepertest.World, b wire.Sandbox, how string) wire.Enforcement {
	w.T.Helper()
	e, err := w.CheckSandbox(w.T.Context(), b.ID)
	require.NoError(w.T, err)
	if e.Level != "kernel" {
		missing(w.T, "a kernel that holds ("+e.Why+")")
	}
	require.Equal(w.T, how, e.How, e.Why)
	return e
}

func TestFromASandboxTheKeeperCannotBeReached(t *testing.T) {
	if os.Geteuid() != 0 {
		needs.Part(t, "a socket below /run takes root")
	}
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	for place, tmp := range map[string]string{"below /tmp": "/tmp", "below /run": "/run", "below the home": home} {
		t.Run(place, func(t *testing.T) {
			t.Setenv("TMPDIR", tmp)
			enforced(t, func(t *testing.T, how string, change func(*keeper.Config)) {
				w := keepertest.Start(t, change)
				over(w, sessiontest.OpenSSHD(t))
				hosts := []string{"here"}
				if how == "bubblewrap" {
					hosts = append(hosts, "lab")
				}
				for _, host := range hosts {
					b, _ := w.Box(host)
					kernel(w, b, how)
					agent := w.As("agent/claude")
					s, err := agent.Open(t.Context(), wire.Open{Host: host, Sandbox: b.ID})
					require.NoError(t, err)
					require.Equal(t, "kernel", s.Sandbox)
					// The path is put together, for what names it is denied before it runs.
					dir, last := filepath.Split(w.Places.Socket)
					r := w.Approved(agent, s.ID, fmt.Sprintf(`perl -MSocket -e '$p = join("", %s) . "%s"; print "begun\n"; socket(S, AF_UNIX, SOCK_STREAM, 0) or die "socket: $!\n"; connect(S, sockaddr_un($p)) or die "connect: $!\n"; print "connected\n"'`, spelledOut(dir), last))
					assert.Equal(t, "begun\n", r.Stdout, "%s: %s%+v", host, r.Stderr, r.Error)
					assert.Regexp(t, "(connect|socket): ", r.Stderr)
					for _, name := range []string{"audit/key", "state/store.db", "state/store.db.key", "inventory.yaml", "audit/000001.jsonl"} {
						r = w.Approved(agent, s.ID, fmt.Sprintf(`perl -e '$p = join("", %s); print "begun\n"; open(F, "<", $p) or die "open: $!\n"; print while <F>'`, spelledOut(filepath.Join(w.Dir, name))))
						assert.Equal(t, "begun\n", r.Stdout, "%s: %s%+v", name, r.Stderr, r.Error)
					}
				}
			})
		})
	}
}

// spelledOut is a text as a list of perl's, one character each.
func spelledOut(text string) string {
	var all []string
	for _, c := range text {
		all = append(all, fmt.Sprintf("chr(%d)", c))
	}
	return strings.Join(all, ",")
}

func TestASandboxAmongTheKeepersFilesIsRefused(t *testing.T) {
	w := keepertest.Start(t)
	for _, path := range []string{filepath.Join(w.Dir, "audit"), filepath.Dir(w.Places.Socket)} {
		var b wire.Sandbox
		status, p := w.API("", "POST", keepertest.SandboxesPath, wire.NewSandbox{Owner: "agent/claude", Host: "here", Path: path}, &b)
		require.Equal(t, http.StatusCreated, status, p.Detail)
		_, err := w.As("agent/claude").Open(t.Context(), wire.Open{Host: "here", Sandbox: b.ID})
		require.Error(t, err, path)
		assert.ErrorContains(t, err, "Fairlead's own files")
	}
}

// A kernel that only hid the keeper's files in a sandbox would let others be put in their places.
func TestASandboxAroundTheKeepersFilesKeepsThemInPlace(t *testing.T) {
	t.Setenv("TMPDIR", lastingHome(t))
	w := keepertest.Start(t)
	var b wire.Sandbox
	status, p := w.API("", "POST", keepertest.SandboxesPath, wire.NewSandbox{Owner: "agent/claude", Host: "here", Path: w.Dir}, &b)
	require.Equal(t, http.StatusCreated, status, p.Detail)
	e, err := w.CheckSandbox(t.Context(), b.ID)
	require.NoError(t, err)
	assert.Equal(t, "checked", e.Level, "a program could make what is not there")
	if strings.Contains(e.Why, "is not installed") {
		missing(t, "a kernel that holds ("+e.Why+")")
	}
	assert.Contains(t, e.Why, "not there yet")

	for _, name := range []string{"policy.yaml", "k.log", "state/store.db-journal"} {
		require.NoError(t, os.WriteFile(filepath.Join(w.Dir, name), []byte("version: 1\n"), 0o600))
	}
	if e, err = w.CheckSandbox(t.Context(), b.ID); err == nil && e.Level != "kernel" {
		missing(t, "a kernel that holds ("+e.Why+")")
	}
	require.NoError(t, err)
	agent := w.As("agent/claude")
	s, err := agent.Open(t.Context(), wire.Open{Host: "here", Sandbox: b.ID})
	require.NoError(t, err)
	r := w.Approved(agent, s.ID, `perl -e '$s = "state"; $a = "aud" . "it"; print rename($s, "s2") ? "renamed" : "no"; print rename($a, "a2") ? "renamed" : "no"; open(F, "<", "$a/key") and print "read"; open(F, ">", "pol" . "icy.yaml") and print "written"; open(F, ">", "mine") and print " mine"'`)
	assert.Equal(t, "nono mine", r.Stdout, "%s%+v", r.Stderr, r.Error)
}

// lastingHome is a directory outside /tmp.
func lastingHome(t *testing.T) string {
	t.Helper()
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	dir, err := os.MkdirTemp(home, "fl")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func TestNoFrontEndGivesAnAgentTheKeepersFiles(t *testing.T) {
	w := keepertest.Start(t)
	over(w, sessiontest.OpenSSHD(t))
	require.NoError(t, os.WriteFile(filepath.Join(w.Dir, "policy.yaml"), []byte(`version: 1
rules:
  - {name: all, hosts: all, principals: ["role=agent"], classes: [read-only, sensitive-read, write, unknown, dangerous, forbidden], verdict: allow}
`), 0o600))
	agent := w.As("agent/claude")
	require.NoError(t, os.Symlink(filepath.Join(w.Dir, "audit"), filepath.Join(w.Dir, "link")))
	for _, host := range []string{"here", "lab"} {
		for _, name := range []string{"audit/key", "audit/000001.jsonl", "state/store.db", "state/store.db-wal", "state/store.db.key", "inventory.yaml", "policy.yaml", "r/k.sock", "link/key", "audit"} {
			path := filepath.Join(w.Dir, name)
			at := client.FileAt{Host: host, Path: path}
			_, err := agent.ReadFile(t.Context(), at, 0, 100)
			assert.Equal(t, "denied", keepertest.CodeOf(t, err), path)
			_, err = agent.WriteFile(t.Context(), at, []byte("x"), client.WriteOptions{})
			assert.Equal(t, "denied", keepertest.CodeOf(t, err), path)
			status, p := w.API("agent/claude", "GET", "/v1/files/list?host="+host+"&path="+path, nil, nil)
			assert.Equal(t, http.StatusForbidden, status, "%s: %s", path, p.Detail)
			status, _ = w.API("agent/claude", "POST", "/v1/files/edit?host="+host+"&path="+path, wire.FileEdit{Old: "a", New: "b"}, nil)
			assert.Equal(t, http.StatusForbidden, status, path)
		}
		key := filepath.Join(w.Dir, "audit", "key")
		s, err := agent.Open(t.Context(), wire.Open{Host: host})
		require.NoError(t, err)
		for _, script := range []string{"cat " + key, "cat " + filepath.Join(w.Dir, "aud*", "key"), "cd " + w.Dir + " && cat audit/key", "cat " + filepath.Join(w.Dir, "link", "key"), "strings " + filepath.Join(w.Dir, "state", "store.db"), "fairlead approvals list", "env fairlead version"} {
			r := w.RunIn(agent, s.ID, script)
			assert.Equal(t, "denied", r.Status, "%s: %s", script, r.Stdout)
			assert.Equal(t, "builtin/own", r.Decision.Rule, script)
		}
		assert.Equal(t, "ok", w.RunIn(agent, s.ID, "echo fine >"+filepath.Join(w.Dir, "mine")).Status)
		b, err := agent.Open(t.Context(), wire.Open{Host: host, CWD: filepath.Join(w.Dir, "audit")})
		if err == nil {
			assert.Equal(t, "denied", w.RunIn(agent, b.ID, "cat key").Status)
			assert.Equal(t, "denied", w.RunIn(agent, b.ID, "cat *").Status)
		}
		status, _ := w.API("agent/claude", "POST", "/v1/jobs", wire.NewJob{Host: host, Command: "cat " + key}, nil)
		assert.Equal(t, http.StatusForbidden, status)
	}
}

// A process in the sandbox swaps a directory and a link to one outside, while a tool of the keeper writes, edits and
// reads files below that name.
func TestASwappedDirectoryLetsNoFileOut(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("perl"); err != nil {
		missing(t, "perl")
	}
	enforced(t, func(t *testing.T, how string, change func(*keeper.Config)) {
		w := keepertest.Start(t, change)
		over(w, sessiontest.OpenSSHD(t))
		require.NoError(t, os.WriteFile(filepath.Join(w.Dir, "policy.yaml"), []byte(`version: 1
rules:
  - {name: all, hosts: all, principals: ["role=agent"], classes: [read-only, write, unknown], verdict: allow}
`), 0o600))
		hosts := []string{"here"}
		if how == "bubblewrap" {
			hosts = append(hosts, "lab")
		}
		for _, host := range hosts {
			t.Run(host, func(t *testing.T) {
				b, dir := w.Box(host)
				kernel(w, b, how)
				out := filepath.Join(w.Dir, "out-"+host)
				require.NoError(t, os.Mkdir(out, 0o777))
				require.NoError(t, os.Mkdir(filepath.Join(dir, "dd"), 0o777))
				require.NoError(t, os.Symlink(out, filepath.Join(dir, "link")))
				agent := w.As("agent/claude")
				swap, err := agent.Open(t.Context(), wire.Open{Host: host, Sandbox: b.ID})
				require.NoError(t, err)
				x, err := agent.Start(t.Context(), swap.ID, wire.Run{Command: `perl -e 'until (-e "stop") { rename "dd", "x"; rename "link", "dd"; rename "dd", "link"; rename "x", "dd"; select undef, undef, undef, rand 0.3 }'`}, "")
				require.NoError(t, err)
				work, err := agent.Open(t.Context(), wire.Open{Host: host, Sandbox: b.ID})
				require.NoError(t, err)
				require.Equal(t, "kernel", work.Sandbox)
				done := 0
				for i := range 6 {
					at := client.FileAt{Session: work.ID, Path: fmt.Sprintf("dd/f%d", i)}
					if _, err := agent.WriteFile(t.Context(), at, []byte("escaped"), client.WriteOptions{}); err == nil {
						done++
						_, _ = agent.EditFile(t.Context(), at, wire.FileEdit{Old: "escaped", New: "again"}, "")
					}
					left, err := os.ReadDir(out)
					require.NoError(t, err)
					require.Empty(t, left, "after %d tries", i+1)
				}
				t.Logf("%d of 6 files were written", done)
				require.NoError(t, os.WriteFile(filepath.Join(dir, "stop"), nil, 0o600))
				_, err = agent.Wait(t.Context(), x.Exec)
				require.NoError(t, err)
				left, err := os.ReadDir(out)
				require.NoError(t, err)
				assert.Empty(t, left)
				// In peace it works, also what a program of another session has made.
				f, err := agent.WriteFile(t.Context(), client.FileAt{Session: work.ID, Path: "sub/new"}, []byte("in peace"), client.WriteOptions{Mode: "0600"})
				require.NoError(t, err)
				assert.Equal(t, "0600", f.Mode)
				f, err = agent.ReadFile(t.Context(), client.FileAt{Session: work.ID, Path: "sub/new"}, 0, 100)
				require.NoError(t, err)
				assert.Equal(t, "in peace", f.Content)
				require.NoError(t, os.RemoveAll(dir))
			})
		}
	})
}

func TestASandboxWithoutANetworkHasNone(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("perl"); err != nil {
		missing(t, "perl")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	script := fmt.Sprintf(`perl -MSocket -e 'print socket(S, AF_INET, SOCK_STREAM, 0) && connect(S, sockaddr_in(%d, inet_aton("127.0.0.1"))) ? "connected\n" : "refused\n"'`, l.Addr().(*net.TCPAddr).Port)
	enforced(t, func(t *testing.T, how string, change func(*keeper.Config)) {
		w := keepertest.Start(t, change)
		b, _ := w.Box("here")
		assert.Empty(t, b.Network, "left out: the account's")
		assert.Contains(t, strings.Join(kernel(w, b, how).Open, "\n"), "network: ")
		agent := w.As("agent/claude")
		before, err := agent.Open(t.Context(), wire.Open{Host: "here", Sandbox: b.ID, Shell: "bash"})
		require.NoError(t, err)
		assert.Equal(t, "connected\n", w.Approved(agent, before.ID, script).Stdout)

		none := "none"
		b, err = w.ChangeSandbox(t.Context(), b.ID, wire.SandboxChange{Network: &none})
		require.NoError(t, err)
		assert.Equal(t, "none", b.Network)
		assert.NotContains(t, strings.Join(kernel(w, b, how).Open, "\n"), "network: ")
		assert.Equal(t, "denied", w.RunIn(agent, before.ID, "ls").Status, "a session from before still has a network")
		after, err := agent.Open(t.Context(), wire.Open{Host: "here", Sandbox: b.ID, Shell: "bash"})
		require.NoError(t, err)
		assert.Equal(t, "refused\n", w.Approved(agent, after.ID, script).Stdout)
	})
	t.Run("where no kernel enforces it", func(t *testing.T) {
		w := keepertest.Start(t, func(c *keeper.Config) { c.NoBubblewrap() })
		b, dir := w.Box("here")
		status, bad := w.API("", "POST", keepertest.SandboxesPath, map[string]string{"owner_principal_id": "agent/claude", "host": "here", "path": dir, "network": "some"}, nil)
		assert.Equal(t, http.StatusUnprocessableEntity, status, bad.Detail)
		none := "none"
		_, err := w.ChangeSandbox(t.Context(), b.ID, wire.SandboxChange{Network: &none})
		require.NoError(t, err)
		_, err = w.As("agent/claude").Open(t.Context(), wire.Open{Host: "here", Sandbox: b.ID})
		require.ErrorContains(t, err, "must have no network")
	})
}
