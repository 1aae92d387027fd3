package sinks

import "github.com/fairlead-ssh/fairlead/audit"

// LocalSyslog is the local daemon at another socket.
func LocalSyslog(socket string) audit.Anchorer {
	s := newSyslog("local")
	s.sockets = []string{socket}
	return s
}
