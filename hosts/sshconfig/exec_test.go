package sshconfig_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

func TestMatchExecRunsWithTheUsersShellAndDecides(t *testing.T) {
	h := newHome(t)
	for text, port := range map[string]int{
		`Match exec "true"`:   22001,
		`Match exec "false"`:  22,
		`Match !exec "false"`: 22001,
		`Match exec "test '%n %h %p %r %u %i %l %L %k' = 'web real 22 bob alice 1000 desk.example.org desk real'"`: 22001,
		`Match host db exec "touch @/ran"`:              22,
		`Match exec "touch @/ran" user nobody`:          22,
		`Match exec "test -z \"$(cat)\"" `:              0, // versions differ on backslashes
		`Match exec "echo \'"`:                          0,
		`Match exec "echo \\x"`:                         0,
		`Match exec "echo \" host web exec "true\"`:     0,
		`Match exec "echo \ x"`:                         22001,
		`Match exec a\\b`:                               0,
		`Match exec 'true'`:                             0,
		`Match exec "! read x"`:                         22001,
		`Match exec "exit 9"`:                           22,
		`Match exec true exec true !exec false`:         22001,
		`Match exec true exec false exec "touch @/ran"`: 22,
	} {
		s, err := h.resolve("User bob\nHostName real\n"+strings.ReplaceAll(text, "@", h.dir)+"\nPort 22001\n", "web")
		if port == 0 {
			assert.ErrorContains(t, err, "versions of ssh differ", text)
			continue
		}
		require.NoError(t, err, text)
		assert.EqualValues(t, port, s.Port.V, text)
	}
	assert.NoFileExists(t, filepath.Join(h.dir, "ran"), "it runs only where it decides")
}

func TestAMatchExecThatCannotAnswerIsAnError(t *testing.T) {
	h := newHome(t)
	_, err := h.resolve("Match exec \"kill -9 $$\"\n", "web")
	assert.ErrorContains(t, err, "config:1: Match exec: the program was ended by signal: killed")
	_, err = h.resolve("Match exec \"test %h\"\n", "web;id")
	assert.ErrorContains(t, err, `config:1: Match exec: "web;id" must not be put into a command line`)
	_, err = h.resolve("Match exec \"test %q\"\n", "web")
	assert.ErrorContains(t, err, `"%q" is not known`)
	env := h.LookupEnv
	h.LookupEnv = func(name string) (string, bool) {
		if name == "SHELL" {
			return "/no/such/shell", true
		}
		return env(name)
	}
	_, err = h.resolve("Match exec true\n", "web")
	assert.ErrorContains(t, err, "config:1: Match exec: /no/such/shell cannot be started: no such file")
	s, err := sshconfig.Loader{Home: h.Home, User: "me", LookupEnv: h.LookupEnv}.Open(h.writeRaw("home/.ssh/config", "Match exec true\nPort 5\n"))
	require.NoError(t, err)
	got, err := s.Resolve("web", sshconfig.Options{Offline: true})
	require.NoError(t, err)
	assert.EqualValues(t, 22, got.Port.V, "offline it does not hold")
}

// A fleet asks once.
func TestOneMatchExecAnswersForAllThatAskMeanwhile(t *testing.T) {
	h := newHome(t)
	log := filepath.Join(h.dir, "log")
	cfg, err := h.Open(h.writeRaw("home/.ssh/config", "Match exec \"echo x >>"+log+"\"\nPort 5\n"))
	require.NoError(t, err)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			s, err := cfg.Resolve("web", sshconfig.Options{})
			assert.NoError(t, err)
			assert.EqualValues(t, 5, s.Port.V)
		})
	}
	wg.Wait()
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	assert.Equal(t, "x\n", string(text))
}

func TestMatchLocalnetworkComparesTheAddressesOfThisMachine(t *testing.T) {
	for text, port := range map[string]int{
		"Match localnetwork 127.0.0.0/8":                5,
		"Match localnetwork 203.0.113.0/24,127.0.0.1":   5,
		"Match !localnetwork 203.0.113.0/24":            5,
		"Match localnetwork 203.0.113.0/24,2001:db8::1": 22,
	} {
		assert.EqualValues(t, port, must(t, text+"\nPort 5\n", "web").Port.V, text)
	}
	_, err := newHome(t).resolve("Match localnetwork 10.0.0.1/8\n", "web")
	assert.ErrorContains(t, err, `config:1: Match localnetwork: "10.0.0.1/8" is not a network`)
}
