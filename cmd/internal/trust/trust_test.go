package trust_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/trust"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
)

// Many hosts with one key are one line.
func TestManyHostsAreScannedAtOnceAndShownTogether(t *testing.T) {
	dir := t.TempDir()
	key, err := sshserver.NewKey()
	require.NoError(t, err)
	var hs []hosts.Host
	for i := range 12 {
		s, err := sshserver.Start(sshserver.Config{HostKey: key})
		require.NoError(t, err)
		t.Cleanup(func() { s.Close() })
		_, port, err := net.SplitHostPort(s.Addr())
		require.NoError(t, err)
		config := filepath.Join(dir, fmt.Sprintf("config%d", i))
		require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, "Host *\n\tHostName 127.0.0.1\n\tPort %s\n\tUser me\n\tUserKnownHostsFile %s\n\tGlobalKnownHostsFile none\n", port, filepath.Join(dir, "known_hosts")), 0o600))
		hs = append(hs, hosts.Host{Name: fmt.Sprintf("web%d", i+1), SSHConfig: config, Tier: "dev", Source: hosts.Pos{File: "i.yaml", Line: i + 1}})
	}
	ios, _, out, errOut := iostreams.Test()
	f := &cmdutil.Factory{
		IO: ios, Getenv: func(string) string { return "" },
		Inventory: func() (*hosts.Inventory, error) { return hosts.NewInventory(hs, nil) },
		Audit:     func() (audit.Sink, error) { return audit.Discard{}, nil },
	}
	run := func(args ...string) error {
		out.Reset()
		errOut.Reset()
		cmd := trust.NewCmdTrust(f)
		cmd.SetArgs(args)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		return cmd.ExecuteContext(t.Context())
	}
	var exit *cmdutil.ExitError
	require.ErrorAs(t, run("all"), &exit)
	assert.Equal(t, 3, exit.Code)
	assert.Contains(t, errOut.String(), "  web[1-12]\n")
	assert.Equal(t, 12, strings.Count(out.String(), "not recorded: there is no terminal to ask at"))

	require.NoError(t, run("all", "--yes", "--forks", "3"))
	assert.Equal(t, 12, strings.Count(out.String(), "recorded: ssh-ed25519"))
	text, err := os.ReadFile(filepath.Join(dir, "known_hosts"))
	require.NoError(t, err)
	assert.Equal(t, 12, bytes.Count(text, []byte("\n")))

	// A record that cannot be written records nothing.
	require.NoError(t, os.Remove(filepath.Join(dir, "known_hosts")))
	f.Audit = func() (audit.Sink, error) { return nil, context.DeadlineExceeded }
	require.ErrorAs(t, run("web1", "--yes"), &exit)
	assert.NoFileExists(t, filepath.Join(dir, "known_hosts"))
	assert.Contains(t, out.String(), "not recorded: ")
}

// Hosts behind jump hosts are looked at once the keys of those are recorded.
func TestKeysBehindHostsThatAreRecordedInTheSameCallAreRecorded(t *testing.T) {
	dir := t.TempDir()
	_, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	signer, err := ssh.NewSignerFromKey(private)
	require.NoError(t, err)
	block, err := ssh.MarshalPrivateKey(private, "")
	require.NoError(t, err)
	key, config, known := filepath.Join(dir, "key"), filepath.Join(dir, "config"), filepath.Join(dir, "known_hosts")
	require.NoError(t, os.WriteFile(key, pem.EncodeToMemory(block), 0o600))
	var hs []hosts.Host
	text := ""
	for i, name := range []string{"bastion", "web", "db"} {
		s, err := sshserver.Start(sshserver.Config{ClientKeys: []ssh.PublicKey{signer.PublicKey()}})
		require.NoError(t, err)
		t.Cleanup(func() { s.Close() })
		_, port, err := net.SplitHostPort(s.Addr())
		require.NoError(t, err)
		text += fmt.Sprintf("Host %s\n\tPort %s\n\tProxyJump %s\n", name, port, []string{"none", "bastion", "web"}[i])
		hs = append(hs, hosts.Host{Name: name, SSHConfig: config, Tier: "dev", Source: hosts.Pos{File: "i.yaml", Line: i + 1}})
	}
	text += fmt.Sprintf("Host *\n\tHostName 127.0.0.1\n\tUser me\n\tIdentityFile %s\n\tIdentityAgent none\n\tUserKnownHostsFile %s\n\tGlobalKnownHostsFile none\n", key, known)
	require.NoError(t, os.WriteFile(config, []byte(text), 0o600))
	slices.Reverse(hs)
	ios, _, out, _ := iostreams.Test()
	f := &cmdutil.Factory{
		IO: ios, Getenv: func(string) string { return "" },
		Inventory: func() (*hosts.Inventory, error) { return hosts.NewInventory(hs, nil) },
		Audit:     func() (audit.Sink, error) { return audit.Discard{}, nil },
	}
	run := func(args ...string) error {
		out.Reset()
		cmd := trust.NewCmdTrust(f)
		cmd.SetArgs(args)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		return cmd.ExecuteContext(t.Context())
	}
	var exit *cmdutil.ExitError
	require.ErrorAs(t, run("web", "--yes"), &exit)
	assert.Contains(t, out.String(), "through bastion: the key of ")
	require.NoError(t, run("all", "--yes"), out.String())
	for _, name := range []string{"bastion", "web", "db"} {
		assert.Contains(t, out.String(), name+"\trecorded: ssh-ed25519")
	}
}
