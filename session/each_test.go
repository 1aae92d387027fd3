package session_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

func fleet(n int) []hosts.Host {
	var out []hosts.Host
	for i := range n {
		out = append(out, hosts.Host{Name: fmt.Sprintf("web%d", i)})
	}
	return out
}

func TestEachYieldsResultsAsTheyCome(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.OnFunc("work", func(c *sessiontest.Call) reply {
			var i int
			fmt.Sscanf(c.Host, "web%d", &i)
			time.Sleep(time.Duration(10-i) * time.Second)
			return reply{Stdout: c.Host, Exit: i}
		})
		d.Fault("web3", faults{Dial: errors.New("refused")})
		p := poolOn(t, d, session.PoolConfig{})
		var order []string
		for h, r := range p.Each(t.Context(), fleet(5), session.Command{Script: "work"}) {
			order = append(order, h.Name)
			assert.Equal(t, h.Name, r.Host)
			if h.Name == "web3" {
				assert.Equal(t, session.StatusUnreachable, r.Status)
				continue
			}
			assert.Equal(t, h.Name, string(r.Stdout))
			assert.Equal(t, h.Name, fmt.Sprintf("web%d", *r.ExitCode))
		}
		assert.Equal(t, []string{"web3", "web4", "web2", "web1", "web0"}, order)
		assert.Zero(t, p.Stats().Sessions)
	})
}

// Each host would get a part of it.
func TestOneInputIsNotForSeveralHosts(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		p := poolOn(t, d, session.PoolConfig{})
		var told []string
		for h, r := range p.Each(t.Context(), fleet(3), session.Command{Script: "cat", Stdin: strings.NewReader("x")}) {
			require.ErrorIs(t, r.Err, session.ErrInvalid)
			assert.ErrorContains(t, r.Err, "Command.Stdins")
			assert.Equal(t, h.Name, r.Host)
			told = append(told, h.Name)
		}
		assert.Equal(t, []string{"web0", "web1", "web2"}, told)
		for range p.Each(t.Context(), fleet(3), session.Command{Script: "cat", Stdin: strings.NewReader("x")}) {
			break
		}
		assert.Zero(t, d.Dialed("web0"))
	})
}

func TestEachOfNobodyYieldsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		p := poolOn(t, d, session.PoolConfig{})
		for range p.Each(t.Context(), nil, session.Command{Script: "never"}) {
			t.Error("something")
		}
	})
}

func TestEachRunsOnlySoManyAtATime(t *testing.T) {
	for _, forks := range []int{1, 3, -1} {
		t.Run(fmt.Sprint(forks), func(t *testing.T) {
			inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
				var mu sync.Mutex
				now, most := 0, 0
				d.OnFunc("work", func(*sessiontest.Call) reply {
					mu.Lock()
					now++
					most = max(most, now)
					mu.Unlock()
					time.Sleep(time.Second)
					mu.Lock()
					now--
					mu.Unlock()
					return reply{}
				})
				p := poolOn(t, d, session.PoolConfig{Forks: forks, MaxDials: -1})
				count := 0
				for range p.Each(t.Context(), fleet(10), session.Command{Script: "work"}) {
					count++
				}
				assert.Equal(t, 10, count)
				if forks < 0 {
					forks = 10
				}
				assert.Equal(t, forks, most)
			})
		})
	}
}

func TestBreakingOutOfEachStopsTheRestAndWaitsForIt(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		others := make(chan struct{}, 10)
		d.OnFunc("work", func(c *sessiontest.Call) reply {
			if c.Host == "web0" {
				<-others // the two that run beside it have begun
				<-others
				return reply{}
			}
			others <- struct{}{}
			<-c.Interrupted
			time.Sleep(time.Second)
			return reply{Exit: 130}
		})
		p := poolOn(t, d, session.PoolConfig{Forks: 3})
		began := time.Now()
		for h := range p.Each(t.Context(), fleet(10), session.Command{Script: "work"}) {
			assert.Equal(t, "web0", h.Name)
			break
		}
		assert.Equal(t, time.Second, time.Since(began), "it waits for those who were asked to stop")
		assert.Zero(t, p.Stats().Sessions)
		assert.Empty(t, d.Ran("web9"), "nobody begins any more")
	})
}

func TestEndOfTheContextYieldsCanceledForTheRest(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("work", reply{Hang: true})
		p := poolOn(t, d, session.PoolConfig{Forks: 3})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		seen, sent := map[string]bool{}, 0
		for h, r := range p.Each(ctx, fleet(10), session.Command{Script: "work"}) {
			seen[h.Name] = true
			assert.Equal(t, h.Name, r.Host)
			assert.Equal(t, session.StatusCanceled, r.Status)
			assert.Equal(t, session.Done, r.State)
			assert.Equal(t, "canceled", r.Err.Code)
			if r.Err.Sent {
				sent++
			}
		}
		assert.Len(t, seen, 10)
		assert.Equal(t, 3, sent)
	})
}

func TestPanicInTheLoopOfEachStopsTheRest(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.OnFunc("work", func(c *sessiontest.Call) reply {
			if c.Host == "web0" {
				time.Sleep(time.Second)
				return reply{}
			}
			return reply{Hang: true}
		})
		p := poolOn(t, d, session.PoolConfig{})
		assert.PanicsWithValue(t, "mine", func() {
			for range p.Each(t.Context(), fleet(4), session.Command{Script: "work"}) {
				panic("mine")
			}
		})
		assert.Zero(t, p.Stats().Sessions)
	})
}

func TestEachAsksForTheStreamsOfEveryHost(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.OnFunc("work", func(c *sessiontest.Call) reply { return reply{Stdout: "o" + c.Host, Stderr: "e" + c.Host} })
		p := poolOn(t, d, session.PoolConfig{})
		var mu sync.Mutex
		outs, errs := map[string]*bytes.Buffer{}, map[string]*bytes.Buffer{}
		cmd := session.Command{Script: "work", Stdout: failingWriter{}, Stderr: failingWriter{}}
		cmd.Streams = func(h hosts.Host) (io.Writer, io.Writer) {
			mu.Lock()
			defer mu.Unlock()
			assert.NotContains(t, outs, h.Name, "asked twice")
			outs[h.Name], errs[h.Name] = &bytes.Buffer{}, &bytes.Buffer{}
			return outs[h.Name], errs[h.Name]
		}
		for h, r := range p.Each(t.Context(), fleet(20), cmd) {
			assert.Equal(t, session.StatusOK, r.Status)
			mu.Lock()
			assert.Equal(t, "o"+h.Name, outs[h.Name].String())
			assert.Equal(t, "e"+h.Name, errs[h.Name].String())
			mu.Unlock()
		}
	})
}

// closing is a writer that says when it was closed.
type closing struct {
	bytes.Buffer
	closed int
	err    error
}

func (c *closing) Close() error { c.closed++; return c.err }

func TestEachTellsTheStreamsOfAHostThatItHasEnded(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.OnFunc("work", func(c *sessiontest.Call) reply { return reply{Stdout: "no newline " + c.Host, Exit: 3} })
		d.Fault("h3", sessiontest.Faults{Dial: session.ErrAuth})
		p := poolOn(t, d, session.PoolConfig{})
		var mu sync.Mutex
		outs, errs := map[string]*closing{}, map[string]*closing{}
		cmd := session.Command{Script: "work"}
		cmd.Streams = func(h hosts.Host) (io.Writer, io.Writer) {
			mu.Lock()
			defer mu.Unlock()
			out, err := &closing{}, &closing{}
			switch h.Name {
			case "h1":
				err = out
			case "h2":
				err.err = errors.New("disk full")
			}
			outs[h.Name], errs[h.Name] = out, err
			return out, err
		}
		hs := []hosts.Host{{Name: "h1"}, {Name: "h2"}, {Name: "h3"}, {Name: "h4"}}
		for h, r := range p.Each(t.Context(), hs, cmd) {
			mu.Lock()
			assert.Equal(t, 1, outs[h.Name].closed, h.Name)
			assert.Equal(t, 1, errs[h.Name].closed, h.Name)
			switch h.Name {
			case "h2":
				assert.Equal(t, session.StatusError, r.Status)
				require.ErrorIs(t, r.Err, session.ErrOutput)
				assert.ErrorContains(t, r.Err, "disk full")
			case "h3":
				assert.Equal(t, session.StatusAuth, r.Status, "a host that was not reached ends too")
			default:
				assert.Equal(t, session.StatusExit, r.Status)
				assert.Equal(t, "no newline "+h.Name, outs[h.Name].String())
			}
			mu.Unlock()
		}
	})
}

// The program's own streams outlive a run.
func TestEachDoesNotCloseTheStreamsOfTheProgram(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("work")
		p := poolOn(t, d, session.PoolConfig{})
		for range p.Each(t.Context(), fleet(1), session.Command{Script: "work", Streams: func(hosts.Host) (io.Writer, io.Writer) {
			return os.Stdout, os.Stderr
		}}) {
		}
		_, err := os.Stdout.Stat()
		require.NoError(t, err)
		_, err = os.Stderr.Stat()
		require.NoError(t, err)
	})
}

func TestACommandOnManyHostsIsOneGroupOnRecordAndTakesItsOwnForks(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		var mu sync.Mutex
		now, most := 0, 0
		d.OnFunc("work", func(*sessiontest.Call) reply {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			now--
			mu.Unlock()
			return reply{}
		})
		groups := map[string]int{}
		p := poolOn(t, d, session.PoolConfig{Session: session.Config{Audit: audit.SinkFunc(func(_ context.Context, e audit.Event) error {
			mu.Lock()
			defer mu.Unlock()
			groups[e.Group]++
			return nil
		})}})
		run := func(n int, cmd session.Command) {
			for range p.Each(t.Context(), fleet(n), cmd) {
			}
		}
		run(6, session.Command{Script: "work", Group: "r_mine", Forks: 2})
		assert.Equal(t, 2, most)
		assert.Equal(t, map[string]int{"r_mine": 12}, groups, "requests and results")
		run(3, session.Command{Script: "work"})
		assert.Len(t, groups, 2, "one is made up")
		run(1, session.Command{Script: "work"})
		assert.Equal(t, 2, groups[""], "a single host needs none")
	})
}
