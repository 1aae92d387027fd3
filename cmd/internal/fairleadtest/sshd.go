package fairleadtest

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/crypto/ssh"
	sshknownhosts "golang.org/x/crypto/ssh/knownhosts"

	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
)

// sshd NAME [fault=…] [login=PROGRAM] [also=OTHER] [password=PW] serves a host. It writes NAME.config, an OpenSSH client configuration that reaches the
// host under that name, with NAME.key and NAME.known_hosts, and ends with the script. With also it lets in OTHER.key too, and makes it
// unless it is there. With password it takes that and no keys. Faults: silent, refused (nobody listens), stranger (lets nobody in), unknown (no key is known) and changed (another key is known).
func sshd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: sshd NAME [fault=…] [login=PROGRAM] [also=OTHER]")
	}
	name, opts := args[0], fields(ts, args[1:], "fault", "login", "also", "password")
	cfg := sshserver.Config{ClientKeys: []ssh.PublicKey{clientKey(ts, name)}}
	if also := opts["also"]; also != "" {
		cfg.ClientKeys = append(cfg.ClientKeys, clientKey(ts, also))
	}
	if login := opts["login"]; login != "" {
		cfg.Shell = strings.Fields(login)
	}
	if want := opts["password"]; want != "" {
		cfg.Settings = func(c *ssh.ServerConfig) {
			c.PublicKeyCallback = nil
			c.PasswordCallback = func(_ ssh.ConnMetadata, got []byte) (*ssh.Permissions, error) {
				if string(got) != want {
					return nil, errors.New("wrong")
				}
				return nil, nil
			}
		}
	}
	switch opts["fault"] {
	case "silent":
		cfg.Faults.Silent = true
	case "stranger":
		cfg.Faults.RefuseAuth = true
	}
	server, err := sshserver.Start(cfg)
	ts.Check(err)
	ts.Defer(func() { server.Close() })

	known := server.HostKey()
	if opts["fault"] == "changed" {
		other, err := sshserver.NewKey()
		ts.Check(err)
		known = other.PublicKey()
	}
	line := sshknownhosts.Line([]string{server.Addr()}, known) + "\n"
	if opts["fault"] == "unknown" {
		line = ""
	}
	ts.Check(os.WriteFile(ts.MkAbs(name+".known_hosts"), []byte(line), 0o600))
	if opts["fault"] == "refused" {
		ts.Check(server.Close())
	}
	host, port, err := net.SplitHostPort(server.Addr())
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(name+".config"), fmt.Appendf(nil, `Host %s
	HostName %s
	Port %s
	User someone
	IdentityFile %s
	IdentitiesOnly yes
	IdentityAgent none
	UserKnownHostsFile %s
	GlobalKnownHostsFile none
`, name, host, port, ts.MkAbs(name+".key"), ts.MkAbs(name+".known_hosts")), 0o600))
}

// clientKey returns the public key of NAME.key, which it writes unless it is there.
func clientKey(ts *testscript.TestScript, name string) ssh.PublicKey {
	file := ts.MkAbs(name + ".key")
	if text, err := os.ReadFile(file); err == nil {
		signer, err := ssh.ParsePrivateKey(text)
		ts.Check(err)
		return signer.PublicKey()
	}
	pub, priv, err := ed25519.GenerateKey(rand.Reader)
	ts.Check(err)
	public, err := ssh.NewPublicKey(pub)
	ts.Check(err)
	block, err := ssh.MarshalPrivateKey(priv, "")
	ts.Check(err)
	ts.Check(os.WriteFile(file, pem.EncodeToMemory(block), 0o600))
	return public
}
