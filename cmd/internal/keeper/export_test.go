package keeper

import (
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/params"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/route"
)

// WaitOf is how long a request that says so (nil: nothing) is waited for.
func WaitOf(s *float64) (time.Duration, error) {
	return params.Seconds("wait_s", s, route.DefaultWait, route.MaxWait)
}

// SweepEvery is how often a keeper looks what others have done.
func (c *Config) SweepEvery(d time.Duration) { c.sweep = d }

// Hurry bounds how long headers and bodies may take; zero is as ever.
func (c *Config) Hurry(headers, body time.Duration) { c.headerTime, c.bodyTime = headers, body }

// Answers bounds how long an answer may take to begin, if the server writes it itself, and then to be read.
func (c *Config) Answers(begin, read time.Duration) { c.waitTime, c.readTime = begin, read }

// Patience bounds the requests with one token: so many a second, and at once.
func (c *Config) Patience(rate, burst float64) { c.tokenRate, c.tokenBurst = rate, burst }

// Asks is how many questions of one principal may wait at a time.
func (c *Config) Asks(n int) { c.asks = n }

// NoBubblewrap is as if no host had it.
func (c *Config) NoBubblewrap() { c.noWrap = true }

// Slow is how often terminals over TCP are pinged, and how long their clients may take.
func (c *Config) Slow(every, atMost time.Duration) { c.aliveEvery, c.slowTime = every, atMost }

// LookEvery is how often a keeper looks for its sockets.
func (c *Config) LookEvery(d time.Duration) { c.lookEvery = d }
