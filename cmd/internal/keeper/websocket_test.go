package keeper_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session"
)

func TestATerminalIsBytesBothWaysAndIsRecorded(t *testing.T) {
	w := keepertest.Start(t, keepertest.WithRecordings(t))
	c := w.Terminal("host=here&rows=30&cols=100")
	c.Line(`echo "=$((40+2))="; stty size`)
	c.See("=42=")
	c.See("30 100")
	c.Send(websocket.MessageText, `{"resize":{"rows":33,"cols":111}}`)
	c.Line("stty size")
	c.See("33 111")
	c.Line("exit 3")
	assert.Equal(t, websocket.StatusNormalClosure, c.See(""))
	require.NotNil(t, c.End)
	assert.Equal(t, "exit", c.End.Status)
	require.NotNil(t, c.End.ExitCode)
	assert.Equal(t, 3, *c.End.ExitCode)
	cast, err := os.ReadFile(filepath.Join(w.Cfg.Recordings, c.End.Recording))
	require.NoError(t, err)
	assert.Contains(t, string(cast), `"width":100,"height":30`)
	assert.Contains(t, string(cast), "=42=")
	assert.Contains(t, string(cast), "111x33")
	var kinds []audit.Kind
	for e, err := range audit.All(w.Cfg.AuditDir) {
		require.NoError(t, err)
		if e.Kind.Administers() {
			continue
		}
		kinds = append(kinds, e.Kind)
		assert.Equal(t, "operator/ada", e.Principal)
		if e.Kind == audit.CommandResult {
			assert.Equal(t, "exit", e.Status)
			assert.Positive(t, e.StdinBytes)
		}
	}
	assert.Equal(t, []audit.Kind{audit.SessionOpen, audit.CommandRequest, audit.CommandResult, audit.SessionClose}, kinds)
}

// resultOfTerminal waits for the result on record.
func resultOfTerminal(w *keepertest.World) (found audit.Event) {
	w.T.Helper()
	require.Eventually(w.T, func() bool {
		for e, err := range audit.All(w.Cfg.AuditDir) {
			if err == nil && e.Kind == audit.CommandResult {
				found = e
				return true
			}
		}
		return false
	}, keepertest.TerminalTime, 10*time.Millisecond)
	return found
}

// A person does not wait for the prompt, and ends lines with a carriage return.
func TestWhatIsTypedAheadAtATerminalIsALine(t *testing.T) {
	w := keepertest.Start(t, keepertest.WithRecordings(t))
	for range 10 {
		c := w.Terminal("host=here")
		c.Send(websocket.MessageBinary, "echo \"=$((40+2))=\"\r")
		c.See("=42=")
		c.Send(websocket.MessageBinary, "exit\r")
		c.See("")
	}
}

func TestATerminalEndsWhenItsClientGoes(t *testing.T) {
	w := keepertest.Start(t, keepertest.WithRecordings(t))
	c := w.Terminal("host=here")
	c.Line(`echo "=$$="; cat`)
	c.See("=\r\n")
	pid := regexp.MustCompile("=([0-9]+)=\r").FindStringSubmatch(c.Seen.String())
	require.NotNil(t, pid, "%q", c.Seen.String())
	n, err := strconv.Atoi(pid[1])
	require.NoError(t, err)
	require.NoError(t, c.Ws.CloseNow())
	assert.Equal(t, "canceled", resultOfTerminal(w).Status)
	require.Eventually(t, func() bool { return syscall.Kill(n, 0) != nil }, keepertest.TerminalTime, 10*time.Millisecond, "its shell has ended")
}

func TestATerminalEndsWithItsKeeper(t *testing.T) {
	w := keepertest.Start(t, keepertest.WithRecordings(t))
	c := w.Terminal("host=here")
	c.Line(`echo "=$((40+2))="; cat`)
	c.See("=42=")
	stopped := make(chan error, 1)
	go func() { stopped <- w.StopServing() }()
	assert.Equal(t, websocket.StatusGoingAway, c.See(""))
	require.NotNil(t, c.End)
	assert.Equal(t, "canceled", c.End.Status)
	require.NoError(t, <-stopped)
	assert.Equal(t, "canceled", resultOfTerminal(w).Status)
}

func TestTheClientOfATerminalIsAStream(t *testing.T) {
	w := keepertest.Start(t, keepertest.WithRecordings(t))
	open := func(ask client.TerminalAsk) *client.Terminal {
		t.Helper()
		ask.Host = "here"
		c, err := w.Client.OpenTerminal(t.Context(), ask)
		require.NoError(t, err)
		t.Cleanup(func() { c.Close() })
		return c
	}
	until := func(c *client.Terminal, text string) string {
		t.Helper()
		var seen strings.Builder
		buf := make([]byte, 100)
		for text == "" || !strings.Contains(seen.String(), text) {
			n, err := c.Read(buf)
			seen.Write(buf[:n])
			if err != nil {
				require.Empty(t, text, "%s", seen.String())
				require.ErrorIs(t, err, io.EOF)
				break
			}
		}
		return seen.String()
	}
	line := func(c *client.Terminal, text string) {
		t.Helper()
		_, err := io.WriteString(c, text+"\n")
		require.NoError(t, err)
	}
	recorded := func(c *client.Terminal) string {
		t.Helper()
		require.NotEmpty(t, c.Recording())
		cast, err := os.ReadFile(filepath.Join(w.Cfg.Recordings, c.Recording()))
		require.NoError(t, err)
		return string(cast)
	}

	c := open(client.TerminalAsk{Size: session.Size{Rows: 30, Cols: 100}, Settings: []string{`erase "^H"`, "-ixon"}})
	line(c, `stty -a | tr ';' '\n' | grep -e erase -e ixon -e rows; echo "=$((40+2))="`)
	seen := until(c, "=42=")
	assert.FileExists(t, filepath.Join(w.Cfg.Recordings, c.Recording()), "its name is known from the beginning")
	assert.Contains(t, seen, "erase = ^H")
	assert.Contains(t, seen, "-ixon")
	assert.Contains(t, seen, "rows 30")
	require.NoError(t, c.Resize(session.Size{Rows: 100000, Cols: 111}))
	line(c, "stty size")
	until(c, "1000 111")
	require.NoError(t, c.Resize(session.Size{Rows: 33, Cols: 111}))
	line(c, "stty size; exit 3")
	assert.Contains(t, until(c, ""), "33 111")
	exit, err := c.Wait()
	require.NoError(t, err)
	assert.Equal(t, session.Exit{Code: 3}, exit)
	assert.Contains(t, recorded(c), "=42=")
	assert.NotContains(t, recorded(c), `"i"`, "what is typed is not recorded")

	c = open(client.TerminalAsk{Record: wire.RecordInput})
	line(c, `kill -9 $$`)
	until(c, "")
	exit, err = c.Wait()
	require.NoError(t, err)
	assert.Equal(t, session.Exit{Signal: "KILL"}, exit)
	assert.Contains(t, recorded(c), `"i"`)

	c = open(client.TerminalAsk{Record: wire.RecordNothing})
	line(c, `echo "=$((40+2))="; exec cat`)
	until(c, "=42=")
	require.NoError(t, c.Close())
	require.NoError(t, c.Close())
	until(c, "")
	_, err = c.Wait()
	require.EqualError(t, err, "hung up by the client")
	assert.Empty(t, c.Recording())

	c = open(client.TerminalAsk{})
	line(c, `echo "=$((40+2))="; exec cat`)
	until(c, "=42=")
	stopped := make(chan error, 1)
	go func() { stopped <- w.StopServing() }()
	until(c, "")
	_, err = c.Wait()
	assert.ErrorContains(t, err, "the keeper")
	require.NoError(t, <-stopped)

	_, err = w.Client.OpenTerminal(t.Context(), client.TerminalAsk{Host: "here"})
	assert.ErrorIs(t, err, client.ErrUnreachable)
}

// Somebody who has stopped the program here, or whose own terminal takes nothing, finds it as it was. Over TCP whoever takes
// nothing may have gone: that one is the clock here.
func TestATerminalOfOnesOwnWaitsForItsReader(t *testing.T) {
	r := keepertest.StartTCP(t, keepertest.WithRecordings(t), func(c *keeper.Config) { c.Slow(20*time.Millisecond, 100*time.Millisecond) })
	own := r.Terminal("host=here")
	own.Line(`echo "=$((40+2))="; yes`)
	own.See("=42=")

	ctx, cancel := context.WithTimeout(t.Context(), keepertest.TerminalTime)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, "wss"+strings.TrimPrefix(r.Url, "https")+"/v1/terminals?host=here", &websocket.DialOptions{
		HTTPClient: r.HTTP, HTTPHeader: http.Header{"Authorization": {"Bearer " + r.Token("operator/far", "operator")}},
	})
	require.NoError(t, err)
	defer ws.CloseNow()
	require.NoError(t, ws.Write(ctx, websocket.MessageBinary, []byte("yes\n")))
	ended := resultOfTerminal(r.World)
	assert.Equal(t, "operator/far", ended.Principal)

	own.Line("\x03")
	own.Line(`echo "=$((50+2))="; exit 0`)
	own.See("=52=")
	own.See("")
	require.NotNil(t, own.End)
	assert.Equal(t, "ok", own.End.Status)
}

// A program that takes nothing must not keep the keeper from hearing that the client hangs up, or is gone.
func TestWhatIsTypedWaitsForAProgramThatTakesNothing(t *testing.T) {
	w := keepertest.Start(t, keepertest.WithRecordings(t))
	const deaf = `stty raw -echo; echo "=$((40+2))="; exec sleep 1000`
	c, err := w.OpenTerminal(t.Context(), client.TerminalAsk{Host: "here"})
	require.NoError(t, err)
	_, err = io.WriteString(c, deaf+"\n")
	require.NoError(t, err)
	read := make(chan struct{})
	began := make(chan struct{})
	go func() {
		defer close(read)
		var seen strings.Builder
		begin := sync.OnceFunc(func() { close(began) })
		buf := make([]byte, 1024)
		for {
			n, err := c.Read(buf)
			if seen.Write(buf[:n]); strings.Contains(seen.String(), "=42=") {
				begin()
			}
			if err != nil {
				return
			}
		}
	}()
	<-began
	typed := make(chan int, 1)
	stuck := make(chan struct{})
	go func() {
		all, piece := 0, make([]byte, 1024)
		for {
			n, err := c.Write(piece)
			if err != nil {
				typed <- all
				return
			}
			if all += n; all == 64<<10 {
				close(stuck) // soon
			}
		}
	}()
	<-stuck
	require.NoError(t, c.Close())
	<-read
	_, err = c.Wait()
	require.EqualError(t, err, "hung up by the client")
	assert.Less(t, <-typed, 1<<20, "the rest has waited here")

	c, err = w.OpenTerminal(t.Context(), client.TerminalAsk{Host: "here"})
	require.NoError(t, err)
	_, err = io.WriteString(c, `stty raw -echo; echo "=$((40+2))="; head -c 1000000 | sha256sum; exit`+"\n")
	require.NoError(t, err)
	much := bytes.Repeat([]byte("0123456789"), 100000)
	var wg sync.WaitGroup
	var seen strings.Builder
	for buf := make([]byte, 1024); ; {
		n, err := c.Read(buf)
		before := strings.Contains(seen.String(), "=42=")
		if seen.Write(buf[:n]); !before && strings.Contains(seen.String(), "=42=") {
			wg.Go(func() {
				for piece := range slices.Chunk(much, 1000) {
					_, err := c.Write(piece)
					assert.NoError(t, err)
				}
			})
		}
		if err != nil {
			break
		}
	}
	wg.Wait()
	assert.Contains(t, seen.String(), fmt.Sprintf("%x", sha256.Sum256(much)), "however much it is")

	rude := w.Terminal("host=here")
	rude.Line(deaf)
	rude.See("=42=")
	go func() {
		for rude.Ws.Write(t.Context(), websocket.MessageBinary, make([]byte, 32<<10)) == nil {
		}
	}()
	assert.Equal(t, websocket.StatusPolicyViolation, rude.See(""))

	gone := w.Terminal("host=here")
	gone.Line(deaf)
	gone.See("=42=")
	require.NoError(t, gone.Ws.Write(t.Context(), websocket.MessageBinary, make([]byte, 60<<10)))
	gone.Ws.CloseNow()
	require.Eventually(t, func() bool {
		ends := 0
		for e, err := range audit.All(w.Cfg.AuditDir) {
			if err == nil && e.Kind == audit.CommandResult {
				ends++
			}
		}
		return ends == 4
	}, keepertest.TerminalTime, 10*time.Millisecond)
}

func TestATerminalSharesTheConnectionOfSessions(t *testing.T) {
	w := keepertest.Start(t, keepertest.WithRecordings(t))
	s, err := w.Open(t.Context(), wire.Open{Host: "here"})
	require.NoError(t, err)
	c := w.Terminal("host=here")
	c.Line(`echo "=$((40+2))="`)
	c.See("=42=")
	_, _, text := w.Send(http.MethodGet, "/metrics", "")
	assert.Contains(t, text, "fairlead_dials_total{outcome=\"ok\"} 1\n")
	require.NoError(t, w.CloseSession(t.Context(), s.ID))
	c.Line(`echo "=$((50+2))="; exit 0`)
	c.See("")
	assert.Contains(t, c.Seen.String(), "=52=", "which the session's end has not closed")
}

func TestManyTerminalsLeaveRoomForSessions(t *testing.T) {
	w := keepertest.Start(t, keepertest.WithRecordings(t))
	for range 2*session.DefaultMaxConnsPerHost*session.DefaultMaxSessionsPerConn + 1 {
		c := w.Terminal("host=here")
		c.Line(`echo "=$((40+2))="`)
		c.See("=42=")
	}
	s := w.OpenSession("here", "")
	w.RunIn(w.Client, s.ID, "true")
}

// Clients paste what they have in one frame. All of it arrives, as far as the API says how much may be typed.
func TestAPasteOfAMegabyteIsOneFrame(t *testing.T) {
	w := keepertest.Start(t, keepertest.WithRecordings(t))
	c := w.Terminal("host=here")
	paste := strings.Repeat("0123456789", 100000)
	c.Line(`stty raw -echo; echo "=$((40+2))="; head -c 1000000 | sha256sum; exit`)
	c.See("=42=")
	c.Send(websocket.MessageBinary, paste)
	assert.Equal(t, websocket.StatusNormalClosure, c.See(""))
	assert.Contains(t, c.Seen.String(), fmt.Sprintf("%x", sha256.Sum256([]byte(paste))))
}

func TestWhatIsNoControlMessageEndsATerminal(t *testing.T) {
	w := keepertest.Start(t, keepertest.WithRecordings(t))
	for _, text := range []string{"x", "{}", `{"resize":{"rows":0,"cols":1}}`, `{"resize":{"rows":1,"cols":100000}}`, `{"other":1}`, `{"hang_up":false}`, `{"hang_up":true,"resize":{"rows":1,"cols":1}}`, `{"hang_up":true} x`} {
		c := w.Terminal("host=here")
		c.Send(websocket.MessageText, text)
		assert.Equal(t, websocket.StatusPolicyViolation, c.See(""), text)
	}
}

func TestATerminalIsForOperatorsAndForOurOwnPages(t *testing.T) {
	w := keepertest.Start(t, keepertest.WithRecordings(t))
	up := []string{"Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "MDEyMzQ1Njc4OWFiY2RlZg=="}
	for name, tt := range map[string]struct {
		query   string
		headers []string
		status  int
		code    string
	}{
		"an agent":          {"host=here", append(up, wire.Principal, "agent/a"), 403, "forbidden"},
		"another site":      {"host=here", append(up, "Origin", "http://evil.example"), 403, "forbidden"},
		"no such host":      {"host=none", up, 404, "not_found"},
		"no host":           {"", up, 422, "invalid"},
		"a size that is 0":  {"host=here&rows=0&cols=1", up, 422, "invalid"},
		"half a size":       {"host=here&rows=5", up, 422, "invalid"},
		"a plain request":   {"host=here", nil, 426, "upgrade"},
		"nothing to record": {"host=here", up, 500, "recording"},
		"no such recording": {"host=here&record=some", up, 422, "invalid"},
		"no recording":      {"host=here&record=none", append(up, wire.Principal, "agent/a"), 403, "forbidden"},
		"odd settings":      {"host=here&settings=" + url.QueryEscape("sane'; reboot; '"), up, 422, "invalid"},
		"no setting":        {"host=here&settings=rm", up, 422, "invalid"},
		"no such setting":   {"host=here&settings=" + url.QueryEscape(`rm "^H"`), up, 422, "invalid"},
		"a negated key":     {"host=here&settings=" + url.QueryEscape(`-intr "^C"`), up, 422, "invalid"},
		"a key's name only": {"host=here&settings=intr", up, 422, "invalid"},
		"a mode with a key": {"host=here&settings=" + url.QueryEscape(`echo "^C"`), up, 422, "invalid"},
		"another host":      {"host=here&sum=other", up, 409, "stale"},
		"an odd terminal":   {"host=here&term=" + url.QueryEscape("x y"), up, 422, "invalid"},
		"half a yes":        {"host=here&confirm=yes", up, 422, "invalid"},
		"odd patience":      {"host=here&connect_timeout_s=soon", up, 422, "invalid"},
		"a host twice":      {"host=here&host=there", up, 422, "invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.code == "recording" {
				require.NoError(t, os.RemoveAll(w.Cfg.Recordings))
				require.NoError(t, os.WriteFile(w.Cfg.Recordings, nil, 0o600))
				defer os.Remove(w.Cfg.Recordings)
			}
			status, p, text := w.Send(http.MethodGet, "/v1/terminals?"+tt.query, "", tt.headers...)
			assert.Equal(t, tt.status, status, text)
			assert.Equal(t, tt.code, p.Code)
		})
	}
	w.Cfg.Audit = broken{}
	require.NoError(t, w.StopServing())
	w.Serve()
	status, p, _ := w.Send(http.MethodGet, "/v1/terminals?host=here", "", up...)
	assert.Equal(t, http.StatusInternalServerError, status)
	assert.Equal(t, "audit", p.Code)
	left, err := os.ReadDir(w.Cfg.Recordings)
	require.NoError(t, err)
	assert.Empty(t, left, "nothing was begun")
}
