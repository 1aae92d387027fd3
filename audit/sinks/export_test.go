package sinks

import "github.com/fairlead-ssh/fairlead/audit"

// Header is a text as it may stand in the header of a message to syslog.
var Header = header

// LocalSyslog is the local daemon at another socket.
func LocalSyslog(socket string) audit.Anchorer {
	s := newSyslog("local")
	s.sockets = []string{socket}
	return s
}
