package unit

import (
	"errors"
	"slices"
	"testing"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

// scripted is a host web1 that answers as d says. A command that d does not know fails the test, and so does an answer that
// is never asked for.
func scripted(t *testing.T) (*sessiontest.Dialer, *session.Pool, hosts.Host) {
	t.Helper()
	d := sessiontest.NewDialer(t)
	pool, err := session.NewPool(session.PoolConfig{
		Dial:    d.Dial,
		Session: session.Config{Policy: policy.AllowAll, Audit: audit.Discard{}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	return d, pool, hosts.Host{Name: "web1"}
}

func TestDeploySwitchesToTheRelease(t *testing.T) {
	d, pool, web1 := scripted(t)
	d.On("readlink /srv/app/current", sessiontest.Reply{Stdout: "/srv/app/v1\n"})
	d.On("ln -sfn /srv/app/v2 /srv/app/current")
	d.On("systemctl restart app")
	if err := Deploy(t.Context(), pool, web1, "v2"); err != nil {
		t.Fatal(err)
	}
}

func TestDeployGoesBackWhereTheServiceFails(t *testing.T) {
	d, pool, web1 := scripted(t)
	d.On("readlink /srv/app/current", sessiontest.Reply{Stdout: "/srv/app/v1\n"})
	d.On("ln -sfn /srv/app/v2 /srv/app/current")
	d.On("ln -sfn /srv/app/v1 /srv/app/current")
	d.On("systemctl restart app", sessiontest.Reply{Stderr: "Job for app.service failed\n", Exit: 1})
	err := Deploy(t.Context(), pool, web1, "v2")
	var exit *session.ExitError
	if !errors.Is(err, ErrRollback) || !errors.As(err, &exit) || exit.Code != 1 {
		t.Fatal(err)
	}
	if last := d.Ran("web1"); !slices.Contains(last[len(last)-1:], `\ln -sfn /srv/app/v1 /srv/app/current`) {
		t.Errorf("the last command was %q", last)
	}
}

func TestDeployTellsAHostThatIsNotReached(t *testing.T) {
	d, pool, web1 := scripted(t)
	d.Fault("web1", sessiontest.Faults{Dial: session.ErrAuth})
	if err := Deploy(t.Context(), pool, web1, "v2"); !errors.Is(err, session.ErrAuth) {
		t.Fatal(err)
	}
}
