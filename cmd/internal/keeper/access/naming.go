package access

import (
	"net"
	"net/http"
	"strings"
)

// Naming is which names in Host and Origin a listener takes. Browsers tell in both from which site a page is.
type Naming struct {
	host   func(host string) bool
	origin func(host string) bool // besides being that of Host
}

// SocketNames are those of the sockets, which no browser reaches: Host may be anything there, as curl --unix-socket takes
// any, and only Origin is looked at.
var SocketNames = Naming{host: func(string) bool { return true }, origin: localName}

// Names takes the same names in Host and in Origin.
func Names(ok func(host string) bool) Naming { return Naming{ok, ok} }

// Foreign reports whether a request can come from a page of another site.
func (n Naming) Foreign(r *http.Request) bool {
	if !n.host(r.Host) || r.URL.Host != "" && !n.origin(r.URL.Host) { // the latter is asked of a proxy
		return true
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return r.Header.Get("Sec-Fetch-Site") == "cross-site"
	}
	_, at, ok := strings.Cut(origin, "://")
	return !ok || at != r.Host || !n.origin(at)
}

// localName reports whether a name is one for the keeper of this machine.
func localName(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return host == "keeper" || host == "localhost"
}
