package keeper_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/sshopt"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

func TestCallsSayHowHostsAreReached(t *testing.T) {
	w := keepertest.Start(t)
	with := func(s sshopt.Set) *client.Client {
		c := client.New(client.Config{Socket: w.Places.Socket, SSH: s.String()})
		t.Cleanup(c.Close)
		return c
	}
	// The account may say anything that is obeyed; what comes of it shows where it leads.
	_, err := with(sshopt.Set{Lines: []string{"Port=1", "ConnectTimeout=5"}}).Open(t.Context(), wire.Open{Host: "ada@127.0.0.1"})
	assert.ErrorContains(t, err, "connection refused")
	_, err = with(sshopt.Set{Lines: []string{"Compression=yes"}}).Hosts(t.Context(), "")
	assert.ErrorContains(t, err, "Fairlead does not obey this option")
	_, err = with(sshopt.Set{Lines: []string{"Port=22"}}).Open(t.Context(), wire.Open{Host: "here"})
	assert.ErrorContains(t, err, "here: options of ssh are of no use there")

	// An agent may say how long to wait, and neither where to go nor what to run here.
	agent := func(lines ...string) error {
		_, err := with(sshopt.Set{Lines: lines}).As("agent/a").Sessions(t.Context())
		return err
	}
	require.NoError(t, agent("ConnectTimeout=5"))
	for _, line := range []string{"ProxyCommand=true", "HostName=elsewhere", "User=root", "IdentityFile=/root/.ssh/id_rsa", "ProxyJump=gate", "ForwardAgent=yes", "UserKnownHostsFile=/dev/null", "StrictHostKeyChecking=no"} {
		assert.ErrorContains(t, agent(line), "is for operators, and the caller is agent/a", line)
	}
	_, err = with(sshopt.Set{File: "/tmp/x"}).As("agent/a").Sessions(t.Context())
	assert.ErrorContains(t, err, "-F is for operators")

	for _, word := range []string{"x", "bm90anNvbg", "!!"} {
		status, p, _ := w.Send("GET", "/v1/hosts", "", "Fairlead-Ssh-Options", word)
		assert.Equal(t, 400, status)
		assert.Equal(t, "invalid", p.Code)
	}
	status, _, _ := w.Send("GET", "/agent/terminal/sandboxes", "", "Fairlead-Ssh-Options", sshopt.Set{Lines: []string{"Port=1"}}.String())
	assert.Equal(t, 400, status, "where it would have no effect")
}

// Files that ssh_config names by the directory of whoever asks are looked for there, and not where the keeper is.
func TestFilesOfSSHConfigLeadFromTheDirectoryOfTheCaller(t *testing.T) {
	w := keepertest.Start(t)
	sshd := sessiontest.OpenSSHD(t)
	h := sshd.Host(t, "web1")
	require.Equal(t, []string{sshd.Dir, sshd.Dir}, []string{filepath.Dir(sshd.KeyFile), filepath.Dir(sshd.KnownHosts)})
	config := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, "Host web1\nHostName %s\nPort %d\nIdentitiesOnly yes\nIdentityFile %s\nUserKnownHostsFile ./%s\n",
		h.Addr, h.Port, filepath.Base(sshd.KeyFile), filepath.Base(sshd.KnownHosts)), 0o600))
	from := func(dir string) error {
		asked := hosts.Host{Name: "web1", SSHConfig: config}
		word, err := sshopt.EnvironmentFor([]hosts.Host{asked}, nil, sshconfig.Loader{}, []string{"PWD=" + dir, "OTHER=x"}).Word()
		require.NoError(t, err)
		require.NotEmpty(t, word)
		c := client.New(client.Config{Socket: w.Places.Socket, SSH: sshopt.Set{File: config}.String()}).With(word)
		t.Cleanup(c.Close)
		_, err = c.Open(t.Context(), wire.Open{Host: h.User + "@web1"})
		return err
	}
	assert.NoError(t, from(sshd.Dir))
	assert.ErrorContains(t, from(t.TempDir()), "is not known")
}
