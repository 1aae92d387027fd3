//go:build !unix

package pipe

import "net"

var private net.ListenConfig
