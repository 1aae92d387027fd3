package sshconn_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// toldBy are the methods and texts of what a person was asked.
func toldBy(p *person) (all []string) {
	for _, q := range p.asked {
		all = append(all, q.Method+": "+q.Instruction)
	}
	return all
}

// Some servers say where to approve a login in a browser, and wait for that longer than a connection may take.
func TestWhatAServerSaysIsToldToAPersonWhoHasToWait(t *testing.T) {
	heard := make(chan struct{}, 2)
	p := &person{says: func(sshconn.Question) (sshconn.Answer, error) {
		heard <- struct{}{}
		return sshconn.Answer{}, nil
	}}
	a, _ := served(t, "ConnectTimeout 1", func(c *ssh.ServerConfig) {
		c.PublicKeyCallback, c.NoClientAuth = nil, true
		c.NoClientAuthCallback = func(m ssh.ConnMetadata) (*ssh.Permissions, error) {
			pre, ok := m.(ssh.ServerPreAuthConn)
			if !ok {
				return nil, errors.New("no banner can be sent")
			}
			for _, text := range []string{"To log in, visit\r\nhttps://login.example.com/a/1", "Welcome"} {
				if err := pre.SendAuthBanner(text); err != nil {
					return nil, err
				}
				<-heard
				time.Sleep(1200 * time.Millisecond) // longer than ConnectTimeout, which is what is tested
			}
			return nil, nil
		}
	})
	dial(t, a.asking(p), web1)
	assert.Equal(t, []string{"banner: To log in, visit\r\nhttps://login.example.com/a/1", "banner: Welcome"}, toldBy(p))
}

func TestWhatAServerSaysComesBeforeWhatItAsks(t *testing.T) {
	a, _ := served(t, "", onlyBy(byPassword, func(c *ssh.ServerConfig) {
		c.BannerCallback = func(ssh.ConnMetadata) string { return "Authorized use only" }
	}))
	p := answering(sshconn.Answer{}, typing("right"))
	dial(t, a.asking(p), web1)
	assert.Equal(t, []string{"banner: Authorized use only", "password: "}, toldBy(p))
}

func TestWhatAServerSaysToAllIsNotToldWhereTheLoginIsDoneAtOnce(t *testing.T) {
	a, _ := served(t, "", func(c *ssh.ServerConfig) {
		c.BannerCallback = func(ssh.ConnMetadata) string { return strings.Repeat("Authorized use only\n", 1000) }
	})
	p := answering()
	dial(t, a.asking(p), web1)
	assert.Empty(t, toldBy(p))
}

// A ProxyCommand may say where to log in with a browser, and waits for that longer than a connection may take.
func TestWhatAProxyCommandSaysIsToldToAPersonWhoHasToWait(t *testing.T) {
	dir := t.TempDir()
	p := &person{says: func(sshconn.Question) (sshconn.Answer, error) {
		return sshconn.Answer{}, os.WriteFile(filepath.Join(dir, "approved"), nil, 0o600)
	}}
	a, _ := proxied(t, func(s *sshserver.Server) string {
		return "sh -c 'echo visit https://login.example.com/a/2 >&2; until test -e " + dir + "/approved; do sleep 0.1; done; sleep 1.2; exec " + strings.ReplaceAll(netcat(t, s.Addr()), "'", "") + "'\n\tConnectTimeout 1"
	})
	dial(t, a.asking(p), web1)
	assert.Equal(t, []string{"banner: visit https://login.example.com/a/2\n"}, toldBy(p))

	waiting := answering(sshconn.Answer{})
	a, _ = proxied(t, func(*sshserver.Server) string {
		return "sh -c 'echo debug1: connecting >&2; exec tail -f /dev/null'\n\tConnectTimeout 1"
	})
	_, err := a.asking(waiting).Dial(t.Context(), web1)
	assert.ErrorContains(t, err, "debug1: connecting", "the clock runs on")
	assert.Equal(t, []string{"banner: debug1: connecting\n"}, toldBy(waiting))
}

// Where there is no person, the time is up as it is without that text.
func TestWithoutAPersonWhatAProxyCommandSaysStopsNoClock(t *testing.T) {
	none := &person{says: func(sshconn.Question) (sshconn.Answer, error) { return sshconn.Answer{}, sshconn.ErrNoPerson }}
	a, _ := proxied(t, func(*sshserver.Server) string {
		return "sh -c 'echo visit https://login.example.com/a/3 >&2; exec tail -f /dev/null'\n\tConnectTimeout 1"
	})
	_, err := a.asking(none).Dial(t.Context(), web1)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.ErrorContains(t, err, "no answer within 1s; it says")
	assert.Equal(t, []string{"banner: visit https://login.example.com/a/3\n"}, toldBy(none))
}
