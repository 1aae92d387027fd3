package approval_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// place returns a directory for sockets, with a name that is short enough for them.
func place(t *testing.T) string {
	dir, err := os.MkdirTemp("", "fl")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "approvals")
}

// serves runs a server in this process that takes its callers for others, until the test ends.
func serves(t *testing.T, d *approval.Desk, dir string) *approval.Server {
	s, err := approval.Listen(d, dir)
	require.NoError(t, err)
	s.Outside(os.Getuid())
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-served)
		assert.NoFileExists(t, s.Addr())
	})
	return s
}

func dial(t *testing.T, dirs ...string) *approval.Client {
	c, err := approval.Dial(dirs...)
	require.NoError(t, err)
	return c
}

func TestAClientFindsShowsAndAnswersAtAnyServer(t *testing.T) {
	one, two := approval.NewDesk(approval.Config{}), approval.NewDesk(approval.Config{})
	dir, elsewhere := place(t), place(t)
	s := serves(t, one, dir)
	serves(t, approval.NewDesk(approval.Config{}), dir)
	serves(t, two, elsewhere)
	for _, path := range []string{dir, s.Addr()} {
		st, err := os.Lstat(path)
		require.NoError(t, err)
		assert.Zero(t, st.Mode().Perm()&0o077, path)
	}
	p1, done1 := asks(t, t.Context(), one, question("agent/x"))
	p2, done2 := asks(t, t.Context(), two, question("agent/y"))

	c := dial(t, dir, elsewhere, dir, filepath.Join(dir, "none"))
	list, err := c.List(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []approval.Summary{p1.Summary(), p2.Summary()}, list)

	shown, err := c.Get(t.Context(), p2.ID[:10])
	require.NoError(t, err)
	assert.Equal(t, p2, shown, "to the byte")
	r := yes(shown)
	r.Reason = "go"
	r.By = "operator/somebody-else"
	require.NoError(t, c.Answer(t.Context(), r))
	got := <-done2
	require.NoError(t, got.err)
	assert.True(t, got.Approved)
	assert.Equal(t, "go", got.Reason)
	assert.NotEqual(t, r.By, got.By, "the system knows better")
	assert.Regexp(t, "^operator/.", got.By)

	err = c.Answer(t.Context(), r)
	require.ErrorIs(t, err, approval.ErrSettled)
	assert.ErrorContains(t, err, "it was approved by operator/")
	_, err = c.Get(t.Context(), p2.ID)
	require.ErrorIs(t, err, approval.ErrSettled)
	_, err = c.Get(t.Context(), "a_")
	require.ErrorIs(t, err, approval.ErrUnknown)

	r = yes(p1)
	r.By = "agent/z"
	require.ErrorIs(t, c.Answer(t.Context(), r), approval.ErrForbidden)
	r = yes(p1)
	r.Digest = p2.Digest()
	require.ErrorIs(t, c.Answer(t.Context(), r), approval.ErrMismatch)
	r = yes(p1)
	r.WithInput = true
	require.ErrorContains(t, c.Answer(t.Context(), r), "an approval with input names the digest with input")
	r = yes(p1)
	r.Approved, r.Reason = false, "no"
	require.NoError(t, c.Answer(t.Context(), r))
	assert.False(t, (<-done1).Approved)
}

// Requesters cannot answer their own requests under another name, and no made-up name gets into the audit log.
func TestNoNameButAnAgentsIsBelievedAtTheSocket(t *testing.T) {
	d, dir := approval.NewDesk(approval.Config{}), place(t)
	serves(t, d, dir)
	c, me := dial(t, dir), approval.Operator(os.Getuid())
	own, _ := asks(t, t.Context(), d, question(me))
	for _, by := range []string{"", me, "operator/x", "OPERATOR/x", "approver/ceo", "person/bob", "client/x", "keeper", "agents/x", "/", "agent/x", "Agent/x", "agent"} {
		other, done := asks(t, t.Context(), d, question("agent/x"))
		r := yes(own)
		r.By = by
		require.ErrorIs(t, c.Answer(t.Context(), r), approval.ErrForbidden, by)
		r = yes(other)
		r.By = by
		if role, _, _ := strings.Cut(by, "/"); strings.EqualFold(role, "agent") {
			require.ErrorIs(t, c.Answer(t.Context(), r), approval.ErrForbidden, by)
			continue
		}
		require.NoError(t, c.Answer(t.Context(), r), by)
		assert.Equal(t, me, (<-done).By, by)
	}

	var ended []approval.Ended
	d = newDesk(t, approval.Config{Ended: func(e approval.Ended) { ended = append(ended, e) }})
	dir = place(t)
	serves(t, d, dir)
	_, err := dial(t, dir).Revoke(t.Context(), forSession(t, d, inSession("touch x"), approval.Scope{}).ID, "approver/ceo", "")
	require.NoError(t, err)
	require.Len(t, ended, 1)
	assert.Equal(t, me, ended[0].RevokedBy)
}

func TestABeginningThatSeveralShareIsRefused(t *testing.T) {
	d, dir := approval.NewDesk(approval.Config{}), place(t)
	serves(t, d, dir)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := map[byte]bool{}
	for { // of 33 ids two begin alike
		p, done := asks(t, ctx, d, question("agent/x"))
		defer func() { cancel(); <-done }()
		if seen[p.ID[2]] {
			_, err := dial(t, dir).Get(t.Context(), p.ID[:3])
			require.ErrorIs(t, err, approval.ErrAmbiguous)
			assert.ErrorContains(t, err, "give more of it")
			return
		}
		seen[p.ID[2]] = true
	}
}

func TestNothingToAskIsNoError(t *testing.T) {
	list, err := dial(t, place(t)).List(t.Context())
	require.NoError(t, err)
	assert.Empty(t, list)
}

func TestAnotherAccountIsTurnedAway(t *testing.T) {
	d, dir := approval.NewDesk(approval.Config{}), place(t)
	s := serves(t, d, dir)
	line, err := json.Marshal(s.Handle(os.Getuid()+1, []byte(`{"op":"list"}`)))
	require.NoError(t, err)
	assert.Contains(t, string(line), `"code":"forbidden"`)
}

func TestADirectoryThatOthersCouldUseIsRefused(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, dir string){
		"open to the group": func(t *testing.T, dir string) { require.NoError(t, os.Chmod(dir, 0o710)) },
		"open to all":       func(t *testing.T, dir string) { require.NoError(t, os.Chmod(dir, 0o755)) },
		"a file": func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(dir))
			require.NoError(t, os.WriteFile(dir, nil, 0o600))
		},
		"a link": func(t *testing.T, dir string) {
			require.NoError(t, os.Rename(dir, dir+"2"))
			require.NoError(t, os.Symlink(dir+"2", dir))
		},
		"in a directory where all may write": func(t *testing.T, dir string) {
			require.NoError(t, os.Chmod(filepath.Dir(dir), 0o777))
		},
		"another's": func(t *testing.T, dir string) {
			if os.Getuid() != 0 {
				needs.Part(t, "only root can give directories away")
			}
			require.NoError(t, os.Chown(dir, 12345, -1))
		},
		"in another's directory": func(t *testing.T, dir string) {
			if os.Getuid() != 0 {
				needs.Part(t, "only root can give directories away")
			}
			require.NoError(t, os.Chown(filepath.Dir(dir), 12345, -1))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := place(t)
			require.NoError(t, os.Mkdir(dir, 0o700))
			prepare(t, dir)
			_, err := approval.Listen(approval.NewDesk(approval.Config{}), dir)
			require.ErrorContains(t, err, "approval")
			_, err = approval.Dial(dir)
			assert.Error(t, err)
		})
	}
}

func TestWhoMayNotHoldTheDirectoryOfASocketsDirectory(t *testing.T) {
	const root, me, other = 0, 1000, 1001
	assert.False(t, approval.Strange(root, root))
	assert.False(t, approval.Strange(root, me))
	assert.False(t, approval.Strange(me, me))
	assert.True(t, approval.Strange(other, me))
	assert.True(t, approval.Strange(me, root))
}

func TestANameThatIsTooLongSaysWhatToDo(t *testing.T) {
	dir := filepath.Join(place(t), strings.Repeat("x", 100))
	_, err := approval.Listen(approval.NewDesk(approval.Config{}), dir)
	assert.ErrorContains(t, err, "set XDG_RUNTIME_DIR to a shorter directory")
}

// socket leaves a socket behind that nobody listens on.
func socket(t *testing.T, path string) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	l.SetUnlinkOnClose(false)
	require.NoError(t, l.Close())
}

func TestSocketsOfDeadProcessesAreRemoved(t *testing.T) {
	gone := exec.Command("true")
	require.NoError(t, gone.Run())
	dir := place(t)
	require.NoError(t, os.Mkdir(dir, 0o700))
	stale := filepath.Join(dir, strconv.Itoa(gone.Process.Pid)+".sock")
	living := filepath.Join(dir, strconv.Itoa(os.Getppid())+"-2.sock")
	file := filepath.Join(dir, "1.sock")
	socket(t, stale)
	socket(t, living)
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	list, err := dial(t, dir).List(t.Context())
	require.NoError(t, err)
	assert.Empty(t, list)
	assert.NoFileExists(t, stale)
	assert.FileExists(t, living, "it may be about to listen")
	assert.FileExists(t, file, "it is not a socket")

	own := filepath.Join(dir, strconv.Itoa(os.Getpid())+".sock")
	socket(t, own)
	assert.Equal(t, own, serves(t, approval.NewDesk(approval.Config{}), dir).Addr(), "a server takes its own name back")
}

func TestAServerThatSaysNothingHoldsNobodyUp(t *testing.T) {
	d, dir := approval.NewDesk(approval.Config{}), place(t)
	serves(t, d, dir)
	mute, err := net.Listen("unix", filepath.Join(dir, "1.sock"))
	require.NoError(t, err)
	defer mute.Close()
	p, done := asks(t, t.Context(), d, question("agent/x"))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		c, err := mute.Accept()
		if err == nil {
			bufio.NewReader(c).ReadString('\n')
			cancel()
			io.Copy(io.Discard, c)
			c.Close()
		}
	}()
	list, err := dial(t, dir).List(ctx)
	require.ErrorContains(t, err, "1.sock has not answered")
	require.ErrorIs(t, err, context.Canceled)
	assert.LessOrEqual(t, len(list), 1)
	require.NoError(t, d.Answer(yes(p)))
	<-done
}

// talk sends lines over one connection and returns what comes back.
func talk(t *testing.T, path, lines string) string {
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	defer c.Close()
	_, err = io.WriteString(c, lines)
	require.NoError(t, err)
	require.NoError(t, c.CloseWrite())
	out, err := io.ReadAll(c)
	if err != nil { // it hung up on what it had not read
		t.Log(err)
	}
	return string(out)
}

func TestRequestsAreReadStrictly(t *testing.T) {
	d, dir := approval.NewDesk(approval.Config{}), place(t)
	s := serves(t, d, dir)
	invalid := `{"error":{"code":"invalid"`
	for name, tt := range map[string]struct {
		lines string
		want  []string
	}{
		"two on one connection":  {"{\"op\":\"list\"}\n{\"op\":\"list\"}\n", []string{"{}", "{}"}},
		"an unknown id":          {`{"op":"show","id":"a_1"}` + "\n", []string{`{"error":{"code":"unknown"`}},
		"an unknown operation":   {`{"op":"dance"}` + "\n", []string{invalid}},
		"an unknown field":       {`{"op":"list","x":1}` + "\n", []string{invalid}},
		"not JSON":               {"hello\n", []string{invalid}},
		"nothing":                {"\n", []string{invalid}},
		"two on one line":        {`{"op":"list"}{"op":"list"}` + "\n", []string{invalid}},
		"cut off":                {`{"op":"list"}`, []string{invalid}},
		"one that is never over": {strings.Repeat("x", approval.MaxRequest), []string{invalid}},
		"no request":             {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for line := range strings.Lines(talk(t, s.Addr(), tt.lines)) {
				got = append(got, line)
			}
			require.Len(t, got, len(tt.want))
			for i, want := range tt.want {
				assert.True(t, strings.HasPrefix(got[i], want), got[i])
			}
		})
	}
}

func TestTheEndOfAServerEndsItsConnections(t *testing.T) {
	s, err := approval.Listen(approval.NewDesk(approval.Config{}), place(t))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx) }()
	c, err := net.Dial("unix", s.Addr())
	require.NoError(t, err)
	defer c.Close()
	_, err = io.WriteString(c, `{"op":"list"}`+"\n")
	require.NoError(t, err)
	r := bufio.NewReader(c)
	_, err = r.ReadString('\n')
	require.NoError(t, err)
	cancel()
	_, err = r.ReadString('\n')
	require.Error(t, err)
	require.NoError(t, <-served)
}

// asksDeadline says when somebody asks when it ends, which whoever waits for a time does.
type asksDeadline struct {
	context.Context
	asked chan<- struct{}
}

func (c asksDeadline) Deadline() (time.Time, bool) {
	select {
	case c.asked <- struct{}{}:
	default:
	}
	return c.Context.Deadline()
}

func TestAServerThatCannotTakeACallerWaitsAndGoesOn(t *testing.T) {
	s, err := approval.Listen(approval.NewDesk(approval.Config{}), place(t))
	require.NoError(t, err)
	require.NoError(t, s.Listener().SetDeadline(time.Unix(1, 0)), "from now on it takes no callers")
	ctx, cancel := context.WithCancel(t.Context())
	waits, served := make(chan struct{}, 1), make(chan error, 1)
	go func() { served <- s.Serve(asksDeadline{ctx, waits}) }()
	<-waits
	require.NoError(t, s.Listener().SetDeadline(time.Time{}))
	assert.True(t, strings.HasPrefix(talk(t, s.Addr(), `{"op":"list"}`+"\n"), "{"))
	require.NoError(t, s.Listener().SetDeadline(time.Unix(1, 0)))
	cancel()
	require.NoError(t, <-served, "the end of it is not a failure")
}

// What was asked may end the process that serves: whoever has answered hears so before.
func TestWhoeverAnswersHearsSoAlthoughTheServerEnds(t *testing.T) {
	for range 50 {
		d := approval.NewDesk(approval.Config{})
		s, err := approval.Listen(d, place(t))
		require.NoError(t, err)
		s.Outside(os.Getuid())
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- s.Serve(ctx) }()
		p, asked := asks(t, t.Context(), d, question("agent/x"))
		go func() { <-asked; cancel() }()
		require.NoError(t, dial(t, filepath.Dir(s.Addr())).Answer(t.Context(), yes(p)))
		require.NoError(t, <-served)
	}
}

// A process of its own asks; whether this one may answer depends on who has started that.
func TestWhoHostsTheAgentMayLookButNotAnswer(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	for name, tt := range map[string]struct {
		argv  []string
		allow bool
	}{
		"the program that started it": {[]string{self}, false},
		"a program from elsewhere":    {[]string{"sh", "-c", `"$0" & wait`, self}, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := place(t)
			cmd := exec.CommandContext(t.Context(), tt.argv[0], tt.argv[1:]...)
			cmd.Env = append(os.Environ(), serveDir+"="+dir)
			cmd.Stderr = os.Stderr
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			lines := bufio.NewScanner(out)
			require.True(t, lines.Scan())
			require.Equal(t, "ready", lines.Text())

			c := dial(t, dir)
			list, err := c.List(t.Context())
			require.NoError(t, err)
			require.Len(t, list, 1)
			p, err := c.Get(t.Context(), list[0].ID)
			require.NoError(t, err)
			r := yes(p)
			r.Reason = "fine"
			err = c.Answer(t.Context(), r)
			if tt.allow {
				require.NoError(t, err)
				require.True(t, lines.Scan())
				assert.Regexp(t, `^true operator/\S+ unproven fine$`, lines.Text())
			} else {
				require.ErrorIs(t, err, approval.ErrForbidden)
				assert.ErrorContains(t, err, fmt.Sprintf("process %d runs inside the program that hosts the requesting agent", os.Getpid()))
				require.NoError(t, cmd.Process.Kill())
			}
			for lines.Scan() {
			}
			err = cmd.Wait()
			assert.Equal(t, tt.allow, err == nil, err)
		})
	}
}

// Whatever a caller sends, nothing is answered that was not shown to it.
func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"op":"list"}`))
	f.Add([]byte(`{"op":"show","id":"a_1"}`))
	f.Add([]byte(`{"op":"answer","id":"a_1","digest":"sha256:00","by":"operator/ada","approved":true,"reason":"x"}`))
	dir, err := os.MkdirTemp("", "fl")
	require.NoError(f, err)
	f.Cleanup(func() { os.RemoveAll(dir) })
	s, err := approval.Listen(approval.NewDesk(approval.Config{}), filepath.Join(dir, "a"))
	require.NoError(f, err)
	f.Cleanup(func() { s.Close() })
	f.Fuzz(func(t *testing.T, line []byte) {
		out, err := json.Marshal(s.Handle(os.Getuid(), line))
		require.NoError(t, err)
		if !strings.HasPrefix(string(out), `{"error":`) && string(out) != "{}" {
			t.Fatalf("%q was answered with %s", line, out)
		}
	})
}

// People are named by their accounts, and by numbers where an account has no name.
func TestWhoAnswersIsNamedByTheAccount(t *testing.T) {
	me, err := user.Current()
	require.NoError(t, err)
	assert.Equal(t, "operator/"+me.Username, approval.Operator(os.Getuid()))
	const nobody = 987654321
	if _, err := user.LookupId(strconv.Itoa(nobody)); err != nil {
		assert.Equal(t, "operator/uid-987654321", approval.Operator(nobody))
	}
}

// A line that is no JSON is said to be that.
func TestALineThatIsNoRequestIsSaidToBeThat(t *testing.T) {
	s := serves(t, approval.NewDesk(approval.Config{}), place(t))
	assert.Contains(t, talk(t, s.Addr(), "hello\n"), "it is not the JSON of one")
	assert.Contains(t, talk(t, s.Addr(), `{"op":"list"}{}`+"\n"), "more follows on its line")
}
