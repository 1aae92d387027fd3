package notify_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/notify"
)

func TestWhatIsWrongWithAPlace(t *testing.T) {
	exec := []string{"/x"}
	const url = "https://h/"
	for want, all := range map[string][]notify.Config{
		"": {{Exec: exec}, {Exec: exec, Timeout: notify.MaxTimeout}, {Exec: exec, Timeout: 1}, {Exec: exec, Events: notify.Kinds},
			{Webhook: url, SecretFile: "/s"}, {Webhook: url, SecretFile: "/s", CAFile: "/c"}, {Exec: []string{"/x", "", "y"}}},
		"it needs one of webhook and exec":          {{}, {Webhook: url, SecretFile: "/s", Exec: exec}},
		"timeout must be between 0 and 5m0s":        {{Exec: exec, Timeout: -1}, {Exec: exec, Timeout: notify.MaxTimeout + 1}},
		"secret_file and ca_file belong to webhook": {{Exec: exec, SecretFile: "/s"}, {Exec: exec, CAFile: "/c"}},
		"webhook needs secret_file: a file that only you can read, with what requests are signed with": {{Webhook: url}, {Webhook: url, CAFile: "/c"}},
		"secret_file must be an absolute path":                                                         {{Webhook: url, SecretFile: "s"}},
		"ca_file must be an absolute path":                                                             {{Webhook: url, SecretFile: "/s", CAFile: "c"}},
		"exec must begin with an absolute path":                                                        {{Exec: []string{"x"}}, {Exec: []string{"./x"}}, {Exec: []string{""}}},
		"exec must not hold NUL":                                                                       {{Exec: []string{"/x\x00"}}, {Exec: []string{"/x", "y", "\x00"}}},
		`unknown event "Asked"; use asked, approved, rejected, expired, canceled, done`:                {{Exec: exec, Events: []string{"done", "Asked"}}},
	} {
		for _, c := range all {
			if err := c.Check(); want == "" {
				assert.NoError(t, err, "%+v", c)
			} else {
				assert.EqualError(t, err, want, "%+v", c)
			}
		}
	}
}

func TestTheNameOfAPlaceHoldsNoSecret(t *testing.T) {
	for want, c := range map[string]notify.Config{
		"program /x":     {Exec: []string{"/x", "hunter2"}},
		"webhook h:8443": {Webhook: "https://h:8443/hunter2?k=hunter2"},
		"webhook":        {Webhook: "https://h:hunter2/"},
	} {
		assert.Equal(t, want, c.Name())
	}
}

func TestHowLongASecretMayBeAndWhoMayReadIt(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "secret")
	check := func(text string, mode os.FileMode) error {
		t.Helper()
		_ = os.Remove(file) // it may be one that we cannot write
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		require.NoError(t, os.Chmod(file, mode))
		n, err := notify.New([]notify.Config{{Webhook: "https://h/", SecretFile: file}}, func(string) {})
		if err == nil {
			n.Close()
		}
		return err
	}
	for _, n := range []int{16, 17, 4096} {
		assert.NoError(t, check(strings.Repeat("x", n), 0o600), n)
		assert.NoError(t, check(strings.Repeat("x", n)+"\n", 0o400), n)
	}
	for _, n := range []int{0, 15, 4097, 5000} {
		assert.EqualError(t, check(strings.Repeat("x", n)+"\n", 0o600), "notify: entry 1: secret_file: "+file+" must hold 16 to 4096 bytes", n)
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o610, 0o601, 0o620, 0o602} {
		assert.EqualError(t, check(secret, mode), "notify: entry 1: secret_file: "+file+" must be a file that no other account may read: chmod 600 it", mode)
	}
	require.NoError(t, os.Chmod(dir, 0o700))
	_, err := notify.New([]notify.Config{{Webhook: "https://h/", SecretFile: dir}}, func(string) {})
	assert.ErrorContains(t, err, "must be a file that no other account may read")
	_, err = notify.New([]notify.Config{{Exec: []string{"/x"}}, {Webhook: "https://h/", SecretFile: dir + "/none"}}, func(string) {})
	assert.ErrorContains(t, err, "notify: entry 2: secret_file: open ")
	require.NoError(t, os.Chmod(file, 0o600))
	_, err = notify.New([]notify.Config{{Webhook: "https://h/", SecretFile: file, CAFile: dir + "/none"}}, func(string) {})
	assert.ErrorContains(t, err, "notify: entry 1: ")
}

func TestTheSecretIsReadForEveryEvent(t *testing.T) {
	c, seen := server(t, 200)
	n, said := start(t, c)
	for _, key := range []string{secret, "another secret of more than 16"} {
		require.NoError(t, os.WriteFile(c.SecretFile, []byte(" "+key+"\n"), 0o600))
		n.Send(notify.Event{Kind: "done"})
		r := <-seen
		assert.Equal(t, notify.Sign([]byte(key), r.header.Get(notify.Timestamp), r.body), r.header.Get(notify.Signature))
	}
	require.NoError(t, os.Remove(c.SecretFile))
	n.Send(notify.Event{Kind: "done"})
	assert.Regexp(t, `did not receive an event \(done\): secret_file: open \S+: no such file or directory$`, <-said, "it is tried once")
	n.Close()
	assert.Equal(t, uint64(1), n.Dropped())
	assert.Empty(t, seen, "nothing is sent unsigned")
}

func TestPeopleAreToldOfAPlaceThatFailsOnceUntilItTakesEvents(t *testing.T) {
	c, seen := server(t, 403, 403, 204, 403, 404, 403)
	n, said := start(t, c)
	for range 6 {
		n.Send(notify.Event{Kind: "done"})
		<-seen
	}
	n.Close()
	assert.Equal(t, uint64(5), n.Dropped())
	require.Len(t, said, 2)
	assert.Regexp(t, `^webhook 127\.0\.0\.1:\d+ did not receive an event \(done\): it answered 403 Forbidden$`, <-said)
	n.Close()
}

func TestEachPlaceGetsWhatItWantsAtTheTimeThatItHappened(t *testing.T) {
	a, aSeen := server(t, 299)
	b, bSeen := server(t, 200)
	a.Events = []string{"asked", "done"}
	b.Events = []string{"rejected"}
	n, said := start(t, a, b)
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.FixedZone("x", 3600))
	n.Send(notify.Event{Kind: "rejected", Time: at})
	n.Send(notify.Event{Kind: "done", Time: at})
	n.Send(notify.Event{Kind: "expired"})
	assert.True(t, n.Wants("rejected"))
	assert.False(t, n.Wants("expired"))
	for kind, seen := range map[string]<-chan got{"done": aSeen, "rejected": bSeen} {
		var e notify.Event
		require.NoError(t, json.Unmarshal((<-seen).body, &e))
		assert.Equal(t, kind, e.Kind)
		assert.Regexp(t, "^n_[a-z2-7]{13}$", e.ID)
		assert.Equal(t, "2030-01-02T02:04:05Z", e.Time.Format(time.RFC3339))
	}
	n.Close()
	assert.Zero(t, n.Dropped())
	assert.Empty(t, aSeen)
	assert.Empty(t, bSeen)
	assert.Empty(t, said)
}

// A place that is only just fast enough to make room now and then does not fill the log.
func TestPeopleAreToldOfAFullQueueOnceUntilItIsEmpty(t *testing.T) {
	gate := make(chan bool)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-gate:
		case <-r.Context().Done(): // or an attempt that was given up would take the place of one that waits
		}
	}))
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(gate) })
	c, _ := server(t, 200)
	c.Webhook, c.Timeout = s.URL, notify.MaxTimeout
	n, said := start(t, c)
	for range 2 {
		waiting, before := 0, n.Dropped()
		send := func(count int) {
			for range count {
				n.Send(notify.Event{Kind: "done"})
			}
			waiting += count
		}
		take := func(count int) {
			for range count {
				gate <- true
			}
			waiting -= count
		}
		send(notify.MaxQueue + 50)
		require.Len(t, said, 1)
		assert.Regexp(t, `^webhook \S+ takes events too slowly: 256 wait, and more are dropped$`, <-said)
		for range 20 {
			take(1)
			send(2)
		}
		require.Empty(t, said)
		dropped := n.Dropped() - before
		assert.GreaterOrEqual(t, dropped, uint64(49+20-1))
		take(waiting - int(dropped))
	}
	assert.Empty(t, said)
}

func TestHowAProgramIsRunAndHowItFails(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	n, _ := start(t, notify.Config{Exec: []string{"/bin/sh", "-c", `cat >/dev/null; echo "$PWD $FAIRLEAD_EVENT $FAIRLEAD_DELIVERY" >"$0.tmp"; mv "$0.tmp" "$0"`, out}})
	n.Send(notify.Event{Kind: "done"})
	n.Close()
	b, err := os.ReadFile(out)
	require.NoError(t, err)
	assert.Regexp(t, `^/ done n_[a-z2-7]{13}\n$`, string(b))
	for want, argv := range map[string][]string{
		"program /bin/sh did not receive an event (done): signal: killed":            {"/bin/sh", "-c", "kill -9 $$"},
		"program /none/x did not receive an event (done): no such file or directory": {"/none/x"},
		"program /bin/sh did not receive an event (done): exit code 1":               {"/bin/sh", "-c", "exit 1"},
	} {
		n, said := start(t, notify.Config{Exec: argv})
		n.Send(notify.Event{Kind: "done"})
		assert.Equal(t, want, <-said)
		n.Close()
		assert.Equal(t, uint64(1), n.Dropped())
	}
}
