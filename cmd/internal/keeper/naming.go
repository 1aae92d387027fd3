package keeper

import (
	"net"
	"net/http"
	"strings"
)

// naming is which names in Host and Origin a listener takes. Browsers tell in both from which site a page is.
type naming struct {
	host   func(host string) bool
	origin func(host string) bool // besides being that of Host
}

// socketNames are those of the sockets, which no browser reaches: Host may be anything there, as curl --unix-socket takes
// any, and only Origin is looked at.
var socketNames = naming{host: func(string) bool { return true }, origin: localName}

// names takes the same names in Host and in Origin.
func names(ok func(host string) bool) naming { return naming{ok, ok} }

// foreign reports whether a request can come from a page of another site.
func (n naming) foreign(r *http.Request) bool {
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
