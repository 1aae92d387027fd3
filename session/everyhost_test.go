package session_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// shells are the ones that every case is tried on.
var shells = []string{"bash", "zsh", "dash", "ash", "ksh", "mksh"}

// needShell skips where a shell is missing, and fails in CI.
func needShell(t testing.TB, name string) {
	t.Helper()
	program := map[string]string{"ash": "busybox"}[name]
	if program == "" {
		program = name
	}
	if _, err := exec.LookPath(program); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is not installed", program)
		}
		t.Skipf("%s is not installed", program)
	}
}

// transports are the ways to a shell, by name. Each returns a live connection that ends with the test.
var transports = []struct {
	name string
	open func(t testing.TB) session.Transport
}{
	{"local", func(t testing.TB) session.Transport {
		tr, err := localpty.New(localpty.Config{})
		require.NoError(t, err)
		t.Cleanup(func() { tr.Close() })
		return tr
	}},
	{"server", func(t testing.TB) session.Transport {
		srv := sessiontest.Server(t, sshserver.Config{})
		return dial(t, srv.ClientKey(), sessiontest.HostKeys(t, srv.Addr(), srv.HostKey()), sessiontest.Host(t, "server", srv.Addr()))
	}},
	{"sshd", func(t testing.TB) session.Transport {
		sshd := sessiontest.OpenSSHD(t)
		return dial(t, sshd.ClientKey, sshd.HostKeys(t), sshd.Host(t, "sshd"))
	}},
}

func dial(t testing.TB, key ssh.Signer, keys sshconn.HostKeys, h hosts.Host) session.Transport {
	d, err := sshconn.Static([]ssh.Signer{key}, keys)
	require.NoError(t, err)
	tr, err := d.Dial(t.Context(), h)
	require.NoError(t, err)
	t.Cleanup(func() { tr.Close() })
	return tr
}

// dialers return, by the name of a transport, what connects to one host any number of times.
var dialers = map[string]func(t testing.TB) func(t testing.TB) session.Transport{
	"local": func(testing.TB) func(t testing.TB) session.Transport { return transports[0].open },
	"server": func(t testing.TB) func(t testing.TB) session.Transport {
		srv := sessiontest.Server(t, sshserver.Config{})
		return func(t testing.TB) session.Transport {
			return dial(t, srv.ClientKey(), sessiontest.HostKeys(t, srv.Addr(), srv.HostKey()), sessiontest.Host(t, "server", srv.Addr()))
		}
	},
	"sshd": func(t testing.TB) func(t testing.TB) session.Transport {
		sshd := sessiontest.OpenSSHD(t)
		return func(t testing.TB) session.Transport {
			return dial(t, sshd.ClientKey, sshd.HostKeys(t), sshd.Host(t, "sshd"))
		}
	},
}

// shellsOver are the shells that are tried over a transport: all on this machine, and over SSH some that differ for each server, as
// what a shell does has little to do with the way to it.
func shellsOver(via string) []string {
	switch via {
	case "server":
		return []string{"zsh", "mksh"}
	case "sshd":
		return []string{"bash", "dash"}
	}
	return shells
}

// Every case on every shell, and once over every transport with some shell or other: the same command gives the same Result
// everywhere. With two Korn shells, one on this machine is enough for ksh93.
func TestEveryCaseHoldsOnEveryShellAndTransport(t *testing.T) {
	t.Parallel()
	for _, via := range transports {
		t.Run(via.name, func(t *testing.T) {
			t.Parallel()
			connect := dialers[via.name](t)
			for k, shell := range shells {
				if shell == "ksh" && via.name != "local" {
					continue
				}
				t.Run(shell, func(t *testing.T) {
					needShell(t, shell)
					t.Parallel()
					tr := connect(t)
					for i, c := range append(cases(t.TempDir()), stopping()...) {
						if needs.Sample && (i+len(shell)+len(via.name))%4 != 0 {
							continue
						}
						if via.name != "local" && c.only == "" && i%len(shells) != k && (shell != "bash" || i%len(shells) != 4) { // bash has those of ksh too
							continue
						}
						t.Run(c.name, func(t *testing.T) {
							if c.only == "" || contains(c.only, shell) {
								s := openWithin(t, tr, shell, graceOf(c))
								defer s.Close()
								runCase(t, s, c)
							}
						})
					}
				})
			}
		})
	}
}

// grace is short: most tests of stops want the last step.
const grace = 500 * time.Millisecond

// graceOf is the grace for a case. Where KILL has to work, the shell has it all to say so: on a busy machine that takes longer.
func graceOf(c sessionCase) time.Duration {
	if strings.Contains(c.name, "ignores INT and TERM") {
		return 4 * grace
	}
	return grace
}

func open(t testing.TB, tr session.Transport, shell string) *session.Session {
	t.Helper()
	return openWithin(t, tr, shell, grace)
}

func openWithin(t testing.TB, tr session.Transport, shell string, grace time.Duration) *session.Session {
	t.Helper()
	s, err := session.Open(tr, hosts.Host{Name: "host", Shell: shell}, session.Config{
		Policy: policy.AllowAll, Audit: audit.Discard{}, Grace: grace,
	})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}
