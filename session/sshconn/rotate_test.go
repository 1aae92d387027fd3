package sshconn_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// keyPair makes a key of a kind with ssh-keygen, and returns its line without a comment.
func keyPair(t *testing.T, file, kind string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "ssh-keygen", "-q", "-t", kind, "-N", "", "-f", file).CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		needs.Part(t, "ssh-keygen is not installed")
	}
	require.NoError(t, err, "%s", out)
	text, err := os.ReadFile(file + ".pub")
	require.NoError(t, err)
	f := strings.Fields(string(text))
	return f[0] + " " + f[1]
}

// content is what a known_hosts file says, without the order of lines; a hashed name that is that of name is "HASHED".
func content(t *testing.T, file, name string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	require.NoError(t, err)
	var out []string
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 && strings.HasPrefix(f[0], "|1|") {
			key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(f[1] + " " + f[2]))
			require.NoError(t, err)
			db, err := knownhosts.Static(knownhosts.StaticKey{Host: f[0], Key: key})
			require.NoError(t, err)
			if db.Check(knownhosts.Query{Host: "x", Alias: name}, key) == nil {
				line = "HASHED " + f[1] + " " + f[2] + "\n"
			}
		}
		out = append(out, line)
	}
	slices.Sort(out)
	return out
}

// What becomes of known_hosts files is what the real ssh makes of them.
func TestKnownHostsFollowTheHostsKeysAsWithTheRealSSH(t *testing.T) {
	client, err := exec.LookPath("ssh")
	if err != nil {
		needs.Part(t, "ssh is not installed")
	}
	dir := t.TempDir()
	lines := map[string]string{}
	var config []string
	for _, kind := range []string{"ecdsa", "rsa"} {
		lines[kind] = keyPair(t, filepath.Join(dir, "host-"+kind), kind)
		config = append(config, "HostKey "+filepath.Join(dir, "host-"+kind))
	}
	for _, kind := range []string{"ed25519", "ecdsa"} {
		lines["old-"+kind] = keyPair(t, filepath.Join(dir, "old-"+kind), kind)
	}
	sshd := sessiontest.OpenSSHD(t, config...)
	lines["ed25519"] = strings.TrimSpace(string(ssh.MarshalAuthorizedKey(sshd.HostKey)))
	_, port, err := net.SplitHostPort(sshd.Addr)
	require.NoError(t, err)
	name := "[127.0.0.1]:" + port

	for what, c := range map[string]struct {
		more    string
		files   [2]string // KEY stands for a line's key, NAME for the name
		changes bool
	}{
		"a new kind of key":                 {"", [2]string{"NAME ed25519\n"}, true},
		"without an end of line":            {"", [2]string{"# mine\nother ecdsa-old\nNAME ed25519"}, true},
		"one that was replaced":             {"", [2]string{"NAME ed25519\nNAME old-ecdsa\nother old-ed25519\n"}, true},
		"hashed":                            {"HashKnownHosts yes", [2]string{"NAME ed25519\n"}, true},
		"by its address, too":               {"", [2]string{"NAME,other ed25519\n"}, true},
		"of three names":                    {"", [2]string{"NAME,other,third ed25519\n"}, false},
		"of a pattern":                      {"", [2]string{"[127.*]:* ed25519\n"}, false},
		"an authority is there":             {"", [2]string{"NAME ed25519\n@cert-authority NAME old-ecdsa\n"}, false},
		"a new one is of another name":      {"", [2]string{"NAME ed25519\nother ecdsa\n"}, false},
		"an old one is of another name":     {"", [2]string{"NAME ed25519\nNAME old-ecdsa\nother old-ecdsa\n"}, false},
		"an authority of others":            {"", [2]string{"NAME ed25519\n@cert-authority other old-ecdsa\n"}, true},
		"all are known":                     {"", [2]string{"NAME ed25519\nNAME ecdsa\nNAME rsa\n"}, false},
		"all are known, and one is no more": {"", [2]string{"NAME ed25519\nNAME ecdsa\nNAME rsa\nNAME old-ed25519\n"}, true},
		"one is in another file":            {"", [2]string{"NAME ed25519\n", "NAME old-ecdsa\n"}, true},
		"it is known from the second file":  {"", [2]string{"# none\n", "NAME ed25519\nNAME old-ecdsa\n"}, true},
		"not asked for":                     {"UpdateHostKeys no", [2]string{"NAME ed25519\n"}, false},
		"fewer algorithms":                  {"HostKeyAlgorithms ssh-ed25519,ecdsa-sha2-nistp256", [2]string{"NAME ed25519\n"}, true},
		"an alias":                          {"HostKeyAlias web1", [2]string{"web1 ed25519\nNAME old-ecdsa\n"}, true},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			name := name
			if strings.Contains(c.more, "web1") {
				name = "web1"
			}
			write := func(who string) (config string, files []string) {
				for i, text := range c.files {
					file := filepath.Join(dir, fmt.Sprintf("%s-known%d", who, i))
					var b strings.Builder
					for line := range strings.Lines(text) {
						line = strings.Replace(line, "NAME", "[127.0.0.1]:"+port, 1)
						if at := strings.LastIndexByte(strings.TrimSpace(line), ' '); at >= 0 && lines[strings.TrimSpace(line[at:])] != "" {
							line = line[:at+1] + lines[strings.TrimSpace(line[at:])] + strings.Repeat("\n", strings.Count(line, "\n"))
						}
						b.WriteString(line)
					}
					if text != "" {
						require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o600))
					}
					files = append(files, file)
				}
				config = filepath.Join(dir, who+"-config")
				require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, "%s\nUpdateHostKeys yes\nHost sshd\nHostName 127.0.0.1\nPort %s\nUser %s\nIdentityFile %s\nIdentitiesOnly yes\n"+
					"UserKnownHostsFile %s\nGlobalKnownHostsFile none\nStrictHostKeyChecking yes\nIdentityAgent none\nBatchMode yes\n",
					c.more, port, sshd.User, sshd.KeyFile, strings.Join(files, " ")), 0o600))
				return config, files
			}
			theirs, theirFiles := write("ssh")
			out, err := exec.CommandContext(t.Context(), client, "-F", theirs, "sshd", "sleep 1").CombinedOutput()
			require.NoError(t, err, "%s", out)

			ours, ourFiles := write("fairlead")
			var before []string
			for _, f := range ourFiles {
				before = append(before, content(t, f, name)...)
			}
			changes := 0
			d, err := sshconn.Default(sshconn.DefaultConfig{
				Loader:         sshconfig.Loader{Home: dir, User: "me"},
				HostKeysChange: func(context.Context, sshconn.HostKeyChange) error { changes++; return nil },
			})
			require.NoError(t, err)
			conn, err := d.DialConn(t.Context(), hosts.Host{Name: "sshd", SSHConfig: ours})
			require.NoError(t, err)
			if !strings.Contains(c.more, "UpdateHostKeys no") {
				select {
				case <-conn.Rotated():
				case <-time.After(30 * time.Second):
					t.Fatal("the host says nothing about its keys")
				}
			}
			require.NoError(t, conn.Close())
			var after []string
			for i := range ourFiles {
				assert.Equal(t, content(t, theirFiles[i], name), content(t, ourFiles[i], name), "file %d", i)
				after = append(after, content(t, ourFiles[i], name)...)
			}
			assert.Equal(t, c.changes, !slices.Equal(before, after))
			assert.Equal(t, c.changes, changes == 1)
		})
	}
}

// With "ask" a person decides, before the connection is used; without one nothing changes.
func TestAPersonIsAskedWhetherKnownHostsFollow(t *testing.T) {
	dir := t.TempDir()
	line := keyPair(t, filepath.Join(dir, "host-ecdsa"), "ecdsa")
	old := keyPair(t, filepath.Join(dir, "old"), "ecdsa")
	sshd := sessiontest.OpenSSHD(t, "HostKey "+filepath.Join(dir, "host-ecdsa"))
	_, port, err := net.SplitHostPort(sshd.Addr)
	require.NoError(t, err)
	name := "[127.0.0.1]:" + port
	first := name + " " + string(ssh.MarshalAuthorizedKey(sshd.HostKey)) + name + " " + old + "\n"
	for what, c := range map[string]struct {
		answer *sshconn.Answer // nil is no person
		more   string
		follow bool
	}{
		"yes":             {&sshconn.Answer{Trust: true}, "", true},
		"no":              {&sshconn.Answer{}, "", false},
		"no person":       {nil, "", false},
		"not to be asked": {&sshconn.Answer{Trust: true}, "BatchMode yes\n", false},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			known, config := filepath.Join(dir, "known"), filepath.Join(dir, "config")
			require.NoError(t, os.WriteFile(known, []byte(first), 0o600))
			require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, "%sUpdateHostKeys ask\nHost sshd\nHostName 127.0.0.1\nPort %s\nUser %s\nIdentityFile %s\nIdentitiesOnly yes\n"+
				"UserKnownHostsFile %s\nGlobalKnownHostsFile none\nIdentityAgent none\n", c.more, port, sshd.User, sshd.KeyFile, known), 0o600))
			var asked []sshconn.Question
			cfg := sshconn.DefaultConfig{
				Loader:         sshconfig.Loader{Home: dir, User: "me"},
				HostKeysChange: func(context.Context, sshconn.HostKeyChange) error { return nil },
			}
			if c.answer != nil {
				cfg.Ask = func(_ context.Context, q sshconn.Question) (sshconn.Answer, error) {
					asked = append(asked, q)
					return *c.answer, nil
				}
			}
			d, err := sshconn.Default(cfg)
			require.NoError(t, err)
			conn, err := d.DialConn(t.Context(), hosts.Host{Name: "sshd", SSHConfig: config})
			require.NoError(t, err)
			require.NoError(t, conn.Close())
			if c.answer != nil && c.more == "" {
				require.Len(t, asked, 1)
				assert.Equal(t, sshconn.AskHostKeys, asked[0].Kind)
				assert.Len(t, asked[0].Change.New, 1)
				assert.Len(t, asked[0].Change.Old, 1)
				assert.Equal(t, known, asked[0].File)
			} else {
				assert.Empty(t, asked)
			}
			want := strings.Split(strings.TrimSpace(first), "\n")
			if c.follow {
				want[1] = name + " " + line
			}
			for i := range want {
				want[i] += "\n"
			}
			slices.Sort(want)
			assert.Equal(t, want, content(t, known, name))
		})
	}
}
