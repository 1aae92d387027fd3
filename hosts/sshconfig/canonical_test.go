package sshconfig_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// zone is what the test's DNS server knows: an address, or the name that another one is an alias of.
var zone = map[string]string{
	"web.corp.test.":      "10.1.2.3",
	"web.b.test.":         "10.1.2.4",
	"only.b.test.":        "10.1.2.5",
	"alias.corp.test.":    "web.corp.test.",
	"far.corp.test.":      "www.elsewhere.test.",
	"www.elsewhere.test.": "10.9.9.9",
	"six.corp.test.":      "fd00::6",
	"a.b.test.":           "10.1.2.6",
	"plain.":              "full.corp.test.",
	"full.corp.test.":     "10.1.2.7",
}

// serveDNS answers questions from zone until the test ends.
func serveDNS(t *testing.T, conn net.PacketConn) {
	t.Cleanup(func() { conn.Close() })
	go func() {
		b := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(b)
			if err != nil {
				return
			}
			_, _ = conn.WriteTo(answer(b[:n]), from)
		}
	}()
}

// answer answers one question of DNS, in the clear of RFC 1035.
func answer(q []byte) []byte {
	i := 12
	var labels []string
	for q[i] != 0 {
		labels = append(labels, string(q[i+1:i+1+int(q[i])]))
		i += 1 + int(q[i])
	}
	question := q[12 : i+5]
	kind := binary.BigEndian.Uint16(q[i+1:])
	name := strings.ToLower(strings.Join(labels, ".")) + "."
	var answers bytes.Buffer
	count, exists := uint16(0), false
	add := func(owner string, kind uint16, data []byte) {
		answers.Write(wireName(owner))
		_ = binary.Write(&answers, binary.BigEndian, []uint16{kind, 1, 0, 60, uint16(len(data))})
		answers.Write(data)
		count++
	}
	for depth := 0; depth < 5; depth++ {
		value, ok := zone[name]
		exists = exists || ok
		ip := net.ParseIP(value)
		switch {
		case !ok:
		case ip == nil:
			add(name, 5, wireName(value))
			name = value
			continue
		case ip.To4() != nil && kind == 1:
			add(name, 1, ip.To4())
		case ip.To4() == nil && kind == 28:
			add(name, 28, ip)
		}
		break
	}
	flags := uint16(0x8580)
	if !exists {
		flags |= 3 // no such name
	}
	out := append([]byte{}, q[:2]...)
	for _, v := range []uint16{flags, 1, count, 0, 0} {
		out = binary.BigEndian.AppendUint16(out, v)
	}
	return append(append(out, question...), answers.Bytes()...)
}

func wireName(name string) (out []byte) {
	for label := range strings.SplitSeq(strings.TrimSuffix(name, "."), ".") {
		out = append(append(out, byte(len(label))), label...)
	}
	return append(out, 0)
}

// canonicalCases have what the name and the port of a host become.
var canonicalCases = []struct{ text, alias, want string }{
	{"CanonicalizeHostname yes\nCanonicalDomains corp.test b.test", "web", "web.corp.test 22"},
	{"CanonicalizeHostname yes\nCanonicalDomains b.test corp.test", "WEB", "web.b.test 22"},
	{"CanonicalizeHostname yes\nCanonicalDomains corp.test b.test", "only", "only.b.test 22"},
	{"CanonicalizeHostname yes\nCanonicalDomains corp.test b.test", "nobody", "nobody 22"},
	{"CanonicalizeHostname yes\nCanonicalDomains corp.test\nCanonicalizeFallbackLocal no", "nobody", ""},
	{"CanonicalizeHostname no\nCanonicalDomains corp.test", "web", "web 22"},
	{"CanonicalizeHostname yes\nCanonicalDomains test", "web.corp", "web.corp.test 22"},
	{"CanonicalizeHostname yes\nCanonicalDomains test\nCanonicalizeMaxDots 0", "web.corp", "web.corp 22"},
	{"CanonicalizeHostname yes\nCanonicalDomains corp.test", "web.b.test.", "web.b.test 22"},
	{"CanonicalizeHostname yes\nCanonicalDomains corp.test", "nobody.b.test.", "nobody.b.test. 22"},
	{"CanonicalizeHostname yes\nCanonicalDomains corp.test\nAddressFamily inet", "six", "six 22"},
	{"CanonicalizeHostname yes\nCanonicalDomains corp.test\nAddressFamily inet6", "six", "six.corp.test 22"},
	{"CanonicalizeHostname yes\nCanonicalDomains corp.test\nHostName w%h", "eb", "web.corp.test 22"},
	{"CanonicalizeHostname yes\nCanonicalDomains corp.test\nHost web\nPort 1\nHost *.corp.test\nPort 2", "web", "web.corp.test 1"},
	{"CanonicalizeHostname yes\nCanonicalDomains corp.test\nHost *.corp.test\nPort 2", "web", "web.corp.test 2"},
	{"CanonicalizeHostname yes\nCanonicalDomains corp.test\nMatch canonical host *.corp.test\nPort 3", "web", "web.corp.test 3"},
	{"CanonicalizeHostname yes\nCanonicalDomains corp.test\nMatch originalhost web\nPort 4", "web", "web.corp.test 4"},
	// Names that another host looks up.
	{"CanonicalizeHostname yes\nCanonicalDomains corp.test\nProxyJump j", "web", "web 22"},
	{"CanonicalizeHostname yes\nCanonicalDomains corp.test\nProxyCommand nc %h %p", "web", "web 22"},
	{"CanonicalizeHostname yes\nCanonicalDomains corp.test\nProxyCommand none", "web", "web.corp.test 22"},
	{"CanonicalizeHostname always\nCanonicalDomains corp.test\nProxyJump j", "web", "web.corp.test 22"},
	// Aliases.
	{"CanonicalizeHostname yes\nCanonicalDomains corp.test", "alias", "alias.corp.test 22"},
	{"CanonicalizeHostname yes\nCanonicalDomains corp.test\nCanonicalizePermittedCNAMEs *.corp.test:*.corp.test", "alias", "web.corp.test 22"},
	{"CanonicalizeHostname yes\nCanonicalDomains corp.test\nCanonicalizePermittedCNAMEs *.corp.test:*.corp.test", "far", "far.corp.test 22"},
	{"CanonicalizeHostname yes\nCanonicalDomains corp.test\nCanonicalizePermittedCNAMEs *", "far", "www.elsewhere.test 22"},
	{"CanonicalizeHostname yes\nCanonicalDomains corp.test\nCanonicalizePermittedCNAMEs none", "far", "far.corp.test 22"},
	{"CanonicalizeHostname yes\nCanonicalDomains corp.test\nCanonicalizePermittedCNAMEs a.*:*.corp.test FAR.corp.test,x:*.b.test,*.elsewhere.test", "far", "www.elsewhere.test 22"},
	{"CanonicalizeHostname yes\nCanonicalDomains none\nCanonicalizePermittedCNAMEs *:*.corp.test", "plain", "full.corp.test 22"},
	{"CanonicalizeHostname yes\nCanonicalDomains corp.test\nCanonicalizePermittedCNAMEs *:*.corp.test", "alias.corp.test", "web.corp.test 22"},
	{"CanonicalizeHostname no\nCanonicalizePermittedCNAMEs *", "alias.corp.test", "alias.corp.test 22"},
}

func checkCanonical(t *testing.T, addr string, cases func(i int, file, alias string) string) {
	t.Helper()
	h := newHome(t)
	h.Resolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", addr)
	}}
	for i, c := range canonicalCases {
		cfg, err := h.Open(h.writeRaw(fmt.Sprintf("config%d", i), c.text+"\n"))
		require.NoError(t, err)
		s, err := cfg.Resolve(c.alias, sshconfig.Options{})
		if c.want == "" {
			assert.ErrorContains(t, err, "CanonicalizeFallbackLocal is no", c.text)
		} else if assert.NoError(t, err, c.text) {
			assert.Equal(t, c.want, fmt.Sprint(s.HostName.V, " ", s.Port.V), "%s\nfor %s", c.text, c.alias)
			if s.HostName.V != c.alias && !strings.Contains(c.text, "HostName w%h") {
				assert.Contains(t, s.HostName.Source(), ":1", "it says which line made the name another one: %s", c.text)
			}
		}
		if cases != nil {
			assert.Equal(t, c.want, cases(i, cfg.Files()[0], c.alias), "what ssh makes of it: %s\nfor %s", c.text, c.alias)
		}
	}
}

func TestNamesAreMadeCanonical(t *testing.T) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	serveDNS(t, conn)
	checkCanonical(t, conn.LocalAddr().String(), nil)
}

// The real ssh asks the same server.
func TestNamesAreMadeCanonicalAsByTheRealSSH(t *testing.T) {
	ssh := lookSSH(t)
	needs.Root(t, "give ssh another DNS server")
	if err := exec.Command("unshare", "-m", "true").Run(); err != nil {
		needs.Part(t, "no mount namespace can be made")
	}
	pid := os.Getpid()
	conn, err := net.ListenPacket("udp", fmt.Sprintf("127.53.%d.%d:53", pid>>8&255, 1+pid%254))
	require.NoError(t, err)
	serveDNS(t, conn)
	host, _, err := net.SplitHostPort(conn.LocalAddr().String())
	require.NoError(t, err)
	resolv := filepath.Join(t.TempDir(), "resolv.conf")
	require.NoError(t, os.WriteFile(resolv, []byte("nameserver "+host+"\noptions timeout:5\n"), 0o644))
	checkCanonical(t, conn.LocalAddr().String(), func(_ int, file, alias string) string {
		script := `mount --make-rprivate / && mount --bind "$1" /etc/resolv.conf && shift && exec "$@"`
		out, err := exec.CommandContext(t.Context(), "unshare", "-m", "sh", "-c", script, "sh", resolv, ssh, "-G", "-F", file, alias).Output()
		if err != nil {
			return ""
		}
		name, port := "", ""
		for line := range strings.Lines(string(out)) {
			switch k, v, _ := strings.Cut(strings.TrimSpace(line), " "); k {
			case "hostname":
				name = v
			case "port":
				port = v
			}
		}
		return name + " " + port
	})
}

// A server that never answers is no reason to guess.
func TestASilentDNSServerIsAnErrorInTime(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for as long as Resolve does")
	}
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	defer conn.Close()
	h := newHome(t)
	h.Resolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
	done := make(chan error, 1)
	go func() {
		_, err := h.resolve("CanonicalizeHostname yes\nCanonicalDomains a.test b.test c.test\n", "web")
		done <- err
	}()
	select {
	case err := <-done:
		assert.ErrorContains(t, err, "config:1: CanonicalizeHostname: looking up web took longer than 10s")
	case <-time.After(time.Minute):
		t.Fatal("it waits on")
	}
}
