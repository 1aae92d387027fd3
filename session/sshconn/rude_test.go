package sshconn_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// toRaw returns an account that reaches web1, which a rawServer serves.
func toRaw(t *testing.T, config string, serve func(*rawConn) error) *account {
	a := newAccount(t)
	addr, key := rawServer(t, serve)
	h := sessiontest.Host(t, "", addr)
	require.NoError(t, knownhosts.Append(a.path("known_hosts"), knownhosts.Name(h.Addr, h.Port), key, knownhosts.AppendOptions{}))
	a.write("config", fmt.Sprintf("Host web1\n\tHostName %s\n\tPort %d\n\tUser ada\n%s\n", h.Addr, h.Port, config))
	return a
}

// A server may want a new password before it lets an account in (RFC 4252, 8), which the library does not know.
func TestAServerThatDemandsANewPasswordIsRefusedWithThat(t *testing.T) {
	demand := ssh.Marshal(struct {
		Prompt   string `sshtype:"60"`
		Language string
	}{Prompt: "too old"})
	a := toRaw(t, "", func(c *rawConn) error {
		return c.userAuth(func(method string) []byte {
			if method == "password" {
				return demand
			}
			return refused("password")
		})
	})
	p := &person{says: func(sshconn.Question) (sshconn.Answer, error) { return typing("secret"), nil }}
	_, err := a.asking(p).Dial(t.Context(), web1)
	require.ErrorIs(t, err, session.ErrAuth)
	assert.Len(t, p.asked, 1)
	assert.ErrorContains(t, err, "ada may not log in; typed: password; the password has expired, and the server demands a new one: "+
		"log in with ssh, change it there, and try again")
	assert.NotContains(t, err.Error(), "message type")
	e, ok := errors.AsType[*sshconn.AuthError](err)
	require.True(t, ok)
	assert.True(t, e.Expired)
}

// A server that hangs up with a message is quoted. Before it has said how to log in, keys and passwords are not why.
func TestAServerThatHangsUpIsQuoted(t *testing.T) {
	goodbye := func(text string) []byte {
		return ssh.Marshal(struct {
			Reason         uint32 `sshtype:"1"`
			Text, Language string
		}{Reason: 11, Text: text})
	}
	for name, tt := range map[string]struct {
		serve func(c *rawConn) error
		want  string
		auth  bool
		asked int
	}{
		"before the login": {func(c *rawConn) error {
			if _, err := c.expect(5); err != nil {
				return err
			}
			return c.write(goodbye("closed for \x1b[31mmaintenance"))
		}, `: the server hung up before ada could log in, and says "closed for ?[31mmaintenance"`, false, 0},
		"at its beginning": {func(c *rawConn) error {
			return c.userAuth(func(string) []byte { _ = c.write(goodbye("too many logins")); return nil })
		}, `: the server hung up before ada could log in, and says "too many logins"`, false, 0},
		"after a password": {func(c *rawConn) error {
			return c.userAuth(func(method string) []byte {
				if method != "password" {
					return refused("password")
				}
				_ = c.write(goodbye("account locked"))
				return nil
			})
		}, `: ada may not log in, the server says "account locked"; typed: password`, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := &person{says: func(sshconn.Question) (sshconn.Answer, error) { return typing("secret"), nil }}
			_, err := toRaw(t, "", tt.serve).asking(p).Dial(t.Context(), web1)
			require.ErrorContains(t, err, tt.want)
			assert.NotContains(t, err.Error(), "no key to offer")
			assert.Equal(t, tt.auth, errors.Is(err, session.ErrAuth))
			assert.Len(t, p.asked, tt.asked)
		})
	}
}
