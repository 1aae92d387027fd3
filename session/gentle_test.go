package session_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

var (
	gentleFlood = flag.Int64("gentle.flood", 40_000_000, "how many bytes of each stream flood the controller")
	controller  = flag.String("gentle.controller", "", "what the test binary does when it is started as a controller, as JSON")
)

// errand is what a controller is told to do before it is killed.
type errand struct {
	Local   []string // environment of the local host; nil means SSH
	Addr    string
	User    string
	KeyFile string
	HostKey string
	Shell   string
	Stdin   bool
}

// TestAsController is no test: it is what TestNothingIsLeftOfAControllerThatIsKilled starts.
func TestAsController(t *testing.T) {
	if *controller == "" {
		t.Skip("not started as a controller")
	}
	var e errand
	require.NoError(t, json.Unmarshal([]byte(*controller), &e))
	tr := e.dial(t)
	s, err := session.Open(tr, hosts.Host{Name: "host", Shell: e.Shell}, permissive())
	require.NoError(t, err)
	cmd := session.Command{Script: "sleep 300 & echo begun; sleep 300"}
	if e.Stdin {
		cmd = session.Command{Script: "echo begun; sleep 300 & cat >/dev/null", Stdin: endless{}}
	}
	cmd.Stdout = os.Stdout
	_, err = s.Run(t.Context(), cmd)
	require.NoError(t, err)
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func (e errand) dial(t *testing.T) session.Transport {
	if e.Local != nil {
		tr, err := localpty.New(localpty.Config{Env: e.Local})
		require.NoError(t, err)
		return tr
	}
	text, err := os.ReadFile(e.KeyFile)
	require.NoError(t, err)
	key, err := ssh.ParsePrivateKey(text)
	require.NoError(t, err)
	hostKey, _, _, _, err := ssh.ParseAuthorizedKey([]byte(e.HostKey))
	require.NoError(t, err)
	d, err := sshconn.Static([]ssh.Signer{key}, sessiontest.HostKeys(t, e.Addr, hostKey))
	require.NoError(t, err)
	h := sessiontest.Host(t, "host", e.Addr)
	h.User = e.User
	tr, err := d.Dial(t.Context(), h)
	require.NoError(t, err)
	return tr
}

func TestNothingIsLeftOfAControllerThatIsKilled(t *testing.T) {
	for name, make := range map[string]func(t *testing.T, mark sessiontest.Mark) errand{
		"local": func(t *testing.T, mark sessiontest.Mark) errand { return errand{Local: mark.On(os.Environ())} },
		"server": func(t *testing.T, mark sessiontest.Mark) errand {
			keys := sessiontest.OpenSSHD(t) // for its key files alone
			srv := sessiontest.Server(t, sshserver.Config{Env: mark.On(os.Environ()), ClientKeys: []ssh.PublicKey{keys.ClientKey.PublicKey()}})
			return errand{Addr: srv.Addr(), User: "tester", KeyFile: keys.KeyFile, HostKey: string(ssh.MarshalAuthorizedKey(srv.HostKey()))}
		},
		"sshd": func(t *testing.T, mark sessiontest.Mark) errand {
			sshd := sessiontest.OpenSSHD(t, mark.SSHD())
			return errand{Addr: sshd.Addr, User: sshd.User, KeyFile: sshd.KeyFile, HostKey: string(ssh.MarshalAuthorizedKey(sshd.HostKey))}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mark := sessiontest.NewMark(t)
			e := make(t, mark)
			for _, shell := range shellsOver(name) {
				for _, stdin := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s, stdin %v", shell, stdin), func(t *testing.T) {
						needShell(t, shell)
						e := e
						e.Shell, e.Stdin = shell, stdin
						killController(t, e, mark)
						nothingIsLeft(t, mark)
					})
				}
			}
		})
	}
}

// killController starts a controller and kills it while its command runs.
func killController(t *testing.T, e errand, mark sessiontest.Mark) {
	text, err := json.Marshal(e)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAsController$", "-test.count=1", "-gentle.controller="+string(text))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var said strings.Builder
	for lines := bufio.NewScanner(out); !strings.Contains(said.String(), "begun") && lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
	}
	require.Contains(t, said.String(), "begun", "the controller failed")
	require.NotEmpty(t, mark.Processes(t), "nothing runs on the host")
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
}

// A flood goes through in constant memory, and no part of it rests on the host's disk.
func TestAFloodRestsNowhere(t *testing.T) {
	mark := sessiontest.NewMark(t)
	for _, site := range sites(t, permissive(), mark) {
		for stream, redirect := range map[string]string{"stdout": "", "stderr": " >&2"} {
			t.Run(site.name+" "+stream, func(t *testing.T) {
				s := mustOpen(t, site.pool, site.on("bash"))
				defer s.Close()
				succeed(t, s, session.Command{Script: ":"})
				var seen, peak, written atomic.Int64
				var files []string
				before := memory()
				look := writer(func(p []byte) {
					n := seen.Add(int64(len(p)))
					if n/(8<<20) == (n-int64(len(p)))/(8<<20) {
						return
					}
					peak.Store(max(peak.Load(), inUse()))
					written.Store(max(written.Load(), mark.Written(t)))
					files = append(files, mark.Files(t)...)
				})
				size := *gentleFlood
				if needs.Detector {
					size /= 2
				}
				r := succeed(t, s, session.Command{Script: fmt.Sprintf("yes 2>/dev/null | head -c %d%s", size, redirect), Stdout: look, Stderr: look})
				assert.Equal(t, size, r.StdoutBytes+r.StderrBytes)
				assert.Equal(t, size, seen.Load())
				assert.Less(t, peak.Load()-before, int64(16<<20), "bytes of memory more while it came")
				t.Logf("%d bytes, %d bytes of memory more at most", size, peak.Load()-before)
				assert.Less(t, written.Load(), int64(1<<20), "bytes written to storage by what ran on the host")
				assert.Empty(t, files)
			})
		}
	}
}

// inUse returns the bytes of heap in use, garbage included.
func inUse() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}
