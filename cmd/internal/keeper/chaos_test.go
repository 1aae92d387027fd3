package keeper_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

var (
	chaosTime = flag.Duration("chaos.time", 10*time.Second, "how long TestChaos breaks things")
	chaosSeed = flag.Uint64("chaos.seed", 1, "which faults TestChaos chooses, and when")
)

// maxResident bounds the memory of a keeper, in KiB.
const maxResident = 300 << 10

// TestChaos works with two keepers on one Postgres while they are killed, stopped, lose their runtime directories and their
// database. What was acknowledged holds, nothing runs twice, and the audit logs are whole.
func TestChaos(t *testing.T) {
	url := postgres.Schema(t)
	seed := *chaosSeed
	t.Logf("seed %d", seed)
	c := &chaos{t: t, over: make(chan struct{}), sent: map[string]*token{}}
	c.work = t.TempDir()
	for i := range 2 {
		k := &chaosKeeper{c: c, dir: childPlace(t), env: []string{storeEnv + "=" + url, keyEnv + "=" + c.file("key"), idEnv + "=" + fmt.Sprint("k", i+1)}}
		k.start()
		c.keepers = append(c.keepers, k)
	}
	t.Cleanup(func() {
		for _, k := range c.keepers {
			k.kill()
		}
	})
	require.NoError(t, os.WriteFile(c.file("edited"), []byte(slots(nil)), 0o600))
	var workers sync.WaitGroup
	ctx, cancel := context.WithTimeout(t.Context(), *chaosTime)
	defer cancel()
	for i := range 3 {
		workers.Go(func() { c.commands(ctx, rand.New(rand.NewPCG(seed, uint64(10+i))), "here") })
		workers.Go(func() { c.commands(ctx, rand.New(rand.NewPCG(seed, uint64(20+i))), "there") })
		workers.Go(func() { c.edits(ctx, rand.New(rand.NewPCG(seed, uint64(30+i))), i) })
		workers.Go(func() { c.jobs(ctx, rand.New(rand.NewPCG(seed, uint64(40+i)))) })
		workers.Go(func() { c.fleets(ctx, rand.New(rand.NewPCG(seed, uint64(50+i)))) })
	}
	workers.Go(func() { c.faults(ctx, rand.New(rand.NewPCG(seed, 1))) })
	workers.Wait()
	c.settle()
	c.judge()
}

type chaos struct {
	t       *testing.T
	keepers []*chaosKeeper
	work    string
	over    chan struct{}
	broken  [6]atomic.Int64 // faults by kind

	mu    sync.Mutex
	sent  map[string]*token
	slots [3]string // the last text of each that was acknowledged; "" is none yet
	next  int
}

// token is what one command appends to the file "ran".
type token struct {
	text    string
	send    func(ctx context.Context) (outcome, error) // asks again, with the same key
	outcome outcome
	last    string // what was heard of it
}

// outcome is what was acknowledged.
type outcome string

const (
	unknown outcome = ""      // no answer, or one that says so: at most once
	once    outcome = "once"  // it has run
	never   outcome = "never" // it has not, and will not
)

func (c *chaos) file(name string) string { return filepath.Join(c.work, name) }

// new makes a token.
func (c *chaos) new(kind string) *token {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next++
	tok := &token{text: fmt.Sprintf("%s-%06d", kind, c.next)}
	c.sent[tok.text] = tok
	return tok
}

func (c *chaos) any(rnd *rand.Rand) *chaosKeeper { return c.keepers[rnd.IntN(len(c.keepers))] }

// script appends a token.
func (c *chaos) script(tok *token) string { return fmt.Sprintf("echo %s >>%s", tok.text, c.file("ran")) }

// commands runs commands as an agent: allowed on "here", approved by a person on "there".
func (c *chaos) commands(ctx context.Context, rnd *rand.Rand, host string) {
	for ctx.Err() == nil {
		k, tok := c.any(rnd), c.new(host)
		approver := c.any(rnd)
		approve := rnd.IntN(4) > 0
		tok.send = func(ctx context.Context) (outcome, error) {
			var box wire.Sandbox
			if _, err := k.call(ctx, "", "POST", sandboxesPath, wire.NewSandbox{Owner: "agent/claude", Host: host, Label: "chaos", Path: c.work}, &box); err != nil {
				return unknown, err
			}
			var cmd wire.Command
			if _, err := k.call(ctx, "agent/claude", "POST", commandsPath, wire.NewCommand{Sandbox: box.ID, Command: c.script(tok)}, &cmd, wire.IdempotencyKey, tok.text); err != nil {
				return unknown, err
			}
			if cmd.Status == "pending" {
				answer := "/reject"
				if approve {
					answer = "/approve"
				}
				status, err := approver.call(ctx, "", "POST", commandsPath+"/"+cmd.ID+answer, nil, nil)
				if err != nil && status != http.StatusConflict {
					return unknown, err
				}
				if err != nil {
					c.t.Logf("%s: %v", tok.text, err)
				}
			}
			for cmd.Status == "pending" || cmd.Status == "approved" {
				if !sleep(ctx, 50*time.Millisecond) {
					return unknown, ctx.Err()
				}
				if _, err := k.call(ctx, "agent/claude", "GET", commandsPath+"/"+cmd.ID, nil, &cmd); err != nil {
					return unknown, err
				}
				tok.last = fmt.Sprintf("%s %s %s", cmd.ID, cmd.Status, cmd.Reason)
			}
			switch cmd.Status {
			case "executed":
				return once, nil
			case "rejected":
				return never, nil
			}
			return unknown, nil
		}
		c.try(ctx, tok)
	}
}

// jobs starts jobs under ids of its own.
func (c *chaos) jobs(ctx context.Context, rnd *rand.Rand) {
	for ctx.Err() == nil {
		k, tok := c.any(rnd), c.new("job")
		id := "j_" + letters(rnd, 13)
		tok.send = func(ctx context.Context) (outcome, error) {
			var j wire.Job
			if _, err := k.call(ctx, "", "POST", "/v1/jobs", wire.NewJob{Host: "here", Command: c.script(tok), ID: id}, &j); err != nil {
				return unknown, err
			}
			for j.State != "ended" {
				if j.State == "lost" || j.State == "canceled" || !sleep(ctx, 50*time.Millisecond) {
					return unknown, ctx.Err()
				}
				if _, err := k.call(ctx, "", "GET", "/v1/jobs/here%2F"+id, nil, &j); err != nil {
					return unknown, err
				}
			}
			return once, nil
		}
		tok.outcome, _ = tok.send(ctx)
		tok.send = nil // a job has no key: asking again is a second job
		sleep(ctx, 100*time.Millisecond)
	}
}

// fleets runs commands on all hosts, which both append.
func (c *chaos) fleets(ctx context.Context, rnd *rand.Rand) {
	for ctx.Err() == nil {
		k, tok := c.any(rnd), c.new("fleet")
		tok.send = nil
		var lines bytes.Buffer
		_, err := k.call(ctx, "", "POST", "/v1/runs", wire.NewRun{ID: "chaos-" + tok.text, Hosts: []string{"here"}, Command: c.script(tok)}, &lines)
		if err == nil && strings.Contains(lines.String(), `"status":"ok"`) {
			tok.outcome = once
		}
		sleep(ctx, 100*time.Millisecond)
	}
}

// try asks until there is an answer or the time is over.
func (c *chaos) try(ctx context.Context, tok *token) {
	for {
		out, err := tok.send(ctx)
		if err == nil {
			tok.outcome = out
			return
		}
		if !sleep(ctx, 100*time.Millisecond) {
			return
		}
	}
}

// edits changes one line of a file that others change too.
func (c *chaos) edits(ctx context.Context, rnd *rand.Rand, slot int) {
	path := "/v1/files/edit?" + url.Values{"host": {"here"}, "path": {c.file("edited")}}.Encode()
	for n := 0; ctx.Err() == nil; n++ {
		before, after := c.slot(slot), fmt.Sprintf("slot %d: text %d.", slot, n)
		if before == "" {
			before = fmt.Sprintf("slot %d: .", slot)
		}
		_, err := c.any(rnd).call(ctx, "", "POST", path, wire.FileEdit{Old: before, New: after}, nil)
		now := after
		if err != nil { // it may have happened all the same
			text, rerr := os.ReadFile(c.file("edited"))
			if rerr != nil || !strings.Contains(string(text), after) {
				now = before
			}
			if !sleep(ctx, 50*time.Millisecond) {
				c.unsure(slot)
				return
			}
			// An edit whose answer was lost may come to its end later.
			if text, rerr := os.ReadFile(c.file("edited")); rerr == nil && strings.Contains(string(text), after) {
				now = after
			}
		}
		c.mu.Lock()
		c.slots[slot] = now
		c.mu.Unlock()
	}
}

func (c *chaos) slot(i int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.slots[i]
}

func (c *chaos) unsure(i int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.slots[i] = ""
}

func slots([]string) string { return "slot 0: .\nslot 1: .\nslot 2: .\n" }

// faults breaks things one after the other.
func (c *chaos) faults(ctx context.Context, rnd *rand.Rand) {
	for sleep(ctx, time.Duration(100+rnd.IntN(900))*time.Millisecond) {
		k := c.any(rnd)
		kind := rnd.IntN(4)
		c.broken[kind].Add(1)
		switch kind {
		case 0:
			k.kill()
			k.start()
		case 1:
			k.stopFor(ctx, time.Duration(rnd.IntN(2000))*time.Millisecond)
		case 2:
			assert.NoError(c.t, os.RemoveAll(filepath.Join(k.dir, "r")))
		case 3:
			thaw := postgres.Freeze(c.t)
			sleep(ctx, time.Duration(rnd.IntN(2000))*time.Millisecond)
			thaw()
		}
	}
}

// settle asks about everything that has no answer yet, now that nothing breaks any more.
func (c *chaos) settle() {
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Minute)
	defer cancel()
	for _, tok := range c.sent {
		if tok.outcome == unknown && tok.send != nil {
			c.try(ctx, tok)
			require.NoError(c.t, ctx.Err(), "%s: %s", tok.text, tok.last)
		}
	}
}

// judge compares what was acknowledged with what happened.
func (c *chaos) judge() {
	text, err := os.ReadFile(c.file("ran"))
	require.NoError(c.t, err)
	ran := map[string]int{}
	for line := range strings.Lines(string(text)) {
		ran[strings.TrimSpace(line)]++
	}
	counts := map[outcome]int{}
	for _, tok := range c.sent {
		counts[tok.outcome]++
		switch n := ran[tok.text]; tok.outcome {
		case once:
			assert.Equal(c.t, 1, n, tok.text)
		case never:
			assert.Zero(c.t, n, tok.text)
		default:
			assert.LessOrEqual(c.t, n, 1, tok.text)
		}
	}
	edited, err := os.ReadFile(c.file("edited"))
	require.NoError(c.t, err)
	for i, want := range c.slots {
		if want != "" {
			assert.Contains(c.t, string(edited), want, "slot %d", i)
		}
	}
	peak := 0
	for _, k := range c.keepers {
		var v wire.Verified
		_, err := k.call(c.t.Context(), "", "GET", "/v1/audit/verify", nil, &v)
		require.NoError(c.t, err)
		assert.True(c.t, v.OK, "%v", v.Problems)
		peak = max(peak, k.peak())
	}
	assert.Less(c.t, peak, maxResident, "KiB")
	c.t.Logf("%d ran, %d did not, %d unknown; kills %d, stops %d, directories %d, database %d; at most %d MiB",
		counts[once], counts[never], counts[unknown], c.broken[0].Load(), c.broken[1].Load(), c.broken[2].Load(), c.broken[3].Load(), peak>>10)
	assert.Positive(c.t, counts[once])
}

// chaosKeeper is a keeper that is started again whenever it was killed.
type chaosKeeper struct {
	c   *chaos
	dir string
	env []string

	mu  sync.Mutex
	now *childKeeper
	max int // KiB
}

func (k *chaosKeeper) start() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.now = startChild(k.c.t, k.dir, "", k.env...)
}

func (k *chaosKeeper) kill() {
	k.peak()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.now.kill()
}

func (k *chaosKeeper) stopFor(ctx context.Context, d time.Duration) {
	pid := k.now.cmd.Process.Pid
	assert.NoError(k.c.t, syscall.Kill(pid, syscall.SIGSTOP))
	sleep(ctx, d)
	assert.NoError(k.c.t, syscall.Kill(pid, syscall.SIGCONT))
}

// peak is the most memory that it has had, as the system counts (VmHWM in proc(5)).
func (k *chaosKeeper) peak() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", k.now.cmd.Process.Pid))
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, _ := strconv.Atoi(strings.Fields(rest)[0])
			k.max = max(k.max, n)
		}
	}
	return k.max
}

// call sends one request on a connection of its own. An answer of 400 and above is an error.
func (k *chaosKeeper) call(ctx context.Context, principal, method, path string, in, out any, headers ...string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", placesIn(k.dir).Socket)
	}}
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return 0, err
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://keeper"+path, body)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Fairlead-Inventory", filepath.Join(k.dir, "inventory.yaml"))
	if principal != "" {
		req.Header.Set("Fairlead-Principal", principal)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return 0, err
	case resp.StatusCode >= 400:
		return resp.StatusCode, fmt.Errorf("%s %s: %d %.300s", method, path, resp.StatusCode, data)
	}
	switch out := out.(type) {
	case nil:
	case *bytes.Buffer:
		out.Write(data)
	default:
		return resp.StatusCode, json.Unmarshal(data, out)
	}
	return resp.StatusCode, nil
}

// sleep reports whether the time has passed before the end of ctx.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func letters(rnd *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "abcdefghijklmnopqrstuvwxyz234567"[rnd.IntN(32)]
	}
	return string(b)
}
