package access

import (
	"net"
	"net/http"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/printable"
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

// Foreign is why a request can come from a page of another site, "" where it cannot. A page can have a name of its own that leads
// here, so a name that the listener does not take counts.
func (n Naming) Foreign(r *http.Request) string {
	switch {
	case !n.host(r.Host):
		return unknownName(r.Host)
	case r.URL.Host != "" && !n.origin(r.URL.Host):
		return "the request is one for a proxy, which the keeper is not"
	}
	origin := r.Header.Get("Origin")
	_, at, ok := strings.Cut(origin, "://")
	if origin == "" && r.Header.Get("Sec-Fetch-Site") == "cross-site" || origin != "" && (!ok || at != r.Host || !n.origin(at)) {
		return "the request comes from another site's page"
	}
	return ""
}

func unknownName(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if host == "" {
		return "the request has no Host header"
	}
	word := printable.Word(host)
	return "the request names " + word + ", and the keeper takes only its own names; where this is one of them, start it with --name " + word
}

// localName reports whether a name is one for the keeper of this machine.
func localName(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return host == "keeper" || host == "localhost"
}
