package become_test

import (
	"context"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/become"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// The accounts of the machine that the tests log in to, and what they may become.
var (
	accounts = []sessiontest.Account{{Name: "flfree", Password: "free-pw-1"}, {Name: "flpass", Password: "pass-pw-2"}, {Name: "flnone", Password: "none-pw-3"}, {Name: "flother", Password: "other-pw-4"},
		{Name: "flkeys", Password: "\x03pw\x1a\x1c\x04\x15\x17\x08\x7f\x11\x13\x16\x1b5"}}
	files = map[string]string{
		"sudoers.d/fairlead-test": "flfree ALL=(ALL) NOPASSWD: ALL\nflpass ALL=(ALL) ALL\nflkeys ALL=(ALL) ALL\n",
		"doas.conf":               "permit nopass flfree\npermit flpass\npermit flkeys\n",
	}
)

// person answers with a password, and notes what was asked.
type person struct {
	mu       sync.Mutex
	password string
	asked    []become.Question
}

func (p *person) ask(_ context.Context, q become.Question) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, q)
	return []byte(p.password), nil
}

func (p *person) reset(password string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.password, p.asked = password, nil
}

func (p *person) questions() []become.Question {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked
}

// machine is an OpenSSH server with the accounts, and a pool that reaches it.
type machine struct {
	sshd *sessiontest.SSHD
	pool *session.Pool
}

func newMachine(t *testing.T, ask become.Ask, change ...func(*session.Config)) *machine {
	t.Helper()
	return newMachineWith(t, files, ask, change...)
}

func newMachineWith(t *testing.T, files map[string]string, ask become.Ask, change ...func(*session.Config)) *machine {
	t.Helper()
	for _, program := range []string{"sudo", "doas", "su"} {
		if _, err := exec.LookPath(program); err != nil {
			needs.Part(t, "%s is not installed", program)
		}
	}
	m := &machine{sshd: sessiontest.OpenSSHDWithAccounts(t, accounts, files)}
	d, err := sshconn.Static([]ssh.Signer{m.sshd.ClientKey}, m.sshd.HostKeys(t))
	require.NoError(t, err)
	cfg := session.Config{Principal: "operator/ada", Policy: policy.AllowAll, Audit: audit.Discard{}, Become: ask}
	for _, f := range change {
		f(&cfg)
	}
	m.pool, err = session.NewPool(session.PoolConfig{
		Dial:    func(ctx context.Context, h hosts.Host) (session.Transport, error) { return d.Dial(ctx, h) },
		Session: cfg,
	})
	require.NoError(t, err)
	t.Cleanup(func() { m.pool.Close() })
	return m
}

// as is the machine for who logs in as user, and becomes root.
func (m *machine) as(t *testing.T, user, method string) hosts.Host {
	h := m.sshd.Host(t, "web1")
	h.User, h.Become = user, hosts.Become{User: "root", Method: method}
	return h
}

func TestWhatBecomesOfBecoming(t *testing.T) {
	p := &person{}
	m := newMachine(t, p.ask)
	for _, tt := range []struct {
		name, method, user, password string
		want                         error // nil is a shell of the other account
		asked                        string
	}{
		{"sudo, no password needed", "sudo", "flfree", "", nil, ""},
		{"sudo, accepted", "sudo", "flpass", "pass-pw-2", nil, "sudo password for flpass on web1: "},
		{"sudo, wrong password", "sudo", "flpass", "no", become.ErrWrongPassword, "sudo password for flpass on web1: "},
		{"sudo, not allowed", "sudo", "flnone", "none-pw-3", become.ErrNotAllowed, "sudo password for flnone on web1: "},
		{"sudo, not allowed and wrong", "sudo", "flnone", "no", become.ErrWrongPassword, "sudo password for flnone on web1: "},
		{"sudo, no password", "sudo", "flpass", "", become.ErrWrongPassword, "sudo password for flpass on web1: "},
		{"doas, no password needed", "doas", "flfree", "", nil, ""},
		{"doas, accepted", "doas", "flpass", "pass-pw-2", nil, "doas password for flpass on web1: "},
		{"doas, wrong password", "doas", "flpass", "no", become.ErrWrongPassword, "doas password for flpass on web1: "},
		{"doas, not allowed", "doas", "flnone", "none-pw-3", become.ErrNotAllowed, ""},
		{"su, no password needed", "su", "root", "", nil, ""},
		{"su, accepted", "su", "flnone", "other-pw-4", nil, "su password for flother on web1: "},
		{"su, wrong password", "su", "flnone", "no", become.ErrWrongPassword, "su password for flother on web1: "},
		{"sudo-rs, by the name of sudo", "sudo-rs", "flfree", "", nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p.reset(tt.password)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			h := m.as(t, tt.user, tt.method)
			if tt.method == "su" {
				h.Become.User = "flother"
			}
			r, err := m.pool.Run(ctx, h, session.Command{Script: "id -un; echo err >&2; exit 3"})
			var asked string
			for _, q := range p.questions() {
				asked += q.Prompt()
			}
			assert.Equal(t, tt.asked, asked)
			if tt.want != nil {
				require.ErrorIs(t, err, tt.want)
				assert.ErrorIs(t, err, session.ErrAuth)
				assert.Equal(t, session.StatusAuth, r.Status)
				assert.ErrorContains(t, err, tt.method)
				assert.ErrorContains(t, err, tt.user)
				assert.ErrorContains(t, err, h.Become.User)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, h.Become.User+"\n", string(r.Stdout))
			assert.Equal(t, "err\n", string(r.Stderr))
			assert.Equal(t, 3, *r.ExitCode)
		})
	}
}

// What a terminal takes for a key is a part of a password like any other byte. What ends the line that it is typed in is sent to no host.
func TestPasswordsMayHoldWhatATerminalTakesForKeys(t *testing.T) {
	p := &person{}
	m := newMachine(t, p.ask)
	const password = "\x03pw\x1a\x1c\x04\x15\x17\x08\x7f\x11\x13\x16\x1b5"
	for _, tt := range []struct{ method, user, to string }{{"sudo", "flkeys", "root"}, {"doas", "flkeys", "root"}, {"su", "flnone", "flkeys"}} {
		t.Run(tt.method, func(t *testing.T) {
			h := m.as(t, tt.user, tt.method)
			h.Become.User = tt.to
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			p.reset(password)
			r, err := m.pool.Run(ctx, h, session.Command{Script: "id -un"})
			require.NoError(t, err)
			assert.Equal(t, tt.to+"\n", string(r.Stdout))

			p.reset("two\nlines")
			_, err = m.pool.Run(ctx, m.as(t, "flpass", tt.method), session.Command{Script: "id -un"})
			require.ErrorIs(t, err, become.ErrPasswordNeeded)
			require.ErrorIs(t, err, session.ErrAuth)
			assert.NotErrorIs(t, err, become.ErrWrongPassword)
			assert.ErrorContains(t, err, "it holds a line break")
		})
	}
}
