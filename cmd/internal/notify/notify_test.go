package notify_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fairlead-ssh/fairlead/cmd/internal/notify"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "0123456789abcdef0123456789abcdef"

// got is a request as a server saw it.
type got struct {
	header http.Header
	body   []byte
}

// server answers with each of the codes in turn, and with the last one from then on.
func server(t *testing.T, codes ...int) (notify.Config, <-chan got) {
	t.Helper()
	seen := make(chan got, 1000)
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen <- got{r.Header.Clone(), body}
		if codes[n] == http.StatusFound {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(codes[n])
		n = min(n+1, len(codes)-1)
	}))
	t.Cleanup(s.Close)
	file := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(file, []byte(secret+"\n"), 0o600))
	return notify.Config{Webhook: s.URL + "/hook", SecretFile: file}, seen
}

func start(t *testing.T, all ...notify.Config) (*notify.Notifier, <-chan string) {
	t.Helper()
	said := make(chan string, 100)
	n, err := notify.Start(all, func(text string) { said <- text }, time.Millisecond)
	require.NoError(t, err)
	t.Cleanup(n.Close)
	return n, said
}

func TestAWebServerGetsASignedRequest(t *testing.T) {
	c, seen := server(t, 204)
	n, _ := start(t, c)
	n.Send(notify.Event{Kind: "asked", Principal: "agent/a", Host: "web1", Command: "touch x", Approval: "a_1"})
	r := <-seen
	at := r.header.Get(notify.Timestamp)
	assert.Equal(t, notify.Sign([]byte(secret), at, r.body), r.header.Get(notify.Signature))
	assert.NotEqual(t, notify.Sign([]byte(secret), at+"0", r.body), r.header.Get(notify.Signature), "the time is signed too")
	assert.Equal(t, "application/json", r.header.Get("Content-Type"))
	var e notify.Event
	require.NoError(t, json.Unmarshal(r.body, &e))
	assert.Equal(t, r.header.Get(notify.Delivery), e.ID)
	assert.Equal(t, 1, e.Version)
	assert.Equal(t, "touch x", e.Command)
	assert.False(t, e.Time.IsZero())
	n.Close()
	assert.Zero(t, n.Dropped())
}

func TestWhatIsSignedIsTheTimestampADotAndTheBody(t *testing.T) {
	// printf '1700000000.{}' | openssl dgst -sha256 -hmac key
	assert.Equal(t, "v1=9d713ed406bb7076d4123f0dc2c39d2df5c654ed4b0cd56b52c8b4c940bd63ae", notify.Sign([]byte("key"), "1700000000", []byte("{}")))
}

func TestAServerIsAskedAgainWhereThatMayHelp(t *testing.T) {
	for name, tt := range map[string]struct {
		codes   []int
		tries   int
		dropped uint64
	}{
		"it recovers":            {[]int{500, 429, 408, 200}, 4, 0},
		"it does not":            {[]int{503}, 5, 1},
		"it refuses":             {[]int{403}, 1, 1},
		"it sends one elsewhere": {[]int{302}, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			c, seen := server(t, tt.codes...)
			n, said := start(t, c)
			n.Send(notify.Event{Kind: "done"})
			var ids []string
			for range tt.tries {
				ids = append(ids, (<-seen).header.Get(notify.Delivery))
			}
			assert.Equal(t, ids[0], ids[len(ids)-1], "every attempt has the same id")
			if tt.dropped > 0 {
				text := <-said
				assert.NotContains(t, text, "/hook", "the path may be a secret")
			}
			n.Close()
			assert.Equal(t, tt.dropped, n.Dropped())
			assert.Empty(t, seen)
		})
	}
}

func TestNobodyWaitsForAPlaceThatHangs(t *testing.T) {
	hang := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(s.Close)
	c, _ := server(t, 200)
	c.Webhook = s.URL
	n, said := start(t, c)
	for range 1000 { // far more than may wait
		n.Send(notify.Event{Kind: "done"})
	}
	assert.Contains(t, <-said, "too slowly")
	assert.Positive(t, n.Dropped())
	close(hang)
}

func TestAPlaceIsToldOnlyWhatItWants(t *testing.T) {
	c, seen := server(t, 200)
	c.Events = []string{"asked"}
	n, _ := start(t, c)
	assert.False(t, n.Wants("done"))
	n.Send(notify.Event{Kind: "done"})
	n.Send(notify.Event{Kind: "asked"})
	assert.Contains(t, string((<-seen).body), `"kind":"asked"`)
}

func TestAProgramGetsTheEventOnItsStandardInput(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	n, said := start(t, notify.Config{Exec: []string{"/bin/sh", "-c", `cat >"$0.tmp"; echo "$FAIRLEAD_EVENT" >>"$0.tmp"; mv "$0.tmp" "$0"`, out}},
		notify.Config{Exec: []string{"/bin/sh", "-c", "exit 3"}})
	n.Send(notify.Event{Kind: "done", Status: "ok"})
	assert.Contains(t, <-said, "program /bin/sh did not receive an event (done): exit code 3")
	n.Close()
	b, err := os.ReadFile(out)
	require.NoError(t, err)
	first, rest, _ := strings.Cut(string(b), "\n")
	var e notify.Event
	require.NoError(t, json.Unmarshal([]byte(first), &e))
	assert.Equal(t, "ok", e.Status)
	assert.Equal(t, "done\n", rest)
}

func TestAProgramThatHangsIsKilledWithItsChildren(t *testing.T) {
	n, said := start(t, notify.Config{Exec: []string{"/bin/sh", "-c", "sleep 1000 & sleep 1000"}, Timeout: 50 * time.Millisecond})
	n.Send(notify.Event{Kind: "done"})
	assert.Contains(t, <-said, "it took longer than 50ms")
}

func TestCloseDoesNotWaitForAProgramThatHangs(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "held")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	n, said := start(t, notify.Config{Exec: []string{"/bin/sh", "-c", `exec 3>"$0"; sleep 1000 & echo started >&3; wait`, fifo}, Timeout: 5 * time.Minute})
	n.Send(notify.Event{Kind: "done"})
	held, err := os.Open(fifo)
	require.NoError(t, err)
	defer held.Close()
	_, err = held.Read(make([]byte, 1))
	require.NoError(t, err)
	n.Close()
	assert.Contains(t, <-said, "this program ends")
	_, err = io.ReadAll(held) // which ends when nobody is left
	assert.NoError(t, err)
}

func TestWhatCannotBeAPlaceIsRefused(t *testing.T) {
	open := filepath.Join(t.TempDir(), "open")
	require.NoError(t, os.WriteFile(open, []byte(secret), 0o644))
	short := filepath.Join(t.TempDir(), "short")
	require.NoError(t, os.WriteFile(short, []byte("hunter2"), 0o600))
	for name, c := range map[string]notify.Config{
		"nothing":               {},
		"both":                  {Webhook: "https://h/", SecretFile: "/x", Exec: []string{"/x"}},
		"no secret":             {Webhook: "https://h/"},
		"a plain URL elsewhere": {Webhook: "http://example.com/", SecretFile: short},
		"a password":            {Webhook: "https://u:hunter2@h/", SecretFile: short},
		"a relative program":    {Exec: []string{"x"}},
		"a relative secret":     {Webhook: "https://h/", SecretFile: "x"},
		"an unknown event":      {Exec: []string{"/x"}, Events: []string{"nothing"}},
		"a long timeout":        {Exec: []string{"/x"}, Timeout: time.Hour},
		"a secret for all":      {Webhook: "https://h/", SecretFile: open},
		"a short secret":        {Webhook: "https://h/", SecretFile: short},
		"a secret that is away": {Webhook: "https://h/", SecretFile: "/nonexistent/secret"},
		"a NUL":                 {Exec: []string{"/x", "\x00"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := notify.New([]notify.Config{c}, func(string) {})
			require.Error(t, err)
			assert.True(t, strings.HasPrefix(err.Error(), "notify: entry 1: "), err)
			assert.NotContains(t, err.Error(), "hunter2")
		})
	}
}
