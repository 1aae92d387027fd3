package chaos

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

var (
	chaosTime = flag.Duration("chaos.time", 0, "how long TestChaos breaks things; 0 is 20 s, a minute with CI=true, and 10 s under the race detector")
	chaosSeed = flag.Uint64("chaos.seed", 1, "which faults TestChaos chooses, and when")
)

const (
	maxResident  = 300 << 10 // KiB, of each keeper
	slotsPerFile = 3
	settleTime   = 90 * time.Second // for what has no answer yet, once nothing breaks any more
)

// run is one run: its keepers, what was asked of them, and what they said.
type run struct {
	t       *testing.T
	members []*member
	work    string // the directory that commands write to, on a disk that is filled
	home    string // of the local host
	far     *link
	disks   []string       // that are filled
	broken  map[string]int // faults by kind
	slots   []*slot        // of edited files
	log     *os.File       // what keepers say
	left    int            // files that edits which were cut off have left

	mu     sync.Mutex // guards what follows
	sent   []*token
	faults int
}

// TestChaos works with two keepers on one Postgres while things break. What was acknowledged holds, nothing runs twice, the audit
// logs are whole, keepers stay small, and nothing is left behind.
func TestChaos(t *testing.T) {
	lasts := *chaosTime
	if lasts == 0 {
		switch lasts = 20 * time.Second; {
		case needs.Sample:
			lasts = 10 * time.Second
		case os.Getenv("CI") == "true":
			lasts = time.Minute
		}
	}
	began := time.Now()
	c := begin(t, *chaosSeed)
	ctx, cancel := context.WithTimeout(t.Context(), lasts)
	defer cancel()
	var workers sync.WaitGroup
	seeds := uint64(1)
	do := func(work func(*rand.Rand)) {
		seeds++
		rnd := rand.New(rand.NewPCG(*chaosSeed, seeds))
		workers.Go(func() { work(rnd) })
	}
	do(func(rnd *rand.Rand) { c.breakThings(ctx, rnd) })
	for range 2 {
		for _, host := range []string{"here", "far", "there"} {
			do(func(rnd *rand.Rand) { c.commands(ctx, rnd, host) })
		}
		do(func(rnd *rand.Rand) { c.fleets(ctx, rnd) })
	}
	for _, host := range []string{"here", "far"} {
		do(func(rnd *rand.Rand) { c.sessions(ctx, rnd, host) })
		do(func(rnd *rand.Rand) { c.jobs(ctx, rnd, host) })
	}
	for _, s := range c.slots {
		workers.Go(func() { c.edits(ctx, s) })
	}
	workers.Wait()
	broke := time.Since(began)
	c.settle()
	c.judge()
	c.leave()
	c.report(broke, time.Since(began))
}

// begin starts everything.
func begin(t *testing.T, seed uint64) *run {
	// The database's clock is the keepers' only common one, and far from their machine's.
	url := postgres.Ahead(t, time.Duration(rand.New(rand.NewPCG(seed, 0)).Int64N(int64(48*time.Hour)))-24*time.Hour)
	c := &run{t: t, broken: map[string]int{}}
	base := t.TempDir()
	require.NoError(t, os.Chmod(base, 0o700))
	var err error
	c.log, err = os.Create(filepath.Join(base, "log"))
	require.NoError(t, err)
	t.Cleanup(func() {
		c.log.Close()
		if t.Failed() {
			text, _ := os.ReadFile(filepath.Join(base, "log"))
			t.Logf("the keepers said, last:\n%s", text[max(0, len(text)-20000):])
		}
	})
	c.work = c.disk(filepath.Join(base, "work"))
	c.home = filepath.Join(c.work, "home")
	farHome := filepath.Join(c.work, "far")
	for _, dir := range []string{c.home, farHome, c.file("tmp")} {
		require.NoError(t, os.Mkdir(dir, 0o700))
	}
	sshd := sessiontest.OpenSSHD(t, "SetEnv HOME="+farHome+" TMPDIR="+c.file("tmp"))
	c.far = newLink(t, sshd.Addr)
	config, err := os.ReadFile(sshd.Config)
	require.NoError(t, err)
	known, err := os.ReadFile(sshd.KnownHosts)
	require.NoError(t, err)
	at := func(text []byte) string {
		_, was, _ := strings.Cut(sshd.Addr, ":")
		_, now, _ := strings.Cut(c.far.l.Addr().String(), ":")
		return strings.Replace(strings.ReplaceAll(string(text), was, now), "Host sshd", "Host far", 1)
	}
	require.NoError(t, os.WriteFile(sshd.Config, []byte(at(config)), 0o600))
	require.NoError(t, os.WriteFile(sshd.KnownHosts, []byte(at(known)), 0o600))
	for i := range 2 {
		dir := filepath.Join(base, fmt.Sprint("k", i+1))
		require.NoError(t, os.Mkdir(dir, 0o700))
		c.disk(filepath.Join(dir, "audit"))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "inventory.yaml"), fmt.Appendf(nil, `version: 1
hosts:
  - {name: here, transport: local, tier: dev}
  - {name: there, transport: local, tier: prod}
  - {name: far, ssh_config: %q, tier: dev}
`, sshd.Config), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "policy.yaml"), []byte(
			"version: 1\nrules:\n  - {name: free, hosts: tier=dev, principals: [role=agent], classes: [read-only, write, unknown], verdict: allow, reason: ours}\n"), 0o600))
		k := &member{dir: dir, log: c.log, env: []string{
			storeEnv + "=" + url, idEnv + "=" + fmt.Sprint("k", i+1), "HOME=" + c.home, "TMPDIR=" + c.file("tmp"), "XDG_STATE_HOME=", "XDG_RUNTIME_DIR=",
		}}
		t.Cleanup(func() { k.end(syscall.SIGKILL) })
		require.NoError(t, k.start(0))
		c.members = append(c.members, k)
		for _, host := range []string{"here", "far"} {
			s := &slot{member: k, host: host, path: c.file(fmt.Sprint("edited-", i, "-", host))}
			text := ""
			for line := range slotsPerFile {
				each := *s
				each.line, each.acked = line, fmt.Sprintf("slot %d: .", line)
				text += each.acked + "\n"
				c.slots = append(c.slots, &each)
			}
			require.NoError(t, os.WriteFile(s.path, []byte(text), 0o600))
		}
	}
	return c
}

func (c *run) file(name string) string { return filepath.Join(c.work, name) }

func (c *run) any(rnd *rand.Rand) *member { return c.members[rnd.IntN(len(c.members))] }

// fault notes what must not be.
func (c *run) fault(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.faults++; c.faults < 50 {
		c.t.Errorf(format, args...)
	}
}

// settle asks about all commands that have no answer yet, now that nothing breaks any more.
func (c *run) settle() {
	ctx, cancel := context.WithTimeout(c.t.Context(), settleTime)
	defer cancel()
	var wg sync.WaitGroup
	for i, tok := range c.sent {
		if tok.state != "" || tok.tier == "" {
			continue
		}
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(i), 0))
			for tok.state == "" && sleep(ctx, 100*time.Millisecond) {
				if err := c.ask(ctx, rnd, tok); err != nil && ctx.Err() == nil {
					tok.last = err
				}
			}
			if tok.state == "" {
				c.fault("%s %s has no answer: %v", tok.text, tok.command, tok.last)
			}
		})
	}
	wg.Wait()
}

// tokenNumber is what no two tokens have in common.
var tokenNumber = regexp.MustCompile(`-\d{7}`)

// judge compares what was acknowledged with what happened.
func (c *run) judge() {
	text, err := os.ReadFile(c.file("ran"))
	require.NoError(c.t, err)
	// Not by lines: of one that a full disk cut off, a part may stand in front of the next.
	times := map[string]int{}
	for _, number := range tokenNumber.FindAllString(string(text), -1) {
		times[number]++
	}
	for _, tok := range c.sent {
		switch n := times[tokenNumber.FindString(tok.text)]; {
		case n > 1:
			c.fault("%s ran %d times", tok.text, n)
		case tok.state == ran && n != 1:
			c.fault("%s was acknowledged as run, and did not", tok.text)
		case tok.state == never && n != 0:
			c.fault("%s was acknowledged as not run, and did", tok.text)
		}
		if tok.command == "" {
			continue
		}
		for _, k := range c.members {
			var cmd wire.Command
			if err := k.call(c.t.Context(), "agent/claude", "GET", "/agent/terminal/commands/"+tok.command, "", nil, &cmd); err != nil {
				c.fault("%s: %v", tok.text, err)
				break
			}
			now := token{}
			now.heard(cmd.Status, cmd.ExitCode)
			switch {
			case tok.state != "" && now.state != tok.state:
				c.fault("%s was acknowledged as %s, and is %s (%s, %s)", tok.text, tok.state, now.state, cmd.Status, cmd.Outcome)
			case tok.answer == "approve" && cmd.ApprovedBy == "", tok.answer == "reject" && now.state != never:
				c.fault("%s: the answer %q was acknowledged, and it is %s (%s)", tok.text, tok.answer, cmd.Status, cmd.Outcome)
			}
		}
	}
	edits := 0
	for _, s := range c.slots {
		c.standing(s)
		edits += s.edits
		if *chaosTime > 0 { // seconds are not always enough for each
			assert.Positive(c.t, s.edits, "%s:%d", s.path, s.line)
		}
	}
	assert.Positive(c.t, edits)
	for _, k := range c.members {
		var v wire.Verified
		if err := k.call(c.t.Context(), "", "GET", "/v1/audit/verify", "", nil, &v); err != nil || !v.OK {
			c.fault("the audit log in %s: %v %v", k.dir, err, v.Problems)
		}
		assert.Less(c.t, k.measure(), maxResident, "KiB of the keeper in %s", k.dir)
	}
}

// leave ends the keepers and looks for what they have left.
func (c *run) leave() {
	c.tidy()
	for _, k := range c.members {
		assert.NoError(c.t, k.end(syscall.SIGTERM))
	}
	var left []string
	for range 300 {
		if left = c.processes(); len(left) == 0 {
			break
		}
		sleep(c.t.Context(), 100*time.Millisecond)
	}
	assert.Empty(c.t, left, "processes")
	assert.NoError(c.t, filepath.WalkDir(filepath.Dir(c.work), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Type()&fs.ModeSocket != 0, strings.HasPrefix(d.Name(), temporary), filepath.Dir(path) == c.file("tmp"):
			c.fault("left behind: %s", path)
		}
		return nil
	}))
}

// temporary is how the names begin under which a file is written.
const temporary = ".fairlead-"

// tidy makes a day of the time since edits were cut off: the next edit of a keeper in their directory removes what they left.
func (c *run) tidy() {
	found, err := filepath.Glob(c.file(temporary + "*"))
	require.NoError(c.t, err)
	c.left = len(found)
	yesterday := time.Now().Add(-25 * time.Hour)
	for _, path := range found {
		assert.NoError(c.t, os.Chtimes(path, yesterday, yesterday))
	}
	k := c.members[0]
	assert.NoError(c.t, k.end(syscall.SIGTERM)) // it looks once a day
	require.NoError(c.t, k.start(0))
	s := c.slots[slices.IndexFunc(c.slots, func(s *slot) bool { return s.member == k })]
	before, ok := c.standing(s)
	if ok {
		assert.NoError(c.t, k.call(c.t.Context(), "", "POST", s.url(), "", s.edit(before, "the last"), nil))
	}
}

// processes returns those of the hosts that still run.
func (c *run) processes() (left []string) {
	all, err := os.ReadDir("/proc") // a pattern below it would read the directory of each process
	require.NoError(c.t, err)
	for _, e := range all {
		path := filepath.Join("/proc", e.Name(), "environ")
		env, err := os.ReadFile(path) // fails for those that have just ended
		if err == nil && strings.Contains(string(env), "="+c.work+"/") {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
			left = append(left, fmt.Sprintf("%s: %.200q", path, line))
		}
	}
	return left
}

// report prints what happened.
func (c *run) report(broke, took time.Duration) {
	kinds := map[string]map[string]int{}
	for _, tok := range c.sent {
		kind, _, _ := strings.Cut(tok.text, "-")
		if kinds[kind] == nil {
			kinds[kind] = map[string]int{}
		}
		state := tok.state
		if state == "" {
			state = "no answer"
		}
		kinds[kind][state]++
		if tok.answer != "" {
			if kinds["answers"] == nil {
				kinds["answers"] = map[string]int{}
			}
			kinds["answers"][tok.answer]++
		}
	}
	edits := 0
	for _, s := range c.slots {
		edits += s.edits
	}
	c.t.Logf("seed %d: broke things for %v, took %v", *chaosSeed, broke.Round(time.Second), took.Round(time.Second))
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		c.t.Logf("%s: %v", kind, kinds[kind])
	}
	c.t.Logf("edits acknowledged: %d", edits)
	c.t.Logf("files that edits which were cut off left, and a later edit removed: %d", c.left)
	c.t.Logf("faults: %v", c.broken)
	for i, k := range c.members {
		c.t.Logf("keeper %d: at most %d MiB", i+1, k.measure()>>10)
	}
}
