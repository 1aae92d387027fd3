package sshconn_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

var errWrong = errors.New("wrong")

// byPassword lets in who says "right".
func byPassword(c *ssh.ServerConfig) {
	c.PasswordCallback = func(_ ssh.ConnMetadata, p []byte) (*ssh.Permissions, error) {
		if string(p) != "right" {
			return nil, errWrong
		}
		return nil, nil
	}
}

// byPrompts lets in who answers two questions, of which one has an echo, after it was told something.
func byPrompts(c *ssh.ServerConfig) {
	c.KeyboardInteractiveCallback = func(_ ssh.ConnMetadata, ask ssh.KeyboardInteractiveChallenge) (*ssh.Permissions, error) {
		if _, err := ask("", "Have your token at hand\nnow", nil, nil); err != nil {
			return nil, err
		}
		got, err := ask("Login", "two things", []string{"Password: ", "Code: "}, []bool{false, true})
		if err != nil || fmt.Sprint(got) != "[right 123]" {
			return nil, errors.Join(errWrong, err)
		}
		return nil, nil
	}
}

// byNoPrompts takes prompts, has none, and lets nobody in.
func byNoPrompts(c *ssh.ServerConfig) {
	c.KeyboardInteractiveCallback = func(_ ssh.ConnMetadata, ask ssh.KeyboardInteractiveChallenge) (*ssh.Permissions, error) {
		_, err := ask("", "", nil, nil)
		return nil, errors.Join(errWrong, err)
	}
}

func onlyBy(with ...func(*ssh.ServerConfig)) func(*ssh.ServerConfig) {
	return func(c *ssh.ServerConfig) {
		c.PublicKeyCallback = nil
		for _, f := range with {
			f(c)
		}
	}
}

// A server may give its reason as a banner and refuse then, as that of Tailscale does.
func TestTheReasonThatAServerGivesWithItsRefusalIsInTheError(t *testing.T) {
	a, _ := served(t, "", func(c *ssh.ServerConfig) {
		c.BannerCallback = func(ssh.ConnMetadata) string { return "for all" }
		c.PublicKeyCallback = func(ssh.ConnMetadata, ssh.PublicKey) (*ssh.Permissions, error) {
			return nil, &ssh.BannerError{Err: errWrong, Message: "policy does not permit\nyou"}
		}
	})
	_, err := a.dialer().Dial(t.Context(), web1)
	require.ErrorIs(t, err, session.ErrAuth)
	assert.ErrorContains(t, err, `may not log in, the server says "policy does not permit you"; offered`)
}

// second makes a login with a key one of two steps.
func second(with ...func(*ssh.ServerConfig)) func(*ssh.ServerConfig) {
	return func(c *ssh.ServerConfig) {
		var other ssh.ServerConfig
		for _, f := range with {
			f(&other)
		}
		first := c.PublicKeyCallback
		c.PublicKeyCallback = func(m ssh.ConnMetadata, k ssh.PublicKey) (*ssh.Permissions, error) {
			if _, err := first(m, k); err != nil {
				return nil, err
			}
			return nil, &ssh.PartialSuccessError{Next: ssh.ServerAuthCallbacks{
				PasswordCallback: other.PasswordCallback, KeyboardInteractiveCallback: other.KeyboardInteractiveCallback,
			}}
		}
	}
}

// served returns an account with a key, and web1, which logs in as settings say.
func served(t *testing.T, more string, settings func(*ssh.ServerConfig)) (*account, *sshserver.Server) {
	t.Helper()
	a := newAccount(t)
	server := sessiontest.Server(t, sshserver.Config{ClientKeys: []ssh.PublicKey{a.key("id_ed25519", "")}, Program: echo, Settings: settings})
	a.knows(server)
	a.config(more, server)
	return a, server
}

// answering gives answers in turn.
func answering(all ...sshconn.Answer) *person {
	p := &person{}
	p.says = func(q sshconn.Question) (sshconn.Answer, error) {
		if len(all) == 0 {
			return sshconn.Answer{}, errors.New("no answer is left")
		}
		a := all[0]
		all = all[1:]
		return a, nil
	}
	return p
}

func TestAPasswordIsAskedForUntilItIsRight(t *testing.T) {
	a, server := served(t, "User bob", onlyBy(byPassword))
	p := answering(typing("no"), typing("right"))
	dial(t, a.asking(p), web1)
	require.Len(t, p.asked, 2)
	assert.Equal(t, sshconn.AskLogin, p.asked[0].Kind)
	assert.Equal(t, "password", p.asked[0].Method)
	assert.Equal(t, []sshconn.Prompt{{Text: "bob@127.0.0.1's password: "}}, p.asked[0].Prompts)
	assert.Equal(t, 1, p.asked[0].Try)
	assert.Equal(t, 2, p.asked[1].Try)
	assert.Equal(t, server.Addr(), p.asked[0].Addr)
}

func TestAPasswordIsAskedForAsOftenAsTheConfigurationSays(t *testing.T) {
	for more, want := range map[string]int{"": 3, "NumberOfPasswordPrompts 1": 1, "NumberOfPasswordPrompts 2": 2} {
		a, _ := served(t, more, onlyBy(byPassword))
		p := &person{says: func(sshconn.Question) (sshconn.Answer, error) { return typing("hush"), nil }}
		_, err := a.asking(p).Dial(t.Context(), web1)
		require.ErrorIs(t, err, session.ErrAuth)
		assert.Len(t, p.asked, want, more)
		assert.NotContains(t, err.Error(), "hush")
		assert.ErrorContains(t, err, "typed: password")
	}
}

func TestPromptsOfTheServerAreAskedAsItSaysThem(t *testing.T) {
	a, _ := served(t, "", onlyBy(byPrompts, byPassword))
	p := answering(sshconn.Answer{}, typing("right", "123"))
	dial(t, a.asking(p), web1)
	require.Len(t, p.asked, 2, "prompts go before a password")
	assert.Equal(t, "Have your token at hand\nnow", p.asked[0].Instruction)
	assert.Empty(t, p.asked[0].Prompts)
	assert.Equal(t, "Login", p.asked[1].Name)
	assert.Equal(t, []sshconn.Prompt{{"Password: ", false}, {"Code: ", true}}, p.asked[1].Prompts)
}

func TestTwoStepsOfALogin(t *testing.T) {
	for name, with := range map[string]func(*ssh.ServerConfig){"password": byPassword, "prompts": byPrompts} {
		t.Run(name, func(t *testing.T) {
			a, _ := served(t, "", second(with))
			p := answering(typing("right"))
			if name == "prompts" {
				p = answering(sshconn.Answer{}, typing("right", "123"))
			}
			c := dial(t, a.asking(p), web1)
			assert.NotEmpty(t, c.Peer().Key, "the key was one of them")

			_, err := a.dialer().Dial(t.Context(), web1)
			require.ErrorIs(t, err, session.ErrAuth)
			assert.ErrorContains(t, err, "the server accepted publickey and also requires "+map[string]string{"password": "password", "prompts": "keyboard-interactive"}[name])
			assert.ErrorContains(t, err, "(there is no person to ask: run this at a terminal)")
		})
	}
}

func TestWaysToLogInThatAreSwitchedOff(t *testing.T) {
	for more, want := range map[string]string{
		"PasswordAuthentication no":           "not tried: password (",
		"PreferredAuthentications publickey":  "PreferredAuthentications publickey)",
		"BatchMode yes":                       "BatchMode yes)",
		"NumberOfPasswordPrompts 0":           "NumberOfPasswordPrompts 0)",
		"ChallengeResponseAuthentication yes": "",
	} {
		a, _ := served(t, more, onlyBy(byPassword))
		p := &person{says: func(sshconn.Question) (sshconn.Answer, error) { return typing("right"), nil }}
		c, err := a.asking(p).Dial(t.Context(), web1)
		if want == "" {
			require.NoError(t, err)
			c.Close()
			continue
		}
		require.ErrorIs(t, err, session.ErrAuth, more)
		assert.ErrorContains(t, err, want)
		assert.Empty(t, p.asked)
	}
	for _, more := range []string{"KbdInteractiveAuthentication no", "SkeyAuthentication no", "TISAuthentication no"} {
		a, _ := served(t, more, onlyBy(byPrompts))
		p := &person{says: func(sshconn.Question) (sshconn.Answer, error) { return sshconn.Answer{}, nil }}
		_, err := a.asking(p).Dial(t.Context(), web1)
		assert.ErrorContains(t, err, ": KbdInteractiveAuthentication no)", more)
		assert.Empty(t, p.asked)
	}
	a, _ := served(t, "PubkeyAuthentication no\nPreferredAuthentications password,keyboard-interactive", byPassword)
	p := answering(typing("right"))
	assert.Empty(t, dial(t, a.asking(p), web1).Peer().Key, "no key was offered")
	_, err := a.dialer().Dial(t.Context(), web1)
	assert.ErrorContains(t, err, "not tried: password (there is no person to ask: run this at a terminal), publickey (")
}

func TestWhereNoPersonIsThereOtherWaysAreTried(t *testing.T) {
	a, _ := served(t, "PreferredAuthentications password,publickey", byPassword)
	p := &person{says: func(sshconn.Question) (sshconn.Answer, error) {
		return sshconn.Answer{}, fmt.Errorf("so: %w", sshconn.ErrNoPerson)
	}}
	dial(t, a.asking(p), web1)
	assert.Len(t, p.asked, 1)
}

// A server without PAM takes prompts and has none; and who is not there types nothing.
func TestNothingIsSaidToBeTypedThatWasNot(t *testing.T) {
	a, _ := served(t, "PubkeyAuthentication no", onlyBy(byNoPrompts, byPassword))
	p := &person{says: func(sshconn.Question) (sshconn.Answer, error) { return sshconn.Answer{}, sshconn.ErrNoPerson }}
	_, err := a.asking(p).Dial(t.Context(), web1)
	var refused *sshconn.AuthError
	require.ErrorAs(t, err, &refused)
	assert.Empty(t, refused.Typed)
	assert.ErrorContains(t, err, "not tried: password (there is no person to ask: run this at a terminal)")
}

func TestAPersonWhoGivesNoAnswerEndsTheLogin(t *testing.T) {
	a, server := served(t, "", onlyBy(byPrompts, byPassword))
	stop := errors.New("stopped")
	p := &person{says: func(sshconn.Question) (sshconn.Answer, error) { return sshconn.Answer{}, stop }}
	_, err := a.asking(p).Dial(t.Context(), web1)
	assert.ErrorContains(t, err, "is not logged in: stopped")
	assert.Len(t, p.asked, 1)
	assert.Equal(t, 1, server.Accepted())
}

func TestAPassphraseIsAQuestionToo(t *testing.T) {
	a := newAccount(t)
	server := accepting(t, a.key("id_ed25519", "secret"))
	a.knows(server)
	a.config("", server)
	p := answering(typing("wrong"), typing("secret"))
	dial(t, a.asking(p), web1)
	require.Len(t, p.asked, 2)
	assert.Equal(t, sshconn.AskPassphrase, p.asked[0].Kind)
	assert.Equal(t, a.path("id_ed25519"), p.asked[0].KeyFile)
	assert.Equal(t, "web1", p.asked[0].Host)
}
