package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/mcpserver/mcptest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

// fleets are how many hosts one request goes to, by transport: what the hosts do with it does not depend on that.
var fleets = map[string]int{"stdio": 100, "http": 10}

// sshdInventory has two hosts, and a fleet at addresses of their own, that are one real sshd.
func (p *place) sshdInventory(s *sessiontest.SSHD, fleet int) string {
	_, port, err := net.SplitHostPort(s.Addr)
	require.NoError(p.t, err)
	known := p.write("known_hosts", fmt.Sprintf("[127.0.0.*]:%s %s", port, ssh.MarshalAuthorizedKey(s.HostKey)))
	var b strings.Builder
	fmt.Fprintf(&b, "Host dev prod\n\tHostName 127.0.0.1\n")
	for i := range fleet {
		fmt.Fprintf(&b, "Host node%03d\n\tHostName 127.0.0.%d\n", i+1, i+1)
	}
	fmt.Fprintf(&b, "Host *\n\tPort %s\n\tUser %s\n\tIdentityFile %s\n\tIdentitiesOnly yes\n\tUserKnownHostsFile %s\n\tGlobalKnownHostsFile none\n",
		port, s.User, s.KeyFile, known)
	config := p.write("ssh_config", b.String())
	return fmt.Sprintf("version: 1\nhosts:\n  - {name: dev, ssh_config: %[1]s, tier: dev}\n  - {name: prod, ssh_config: %[1]s, tier: prod}\n"+
		"  - {name: \"node[001-%03[2]d]\", ssh_config: %[1]s, tier: dev}\n", config, fleet)
}

// serve runs a keeper in the foreground that listens on TCP too, and returns where, and the certificate's file.
func (p *place) serve() (addr, cert string) {
	p.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(p.t, err)
	now := time.Now()
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: p.dir}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	require.NoError(p.t, err)
	pk, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(p.t, err)
	cert = p.write("tls.crt", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	keyFile := p.write("tls.key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pk})))
	cmd := p.command("serve", "--listen", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", keyFile)
	cmd.Stderr = nil
	said, err := cmd.StderrPipe()
	require.NoError(p.t, err)
	require.NoError(p.t, cmd.Start())
	listens, over := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(over)
		for lines := bufio.NewScanner(said); lines.Scan(); {
			if _, where, ok := strings.Cut(lines.Text(), "listening on "); ok {
				select {
				case listens <- where:
				default:
				}
			}
		}
	}()
	p.t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		<-over
		_ = cmd.Wait()
	})
	select {
	case addr = <-listens:
	case <-time.After(patience):
		require.Fail(p.t, "the keeper does not listen")
	}
	return addr, cert
}

// token makes one for an agent.
func (p *place) token(principal string) string {
	p.t.Helper()
	tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", p.places.Socket)
	}}
	defer tr.CloseIdleConnections()
	in, err := json.Marshal(wire.NewToken{Principal: principal, Role: "agent"})
	require.NoError(p.t, err)
	res, err := (&http.Client{Transport: tr}).Post("http://localhost/v1/tokens", "application/json", bytes.NewReader(in))
	require.NoError(p.t, err)
	defer res.Body.Close()
	var out wire.Token
	require.NoError(p.t, json.NewDecoder(res.Body).Decode(&out))
	require.NotEmpty(p.t, out.Secret)
	return out.Secret
}

// reachHTTP is how the story's agent reaches the keeper over HTTP.
func (p *place) reachHTTP(addr string) map[string]any {
	p.t.Helper()
	wait(p.t, "the keeper", func() bool { _, err := os.Stat(p.places.Socket); return err == nil })
	return map[string]any{"url": "https://" + addr + "/mcp", "token": p.token("agent/story")}
}

// reachStdio is how the story's agent reaches it through the program.
func (p *place) reachStdio() map[string]any {
	env := map[string]string{}
	for _, kv := range p.env {
		k, v, _ := strings.Cut(kv, "=")
		env[k] = v
	}
	return map[string]any{"command": p.self, "args": []string{"mcp", "--as", "story"}, "env": env}
}

// joined makes one file of two.
func joined(t *testing.T, one, two string) string {
	t.Helper()
	var all []byte
	for _, name := range []string{one, two} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		all = append(all, text...)
	}
	name := filepath.Join(t.TempDir(), "joined")
	require.NoError(t, os.WriteFile(name, all, 0o600))
	return name
}

// expired counts what of the story's is on record as nobody's answer in time, for each host.
func (p *place) expired() int {
	p.t.Helper()
	events, err := audit.Tail(filepath.Join(p.dir, ".local/state/fairlead/audit"), 100)
	require.NoError(p.t, err)
	n := 0
	for _, e := range events {
		if e.Principal == "agent/story" && e.Kind == audit.ApprovalResult && e.Status == "expired" {
			n++
		}
	}
	return n
}

// answer answers the one question that waits, through the API.
func (p *place) answer(c *client.Client, yes bool, reason string) {
	p.t.Helper()
	q := p.ask(c)
	d, err := c.Approval(p.t.Context(), q.ID)
	require.NoError(p.t, err)
	require.NoError(p.t, c.Answer(p.t.Context(), q.ID, yes, wire.Answer{Digest: d.Digest, Reason: reason}))
}

func TestTheWholeStoryOfAnAgentAndTheOnesWhoAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("it installs packages")
	}
	dir := mcptest.TypeScript(t, "testdata/story.mjs")
	for transport, fleet := range fleets {
		t.Run(transport, func(t *testing.T) {
			sshd := sessiontest.OpenSSHD(t, "ListenAddress 0.0.0.0")
			p := newPlace(t, here)
			p.write(".config/fairlead/inventory.yaml", p.sshdInventory(sshd, fleet))
			code, screen := p.outside([]typed{{"A passphrase for the key of ada: ", "correct horse"}, {"The same again: ", "correct horse"}}, "approvals", "enroll", "--new", "--name", "ada")
			require.Zero(t, code, screen)
			addr, cert := p.serve()
			c := client.New(client.Config{Socket: p.places.Socket})
			defer c.Close()
			wait(t, "the keeper", func() bool { _, err := c.Health(t.Context()); return err == nil })

			// What nobody is to answer is asked elsewhere, where a question soon ends: here they last as long as it takes.
			soon := newPlace(t, here+"  - {name: there, transport: local, tier: dev}\n")
			soon.write(".config/fairlead/config.yaml", "approvals: {expire: 1s}\n")

			work := t.TempDir()
			plan := map[string]any{"host": "dev", "prod": "prod", "dir": work, "fleet": "node*", "count": fleet, "alone": "here"}
			if transport == "http" {
				soonAddr, soonCert := soon.serve()
				cert = joined(t, cert, soonCert)
				plan["at"], plan["soon"] = p.reachHTTP(addr), soon.reachHTTP(soonAddr)
			} else {
				plan["at"], plan["soon"] = p.reachStdio(), soon.reachStdio()
			}
			text, err := json.Marshal(plan)
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, "node", "story.mjs", string(text))
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "NODE_EXTRA_CA_CERTS="+cert)
			var errOut bytes.Buffer
			cmd.Stderr = &errOut
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			var said strings.Builder
			for lines := bufio.NewScanner(out); lines.Scan(); {
				fmt.Fprintln(&said, lines.Text())
				what, isAsk := strings.CutPrefix(lines.Text(), "ask ")
				switch {
				case !isAsk:
				case what == "cli":
					q := p.ask(c)
					code, screen := p.outside([]typed{{"[y/N] ", "y"}, {"Passphrase of ada's key", "correct horse"}}, "approvals", "approve", q.ID)
					assert.Zero(t, code, screen)
				case what == "with-input":
					q := p.ask(c)
					code, screen := p.outside([]typed{{"[y/N] ", "y"}, {"Passphrase of ada's key", "correct horse"}}, "approvals", "approve", q.ID, "--with-input")
					assert.Zero(t, code, screen)
				case what == "reject":
					p.answer(c, false, "not today")
				default:
					p.answer(c, true, "")
				}
			}
			require.NoError(t, cmd.Wait(), "%s%s", said.String(), errOut.String())
			assert.Contains(t, said.String(), "done\n")

			for _, name := range []string{"by-api", "by-cli", "by-run", "app.conf"} {
				assert.FileExists(t, filepath.Join(work, name))
			}
			assert.NoFileExists(t, filepath.Join(work, "rejected"))
			assert.NoFileExists(t, filepath.Join(work, "expired"))
			assert.Equal(t, 3, soon.expired(), "the command on one host, and that on two")
			records := filepath.Join(p.dir, ".local/state/fairlead/audit")
			events, err := audit.Tail(records, 10_000)
			require.NoError(t, err)
			by := map[string]int{}
			proofs := map[string]bool{}
			for _, e := range events {
				if e.Principal == "agent/story" && e.Kind == audit.CommandRequest && e.ApprovedBy != "" {
					by[e.Host]++
					proofs[e.ApprovalProof] = true
				}
			}
			assert.Equal(t, 2, by["prod"], "%v", by)
			assert.Equal(t, 1, by[fmt.Sprintf("node%03d", fleet)])
			assert.True(t, proofs["passphrase"], "%v", proofs)
			code, said2, errText := p.run("audit", "verify")
			assert.Zero(t, code, said2+errText)
		})
	}
}
