package copies_test

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/copies"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

const killedEnv = "FAIRLEAD_TEST_KILLED"

// killed is a copy in a process of its own, which kills itself in the middle.
type killed struct {
	KeyFile, Addr, User, HostKey string
	Src, To, Journal             string
	Resume                       bool
	After                        int64 // bytes of the stream
}

// killing kills the process once so much was read through it.
type killing struct {
	r    io.Reader
	left int64
}

func (k *killing) Read(p []byte) (int, error) {
	if k.left <= 0 {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	n, err := k.r.Read(p[:min(int64(len(p)), k.left+1)])
	k.left -= int64(n)
	return n, err
}

// TestKilledChild is the process that is killed; it does nothing in any other.
func TestKilledChild(t *testing.T) {
	var k killed
	if json.Unmarshal([]byte(os.Getenv(killedEnv)), &k) != nil {
		return
	}
	text, err := os.ReadFile(k.KeyFile)
	require.NoError(t, err)
	signer, err := ssh.ParsePrivateKey(text)
	require.NoError(t, err)
	key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(k.HostKey))
	require.NoError(t, err)
	d, err := sshconn.Static([]ssh.Signer{signer}, sessiontest.HostKeys(t, k.Addr, key))
	require.NoError(t, err)
	h := sessiontest.Host(t, "web1", k.Addr)
	h.User = k.User
	s := newSite(t, h, d.Dial)
	local, err := copies.NewLocal([]string{k.Src})
	require.NoError(t, err)
	res, _ := s.run(&copies.Copy{
		Plan:    copies.Plan{Op: copies.Upload, Path: k.To, Entries: local.Entries, Resume: k.Resume},
		Source:  func(hosts.Host) io.Reader { return &killing{local.Reader(), k.After} },
		Journal: k.Journal,
	})
	require.NoError(t, errOf(res))
}

// Whenever a copy is killed, no file has a part of its content; the same copy with Resume ends what it began, where it began, and
// leaves nothing of either.
func TestACopyThatIsKilledIsContinued(t *testing.T) {
	server := sessiontest.OpenSSHD(t)
	d, err := sshconn.Static([]ssh.Signer{server.ClientKey}, server.HostKeys(t))
	require.NoError(t, err)
	src, want, noise := filepath.Join(tempDir(t), "src"), map[string]string{}, rand.NewChaCha8([32]byte{5})
	content := make([]byte, 300<<10)
	_, _ = noise.Read(content)
	for i := range 2200 { // three packs
		name := fmt.Sprintf("d%d/f%d", i%7, i)
		want[name] = string(content[i : i+i%400])
	}
	want["a large"], want["z large"] = string(content), string(content[1:])
	for name, text := range want {
		write(t, filepath.Join(src, name), []byte(text), 0o644)
	}
	local, err := copies.NewLocal([]string{src})
	require.NoError(t, err)
	stream, err := io.Copy(io.Discard, local.Reader())
	require.NoError(t, err)
	for point := range int64(6) {
		for _, resume := range []bool{true, false} {
			if !resume && point%3 != 2 {
				continue
			}
			t.Run(fmt.Sprintf("%d of 6, resume %t", point, resume), func(t *testing.T) {
				dir, journal := tempDir(t), tempDir(t)
				to := filepath.Join(dir, "dst")
				arguments, err := json.Marshal(killed{
					KeyFile: server.KeyFile, Addr: server.Addr, User: server.User, HostKey: string(ssh.MarshalAuthorizedKey(server.HostKey)),
					Src: src, To: to, Journal: journal, Resume: resume, After: stream * point / 6,
				})
				require.NoError(t, err)
				child := exec.Command(os.Args[0], "-test.run=^TestKilledChild$")
				child.Env = append(os.Environ(), killedEnv+"="+string(arguments))
				out, err := child.CombinedOutput()
				require.ErrorContains(t, err, "killed", string(out))
				s, left := newSite(t, server.Host(t, "web1"), d.Dial), 0
				require.NoError(t, filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
					if err != nil || e.IsDir() {
						return err
					}
					if strings.HasPrefix(e.Name(), ".fairlead-") {
						left++
						return nil
					}
					rel, err := filepath.Rel(to, name)
					assert.True(t, want[rel] == read(t, name), "a part of %s", rel)
					return err
				}))
				t.Logf("%d temporary files were left", left)

				// What the host's programs make after the first look is removed by the copy after that.
				settled := func(copy func()) {
					for range 5 {
						copy()
						if notes, err := os.ReadDir(journal); err == nil && len(notes) == 0 {
							return
						}
					}
				}
				if !resume { // a copy of something else to the same place leaves nothing of it, either
					other := filepath.Join(tempDir(t), "other")
					write(t, other, []byte("other"), 0o644)
					require.NoError(t, os.MkdirAll(to, 0o755))
					one, err := copies.NewLocal([]string{other})
					require.NoError(t, err)
					settled(func() {
						res, _ := s.run(&copies.Copy{
							Plan:    copies.Plan{Op: copies.Upload, Path: to, Entries: one.Entries},
							Source:  func(hosts.Host) io.Reader { return one.Reader() },
							Journal: journal,
						})
						require.NoError(t, errOf(res))
					})
				} else {
					settled(func() {
						res, _ := s.run(&copies.Copy{
							Plan:    copies.Plan{Op: copies.Upload, Path: to, Entries: local.Entries, Resume: true},
							Source:  func(hosts.Host) io.Reader { return local.Reader() },
							Journal: journal,
						})
						require.NoError(t, errOf(res))
					})
					for name, text := range want {
						require.True(t, text == read(t, filepath.Join(to, name)), name)
					}
					assert.NoDirExists(t, filepath.Join(to, "src"))
				}
				noLeftovers(t, dir)
				notes, err := os.ReadDir(journal)
				require.NoError(t, err)
				assert.Empty(t, notes)
			})
		}
	}
}

// waiting gives the beginning of a stream, and the rest once it may.
type waiting struct {
	io.Reader
	left  int
	there chan<- struct{}
	may   <-chan struct{}
}

func (w *waiting) Read(p []byte) (int, error) {
	if w.left == 0 {
		close(w.there)
		<-w.may
		w.left = 1 << 30
	}
	n, err := w.Reader.Read(p[:min(len(p), w.left)])
	w.left -= n
	return n, err
}

// A copy that runs is not one that was killed.
func TestACopyLeavesAnotherThatRunsAlone(t *testing.T) {
	s, dir := sshd(t), tempDir(t)
	src, journal := filepath.Join(tempDir(t), "src"), tempDir(t)
	for i := range 120 {
		write(t, filepath.Join(src, fmt.Sprint(i)), make([]byte, 10_000), 0o644)
	}
	write(t, filepath.Join(src, "large"), make([]byte, 2<<20), 0o644)
	local, err := copies.NewLocal([]string{src})
	require.NoError(t, err)
	there, may, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	plan := copies.Plan{Op: copies.Upload, Path: dir, Entries: local.Entries}
	first := newSite(t, s.host, s.dial)
	go func() {
		res, _ := first.run(&copies.Copy{Plan: plan, Journal: journal, Source: func(hosts.Host) io.Reader {
			return &waiting{local.Reader(), 2 << 20, there, may}
		}})
		ended <- errOf(res)
	}()
	<-there
	res, _ := s.run(&copies.Copy{Plan: plan, Journal: journal, Source: func(hosts.Host) io.Reader { return local.Reader() }})
	require.NoError(t, errOf(res))
	close(may)
	require.NoError(t, <-ended)
	noLeftovers(t, dir)
	notes, err := os.ReadDir(journal)
	require.NoError(t, err)
	assert.Empty(t, notes)
}

// It is said where a directory goes that goes into one that is there.
func TestItIsSaidWhereADirectoryGoes(t *testing.T) {
	ways(t, func(t *testing.T, s *site, dir string) {
		src, to := filepath.Join(tempDir(t), "src"), filepath.Join(dir, "dst")
		write(t, filepath.Join(src, "f"), []byte("f"), 0o644)
		said := func(plan copies.Plan) (why string) {
			res, reports := s.upload(plan, src)
			require.NoError(t, errOf(res))
			for _, r := range reports {
				if r.Done == copies.Noted {
					why = r.Why
				}
			}
			return why
		}
		assert.Empty(t, said(copies.Plan{Path: to}), "it is as it was asked for")
		want := "src goes to " + to + "/src, because " + to + " exists; with a slash behind src what is in it goes into " + to + " itself"
		for _, plan := range []copies.Plan{{Path: to}, {Path: to, DryRun: true}, {Path: to, Resume: true}} {
			assert.Equal(t, want, said(plan))
		}
		assert.FileExists(t, filepath.Join(to, "src/f"))
		assert.Empty(t, said(copies.Plan{Path: to + "/"}))
		assert.Empty(t, said(copies.Plan{Path: to, Merge: true}))
	})
}
