package notify_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/notify"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/golden"
)

// urls are addresses of web servers of every kind.
var urls = strings.Split(`https://h|https://h/|https://h:443/x?y=z|https://h:0/|https://h:99999|https://h:x|https://|https:///x|https:h|HTTPS://H|http://h|http://localhost|http://localhost:8080/x|http://LOCALHOST|http://localhost.|http://localhost.evil|http://127.0.0.1|http://127.1|http://127.0.0.2:1|http://[::1]|http://[::1]:5/x|http://[::2]|http://0.0.0.0|http://[::ffff:127.0.0.1]|http://10.0.0.1|http://x.localhost|https://u@h|https://u:p@h|https://:p@h|https://h/#f|https://h#|ftp://h|file:///x|/x|h|h:80|://h| https://h|https://h |https://h/%zz|https://h/ x|https://ö|https://[::1|https://h?|http://|unix:///x|https://127.0.0.1|javascript:x`, "|")

// What is said of a place, by each of its settings.
func TestChecksAreWhatTheyWere(t *testing.T) {
	f := golden.Open(t, "testdata/checks.tsv")
	check := func(c notify.Config) {
		key := fmt.Sprintf("%+v %q %q", c, c.Exec, c.Events)
		f.Check(key, fmt.Sprint(c.Check()))
	}
	hook := notify.Config{Webhook: "https://h/x", SecretFile: "/srv/secret"}
	for _, u := range urls {
		c := hook
		c.Webhook = u
		check(c)
		c.SecretFile = ""
		check(c)
		c.Exec = []string{"/a"}
		check(c)
	}
	for _, d := range []time.Duration{-1, 0, 1, time.Second, notify.MaxTimeout, notify.MaxTimeout + 1, time.Hour} {
		c := hook
		c.Timeout = d
		check(c)
		check(notify.Config{Exec: []string{"/a"}, Timeout: d})
	}
	for _, p := range []string{"a", "./a", "/a", "~/a", "../a", "/"} {
		c := hook
		c.SecretFile = p
		check(c)
		c = hook
		c.CAFile = p
		check(c)
		check(notify.Config{Exec: []string{"/a"}, SecretFile: p})
		check(notify.Config{Exec: []string{"/a"}, CAFile: p})
	}
	for _, e := range append([][]string{{}, {"asked", "asked"}, {"x"}, {""}, {"asked", "x"}, {strings.Repeat("y", 100)}, {"Asked"}}, notify.Kinds) {
		c := hook
		c.Events = e
		check(c)
	}
	for _, argv := range [][]string{{}, {""}, {"a"}, {"./a"}, {"/a"}, {"/a", ""}, {"/a", "b c"}, {"/a", "b\x00"}, {"/a", "b\nc"}, {"/a\x00"}, {"/a/"}, {"/a/../b"}, {"/"}, {"~/a"}, {"/a", strings.Repeat("y", 9000)}} {
		check(notify.Config{Exec: argv})
	}
	check(notify.Config{})
}
