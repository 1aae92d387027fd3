package wire

import "time"

// Kinds of forwards, which ssh calls -L, -R and -D.
const (
	ForwardLocal   = "local"
	ForwardRemote  = "remote"
	ForwardDynamic = "dynamic"
)

// NewForward asks for a port to be forwarded.
type NewForward struct {
	Host   string `json:"host" maxLength:"4096" doc:"a host of the inventory; an operator may also write user@host:port"`
	Kind   string `json:"kind" enum:"local,remote,dynamic" doc:"local: the keeper's machine listens, and the host connects to the target; remote: the host listens, and the keeper's machine connects; dynamic: as local, to where each client asks for with SOCKS 4 or 5"`
	Listen string `json:"listen" maxLength:"300" doc:"address:port to listen on. localhost is the machine's own, no address (“:8080”) is all of them; port 0 is any that is free. Or the absolute path of a socket, which is for operators"`
	To     string `json:"to,omitempty" maxLength:"300" doc:"address:port of the target, or the absolute path of a socket; omit it for dynamic, and for remote with SOCKS 4 or 5 on the host"`

	Unlink bool `json:"unlink,omitempty" doc:"a socket that is there already gives way to the one to listen on, on the keeper's machine"`

	Reason     string `json:"reason,omitempty" maxLength:"4096" doc:"reason to record in the audit log"`
	Confirm    bool   `json:"confirm,omitempty" doc:"the operator's confirmation, where the policy requires one"`
	BreakGlass string `json:"break_glass,omitempty" doc:"an operator's: the host's name, to do what is forbidden; takes a reason too"`
}

// Forward is a port that is forwarded.
type Forward struct {
	ID     string    `json:"id" doc:"also in the audit log"`
	Host   string    `json:"host"`
	Kind   string    `json:"kind" enum:"local,remote,dynamic"`
	Listen string    `json:"listen" doc:"with the port that was found, where any was asked for"`
	To     string    `json:"to,omitempty" doc:"omitted with SOCKS"`
	Owner  string    `json:"owner"`
	Opened time.Time `json:"opened"`

	Open        int64  `json:"open" doc:"connections that are open"`
	Connections int64  `json:"connections" doc:"all that there were"`
	Failed      int64  `json:"failed,omitempty" doc:"of those, which came to nothing"`
	Fault       string `json:"fault,omitempty" doc:"why the last of these did"`
	Sent        int64  `json:"sent" doc:"bytes to the targets"`
	Received    int64  `json:"received" doc:"bytes from the targets"`
}

// Forwards is a list of them.
type Forwards struct {
	Items []Forward `json:"items"`
}
