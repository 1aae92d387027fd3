package copies_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/copies"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// farAway is an sshd whose sftp servers note their processes, and a directory. All files from size on count as large.
func farAway(t *testing.T, size int64, more ...string) (s *site, dir string, servers func() []int) {
	t.Helper()
	program := ""
	for _, p := range []string{"/usr/lib/openssh/sftp-server", "/usr/libexec/openssh/sftp-server", "/usr/lib/ssh/sftp-server", "/usr/libexec/sftp-server"} {
		if _, err := exec.LookPath(p); err == nil {
			program = p
		}
	}
	if program == "" {
		needs.Part(t, "no sftp-server is installed (package openssh-sftp-server)")
	}
	t.Cleanup(copies.SetFar(0, size))
	dir = tempDir(t)
	note, wrapper := filepath.Join(dir, "started"), filepath.Join(dir, "server")
	write(t, wrapper, fmt.Appendf(nil, "#!/bin/sh\necho $$ >> %s\nexec %s\n", note, program), 0o755)
	return sshd(t, append(more, "Subsystem sftp "+wrapper)...), filepath.Join(dir, "to"), func() (pids []int) {
		text, err := os.ReadFile(note)
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			pid, err := strconv.Atoi(strings.TrimSpace(line))
			require.NoError(t, err)
			pids = append(pids, pid)
		}
		return pids
	}
}

func noise(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{5}).Read(b)
	return b
}

// There and back, with every size at which blocks and their turns end.
func TestALargeFileGoesThroughSeveralChannels(t *testing.T) {
	const block, turn = copies.LargePacket, copies.LargePacket * copies.PerLane * copies.Lanes
	s, dir, servers := farAway(t, 300<<10)
	require.NoError(t, os.Mkdir(dir, 0o755))
	for _, size := range []int{300 << 10, 2*block - 1, 2 * block, 2*block + 1, 5*block + 17, turn - 1, turn, turn + 1, 2*turn + block/2} {
		src, content := filepath.Join(tempDir(t), "src"), noise(size)
		write(t, src, content, 0o640)
		res, reports := s.upload(copies.Plan{Path: dir + "/file", Verify: true}, src)
		require.NoError(t, errOf(res), "%v", reports)
		assert.Equal(t, hash(content), hash([]byte(read(t, dir+"/file"))), "%d bytes", size)
		to := tempDir(t)
		res, reports, err := s.download(dir+"/file", copies.Tree{Dir: to})
		require.NoError(t, err)
		require.NoError(t, errOf(res), "%v", reports)
		assert.Equal(t, hash(content), hash([]byte(read(t, to+"/file"))), "%d bytes", size)
	}
	assert.Zero(t, len(servers())%copies.Lanes, "each copy has its channels")
	assert.GreaterOrEqual(t, len(servers()), 2*copies.Lanes)
	noLeftovers(t, dir)
}

// What is not worth it, or not sure, goes through one; so does what the server opens no more channels for.
func TestALargeFileGoesThroughOneChannel(t *testing.T) {
	const size = 3 << 20
	for name, c := range map[string]struct {
		far    time.Duration
		from   int64
		mode   os.FileMode
		server string
	}{
		"a short round trip":              {time.Hour, 1, 0o755, ""},
		"a small file":                    {0, size + 1, 0o755, ""},
		"a directory of several accounts": {0, 1, 0o777, ""},
		"a server without room":           {0, 1, 0o755, "MaxSessions 1"},
	} {
		t.Run(name, func(t *testing.T) {
			var more []string
			if c.server != "" {
				more = append(more, c.server)
			}
			s, dir, servers := farAway(t, 1, more...)
			defer copies.SetFar(c.far, c.from)()
			require.NoError(t, os.Mkdir(dir, 0o755))
			require.NoError(t, os.Chmod(dir, c.mode))
			src, content := filepath.Join(tempDir(t), "src"), noise(size)
			write(t, src, content, 0o644)
			res, reports := s.upload(copies.Plan{Path: dir + "/file"}, src)
			require.NoError(t, errOf(res), "%v", reports)
			assert.Equal(t, hash(content), hash([]byte(read(t, dir+"/file"))))
			assert.Len(t, servers(), 1)
		})
	}
}

// A file that another one takes the place of while it is opened is one of the two.
func TestAFileThatIsReplacedIsNotMixed(t *testing.T) {
	s, dir, _ := farAway(t, 1)
	require.NoError(t, os.Mkdir(dir, 0o755))
	const size = 3 << 20
	write(t, dir+"/file", make([]byte, size), 0o644)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		content := make([]byte, size)
		for i := byte(1); ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			for k := range content {
				content[k] = i
			}
			if os.WriteFile(dir+"/new", content[:size-int(i)], 0o644) != nil || os.Rename(dir+"/new", dir+"/file") != nil {
				return
			}
		}
	})
	defer wg.Wait()
	defer close(stop)
	for range 10 {
		to := tempDir(t)
		res, reports, err := s.download(dir+"/file", copies.Tree{Dir: to})
		require.NoError(t, err)
		require.NoError(t, errOf(res), "%v", reports)
		got := read(t, to+"/file")
		require.Equal(t, strings.Repeat(got[:1], len(got)), got)
	}
}

// endingServer kills the last server that has started once so much of a stream was read.
type endingServer struct {
	io.Reader
	left    int
	servers func() []int
}

func (e *endingServer) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	if before := e.left; before > 0 {
		if e.left -= n; e.left <= 0 {
			pids := e.servers()
			_ = syscall.Kill(pids[len(pids)-1], syscall.SIGKILL)
		}
	}
	return n, err
}

// A channel that ends fails the file, which is not there then, and leaves nothing.
func TestAChannelThatEndsFailsTheFile(t *testing.T) {
	s, dir, servers := farAway(t, 1)
	require.NoError(t, os.Mkdir(dir, 0o755))
	src := filepath.Join(tempDir(t), "src")
	write(t, src, noise(32<<20), 0o644)
	local, err := copies.NewLocal([]string{src})
	require.NoError(t, err)
	res, _ := s.run(&copies.Copy{Plan: copies.Plan{Op: copies.Upload, Path: dir + "/file", Entries: local.Entries}, Source: func(hosts.Host) io.Reader {
		return &endingServer{local.Reader(), 16 << 20, servers}
	}})
	require.Error(t, errOf(res))
	assert.Len(t, servers(), copies.Lanes)
	assert.NoFileExists(t, dir+"/file")
	noLeftovers(t, dir)
}

// A server that does not answer on another channel than the first is not waited for, and costs neither the copy nor its connection.
func TestAChannelThatSaysNothingIsDoneWithout(t *testing.T) {
	s, dir, servers := farAway(t, 1)
	require.NoError(t, os.Mkdir(dir, 0o755))
	defer copies.SetLaneWait(2 * time.Second)()
	wrapper, begun := filepath.Join(filepath.Dir(dir), "server"), filepath.Join(filepath.Dir(dir), "begun")
	text := strings.Replace(read(t, wrapper), "exec", "mkdir "+begun+" 2>/dev/null || while read -r x; do :; done; exec", 1) // until it is closed
	write(t, wrapper, []byte(text), 0o755)
	src, content := filepath.Join(tempDir(t), "src"), noise(3<<20)
	write(t, src, content, 0o644)
	res, reports := s.upload(copies.Plan{Path: dir + "/file"}, src)
	require.NoError(t, errOf(res), "%v", reports)
	assert.Equal(t, hash(content), hash([]byte(read(t, dir+"/file"))))
	assert.Len(t, servers(), copies.Lanes)
	res, err := s.pool.Run(t.Context(), s.host, session.Command{Script: "echo there"})
	require.NoError(t, err)
	assert.Equal(t, "there\n", string(res.Stdout))
	noLeftovers(t, dir)
}
