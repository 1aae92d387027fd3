package copies_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/copies"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// site is a host behind a gate that a test sees.
type site struct {
	t       *testing.T
	pool    *session.Pool
	host    hosts.Host
	dial    func(context.Context, hosts.Host) (session.Transport, error)
	verdict func(script string) policy.Verdict // nil allows

	mu      sync.Mutex // guards what follows
	judged  []string
	entries []audit.Event
}

func newSite(t *testing.T, h hosts.Host, dial func(context.Context, hosts.Host) (session.Transport, error)) *site {
	s := &site{t: t, host: h, dial: dial}
	p, err := session.NewPool(session.PoolConfig{Dial: dial, Session: session.Config{
		Principal: "operator/test",
		Policy: policy.DeciderFunc(func(_ context.Context, req policy.Request) (policy.Decision, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.judged = append(s.judged, req.Command)
			v := policy.Allow
			if s.verdict != nil {
				v = s.verdict(req.Command)
			}
			return policy.Decision{Verdict: v, Class: policy.Write, Rule: "test"}, nil
		}),
		Audit: audit.SinkFunc(func(_ context.Context, e audit.Event) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.entries = append(s.entries, e)
			return nil
		}),
	}})
	require.NoError(t, err)
	t.Cleanup(func() { p.Close() })
	s.pool = p
	return s
}

// ways runs f with the files of this machine, reached in each way.
func ways(t *testing.T, f func(t *testing.T, s *site, dir string)) {
	t.Run("local", func(t *testing.T) {
		f(t, newSite(t, hosts.Host{Name: "here", Transport: hosts.Local}, localpty.Dial), tempDir(t))
	})
	t.Run("command", func(t *testing.T) {
		f(t, newSite(t, hosts.Host{Name: "box", Transport: hosts.Command, Command: []string{"sh"}}, localpty.Dial), tempDir(t))
	})
	server := sshd(t)
	t.Run("sftp", func(t *testing.T) { f(t, newSite(t, server.host, server.dial), tempDir(t)) })
	t.Run("far away", func(t *testing.T) { // as much as can be goes through several channels
		defer copies.SetFar(0, 1)()
		f(t, newSite(t, server.host, server.dial), tempDir(t))
	})
	t.Run("no sftp", func(t *testing.T) { f(t, sshd(t, "Subsystem other /bin/false"), tempDir(t)) })
}

func sshd(t *testing.T, more ...string) *site {
	t.Helper()
	s := sessiontest.OpenSSHD(t, more...)
	d, err := sshconn.Static([]ssh.Signer{s.ClientKey}, s.HostKeys(t))
	require.NoError(t, err)
	return newSite(t, s.Host(t, "web1"), d.Dial)
}

// tempDir is one without links in its path.
func tempDir(t *testing.T) string {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return dir
}

// run runs a copy and returns what it reports.
func (s *site) run(c *copies.Copy) (session.Result, []copies.Report) {
	s.t.Helper()
	cmd, err := c.Command()
	require.NoError(s.t, err)
	var all []copies.Report
	cmd.Streams = func(hosts.Host) (io.Writer, io.Writer) {
		return &copies.Reports{Take: func(r copies.Report) {
			if r.Done != "" {
				all = append(all, r)
			}
		}}, nil
	}
	for _, r := range s.pool.Each(s.t.Context(), []hosts.Host{s.host}, cmd) {
		return r, all
	}
	return session.Result{}, nil
}

// upload uploads paths to where plan says.
func (s *site) upload(plan copies.Plan, paths ...string) (session.Result, []copies.Report) {
	s.t.Helper()
	local, err := copies.NewLocal(paths)
	require.NoError(s.t, err)
	plan.Op, plan.Entries = copies.Upload, local.Entries
	if plan.DryRun {
		require.NoError(s.t, local.Hash(s.t.Context()))
	}
	if plan.Times {
		local.Times()
	}
	return s.run(&copies.Copy{Plan: plan, Source: func(hosts.Host) io.Reader { return local.Reader() }})
}

// download downloads what path matches.
func (s *site) download(path string, tree copies.Tree) (session.Result, []copies.Report, error) {
	s.t.Helper()
	r, w := io.Pipe()
	var err error
	var wg sync.WaitGroup
	wg.Go(func() {
		err = tree.Receive(s.t.Context(), r)
		r.CloseWithError(err)
	})
	res, all := s.run(&copies.Copy{Plan: copies.Plan{Op: copies.Download, Path: path, Times: tree.Times}, Sink: func(hosts.Host) io.Writer { return w }})
	w.Close()
	wg.Wait()
	return res, all, err
}

func write(t *testing.T, name string, content []byte, mode fs.FileMode) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(t, os.WriteFile(name, content, 0o600))
	require.NoError(t, os.Chmod(name, mode))
}

func symlink(to, name string) error { return os.Symlink(to, name) }

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(b)
}

func mode(t *testing.T, name string) fs.FileMode {
	t.Helper()
	st, err := os.Stat(name)
	require.NoError(t, err)
	return st.Mode()
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// noLeftovers fails where a temporary file is left.
func noLeftovers(t *testing.T, dir string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
		assert.False(t, strings.HasPrefix(filepath.Base(name), ".fairlead-"), name)
		return err
	}))
}

// source is a tree of many kinds of names and contents.
func source(t *testing.T) (dir string, contents map[string][]byte) {
	dir = filepath.Join(tempDir(t), "app")
	contents = map[string][]byte{
		"plain.txt": []byte("hello\n"), "empty": nil, "bin/nul": {0, 1, 2, 0xff, '\n', 0},
		"bin/with space": []byte("x"), "it's \"quoted\" $HOME `id`": []byte("q"), "deep/er/and/deeper": []byte("d"),
		"-rf": []byte("dash"), "new\nline": []byte("n"), "ünïcode": []byte("u"), "large": bytes.Repeat([]byte("0123456789abcdef\n"), 50_000),
	}
	for name, content := range contents {
		write(t, filepath.Join(dir, name), content, 0o640)
	}
	require.NoError(t, os.Chmod(filepath.Join(dir, "plain.txt"), 0o755))
	require.NoError(t, os.Chmod(filepath.Join(dir, "deep"), 0o750))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "nothing in it"), 0o711))
	return dir, contents
}

func TestATreeArrivesAsItIs(t *testing.T) {
	ways(t, func(t *testing.T, s *site, dir string) {
		src, contents := source(t)
		res, reports := s.upload(copies.Plan{Path: dir}, src)
		require.NoError(t, errOf(res))
		for name, content := range contents {
			assert.Equal(t, string(content), read(t, filepath.Join(dir, "app", name)), name)
		}
		assert.EqualValues(t, 0o755, mode(t, filepath.Join(dir, "app/plain.txt")))
		assert.EqualValues(t, 0o640, mode(t, filepath.Join(dir, "app/-rf")))
		assert.EqualValues(t, 0o750|fs.ModeDir, mode(t, filepath.Join(dir, "app/deep")))
		assert.EqualValues(t, 0o711|fs.ModeDir, mode(t, filepath.Join(dir, "app/nothing in it")))
		noLeftovers(t, dir)
		copied := 0
		for _, r := range reports {
			if r.Done == copies.Copied {
				copied++
				rel, _ := filepath.Rel("app", r.Name)
				assert.Equal(t, hash(contents[rel]), r.SHA256, r.Name)
			}
		}
		assert.Equal(t, len(contents), copied)

		back := tempDir(t)
		res, _, err := s.download(filepath.Join(dir, "app"), copies.Tree{Dir: back})
		require.NoError(t, errOf(res))
		require.NoError(t, err)
		for name, content := range contents {
			assert.Equal(t, string(content), read(t, filepath.Join(back, "app", name)), name)
			assert.Equal(t, mode(t, filepath.Join(src, name)), mode(t, filepath.Join(back, "app", name)), name)
		}
		assert.EqualValues(t, 0o750|fs.ModeDir, mode(t, filepath.Join(back, "app/deep")))
		noLeftovers(t, back)
	})
}

func errOf(r session.Result) error {
	if r.Err != nil {
		return r.Err
	}
	if r.Status != session.StatusOK {
		return fmt.Errorf("status %s", r.Status)
	}
	return nil
}

func TestOneFileIsReplacedOrGoesIntoADirectory(t *testing.T) {
	ways(t, func(t *testing.T, s *site, dir string) {
		src := filepath.Join(tempDir(t), "new.conf")
		write(t, src, []byte("new\n"), 0o644)
		write(t, filepath.Join(dir, "old.conf"), []byte("old old\n"), 0o600)
		require.NoError(t, os.Chmod(filepath.Join(dir, "old.conf"), 0o755|fs.ModeSetuid))

		res, _ := s.upload(copies.Plan{Path: filepath.Join(dir, "old.conf")}, src)
		require.NoError(t, errOf(res))
		assert.Equal(t, "new\n", read(t, filepath.Join(dir, "old.conf")))
		assert.EqualValues(t, 0o644, mode(t, filepath.Join(dir, "old.conf")), "no set-uid")

		res, _ = s.upload(copies.Plan{Path: dir, Mode: "4711"}, src)
		require.NoError(t, errOf(res))
		assert.EqualValues(t, 0o711|fs.ModeSetuid, mode(t, filepath.Join(dir, "new.conf")), "it was asked for")

		res, _ = s.upload(copies.Plan{Path: filepath.Join(dir, "missing") + "/"}, src)
		assert.Equal(t, "not_found", res.Err.Code)
		res, _ = s.upload(copies.Plan{Path: filepath.Join(dir, "missing/x")}, src)
		assert.Equal(t, "not_found", res.Err.Code)
		noLeftovers(t, dir)

		s.mu.Lock()
		defer s.mu.Unlock()
		require.Len(t, s.entries, 8, "a request and a result of each")
		request, result := s.entries[0], s.entries[1]
		assert.Equal(t, audit.FileRequest, request.Kind)
		assert.Contains(t, request.Command, "file_upload to "+filepath.Join(dir, "old.conf"))
		assert.Equal(t, audit.FileResult, result.Kind)
		assert.Equal(t, hash([]byte("new\n")), result.StdinSHA256)
		assert.EqualValues(t, 4, result.StdinBytes)
	})
}

func TestLinksAndSpecialFilesAreNotFollowed(t *testing.T) {
	ways(t, func(t *testing.T, s *site, dir string) {
		outside := tempDir(t)
		write(t, filepath.Join(outside, "secret"), []byte("secret"), 0o600)

		src := filepath.Join(tempDir(t), "src")
		write(t, filepath.Join(src, "file"), []byte("f"), 0o644)
		write(t, filepath.Join(src, "sub/file"), []byte("g"), 0o644)
		require.NoError(t, os.Symlink(filepath.Join(outside, "secret"), filepath.Join(src, "link")))
		require.NoError(t, syscall.Mkfifo(filepath.Join(src, "fifo"), 0o600))
		local, err := copies.NewLocal([]string{src})
		require.NoError(t, err)
		assert.Len(t, local.Left, 2)

		// On the host, a directory and a file of the tree are links that lead out.
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "src"), 0o755))
		require.NoError(t, os.Symlink(filepath.Join(outside, "secret"), filepath.Join(dir, "src/file")))
		res, reports := s.upload(copies.Plan{Path: dir}, src)
		require.Error(t, errOf(res))
		assert.Equal(t, "secret", read(t, filepath.Join(outside, "secret")))
		var failed []string
		for _, r := range reports {
			if r.Done == copies.Failed {
				failed = append(failed, r.Name+": "+r.Code)
			}
		}
		assert.Equal(t, []string{"src/file: conflict"}, failed)
		assert.Equal(t, "g", read(t, filepath.Join(dir, "src/sub/file")), "the rest arrives")

		require.NoError(t, os.RemoveAll(filepath.Join(dir, "src")))
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "src"), 0o755))
		require.NoError(t, os.Symlink(outside, filepath.Join(dir, "src/sub")))
		res, _ = s.upload(copies.Plan{Path: dir}, src)
		require.Error(t, errOf(res))
		assert.NoFileExists(t, filepath.Join(outside, "file"))

		back := tempDir(t)
		res, reports, err = s.download(src, copies.Tree{Dir: back})
		require.NoError(t, errOf(res))
		require.NoError(t, err)
		assert.NoFileExists(t, filepath.Join(back, "src/link"))
		assert.NoFileExists(t, filepath.Join(back, "src/fifo"))
		skipped := 0
		for _, r := range reports {
			if r.Done == copies.Skipped {
				skipped++
			}
		}
		assert.Equal(t, 2, skipped)
		noLeftovers(t, dir)
	})
}

func TestWhereALinkLeadsIsJudgedToo(t *testing.T) {
	ways(t, func(t *testing.T, s *site, dir string) {
		src := filepath.Join(tempDir(t), "f")
		write(t, src, []byte("f"), 0o644)
		require.NoError(t, os.Mkdir(filepath.Join(dir, "closed"), 0o755))
		require.NoError(t, os.Symlink("closed", filepath.Join(dir, "open")))
		s.verdict = func(script string) policy.Verdict {
			if strings.Contains(script, "closed") {
				return policy.Deny
			}
			return policy.Allow
		}
		res, _ := s.upload(copies.Plan{Path: filepath.Join(dir, "open")}, src)
		assert.Equal(t, session.StatusDenied, res.Status)
		assert.NoFileExists(t, filepath.Join(dir, "closed/f"))
		s.verdict = nil
		res, _ = s.upload(copies.Plan{Path: filepath.Join(dir, "open")}, src)
		require.NoError(t, errOf(res))
		assert.FileExists(t, filepath.Join(dir, "closed/f"))
	})
}

func TestNothingIsDoneThatIsDenied(t *testing.T) {
	ways(t, func(t *testing.T, s *site, dir string) {
		s.verdict = func(string) policy.Verdict { return policy.Deny }
		src := filepath.Join(tempDir(t), "f")
		write(t, src, []byte("f"), 0o644)
		res, _ := s.upload(copies.Plan{Path: dir}, src)
		assert.Equal(t, session.StatusDenied, res.Status)
		assert.NoFileExists(t, filepath.Join(dir, "f"))
	})
}

func TestContentThatIsNotWhatWasApprovedIsRefused(t *testing.T) {
	ways(t, func(t *testing.T, s *site, dir string) {
		src := filepath.Join(tempDir(t), "f")
		write(t, src, []byte("approved"), 0o644)
		local, err := copies.NewLocal([]string{src})
		require.NoError(t, err)
		require.NoError(t, local.Hash(t.Context()))
		write(t, src, []byte("replaced"), 0o644)
		plan := copies.Plan{Op: copies.Upload, Path: dir, Entries: local.Entries}
		assert.True(t, plan.Bound())
		res, reports := s.run(&copies.Copy{Plan: plan, Source: func(hosts.Host) io.Reader { return local.Reader() }})
		require.Error(t, errOf(res))
		require.Len(t, reports, 1)
		assert.Equal(t, "conflict", reports[0].Code)
		assert.NoFileExists(t, filepath.Join(dir, "f"))
		noLeftovers(t, dir)
	})
}

func TestPatternsMatchOnTheHost(t *testing.T) {
	ways(t, func(t *testing.T, s *site, dir string) {
		for _, name := range []string{"a/x.log", "a/y.log", "b/x.log", "b/x.txt", "b/.hidden.log"} {
			write(t, filepath.Join(dir, name), []byte(name), 0o644)
		}
		back := tempDir(t)
		res, _, err := s.download(dir+"/b/*.log", copies.Tree{Dir: back})
		require.NoError(t, errOf(res))
		require.NoError(t, err)
		names, err := os.ReadDir(back)
		require.NoError(t, err)
		require.Len(t, names, 1)
		assert.Equal(t, "x.log", names[0].Name())
		res, _, err = s.download(dir+"/*/x.*", copies.Tree{Dir: back})
		require.NoError(t, errOf(res))
		require.NoError(t, err)
		for _, name := range []string{"a/x.log", "b/x.log", "b/x.txt"} {
			assert.Equal(t, name, read(t, filepath.Join(back, name)), "names that are the same keep apart")
		}
		res, _, _ = s.download(dir+"/*.nothing", copies.Tree{Dir: back})
		assert.Equal(t, "not_found", res.Err.Code)
	})
}

func TestADryRunChangesNothing(t *testing.T) {
	ways(t, func(t *testing.T, s *site, dir string) {
		src := filepath.Join(tempDir(t), "src")
		write(t, filepath.Join(src, "same"), []byte("same"), 0o644)
		write(t, filepath.Join(src, "other"), []byte("after\n"), 0o644)
		write(t, filepath.Join(src, "new"), []byte("new"), 0o644)
		write(t, filepath.Join(dir, "src/same"), []byte("same"), 0o644)
		write(t, filepath.Join(dir, "src/other"), []byte("before\n"), 0o644)
		write(t, filepath.Join(dir, "src/extra/file"), []byte("extra"), 0o644)
		plan := copies.Plan{Path: dir + "/src", Merge: true, Delete: true, DryRun: true}
		res, reports := s.upload(plan, src)
		require.NoError(t, errOf(res))
		got := map[string]string{}
		for _, r := range reports {
			rel, _ := filepath.Rel(dir, r.Path)
			got[rel] = r.Done
			if rel == "src/other" {
				assert.Equal(t, "before\n", string(r.Old))
				assert.Equal(t, hash([]byte("before\n")), r.Was)
				assert.Equal(t, hash([]byte("after\n")), r.SHA256)
			}
		}
		assert.Equal(t, map[string]string{"src": copies.Unchanged, "src/same": copies.Unchanged, "src/other": copies.Changed, "src/new": copies.New,
			"src/extra": copies.Doomed, "src/extra/file": copies.Doomed}, got)
		assert.Equal(t, "before\n", read(t, filepath.Join(dir, "src/other")))
		assert.NoFileExists(t, filepath.Join(dir, "src/new"))

		plan.DryRun = false
		res, _ = s.upload(plan, src)
		require.NoError(t, errOf(res))
		assert.Equal(t, "after\n", read(t, filepath.Join(dir, "src/other")))
		assert.Equal(t, "new", read(t, filepath.Join(dir, "src/new")))
		assert.NoDirExists(t, filepath.Join(dir, "src/extra"))
		noLeftovers(t, dir)
	})
}

func TestACopyWithoutItsEndHereIsAnError(t *testing.T) {
	ways(t, func(t *testing.T, s *site, dir string) {
		write(t, filepath.Join(dir, "f"), []byte("content"), 0o600)
		local, err := copies.NewLocal([]string{filepath.Join(dir, "f")})
		require.NoError(t, err)
		up := copies.Plan{Op: copies.Upload, Entries: local.Entries, Path: filepath.Join(dir, "new")}
		down := copies.Plan{Op: copies.Download, Path: filepath.Join(dir, "f")}
		for name, c := range map[string]*copies.Copy{
			"no source":  {Plan: up},
			"nil source": {Plan: up, Source: func(hosts.Host) io.Reader { return nil }},
			"no sink":    {Plan: down},
			"nil sink":   {Plan: down, Sink: func(hosts.Host) io.Writer { return nil }},
			"lazy sink":  {Plan: down, Sink: func(hosts.Host) io.Writer { return lazyWriter{} }},
		} {
			r, _ := s.run(c)
			require.Error(t, r.ExitErr(), name)
			if !strings.HasPrefix(name, "lazy") {
				assert.ErrorIs(t, r.Err, session.ErrInvalid, name)
			}
		}
		assert.NoFileExists(t, filepath.Join(dir, "new"))
	})
}

// lazyWriter takes half of what it gets, and says so without an error.
type lazyWriter struct{}

func (lazyWriter) Write(p []byte) (int, error) { return len(p) / 2, nil }
