package rollout_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/rollout"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

type (
	reply  = sessiontest.Reply
	faults = sessiontest.Faults
)

// lab is scripted hosts, a pool of connections to them, and what was told of a run.
type lab struct {
	*sessiontest.Dialer
	pool *session.Pool
	hs   []hosts.Host

	batches  []string // "1: web0"
	results  map[string]session.Result
	verified map[string]session.Result
}

// inLab runs f in a bubble with n hosts, web0 and so on.
func inLab(t *testing.T, n int, f func(t *testing.T, l *lab)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := &lab{Dialer: sessiontest.NewDialer(t), results: map[string]session.Result{}, verified: map[string]session.Result{}}
		var err error
		l.pool, err = session.NewPool(session.PoolConfig{Dial: l.Dial, Session: session.Config{Policy: policy.AllowAll, Audit: audit.Discard{}}})
		require.NoError(t, err)
		for i := range n {
			l.hs = append(l.hs, hosts.Host{Name: fmt.Sprintf("web%d", i)})
		}
		f(t, l)
		require.NoError(t, l.pool.Close())
	})
}

// run rolls "work" out.
func (l *lab) run(t *testing.T, ctx context.Context, p rollout.Plan) rollout.Report {
	t.Helper()
	p.Begin = func(b rollout.Batch) { l.batches = append(l.batches, fmt.Sprintf("%d: %s", b.Number, names(b.Hosts))) }
	p.Result = func(h hosts.Host, r session.Result) {
		assert.NotContains(t, l.results, h.Name, "told twice")
		l.results[h.Name] = r
	}
	p.Verified = func(h hosts.Host, r session.Result) { l.verified[h.Name] = r }
	report, err := p.Run(ctx, l.pool, l.hs, session.Command{Script: "work"})
	require.NoError(t, err)
	assert.Len(t, l.results, len(l.hs), "each host has its result")
	all, ok, failed, not := report.Hosts()
	assert.Equal(t, len(l.hs), all)
	assert.Equal(t, all, ok+failed+not, "each host is counted once")
	return report
}

// fails makes the command fail on these hosts; everywhere it takes a second.
func (l *lab) fails(names ...string) {
	l.OnFunc("work", func(c *sessiontest.Call) reply {
		time.Sleep(time.Second)
		if slices.Contains(names, c.Host) {
			return reply{Exit: 3}
		}
		return reply{}
	})
}

func names(hs []hosts.Host) string {
	var all []string
	for _, h := range hs {
		all = append(all, h.Name)
	}
	return hosts.Fold(all)
}

func sizes(t *testing.T, text string) []rollout.Size {
	t.Helper()
	s, err := rollout.ParseSizes(text)
	require.NoError(t, err)
	return s
}

func limit(t *testing.T, text string) rollout.Limit {
	t.Helper()
	l, err := rollout.ParseLimit(text)
	require.NoError(t, err)
	return l
}

func TestBatchesAreOneAfterTheOther(t *testing.T) {
	inLab(t, 10, func(t *testing.T, l *lab) {
		l.fails()
		r := l.run(t, t.Context(), rollout.Plan{Batches: sizes(t, "1,20%,100%")})
		assert.Equal(t, []string{"1: web0", "2: web[1-2]", "3: web[3-9]"}, l.batches)
		assert.Empty(t, r.Reason)
		assert.Empty(t, r.Why)
		assert.Equal(t, 3, r.Done)
		assert.Equal(t, 3*time.Second, r.Took)
		assert.Empty(t, r.NotRun())
	})
}

func TestTheZeroPlanRunsAllAtOnce(t *testing.T) {
	inLab(t, 5, func(t *testing.T, l *lab) {
		l.fails("web1")
		r := l.run(t, t.Context(), rollout.Plan{})
		assert.Equal(t, []string{"1: web[0-4]"}, l.batches)
		assert.Equal(t, time.Second, r.Took)
		assert.Empty(t, r.Reason, "no limit is set")
		assert.Equal(t, "web1", names(r.Failed()))
	})
}

func TestCanariesAreFirst(t *testing.T) {
	inLab(t, 5, func(t *testing.T, l *lab) {
		l.fails()
		sel, err := hosts.ParseSelector("web4,web2")
		require.NoError(t, err)
		l.run(t, t.Context(), rollout.Plan{Canary: sel.Match, Batches: sizes(t, "2")})
		assert.Equal(t, []string{"1: web[2,4]", "2: web[0-1]", "3: web3"}, l.batches)
	})
}

func TestACanaryMustBeThere(t *testing.T) {
	inLab(t, 2, func(t *testing.T, l *lab) {
		_, err := rollout.Plan{Canary: func(hosts.Host) bool { return false }}.Run(t.Context(), l.pool, l.hs, session.Command{Script: "never"})
		require.ErrorIs(t, err, rollout.ErrNoCanary)
	})
}

func TestOneInputIsNotForSeveralHosts(t *testing.T) {
	inLab(t, 2, func(t *testing.T, l *lab) {
		in := session.Command{Script: "never", Stdin: strings.NewReader("x")}
		_, err := rollout.Plan{}.Run(t.Context(), l.pool, l.hs, in)
		require.ErrorContains(t, err, "Command.Stdins")
		_, err = rollout.Plan{Verify: &in}.Run(t.Context(), l.pool, l.hs, session.Command{Script: "never"})
		require.ErrorContains(t, err, "Command.Stdins")
	})
}

func TestSplitOfEveryHostLosesNone(t *testing.T) {
	for _, text := range []string{"1", "3", "1,10%,100%", "1%", "34%", "100%", "2,1"} {
		for n := range 25 {
			var hs []hosts.Host
			for i := range n {
				hs = append(hs, hosts.Host{Name: fmt.Sprint("h", i)})
			}
			batches, err := rollout.Plan{Batches: sizes(t, text)}.Split(hs)
			require.NoError(t, err)
			var all []hosts.Host
			for i, b := range batches {
				assert.Equal(t, i+1, b.Number)
				assert.NotEmpty(t, b.Hosts, "%s of %d", text, n)
				all = append(all, b.Hosts...)
			}
			assert.Equal(t, hs, all, "%s of %d", text, n)
		}
	}
}

func TestMaxFailIsOverAllHosts(t *testing.T) {
	inLab(t, 10, func(t *testing.T, l *lab) {
		l.fails("web0", "web2")
		l.Fault("web3", faults{Dial: errors.New("refused")})
		r := l.run(t, t.Context(), rollout.Plan{Batches: sizes(t, "2"), MaxFail: limit(t, "20%")})
		assert.Equal(t, rollout.MaxFail, r.Reason)
		assert.Equal(t, "3 of 10 hosts failed, and max-fail is 20%", r.Why)
		assert.Equal(t, "web[4-9]", names(r.NotRun()))
		assert.Equal(t, "web[0,2-3]", names(r.Failed()))
		assert.Equal(t, 1, r.Done)
		res := l.results["web9"]
		assert.Equal(t, session.StatusCanceled, res.Status)
		require.ErrorIs(t, res.Err, rollout.ErrNotRun)
		assert.False(t, res.Err.Sent)
		assert.Contains(t, res.Err.Error(), "more hosts failed than max-fail allows (20% of 10)")
	})
}

func TestALimitIsWhatMayFail(t *testing.T) {
	for text, stops := range map[string]bool{"0": true, "1": false, "9%": true, "10%": false, "100%": false} {
		inLab(t, 10, func(t *testing.T, l *lab) {
			l.fails("web0")
			r := l.run(t, t.Context(), rollout.Plan{Batches: sizes(t, "1"), MaxFail: limit(t, text)})
			assert.Equal(t, stops, r.Reason == rollout.MaxFail, text)
		})
	}
}

func TestBatchMaxFailIsOfOneBatch(t *testing.T) {
	inLab(t, 9, func(t *testing.T, l *lab) {
		l.fails("web0", "web3", "web4", "web6")
		r := l.run(t, t.Context(), rollout.Plan{Batches: sizes(t, "3"), BatchMaxFail: limit(t, "1")})
		assert.Equal(t, rollout.BatchMaxFail, r.Reason)
		assert.Equal(t, "2 of 3 hosts of batch 2 failed, and batch-max-fail is 1", r.Why)
		assert.Equal(t, "web[6-8]", names(r.NotRun()))
	})
}

func TestALimitStopsInsideABatchAndLeavesAloneWhatRuns(t *testing.T) {
	inLab(t, 6, func(t *testing.T, l *lab) {
		l.OnFunc("work", func(c *sessiontest.Call) reply {
			if c.Host == "web0" {
				return reply{Exit: 1}
			}
			time.Sleep(time.Minute)
			return reply{}
		})
		p := rollout.Plan{MaxFail: limit(t, "0")}
		var got []string
		p.Result = func(h hosts.Host, r session.Result) { got = append(got, h.Name+" "+string(r.Status)) }
		r, err := p.Run(t.Context(), l.pool, l.hs, session.Command{Script: "work", Forks: 2})
		require.NoError(t, err)
		assert.Equal(t, []string{"web0 exit", "web2 canceled", "web3 canceled", "web4 canceled", "web5 canceled", "web1 ok"}, got)
		assert.Equal(t, time.Minute, r.Took)
		assert.Equal(t, 0, r.Done)
	})
}

func TestWhatFailsAfterALimitIsExceededIsCounted(t *testing.T) {
	for name, p := range map[string]rollout.Plan{"max-fail": {MaxFail: limit(t, "0")}, "batch-max-fail": {BatchMaxFail: limit(t, "0")}} {
		inLab(t, 4, func(t *testing.T, l *lab) {
			begun := make(chan struct{})
			l.OnFunc("work", func(c *sessiontest.Call) reply {
				switch c.Host {
				case "web0": // fails while the other runs
					<-begun
				case "web1":
					close(begun)
					time.Sleep(time.Minute)
				}
				return reply{Exit: 1}
			})
			var notRun error
			p.Result = func(h hosts.Host, r session.Result) {
				if h.Name == "web3" {
					notRun = r.Err
				}
			}
			r, err := p.Run(t.Context(), l.pool, l.hs, session.Command{Script: "work", Forks: 2})
			require.NoError(t, err)
			assert.Equal(t, "web[0-1]", names(r.Failed()))
			assert.Contains(t, r.Why, "2 of 4 hosts")
			assert.Contains(t, r.Why, "failed, and "+name+" is 0")
			assert.ErrorContains(t, notRun, "failed than "+name+" allows (0 of 4)", "which stays true")
		})
	}
}

func TestVerifyRunsWhereTheCommandSucceeded(t *testing.T) {
	inLab(t, 6, func(t *testing.T, l *lab) {
		l.fails("web1")
		l.OnFunc("check", func(c *sessiontest.Call) reply {
			if c.Host == "web2" {
				return reply{Exit: 1}
			}
			return reply{}
		})
		r := l.run(t, t.Context(), rollout.Plan{Batches: sizes(t, "2"), MaxFail: limit(t, "1"), Verify: &session.Command{Script: "check"}})
		assert.Equal(t, rollout.MaxFail, r.Reason)
		assert.Equal(t, "web[1-2]", names(r.Failed()))
		assert.Equal(t, "web[4-5]", names(r.NotRun()))
		assert.NotContains(t, l.verified, "web1")
		assert.Equal(t, session.StatusExit, l.verified["web2"].Status)
		assert.Equal(t, session.StatusOK, l.results["web2"].Status, "the command's own result stays")
		assert.Equal(t, session.StatusOK, l.verified["web3"].Status)
	})
}

func TestVerifyRunsWhereTheCommandSucceededBeforeALimitStoppedTheRun(t *testing.T) {
	for name, p := range map[string]rollout.Plan{
		"max-fail":       {MaxFail: limit(t, "0")},
		"batch-max-fail": {BatchMaxFail: limit(t, "0")},
	} {
		inLab(t, 6, func(t *testing.T, l *lab) {
			l.fails("web1")
			l.OnFunc("check", func(c *sessiontest.Call) reply {
				if c.Host == "web2" {
					return reply{Exit: 1}
				}
				return reply{}
			})
			p.Batches, p.Verify = sizes(t, "4"), &session.Command{Script: "check", Forks: 1}
			r := l.run(t, t.Context(), p)
			assert.Equal(t, name, string(r.Reason))
			assert.Equal(t, 0, r.Done)
			assert.Equal(t, "web[1-2]", names(r.Failed()))
			assert.Equal(t, "web[0,3]", names(r.Batches[0].OK))
			assert.Equal(t, "web[4-5]", names(r.NotRun()))
			assert.Len(t, l.verified, 3)
			assert.Equal(t, session.StatusOK, l.verified["web3"].Status, "also after a check that failed")
		})
	}
}

func TestVerifyDoesNotRunOnceTheRunIsCanceled(t *testing.T) {
	inLab(t, 2, func(t *testing.T, l *lab) {
		l.OnFunc("work", func(c *sessiontest.Call) reply { return reply{Hang: c.Host == "web1"} })
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		r := l.run(t, ctx, rollout.Plan{Verify: &session.Command{Script: "check"}})
		assert.Equal(t, rollout.Canceled, r.Reason)
		assert.Empty(t, l.verified)
	})
}

func TestConfirmIsAskedBetweenBatches(t *testing.T) {
	inLab(t, 6, func(t *testing.T, l *lab) {
		l.fails("web1")
		asked := 0
		r := l.run(t, t.Context(), rollout.Plan{Batches: sizes(t, "2"), Confirm: func(_ context.Context, so rollout.Report) error {
			asked++
			assert.Equal(t, asked, so.Done)
			assert.Equal(t, "web1", names(so.Failed()))
			if asked == 2 {
				return rollout.ErrDeclined
			}
			return nil
		}})
		assert.Equal(t, 2, asked)
		assert.Equal(t, rollout.Declined, r.Reason)
		assert.Equal(t, "the next batch was not confirmed", r.Why)
		assert.Equal(t, "web[4-5]", names(r.NotRun()))
	})
}

func TestTheDeadlineStopsWhatRunsAndTheRest(t *testing.T) {
	inLab(t, 4, func(t *testing.T, l *lab) {
		l.On("work", reply{Hang: true})
		r := l.run(t, t.Context(), rollout.Plan{Batches: sizes(t, "2"), Deadline: time.Minute})
		assert.Equal(t, rollout.Deadline, r.Reason)
		assert.Equal(t, "the deadline of the run, 1m0s, passed", r.Why)
		assert.Equal(t, "web[2-3]", names(r.NotRun()))
		res := l.results["web0"]
		assert.Equal(t, session.StatusTimeout, res.Status)
		require.ErrorIs(t, res.Err, session.ErrTimeout)
		require.ErrorIs(t, res.Err, rollout.ErrDeadline)
		require.ErrorIs(t, l.results["web3"].Err, rollout.ErrNotRun)
	})
}

func TestTheDeadlineEndsAConfirmation(t *testing.T) {
	inLab(t, 2, func(t *testing.T, l *lab) {
		l.fails()
		r := l.run(t, t.Context(), rollout.Plan{Batches: sizes(t, "1"), Deadline: time.Minute, Confirm: func(ctx context.Context, _ rollout.Report) error {
			<-ctx.Done()
			return ctx.Err()
		}})
		assert.Equal(t, rollout.Deadline, r.Reason)
		assert.Equal(t, time.Minute, r.Took)
		assert.Equal(t, "web1", names(r.NotRun()))
	})
}

func TestTheEndOfTheContextStopsARunBetweenAndInsideBatches(t *testing.T) {
	why := errors.New("enough")
	t.Run("between", func(t *testing.T) {
		inLab(t, 4, func(t *testing.T, l *lab) {
			l.fails()
			ctx, cancel := context.WithCancelCause(t.Context())
			r := l.run(t, ctx, rollout.Plan{Batches: sizes(t, "2"), Confirm: func(context.Context, rollout.Report) error {
				cancel(why)
				return nil
			}})
			assert.Equal(t, rollout.Canceled, r.Reason)
			assert.Equal(t, "enough", r.Why)
			assert.Equal(t, "web[2-3]", names(r.NotRun()))
			assert.Equal(t, 1, r.Done)
		})
	})
	t.Run("inside", func(t *testing.T) {
		inLab(t, 4, func(t *testing.T, l *lab) {
			l.On("work", reply{Hang: true})
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Second, func() { cancel(why) })
			r := l.run(t, ctx, rollout.Plan{Batches: sizes(t, "2")})
			assert.Equal(t, rollout.Canceled, r.Reason)
			assert.Equal(t, session.StatusCanceled, l.results["web0"].Status)
			assert.True(t, l.results["web0"].Err.Sent)
			assert.Equal(t, "web[2-3]", names(r.NotRun()))
			assert.Equal(t, "web[0-1]", names(r.Failed()))
		})
	})
}

func TestOnlyConnectionsAreRetried(t *testing.T) {
	inLab(t, 3, func(t *testing.T, l *lab) {
		ran := map[string]int{}
		l.OnFunc("work", func(c *sessiontest.Call) reply {
			ran[c.Host]++
			return reply{Exit: 1}
		})
		l.Fault("web0", faults{Dial: errors.New("refused")})
		l.Fault("web1", faults{Dial: session.ErrAuth})
		time.AfterFunc(2*time.Second, func() { l.Fault("web0", faults{}) })
		asked := 0
		p := rollout.Plan{Retry: 3}
		r, err := p.Run(t.Context(), l.pool, l.hs[:1], session.Command{Script: "work", Streams: func(hosts.Host) (stdout, stderr io.Writer) {
			asked++
			return io.Discard, io.Discard
		}})
		require.NoError(t, err)
		assert.Equal(t, 3*time.Second, r.Took, "1 s and 2 s of pause")
		assert.Equal(t, 1, ran["web0"], "a command that was sent is not sent again")
		assert.Equal(t, 3, asked)

		r, err = p.Run(t.Context(), l.pool, l.hs[1:], session.Command{Script: "work"})
		require.NoError(t, err)
		assert.Zero(t, r.Took, "neither a refused login nor a failed command is tried again")
		assert.Equal(t, 1, ran["web2"])
	})
}

// approvals answers yes, each time with an approval of its own.
type approvals struct{ asked []policy.Question }

func (a *approvals) Approve(_ context.Context, q policy.Question) (policy.Answer, error) {
	a.asked = append(a.asked, q)
	return policy.Answer{Approved: true, ID: fmt.Sprintf("a_%d", len(a.asked)), By: "operator/ada"}, nil
}

func TestAnApprovedCommandIsNotTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := sessiontest.NewDialer(t)
		d.Fault("web0", faults{Dial: errors.New("refused")})
		ask := policy.DeciderFunc(func(context.Context, policy.Request) (policy.Decision, error) {
			return policy.Decision{Verdict: policy.Ask, Rule: "t", Class: policy.Write, Reason: "it writes"}, nil
		})
		pool, err := session.NewPool(session.PoolConfig{Dial: d.Dial, Session: session.Config{Policy: ask, Audit: audit.Discard{}}})
		require.NoError(t, err)
		by, in := &approvals{}, strings.NewReader("all of the input")
		var got session.Result
		r, err := rollout.Plan{Retry: 5, Result: func(_ hosts.Host, r session.Result) { got = r }}.Run(t.Context(), pool, []hosts.Host{{Name: "web0"}},
			session.Command{Script: "work", Stdin: in, Approver: by})
		require.NoError(t, err)
		assert.Zero(t, r.Took)
		require.Len(t, by.asked, 1, "and not again, with what is left of the input")
		assert.EqualValues(t, len("all of the input"), by.asked[0].StdinBytes)
		assert.Equal(t, session.StatusUnreachable, got.Status)
		assert.ErrorContains(t, got.Err, "refused; not tried again, because an approval is for one attempt")
		require.NoError(t, pool.Close())
	})
}

func TestAnAttemptThatDoesNotConnectReadsNoStandardInput(t *testing.T) {
	inLab(t, 1, func(t *testing.T, l *lab) {
		l.Fault("web0", faults{Dial: errors.New("refused")})
		in := strings.NewReader("all of it")
		r, err := rollout.Plan{Retry: 3}.Run(t.Context(), l.pool, l.hs, session.Command{Script: "work", Stdin: in})
		require.NoError(t, err)
		assert.Equal(t, 7*time.Second, r.Took)
		assert.Equal(t, len("all of it"), in.Len())
	})
}

func TestTheLastAttemptCounts(t *testing.T) {
	inLab(t, 1, func(t *testing.T, l *lab) {
		l.Fault("web0", faults{Dial: errors.New("refused")})
		r := l.run(t, t.Context(), rollout.Plan{Retry: 2})
		assert.Equal(t, session.StatusUnreachable, l.results["web0"].Status)
		assert.Equal(t, 3*time.Second, r.Took)
		assert.Equal(t, "web0", names(r.Failed()))
	})
}

func TestNumbersAreReadStrictly(t *testing.T) {
	for _, bad := range []string{"", "0", "0%", "-1", "+1", "1.5", "101%", "1,,2", "x", "%", "2000000", "1,0"} {
		_, err := rollout.ParseSizes(bad)
		assert.Error(t, err, bad)
	}
	for _, bad := range []string{"", "-1", "101%", "x", "%", "1.5%"} {
		_, err := rollout.ParseLimit(bad)
		assert.Error(t, err, bad)
	}
	l := limit(t, "0")
	assert.True(t, l.Set())
	assert.Equal(t, "0", l.String())
	assert.False(t, rollout.Limit{}.Set())
	assert.Empty(t, rollout.Limit{}.String())
	assert.Equal(t, "10%", strings.Trim(fmt.Sprint(sizes(t, "10%")), "[]"))
}
