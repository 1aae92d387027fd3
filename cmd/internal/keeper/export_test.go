package keeper

import (
	"net"
	"time"
)

// OnListening has f told the port that a keeper listens on.
func (c *Config) OnListening(f func(net.Addr)) { c.listening = f }

// WaitOf is how long a request that says so (nil: nothing) is waited for.
func WaitOf(s *float64) (time.Duration, error) { return seconds("wait_s", s, defaultWait, maxWait) }

// SweepEvery is how often a keeper looks what others have done.
func (c *Config) SweepEvery(d time.Duration) { c.sweep = d }
