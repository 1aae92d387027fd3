package session_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sshconn"

	"golang.org/x/crypto/ssh"
)

// Every session that a real server takes is open: whatever is not a session runs, and one more session is told that the host
// is full.
func TestAServerFullOfSessionsRunsOneOffCommands(t *testing.T) {
	for _, config := range []string{"", "MaxSessions 1", "MaxSessions 2"} {
		t.Run("sshd "+config, func(t *testing.T) {
			t.Parallel()
			var more []string
			if config != "" {
				more = append(more, config)
			}
			sshd := sessiontest.OpenSSHD(t, more...)
			d, err := sshconn.Static([]ssh.Signer{sshd.ClientKey}, sshd.HostKeys(t))
			require.NoError(t, err)
			p, err := session.NewPool(session.PoolConfig{
				Dial:    func(ctx context.Context, h hosts.Host) (session.Transport, error) { return d.Dial(ctx, h) },
				Session: session.Config{Principal: "operator/ada", Policy: policy.AllowAll, Audit: audit.Discard{}, Grace: 500 * time.Millisecond},
			})
			require.NoError(t, err)
			defer p.Close()
			h := sshd.Host(t, "sshd")
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
			defer cancel()
			open := 0
			for {
				s, err := p.Open(h)
				require.NoError(t, err)
				_, err = s.Run(ctx, session.Command{Script: "true", SlotWait: time.Second})
				if err != nil {
					require.ErrorIs(t, err, session.ErrFull)
					assert.ErrorContains(t, err, fmt.Sprintf("%d open sessions of operator/ada", open))
					break
				}
				open++
			}
			assert.Equal(t, map[string]int{"": 16, "MaxSessions 1": 2, "MaxSessions 2": 4}[config], open)

			r, err := p.Run(ctx, h, session.Command{Script: "echo out"})
			require.NoError(t, err)
			assert.Equal(t, "out\n", string(r.Stdout))
			r, err = p.Run(ctx, h, session.Command{Script: "cat", Stdin: strings.NewReader("in")})
			require.NoError(t, err, "its standard input takes a slot too")
			assert.Equal(t, "in", string(r.Stdout))
			for _, r := range p.Each(ctx, []hosts.Host{h}, session.Command{Script: "echo each"}) {
				require.Nil(t, r.Err)
				assert.Equal(t, "each\n", string(r.Stdout))
			}
			once, err := p.OpenOnce(h)
			require.NoError(t, err)
			defer once.Close()
			_, err = once.Run(ctx, session.Command{Script: "true"})
			require.NoError(t, err)
			_, err = p.Run(ctx, h, session.Command{Script: "sleep 600", Timeout: time.Second})
			var e *session.Error
			require.True(t, errors.As(err, &e))
			assert.Equal(t, "timeout", e.Code)
		})
	}
}

// Each of these needs a slot beside its own, and together they have all: one after the other gets it.
func TestCommandsThatHoldEverySlotAndNeedOneMoreGoOn(t *testing.T) {
	for config, n := range map[string]int{"MaxSessions 1": 4, "MaxSessions 10": 12} {
		t.Run(config, func(t *testing.T) {
			t.Parallel()
			sshd := sessiontest.OpenSSHD(t, config)
			d, err := sshconn.Static([]ssh.Signer{sshd.ClientKey}, sshd.HostKeys(t))
			require.NoError(t, err)
			p, err := session.NewPool(session.PoolConfig{
				Dial:    func(ctx context.Context, h hosts.Host) (session.Transport, error) { return d.Dial(ctx, h) },
				Session: session.Config{Principal: "operator/ada", Policy: policy.AllowAll, Audit: audit.Discard{}, Grace: 500 * time.Millisecond},
			})
			require.NoError(t, err)
			defer p.Close()
			var wg sync.WaitGroup
			for i := range n {
				wg.Go(func() {
					text := fmt.Sprint("in", i)
					r, err := p.Run(t.Context(), sshd.Host(t, "sshd"), session.Command{Script: "cat", Stdin: strings.NewReader(text), SlotWait: time.Minute})
					assert.NoError(t, err)
					assert.Equal(t, text, string(r.Stdout))
				})
			}
			wg.Wait()
		})
	}
}

// What sends the signals of the ladder needs a slot as well: where the connection of the session has none, another one has.
func TestACommandIsStoppedWithoutItsShellOnAConnectionThatIsFull(t *testing.T) {
	for config, n := range map[string]int{"MaxSessions 1": 1, "MaxSessions 2": 2, "MaxSessions 10": 8} {
		t.Run(config, func(t *testing.T) {
			t.Parallel()
			sshd := sessiontest.OpenSSHD(t, config)
			d, err := sshconn.Static([]ssh.Signer{sshd.ClientKey}, sshd.HostKeys(t))
			require.NoError(t, err)
			p, err := session.NewPool(session.PoolConfig{
				Dial:    func(ctx context.Context, h hosts.Host) (session.Transport, error) { return d.Dial(ctx, h) },
				Session: session.Config{Principal: "operator/ada", Policy: policy.AllowAll, Audit: audit.Discard{}, Grace: 3 * time.Second},
			})
			require.NoError(t, err)
			defer p.Close()
			var wg sync.WaitGroup
			for range n {
				s, err := p.Open(sshd.Host(t, "sshd"))
				require.NoError(t, err)
				runOK(t, s, "kept=here")
				wg.Go(func() {
					r, _ := s.Run(t.Context(), session.Command{Script: "sh -c 'trap \"\" INT TERM; while :; do sleep 1; done'", Timeout: time.Second})
					assert.Equal(t, session.StatusTimeout, r.Status)
					assert.Equal(t, "KILL", r.StoppedBy)
					assert.False(t, r.MayRun)
					r = runOK(t, s, `echo "$kept"`)
					assert.False(t, r.ShellRestarted)
					assert.Equal(t, "here\n", string(r.Stdout))
				})
			}
			wg.Wait()
		})
	}
}
