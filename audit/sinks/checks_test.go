package sinks_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/audit/sinks"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/golden"
)

// urls are addresses of web servers of every kind.
var urls = strings.Split(`https://h|https://h/|https://h:443/x?y=z|https://h:0/|https://h:99999|https://h:x|https://|https:///x|https:h|HTTPS://H|http://h|http://localhost|http://localhost:8080/x|http://LOCALHOST|http://localhost.|http://localhost.evil|http://127.0.0.1|http://127.1|http://127.0.0.2:1|http://[::1]|http://[::1]:5/x|http://[::2]|http://0.0.0.0|http://[::ffff:127.0.0.1]|http://10.0.0.1|http://x.localhost|https://u@h|https://u:p@h|https://:p@h|https://h/#f|https://h#|ftp://h|file:///x|/x|h|h:80|://h| https://h|https://h |https://h/%zz|https://h/ x|https://ö|https://[::1|https://h?|http://|unix:///x|https://127.0.0.1`, "|")

// What is said of a place, by each of its settings, and what it is called.
func TestChecksAreWhatTheyWere(t *testing.T) {
	f := golden.Open(t, "testdata/checks.tsv")
	check := func(c sinks.Config) {
		said := fmt.Sprint(c.Check())
		if c.Check() == nil {
			said = "it is called " + c.Name()
		}
		f.Check(fmt.Sprintf("%+v %q", c, c.Exec), said)
	}
	for _, u := range urls {
		check(sinks.Config{HTTPS: u})
		check(sinks.Config{HTTPS: u, TokenFile: "/srv/token", Required: audit.Prod})
		check(sinks.Config{HTTPS: u, File: "/a"})
	}
	for _, s := range strings.Split("local|LOCAL|udp://h:514|tcp://h:514|udp://h|tcp://:514|tcp://h:|udp://[::1]:514|tls://h:5|h:514|udp:h:514|://h:1|udp://|local:5|udp://h:514/x|udp://u@h:514", "|") {
		check(sinks.Config{Syslog: s})
		check(sinks.Config{Syslog: s, Required: audit.Prod})
		check(sinks.Config{Syslog: s, TokenFile: "/a"})
	}
	for _, d := range []time.Duration{-1, 0, 1, time.Second, 5 * time.Minute, 5*time.Minute + 1, time.Hour} {
		check(sinks.Config{File: "/a", Timeout: d})
		check(sinks.Config{HTTPS: "https://h", Timeout: d})
	}
	for _, p := range []string{"a", "./a", "/a", "~/a", "../a", "/", "/a b/c\n"} {
		check(sinks.Config{File: p})
		check(sinks.Config{HTTPS: "https://h", TokenFile: p})
		check(sinks.Config{HTTPS: "https://h", CAFile: p})
		check(sinks.Config{Exec: []string{p}})
		check(sinks.Config{Exec: []string{"/a", p}, Required: audit.Prod})
		check(sinks.Config{File: "/b", CAFile: p})
	}
	for _, argv := range [][]string{{}, {""}, {"/a", ""}, {"/a", "b c"}, {"/a", "b\x00"}, {"/a\x00"}, {"/a/"}, {"/a/../b"}} {
		check(sinks.Config{Exec: argv})
	}
	check(sinks.Config{})
	check(sinks.Config{File: "/a", Exec: []string{"/a"}})
	check(sinks.Config{File: "/a", Syslog: "local"})
}
