package registry_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/output"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

func TestACommandCanBeLookedAtAgain(t *testing.T) {
	bubble(t, registry.Config{}, func(t *testing.T, w *world) {
		w.dialer.On("work", reply{Stdout: "out", Stderr: "err", Exit: 2})
		e := w.open("web1", "")
		assert.Nil(t, e.Last(), "what opened the session is not the caller's")
		x := w.start(e, registry.Command{Script: "work"})
		require.NoError(t, x.Wait(t.Context()))
		e.Close()
		for range 2 {
			again, err := w.Exec(me, x.ID())
			require.NoError(t, err)
			v := w.view(again)
			assert.Equal(t, session.StatusExit, v.Result.Status)
			assert.Equal(t, "out", string(v.Result.Stdout))
			assert.Equal(t, "err", string(v.Result.Stderr))
			assert.EqualValues(t, 3, v.Result.StdoutBytes)
		}
		_, err := w.Exec("agent/other", x.ID())
		assert.Equal(t, registry.CodeNotFound, codeOf(t, err))
	})
}

func TestOutputSoFarIsSeenWhileItRuns(t *testing.T) {
	bubble(t, registry.Config{}, func(t *testing.T, w *world) {
		w.dialer.OnFunc("work", func(c *callT) reply {
			c.Stdout.Write([]byte("one token=")) // a keyword: what follows may be a secret
			time.Sleep(time.Minute)
			c.Stdout.Write([]byte("abcdefghijklmnop\ntwo"))
			time.Sleep(time.Minute)
			return reply{}
		})
		x := w.start(w.open("web1", ""), registry.Command{Script: "work"})
		time.Sleep(30 * time.Second)
		assert.Equal(t, session.Running, w.view(x).Result.State)
		assert.Equal(t, "one token=", string(w.view(x).Result.Stdout), "silence shows what was held back")
		time.Sleep(time.Minute)
		v := w.view(x)
		assert.NotContains(t, string(v.Result.Stdout), "abcdefgh")
		assert.True(t, strings.HasSuffix(string(v.Result.Stdout), "\ntwo"))
		require.NoError(t, x.Wait(context.Background()))
		assert.Equal(t, session.StatusOK, w.view(x).Result.Status)
	})
}

func TestSecretsAreGoneBeforeAnythingIsCounted(t *testing.T) {
	bubble(t, registry.Config{}, func(t *testing.T, w *world) {
		const script = "PGPASSWORD=hunter2hunter2 psql"
		w.dialer.On(script, reply{Stdout: "a hunter2hunter2 b\n", Late: "late hunter2hunter2"})
		w.dialer.On("next", reply{})
		e := w.open("web1", "")
		v := w.run(e, script)
		r := v.Result
		assert.NotContains(t, string(r.Stdout)+r.Command, "hunter2")
		assert.Equal(t, int64(len(r.Stdout)), r.StdoutBytes)
		assert.Equal(t, 2, v.Redacted.Total(), "the command and the output")
		v = w.run(e, "next")
		assert.NotContains(t, string(v.Result.Stray), "hunter2")

		_, err := e.Start(t.Context(), registry.Command{Script: "echo " + strings.Fields(string(r.Stdout))[1]})
		assert.Equal(t, registry.CodeInvalid, codeOf(t, err), "a mark is no secret")
	})
}

// typed is why something was not typed.
func typed(_ *session.Typing, err error) error { return err }

func TestABudgetIsExactAndTheRestIsPaged(t *testing.T) {
	bubble(t, registry.Config{}, func(t *testing.T, w *world) {
		text := strings.Repeat("0123456789abcde\n", 1000)
		w.dialer.On("work", reply{Stdout: text, Stderr: "e"})
		x := w.start(w.open("web1", ""), registry.Command{Script: "work"})
		require.NoError(t, x.Wait(t.Context()))
		v, err := x.View(registry.Budgets{Stdout: output.Budget{Head: 2}})
		require.NoError(t, err)
		assert.Equal(t, text[:32], string(v.Result.Stdout))
		assert.EqualValues(t, len(text)-32, v.Result.OmittedStdout)
		assert.EqualValues(t, 32, v.Result.CutStdout)
		var all []byte
		for at := int64(0); ; {
			p, err := x.Page(registry.Stdout, at, 1000)
			require.NoError(t, err)
			all = append(all, p.Text...)
			if at = p.Next; p.End {
				break
			}
		}
		assert.Equal(t, text, string(all))
		_, err = x.Page("stdin", 0, 10)
		assert.Equal(t, registry.CodeInvalid, codeOf(t, err))
		_, err = x.View(registry.Budgets{Stdout: output.Budget{Grep: "("}})
		assert.Equal(t, registry.CodeInvalid, codeOf(t, err))
		_, err = x.Screen()
		assert.Equal(t, registry.CodeInvalid, codeOf(t, err))
		assert.Equal(t, registry.CodeNotRunning, codeOf(t, typed(x.Type(t.Context(), "x"))))
	})
}

func TestWaitForEndsWithTheFirstOfWhatItWaitsFor(t *testing.T) {
	bubble(t, registry.Config{}, func(t *testing.T, w *world) {
		w.dialer.OnFunc("work", func(c *callT) reply {
			for _, s := range []string{"one\n", "\x1b[31mtwo\x1b[0m\n", "three\n"} {
				time.Sleep(10 * time.Second)
				c.Stdout.Write([]byte(s))
			}
			time.Sleep(time.Minute)
			return reply{}
		})
		e := w.open("web1", "")
		x := w.start(e, registry.Command{Script: "work"})
		began := time.Now()
		took := func() time.Duration { return time.Since(began).Round(time.Second) }
		two := regexp.MustCompile(`(?m)^two$`)
		assert.Equal(t, registry.WokeMatch, x.WaitFor(t.Context(), registry.Wait{Pattern: two}))
		assert.Equal(t, 20*time.Second, took())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		assert.Equal(t, registry.WokeTime, x.WaitFor(ctx, registry.Wait{Pattern: two, From: x.Printed()}), "not what came before")
		assert.Equal(t, registry.WokeSilence, x.WaitFor(t.Context(), registry.Wait{Silence: 12 * time.Second}))
		assert.Equal(t, 42*time.Second, took())
		assert.Equal(t, registry.WokeEnd, x.WaitFor(t.Context(), registry.Wait{Silence: time.Hour}))
		assert.Equal(t, registry.WokeMatch, x.WaitFor(t.Context(), registry.Wait{Pattern: two}), "also when it is over")
	})
}

func TestAPromptIsTold(t *testing.T) {
	bubble(t, registry.Config{}, func(t *testing.T, w *world) {
		w.dialer.OnFunc("sudo id", func(c *callT) reply {
			c.Stderr.Write([]byte("[sudo] password for ada: "))
			<-c.Interrupted
			return reply{Exit: 1}
		})
		x := w.start(w.open("web1", ""), registry.Command{Script: "sudo id"})
		assert.Equal(t, registry.WokePrompt, x.WaitFor(t.Context(), registry.Wait{Prompt: true}))
		assert.EqualValues(t, "password", x.Waiting().Kind)
		assert.Equal(t, registry.CodeNotInteractive, codeOf(t, typed(x.Type(t.Context(), "secret"))))
		x.Stop()
		assert.Empty(t, x.Waiting().Kind)
	})
}

func TestARequestIsRunOnce(t *testing.T) {
	bubble(t, registry.Config{KeepFor: time.Hour}, func(t *testing.T, w *world) {
		runs := 0
		w.dialer.OnFunc("work", func(*callT) reply { runs++; time.Sleep(time.Minute); return reply{} })
		e := w.open("web1", "")
		cmd := registry.Command{Script: "work", RequestID: "r1"}
		x := w.start(e, cmd)
		assert.Same(t, x, w.start(e, cmd), "while it runs")
		require.NoError(t, x.Wait(context.Background()))
		assert.Same(t, x, w.start(e, cmd), "and after")
		other := cmd
		other.Script = "other"
		_, err := e.Start(t.Context(), other)
		assert.Equal(t, registry.CodeConflict, codeOf(t, err))
		_, err = w.open("web2", "").Start(t.Context(), cmd)
		assert.Equal(t, registry.CodeConflict, codeOf(t, err), "in another session")
		time.Sleep(59*time.Minute + 30*time.Second)
		synctest.Wait()
		assert.Same(t, x, w.start(e, cmd))
		assert.Equal(t, 1, runs)
	})
}

func TestARequestThatRanIsNeverRunAgainWhenItsOutputIsGone(t *testing.T) {
	bubble(t, registry.Config{MaxExecs: 1}, func(t *testing.T, w *world) {
		w.dialer.On("a", reply{})
		w.dialer.On("b", reply{})
		e := w.open("web1", "")
		cmd := registry.Command{Script: "a", RequestID: "r1"}
		x := w.start(e, cmd)
		require.NoError(t, x.Wait(t.Context()))
		w.run(e, "b")
		_, err := e.Start(t.Context(), cmd)
		assert.Equal(t, registry.CodeGone, codeOf(t, err))
		_, err = w.Exec(me, x.ID())
		assert.Equal(t, registry.CodeNotFound, codeOf(t, err))
		assert.Len(t, w.dialer.Ran("web1"), 3)
	})
}

func TestARequestThatWasRefusedMayBeMadeAgain(t *testing.T) {
	bubble(t, registry.Config{}, func(t *testing.T, w *world) {
		w.dialer.On("long", reply{Hang: true})
		w.dialer.On("work", reply{Stdout: "x"})
		e := w.open("web1", "")
		x := w.start(e, registry.Command{Script: "long"})
		cmd := registry.Command{Script: "work", RequestID: "r1"}
		_, err := e.Start(t.Context(), cmd)
		assert.Equal(t, "busy", codeOf(t, err))
		x.Stop()
		y := w.start(e, cmd)
		require.NoError(t, y.Wait(t.Context()))
		assert.Equal(t, "x", string(w.view(y).Result.Stdout))
	})
}

func TestOutputsAreKeptWithinBounds(t *testing.T) {
	bubble(t, registry.Config{MaxExecs: 3, MaxStored: 250, KeepFor: time.Hour}, func(t *testing.T, w *world) {
		w.dialer.On("big", reply{Stdout: strings.Repeat("x", 100)})
		w.dialer.On("small", reply{})
		e := w.open("web1", "")
		kept := func(xs ...*registry.Exec) (n int) {
			for _, x := range xs {
				if _, err := w.Exec(me, x.ID()); err == nil {
					n++
				}
			}
			return n
		}
		var xs []*registry.Exec
		for range 3 {
			x := w.start(e, registry.Command{Script: "big"})
			require.NoError(t, x.Wait(t.Context()))
			synctest.Wait()
			xs = append(xs, x)
		}
		assert.Equal(t, 2, kept(xs...), "300 bytes are too many")
		for range 3 {
			w.run(e, "small")
		}
		synctest.Wait()
		assert.Equal(t, 0, kept(xs...), "four are too many")
		last := e.Last()
		assert.Equal(t, 1, kept(last))
		time.Sleep(time.Hour + time.Second)
		assert.Equal(t, 0, kept(last), "they are forgotten in time")
		_, err := last.View(registry.Budgets{})
		assert.Equal(t, registry.CodeGone, codeOf(t, err))
	})
}

// refuser says no, and why, to whatever is to be typed.
type refuser struct{}

func (refuser) Approve(_ context.Context, q policy.Question) (policy.Answer, error) {
	return policy.Answer{Approved: q.Typed == "", ID: "a_1", By: "operator/ada", Reason: "hunter2hunter2 is not one of yours"}, nil
}

func TestADeniedCommandTeachesNothing(t *testing.T) {
	set := redact.New(redact.Config{})
	bubble(t, registry.Config{Secrets: set}, func(t *testing.T, w *world) {
		w.dialer.On("TOKEN=correct-horse9 make", reply{Stdout: "made by denied-horse9\n"})
		e := w.open("web1", "")
		v := w.run(e, "denied TOKEN=denied-horse9; echo denied-horse9")
		assert.Equal(t, session.StatusDenied, v.Result.Status)
		assert.NotContains(t, v.Result.Command+v.Result.Err.Error(), "denied-horse9", "where it is shown")
		assert.Zero(t, set.Len())
		v = w.run(e, "TOKEN=correct-horse9 make")
		assert.Equal(t, "made by denied-horse9\n", string(v.Result.Stdout))
		assert.Equal(t, 1, set.Len())
	})
}

func TestARefusalOfTypingIsToldWithoutSecrets(t *testing.T) {
	bubble(t, registry.Config{}, func(t *testing.T, w *world) {
		w.dialer.OnFunc("PGPASSWORD=hunter2hunter2 psql", func(c *callT) reply { <-c.Interrupted; return reply{} })
		e := w.open("web1", "")
		x := w.start(e, registry.Command{Script: "PGPASSWORD=hunter2hunter2 psql", Interactive: true})
		synctest.Wait() // it runs
		state, why := x.Typed()
		assert.Empty(t, state)
		require.NoError(t, why)
		waits, err := x.Type(t.Context(), "asked")
		if err != nil { // it was refused before Type looked
			require.ErrorIs(t, err, session.ErrRejected)
		}
		assert.Equal(t, registry.WokeRefused, x.WaitFor(t.Context(), registry.Wait{Typed: waits}))
		assert.Equal(t, registry.WokeRefused, x.WaitFor(t.Context(), registry.Wait{Typed: waits}), "also when it was refused before")
		state, why = x.Typed()
		assert.Equal(t, "refused", state)
		assert.Equal(t, why, x.Refusal(waits))
		assert.Equal(t, "rejected", codeOf(t, why))
		assert.ErrorContains(t, why, "is not one of yours")
		assert.NotContains(t, why.Error(), "hunter2")
		assert.ErrorIs(t, why, session.ErrRejected)
		x.Stop()
	})
}

// A password that would be shown, as there is no room to learn it, does not reach the host.
func TestAPasswordThatCannotBeRedactedIsNotTyped(t *testing.T) {
	set := redact.New(redact.Config{MaxLearned: 2, MaxLearnedBytes: 1 << 10})
	for i := range 8 {
		require.True(t, set.Owner(fmt.Sprint("operator/", i)).LearnTyped(fmt.Appendf(nil, "another-one-%d", i)))
	}
	bubble(t, registry.Config{Secrets: set}, func(t *testing.T, w *world) {
		w.dialer.OnFunc("sudo id", func(c *callT) reply {
			c.Stdout.Write([]byte("[sudo] password for ada: "))
			<-c.Interrupted
			return reply{}
		})
		x := w.start(w.open("web1", ""), registry.Command{Script: "sudo id", Interactive: true})
		assert.Equal(t, registry.WokePrompt, x.WaitFor(t.Context(), registry.Wait{Prompt: true}))
		err := typed(x.Type(t.Context(), "correct-horse9", "enter"))
		assert.Equal(t, registry.CodeFull, codeOf(t, err))
		assert.NotContains(t, err.Error(), "horse")
		state, _ := x.Typed()
		assert.Empty(t, state)
		x.Stop()
	})
}
