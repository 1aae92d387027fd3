package audit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
)

// elsewhere is a place in memory.
type elsewhere struct {
	mu     sync.Mutex
	kept   []audit.Anchor
	calls  int
	down   error
	hangs  bool
	closed bool
}

func (p *elsewhere) Anchor(ctx context.Context, a audit.Anchor) error {
	p.mu.Lock()
	p.calls++
	down, hangs := p.down, p.hangs
	p.mu.Unlock()
	if hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	if down != nil {
		return down
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept = append(p.kept, a)
	return nil
}

func (p *elsewhere) Close() error { p.closed = true; return nil }

func (p *elsewhere) set(down error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
}

func (p *elsewhere) counts() []uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []uint64
	for _, a := range p.kept {
		out = append(out, a.Count)
	}
	return out
}

func (p *elsewhere) tries() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls
}

// warnings collects what a Tee tells.
type warnings struct {
	mu   sync.Mutex
	said []string
}

func (w *warnings) add(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said = append(w.said, text)
}

func (w *warnings) all() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.said)
}

func tee(t *testing.T, dir string, cfg audit.TeeConfig) *audit.Tee {
	t.Helper()
	f, err := audit.Open(dir, audit.Config{})
	require.NoError(t, err)
	tee := audit.NewTee(f, cfg)
	t.Cleanup(func() { _ = tee.Close() })
	return tee
}

func on(tier string, e audit.Event) audit.Event {
	e.Tier = tier
	return e
}

func refused(e audit.Event) audit.Event {
	e.Verdict = "deny"
	return e
}

func TestARequiredPlaceAcknowledgesBeforeAnythingIsSent(t *testing.T) {
	for _, tt := range []struct {
		name     string
		required audit.Required
		event    audit.Event
		waits    bool
	}{
		{"always, whatever it is", audit.Always, on("dev", request("e", true)), true},
		{"prod, on prod", audit.Prod, on("prod", request("e", false)), true},
		{"prod, without a tier", audit.Prod, request("e", true), true},
		{"prod, elsewhere", audit.Prod, on("dev", request("e", false)), false},
		{"never", audit.Never, request("e", false), false},
		{"a result", audit.Always, result("e"), false},
		{"what is refused", audit.Always, refused(request("e", false)), false},
		{"input", audit.Always, audit.Event{Kind: audit.CommandInput, ID: "e"}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &elsewhere{}
				s := tee(t, newDir(t), audit.TeeConfig{Places: []audit.Place{{Name: "there", To: p, Required: tt.required}}})
				require.NoError(t, s.Record(t.Context(), tt.event))
				assert.Equal(t, tt.waits, len(p.counts()) == 1, "acknowledged when Record returned: %v", p.counts())
				time.Sleep(audit.DefaultEvery)
				synctest.Wait()
				assert.Equal(t, []uint64{1}, p.counts(), "soon after, and once")

				p.set(errors.New("connection refused"))
				err := s.Record(t.Context(), tt.event)
				if !tt.waits {
					require.NoError(t, err)
					return
				}
				require.ErrorIs(t, err, audit.ErrUnavailable)
				assert.EqualError(t, err, "audit: cannot anchor at there: connection refused; make it reachable again (it is required: "+
					tt.required.String()+"); nothing is sent until then")
				assert.NotContains(t, err.Error(), "uptime")
				p.set(nil)
				require.NoError(t, s.Record(t.Context(), tt.event), "it goes on once the place is back")
			})
		})
	}
}

func TestARefusedRequestHasAResultOnRecord(t *testing.T) {
	dir := newDir(t)
	p := &elsewhere{down: errors.New("no route to host")}
	s := tee(t, dir, audit.TeeConfig{Places: []audit.Place{{Name: "there", To: p, Required: audit.Always}}})
	group := []audit.Event{request("e_1", false), request("e_2", false)}
	require.ErrorIs(t, s.RecordAll(t.Context(), group), audit.ErrUnavailable)
	require.ErrorContains(t, s.Close(), "audit: the last entries are not anchored at there: no route to host")
	require.Empty(t, whole(t, dir).Pending)
	events, err := audit.Show(dir, "e_2")
	require.NoError(t, err)
	require.Len(t, events, 2)
	assert.Equal(t, "error", events[1].Status)
	assert.Contains(t, events[1].Error.Message, "cannot anchor at there")
}

// A run elsewhere has not failed because the place that prod needs cannot be reached.
func TestAPlaceForProdFailsNothingElsewhere(t *testing.T) {
	for name, tt := range map[string]struct {
		required audit.Required
		event    audit.Event
		fails    bool
	}{
		"prod, elsewhere":      {audit.Prod, on("dev", request("e", false)), false},
		"prod, on prod":        {audit.Prod, on("prod", request("e", false)), true},
		"prod, without a tier": {audit.Prod, request("e", false), true},
		"always, elsewhere":    {audit.Always, on("dev", request("e", false)), true},
		"never":                {audit.Never, on("prod", request("e", false)), false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &elsewhere{}
				var warned []string
				s := tee(t, newDir(t), audit.TeeConfig{Places: []audit.Place{{Name: "there", To: p, Required: tt.required}}, Warn: func(text string) { warned = append(warned, text) }})
				require.NoError(t, s.Record(t.Context(), tt.event))
				p.set(errors.New("connection refused"))
				require.NoError(t, s.Record(t.Context(), result("e")))
				err := s.Close()
				if tt.fails {
					require.ErrorContains(t, err, "the last entries are not anchored at there: connection refused")
				} else {
					require.NoError(t, err)
				}
				assert.Equal(t, []string{"cannot anchor the audit log at there: connection refused; Fairlead tries again from time to time"}, warned)
			})
		})
	}
}

// What no head can be made of was acknowledged by no place.
func TestWithoutAHeadARequiredPlaceAcknowledgesNothing(t *testing.T) {
	var s *audit.Tee
	first := audit.AnchorFunc(func(context.Context, audit.Anchor) error { return s.File().Close() })
	second := &elsewhere{}
	s = tee(t, newDir(t), audit.TeeConfig{Places: []audit.Place{
		{Name: "first", To: first, Required: audit.Always}, {Name: "second", To: second, Required: audit.Always}}})
	err := s.Record(t.Context(), request("e", false))
	require.ErrorIs(t, err, audit.ErrUnavailable)
	require.ErrorIs(t, err, audit.ErrClosed)
	assert.Empty(t, second.counts())
}

func TestAPlaceThatHangsIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &elsewhere{hangs: true}
		s := tee(t, newDir(t), audit.TeeConfig{Places: []audit.Place{{Name: "there", To: p, Required: audit.Always, Timeout: 3 * time.Second}}})
		began := time.Now()
		var all sync.WaitGroup
		for i := range 20 { // a fleet waits for it once, or twice for those who came late
			all.Go(func() {
				err := s.Record(t.Context(), request(fmt.Sprint("e_", i), false))
				assert.ErrorContains(t, err, "cannot anchor at there: it did not acknowledge within 3s")
			})
		}
		all.Wait()
		assert.LessOrEqual(t, time.Since(began), 7*time.Second)
		require.Error(t, s.Close())
	})
}

func TestAPlaceThatIsAwayIsToldOnceAndGetsEverythingLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, w := &elsewhere{down: errors.New("connection refused")}, &warnings{}
		dir := newDir(t)
		s := tee(t, dir, audit.TeeConfig{Places: []audit.Place{{Name: "there", To: p}}, Warn: w.add})
		for i := range 300 {
			require.NoError(t, s.Record(t.Context(), request(fmt.Sprint("e_", i), true)))
			time.Sleep(time.Second)
		}
		assert.Equal(t, []string{"cannot anchor the audit log at there: connection refused; Fairlead tries again from time to time"}, w.all())
		assert.Less(t, p.tries(), 20, "less and less often")
		p.set(nil)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		assert.Equal(t, "the audit log is anchored at there again", w.all()[1])
		got := p.counts()
		assert.True(t, slices.IsSorted(got))
		assert.EqualValues(t, 300, got[len(got)-1])
		assert.Greater(t, len(got), 5, "heads of the time when it was away are among them")
		require.NoError(t, s.Close())
		assert.True(t, p.closed)
		assert.Nil(t, verifyAnchored(t, dir, p.kept...).Problem)
	})
}

func TestCloseTakesTheLastHeadAlong(t *testing.T) {
	dir := newDir(t)
	p := &elsewhere{}
	s := tee(t, dir, audit.TeeConfig{Places: []audit.Place{{Name: "there", To: p}}, Every: time.Hour})
	e := result("e_1")
	e.ReadOnly = true // waits for company
	require.NoError(t, s.RecordAll(t.Context(), []audit.Event{request("e_1", true)}))
	require.NoError(t, s.Record(t.Context(), e))
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	assert.Equal(t, []uint64{2}, p.counts())
	r := verifyAnchored(t, dir, p.kept...)
	require.Nil(t, r.Problem)
	assert.Equal(t, r.Records, r.Anchors.Through)
	require.ErrorIs(t, s.Record(t.Context(), e), audit.ErrClosed)
}

func TestCloseWaitsForNoPlaceThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, w := &elsewhere{hangs: true}, &warnings{}
		s := tee(t, newDir(t), audit.TeeConfig{Places: []audit.Place{{Name: "there", To: p, Timeout: -1}}, Warn: w.add})
		require.NoError(t, s.Record(t.Context(), request("e", false)))
		began := time.Now()
		require.NoError(t, s.Close())
		assert.Less(t, time.Since(began), 3*time.Second)
		require.Len(t, w.all(), 1)
		assert.Contains(t, w.all()[0], "before the end")
	})
}

func TestTheQueueStaysWithinBounds(t *testing.T) {
	q := make([]audit.Anchor, 0, 2000)
	for i := range 2000 {
		q = audit.Thin(append(q, audit.Anchor{Count: uint64(i)}))
		require.Less(t, len(q), 512)
		require.EqualValues(t, i, q[len(q)-1].Count, "the last one stays")
		require.True(t, slices.IsSortedFunc(q, func(a, b audit.Anchor) int { return int(a.Count) - int(b.Count) }))
	}
	assert.Less(t, q[0].Count, uint64(100), "it still spans all the time")
}

func TestRequiredIsReadStrictly(t *testing.T) {
	for text, want := range map[string]audit.Required{"": audit.Never, "never": audit.Never, "prod": audit.Prod, "always": audit.Always} {
		got, err := audit.ParseRequired(text)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	_, err := audit.ParseRequired("Prod")
	assert.EqualError(t, err, `audit: required is "Prod": it must be never, prod or always`)
	assert.False(t, strings.Contains(audit.Never.String(), "%"))
}
