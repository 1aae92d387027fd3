package keeper

import "net"

// OnListening has f told the port that a keeper listens on.
func (c *Config) OnListening(f func(net.Addr)) { c.listening = f }
