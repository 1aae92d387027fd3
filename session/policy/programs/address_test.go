package programs_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

func call(name string, direct bool, words ...string) programs.Finding {
	var args []programs.Arg
	for _, w := range words {
		args = append(args, programs.Arg{Text: w, Literal: true, Source: w})
	}
	return programs.Judge(programs.Call{Name: name, Args: args, Stdin: "none", Direct: direct})
}

func TestAHostIsOnlyWhatEveryProgramReadsTheSame(t *testing.T) {
	for text, want := range map[string]string{
		"127.0.0.1": "127.0.0.1", "10.1.2.3": "10.1.2.3", "::1": "::1", "0:0:0:0:0:0:0:1": "::1", "LocalHost": "localhost", "db.example.com": "db.example.com",
		"web-1": "web-1", "3com.com": "3com.com", "xn--bcher-kva.example": "xn--bcher-kva.example",
		"127.1": "", "0x7f000001": "", "2130706433": "", "0177.0.0.1": "", "127.0.0.1.": "", "localhost.": "", "::ffff:127.0.0.1": "", "fe80::1%eth0": "",
		"0.0.0.0": "", "::": "", "b\u00fccher.example": "", "user@host": "", "a..b": "", "-x": "", "": "", "1.2.3.4.5": "", "x.0x7f": "", "a b": "", "host:80": "",
	} {
		assert.Equal(t, want, programs.Host(text), text)
	}
}

func TestAURLLeadsToOneHostOrToNone(t *testing.T) {
	for url, want := range map[string]string{
		"localhost/health": "localhost", "http://localhost:8080/x?y=@evil#z": "localhost", "HTTPS://Example.COM": "example.com", "http://[::1]:8080/": "::1",
		"http://127.0.0.1/a;b": "127.0.0.1", "localhost:9200/_cat/indices": "localhost",
		"http://localhost@evil/": "", "http://evil\\@localhost/": "", "http:\\\\evil": "", "http://localhost\\@evil/": "", "http://127.1/": "", "http://0x7f000001/": "",
		"http://2130706433/": "", "http://[::ffff:127.0.0.1]/": "", "http://localhost?@evil/": "", "http://localhost#@evil/": "", "http://localhost:80@evil/": "",
		"http://localhost:/": "", "http://localhost./": "", "http:/localhost/": "", "http:///localhost/": "", "http://local{host,x}/": "", "http://x/[1-3]": "",
		"http://loc%61lhost/": "", "http://localhost /": "", "http://[::1": "", "http://[fe80::1%25eth0]/": "", "http://localhost:123456/": "", "http://[localhost]/": "",
	} {
		f := call("curl", true, "-s", url)
		assert.Equal(t, want, f.To[0], "%s: %s", url, f.Reason)
	}
	for _, url := range []string{"ftp://localhost/x", "file:///etc/hosts", "file:/etc/hosts", "ftp.localhost/x", "dict://localhost/", "telnet://localhost", "gopher://localhost/", "scp://localhost/x"} {
		f := call("curl", true, "-s", url)
		assert.Equal(t, policy.Write, f.Class, url)
		assert.Contains(t, f.To, "", url)
	}
}

func TestAskingOverTheNetwork(t *testing.T) {
	table(t, `
		network-read | curl -s localhost/health
		network-read | curl -fsS -m 5 --connect-timeout 2 -o /dev/null -w '%{http_code}' http://localhost:8080/
		network-read | curl -sI -H 'Host: x' https://localhost/
		network-read | curl -X HEAD -I localhost
		network-read | curl -sL http://x/
		write | curl -s -o f localhost
		write | curl -s -o /dev/null -o f localhost evil
		write | curl -sof localhost
		write | curl -sO localhost/f
		write | curl -s -d x localhost
		write | curl -s -X POST localhost
		write | curl -sXDELETE localhost
		write | curl -s -H @/etc/hostname localhost
		write | curl -s -H 'X-HTTP-Method-Override: DELETE' localhost
		write | curl -s -w @f localhost
		write | curl -s -w '%output{f}x' localhost
		write | curl -s -x proxy:1 localhost
		write | curl -s --resolve localhost:80:192.0.2.1 localhost
		write | curl -s -T f localhost
		write | curl -s -F a=@f localhost
		write | curl -s -b f localhost
		write | curl -s -c f localhost
		write | curl -s -n localhost
		unknown | curl -s --connect-to ::192.0.2.1: localhost
		unknown | curl -s --url localhost
		unknown | curl -s $URL
		unknown | curl -s "http://x/$(cat f)"
		unknown | curl -s -H "X: $TOKEN" localhost
		write | curl
		network-read | wget -qO- localhost
		network-read | wget --spider -q localhost
		network-read | wget -q -O /dev/null localhost
		write | wget localhost
		write | wget -qO f localhost
		write | wget -qO- --post-data x localhost
		unknown | wget -qO- -i f
		unknown | wget -qO- -t 0 localhost
		network-read | dig example.com
		network-read | dig @127.0.0.1 -p 5353 +short +time=2 example.com MX
		network-read | dig -x 10.0.0.1 +short
		write | dig +https example.com
		unknown | dig -f f
		unknown | dig $name
		network-read | host -t mx example.com
		network-read | host -W 2 example.com 127.0.0.1
		network-read | nslookup -type=mx example.com 127.0.0.1
		unknown | nslookup
		unknown | nslookup - 127.0.0.1
		network-read | ping -c 3 -W 2 10.0.0.1
		network-read | ping -c3 -q host
		unknown | ping host
		unknown | ping -f -c 3 host
		unknown | ping -c 0 host
		unknown | ping -c 10000 host
		unknown | ping -c 3 -i 0.01 host
		network-read | nc -z -w 2 host 80
		network-read | nc -zvw2 host 80
		write | nc host 80
		write | nc -l 80
		forbidden | nc -z -e /bin/sh host 80
		network-read | getent hosts db1
		network-read | getent ahostsv4 db1
		read-only | getent hosts
		network-read | pg_isready -h db
		read-only | pg_isready -h localhost
		network-read | redis-cli -h cache ping
		unknown | redis-cli -h cache set k v
		write | redis-cli -h cache dbsize
		network-read | resolvectl query example.com
	`)
}

func TestSettingsOfTheAccountAreKeptAway(t *testing.T) {
	for want, list := range map[policy.Class][][]string{
		policy.NetworkRead: {{"curl", "-q", "localhost"}, {"curl", "-qs", "localhost"}, {"curl", "--disable", "localhost"}, {"wget", "--no-config", "--no-hsts", "-qO-", "localhost"}, {"dig", "-r", "localhost"}},
		policy.Write:       {{"curl", "-s", "localhost"}, {"curl", "-s", "-q", "localhost"}, {"wget", "-qO-", "localhost"}, {"wget", "--no-config", "-qO-", "localhost"}, {"dig", "localhost"}},
	} {
		for _, words := range list {
			assert.Equal(t, want, call(words[0], false, words[1:]...).Class, "%q", words)
		}
	}
	assert.Equal(t, policy.Write, call("curl", true, "-s", "-H", "a\r\n\r\nDELETE / HTTP/1.1", "localhost").Class)
	assert.Equal(t, policy.ReadOnly, call("python3", true, "-m", "json.tool", "f").Class)
	assert.Equal(t, policy.ReadOnly, call("python3", false, "-I", "-m", "json.tool", "f").Class)
	assert.Equal(t, policy.Unknown, call("python3", false, "-m", "json.tool", "f").Class)
	assert.Equal(t, policy.ReadOnly, call("python", true, "-m", "json.tool", "f").Class)
	for _, name := range []string{"python2", "python3.8", "python3.13", "pypy3"} { // no function stands in their place
		assert.Equal(t, policy.Unknown, call(name, true, "-m", "json.tool", "f").Class, name)
		assert.Equal(t, policy.ReadOnly, call(name, true, "-I", "-m", "json.tool", "f").Class, name)
	}
}

func TestWhereCallsConnectTo(t *testing.T) {
	for _, tt := range []struct {
		words string
		want  []string
	}{
		{"curl -s localhost http://10.0.0.1/", []string{"localhost", "10.0.0.1"}},
		{"curl -sL localhost", []string{"localhost", ""}},
		{"curl -s -d x localhost", []string{"localhost", ""}},
		{"wget -qO- localhost", []string{"localhost", ""}},
		{"wget -qO- --max-redirect=0 localhost", []string{"localhost"}},
		{"dig @127.0.0.1 example.com MX", []string{"127.0.0.1", "example.com"}},
		{"dig -x 10.0.0.1", []string{"10.0.0.1"}},
		{"dig @2130706433 localhost", []string{"", "localhost"}},
		{"host example.com 2130706433", []string{"example.com", ""}},
		{"nslookup db 10.0.0.53", []string{"db", "10.0.0.53"}},
		{"ping -c 1 ::1", []string{"::1"}},
		{"nc -z web 80", []string{"web"}},
		{"nc web 80", []string{"web", ""}},
		{"getent hosts a b", []string{"a", "b"}},
		{"socat - TCP:web:80", []string{""}},
		{"redis-cli ping", nil},
		{"ls web", nil},
	} {
		words := strings.Fields(tt.words)
		assert.Equal(t, tt.want, call(words[0], true, words[1:]...).To, tt.words)
	}
}

func TestTheReadsWriteNothing(t *testing.T) {
	var asked atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Disposition", "attachment; filename=pwned")
		_, _ = w.Write([]byte("ok"))
	}))
	defer srv.Close()
	for _, list := range [][]string{
		{"curl", "-q", "-s", srv.URL}, {"curl", "-q", "-sI", srv.URL}, {"curl", "-q", "-s", "-o", "/dev/null", "-w", "%{http_code}", srv.URL}, {"curl", "-q", "-fsSv", "-m", "5", srv.URL},
		{"wget", "--no-config", "--no-hsts", "-qO-", srv.URL}, {"wget", "--no-config", "--no-hsts", "-q", "--spider", srv.URL},
	} {
		path, err := exec.LookPath(list[0])
		if err != nil {
			t.Logf("%s is not installed", list[0])
			continue
		}
		require.Equal(t, policy.NetworkRead, call(list[0], false, list[1:]...).Class, "%q", list)
		dir, before := t.TempDir(), asked.Load()
		cmd := exec.CommandContext(t.Context(), path, list[1:]...)
		cmd.Dir, cmd.Env = dir, []string{"HOME=" + dir, "PATH=/usr/bin:/bin"}
		out, err := cmd.CombinedOutput()
		assert.NoError(t, err, "%q: %s", list, out)
		assert.Greater(t, asked.Load(), before, "%q", list)
		left, err := filepath.Glob(filepath.Join(dir, "*"))
		require.NoError(t, err)
		hidden, err := filepath.Glob(filepath.Join(dir, ".*"))
		require.NoError(t, err)
		assert.Empty(t, append(left, hidden...), "%q", list)
	}
}

// What counts as an address of this machine is dialled there: Go reads the host of a URL by itself.
func FuzzHostOfAURL(f *testing.F) {
	for _, s := range []string{"http://localhost/", "http://127.0.0.1:80/x", "http://[::1]/", "http://localhost@evil/", "http://127.1/", "localhost\\@evil", "http://10.0.0.1?x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, url string) {
		got := call("curl", true, "-s", url).To
		if len(got) == 0 || got[0] == "" {
			return
		}
		if !strings.Contains(url, "://") {
			url = "http://" + url
		}
		req, err := http.NewRequest(http.MethodGet, url, nil)
		if err != nil {
			return // such as a bad escape in its path
		}
		host := strings.ToLower(req.URL.Hostname())
		if a, err := netip.ParseAddr(got[0]); err == nil {
			if ip := net.ParseIP(host); ip == nil || ip.IsLoopback() != a.IsLoopback() || ip.String() != a.String() {
				t.Fatalf("%q leads to %q, for Go to %q", url, got[0], host)
			}
		} else if host != got[0] {
			t.Fatalf("%q leads to %q, for Go to %q", url, got[0], host)
		}
	})
}
