package sinks_test

import (
	"bufio"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/audit/sinks"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// head is the anchor of a chain of one record.
func head(t *testing.T) audit.Anchor {
	t.Helper()
	f, err := audit.Open(filepath.Join(t.TempDir(), "audit"), audit.Config{})
	require.NoError(t, err)
	require.NoError(t, f.Record(t.Context(), audit.Event{Kind: audit.CommandRequest, ID: "e_1"}))
	a, err := f.Head()
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return a
}

func place(t *testing.T, c sinks.Config) audit.Anchorer {
	t.Helper()
	p, err := sinks.New(c)
	require.NoError(t, err)
	if closer, ok := p.(io.Closer); ok {
		t.Cleanup(func() { assert.NoError(t, closer.Close()) })
	}
	return p
}

func write(t *testing.T, mode os.FileMode, text string, path ...string) string {
	t.Helper()
	name := filepath.Join(path...)
	require.NoError(t, os.WriteFile(name, []byte(text), mode))
	return name
}

func TestAFileGetsOneLineForEachHead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "heads")
	p, a := place(t, sinks.Config{File: path}), head(t)
	require.NoError(t, p.Anchor(t.Context(), a))
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(`{"v":1,"cha`) // somebody died here
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.NoError(t, p.Anchor(t.Context(), a))

	text, err := os.Open(path)
	require.NoError(t, err)
	defer text.Close()
	got, others, err := audit.ReadAnchors(text)
	require.NoError(t, err)
	assert.Equal(t, []audit.Anchor{a, a}, got)
	assert.Equal(t, 1, others)
	fi, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), fi.Mode().Perm())

	require.EqualError(t, place(t, sinks.Config{File: filepath.Join(path, "x")}).Anchor(t.Context(), a), "not a directory")
}

// A line is one whatever was in the file: a torn end is ended first.
func TestALineBeginsALine(t *testing.T) {
	a := head(t)
	for before, want := range map[string]string{"": "", "\n": "\n", "x": "x\n", "x\n": "x\n", "x\ny": "x\ny\n"} {
		path := write(t, 0o600, before, t.TempDir(), "heads")
		require.NoError(t, place(t, sinks.Config{File: path}).Anchor(t.Context(), a))
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, want+string(a.Line())+"\n", string(got), "%q", before)
	}
}

func TestAFileIsNotTouchedAfterTheEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "heads")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, place(t, sinks.Config{File: path}).Anchor(ctx, head(t)), context.Canceled)
	assert.NoFileExists(t, path)
}

func TestSyslogOverANetwork(t *testing.T) {
	a := head(t)
	name, err := os.Hostname()
	require.NoError(t, err)
	check := func(msg string) {
		assert.Regexp(t, `^<109>1 \S+Z `+regexp.QuoteMeta(sinks.Header(name))+` fairlead \d+ head - \{`, msg)
		got, err := audit.ParseAnchor([]byte(msg))
		require.NoError(t, err)
		assert.Equal(t, a, got)
	}
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	defer udp.Close()
	require.NoError(t, place(t, sinks.Config{Syslog: "udp://" + udp.LocalAddr().String()}).Anchor(t.Context(), a))
	buf := make([]byte, 4096)
	n, _, err := udp.ReadFrom(buf)
	require.NoError(t, err)
	check(string(buf[:n]))

	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer tcp.Close()
	require.NoError(t, place(t, sinks.Config{Syslog: "tcp://" + tcp.Addr().String()}).Anchor(t.Context(), a))
	conn, err := tcp.Accept()
	require.NoError(t, err)
	defer conn.Close()
	r := bufio.NewReader(conn)
	var size int
	digits, err := r.ReadString(' ')
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal([]byte(strings.TrimSpace(digits)), &size))
	rest, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.Len(t, rest, size)
	check(string(rest))

	require.NoError(t, tcp.Close())
	require.Error(t, place(t, sinks.Config{Syslog: "tcp://" + tcp.Addr().String()}).Anchor(t.Context(), a))
}

func TestTheLocalSyslogDaemonTakesHeads(t *testing.T) {
	dir, err := os.MkdirTemp("", "fl") // a name that is short enough for a socket
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	sock := filepath.Join(dir, "log")
	daemon, err := net.ListenPacket("unixgram", sock)
	require.NoError(t, err)
	defer daemon.Close()
	a := head(t)
	p := sinks.LocalSyslog(sock)
	require.NoError(t, p.Anchor(t.Context(), a))
	buf := make([]byte, 4096)
	n, _, err := daemon.ReadFrom(buf)
	require.NoError(t, err)
	got, err := audit.ParseAnchor(buf[:n])
	require.NoError(t, err)
	assert.Equal(t, a, got)

	err = sinks.LocalSyslog(filepath.Join(dir, "nobody")).Anchor(t.Context(), a)
	assert.ErrorContains(t, err, "no syslog daemon listens here")

	stream := filepath.Join(dir, "stream") // some daemons read lines
	lines, err := net.Listen("unix", stream)
	require.NoError(t, err)
	defer lines.Close()
	require.NoError(t, sinks.LocalSyslog(stream).Anchor(t.Context(), a))
	conn, err := lines.Accept()
	require.NoError(t, err)
	defer conn.Close()
	text, err := io.ReadAll(conn)
	require.NoError(t, err)
	line, ok := strings.CutSuffix(string(text), "\n")
	require.True(t, ok, "%q", text)
	got, err = audit.ParseAnchor([]byte(line))
	require.NoError(t, err)
	assert.Equal(t, a, got)
}

func TestASyslogDaemonThatDoesNotReadHoldsNothingUpForEver(t *testing.T) {
	dir, err := os.MkdirTemp("", "fl")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	sock := filepath.Join(dir, "log")
	daemon, err := net.ListenPacket("unixgram", sock)
	require.NoError(t, err)
	defer daemon.Close()
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_DGRAM, 0)
	require.NoError(t, err)
	defer syscall.Close(fd)
	require.NoError(t, syscall.SetNonblock(fd, true))
	for err == nil { // until its queue is full
		err = syscall.Sendto(fd, []byte("x"), 0, &syscall.SockaddrUnix{Name: sock})
	}
	if !errors.Is(err, syscall.EAGAIN) { // ENOBUFS on macOS, where a write does not wait either
		t.Skip("a full queue holds nobody up here: ", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	assert.Error(t, sinks.LocalSyslog(sock).Anchor(ctx, head(t)))
}

func TestTheHeaderOfAMessageHoldsOneWordOfPrintableASCII(t *testing.T) {
	for text, want := range map[string]string{
		"web1.example.org": "web1.example.org", "!~": "!~", "": "-", "web 1": "-", "web\t1": "-", "web1\n": "-", "wéb": "-", "web\x7f": "-",
	} {
		assert.Equal(t, want, sinks.Header(text), "%q", text)
	}
}

func TestAWebServerAcknowledgesWith2xx(t *testing.T) {
	dir, a := t.TempDir(), head(t)
	status := http.StatusNoContent
	var got []byte
	var auth string
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, _ = io.ReadAll(r.Body)
		auth = r.Header.Get("Authorization")
		assert.Equal(t, "fairlead", r.UserAgent())
		assert.Equal(t, "application/json", r.Header.Get("Content-Type"))
		assert.Equal(t, 2, r.ProtoMajor)
		if status == http.StatusFound {
			w.Header().Set("Location", "https://"+r.Host+"/elsewhere")
		}
		w.WriteHeader(status)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	ca := certificate(t, server)
	token := write(t, 0o600, "s3cret\n", dir, "token")
	c := sinks.Config{HTTPS: server.URL + "/heads?key=hush", CAFile: ca, TokenFile: token}
	assert.NotContains(t, c.Name(), "hush")
	p := place(t, c)
	require.NoError(t, p.Anchor(t.Context(), a))
	assert.Equal(t, string(a.Line())+"\n", string(got))
	assert.Equal(t, "Bearer s3cret", auth)

	for _, status = range []int{http.StatusFound, http.StatusUnauthorized, http.StatusInternalServerError} {
		require.EqualError(t, p.Anchor(t.Context(), a), "it answered with status "+strconv.Itoa(status))
	}
	status = http.StatusOK
	for _, mode := range []os.FileMode{0o640, 0o620, 0o610, 0o604, 0o602, 0o601} {
		require.NoError(t, os.Chmod(token, mode))
		require.ErrorContains(t, p.Anchor(t.Context(), a), "other accounts may read", mode)
	}
	require.NoError(t, os.Chmod(token, 0o600))
	require.NoError(t, p.Anchor(t.Context(), a))

	untrusted := place(t, sinks.Config{HTTPS: server.URL})
	err := untrusted.Anchor(t.Context(), a)
	require.ErrorContains(t, err, "certificate")
	server.Close()
	err = place(t, c).Anchor(t.Context(), a)
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "hush")
}

// certificate writes that of a server to a file.
func certificate(t *testing.T, server *httptest.Server) string {
	t.Helper()
	return write(t, 0o644, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})), t.TempDir(), "ca.pem")
}

// Heads are sent over one connection as long as the answers are short, and it is closed with the place.
func TestConnectionsAreUsedAgainAndClosed(t *testing.T) {
	opened, closed := make(chan struct{}, 8), make(chan struct{}, 8)
	a, endless := head(t), false
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for n := 0; n == 0 || endless; n++ {
			if _, err := io.WriteString(w, strings.Repeat("thanks", 1000)); err != nil {
				return
			}
		}
	}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		switch s {
		case http.StateNew:
			opened <- struct{}{}
		case http.StateClosed:
			closed <- struct{}{}
		}
	}
	server.StartTLS()
	defer server.Close()
	p, err := sinks.New(sinks.Config{HTTPS: server.URL, CAFile: certificate(t, server)})
	require.NoError(t, err)
	for range 3 {
		require.NoError(t, p.Anchor(t.Context(), a))
	}
	assert.Len(t, opened, 1)
	require.Empty(t, closed)
	require.NoError(t, p.(io.Closer).Close())
	require.NoError(t, p.Anchor(t.Context(), a))
	assert.Len(t, opened, 2)
	<-closed

	endless = true // its end is not waited for
	require.NoError(t, p.Anchor(t.Context(), a))
	<-closed
}

func TestAnErrorOfAClientIsShownWithoutItsURL(t *testing.T) {
	assert.Equal(t, io.ErrUnexpectedEOF, sinks.WithoutURL(io.ErrUnexpectedEOF))
	assert.Equal(t, io.ErrUnexpectedEOF, sinks.WithoutURL(&url.Error{Op: "Post", URL: "https://x/hush", Err: io.ErrUnexpectedEOF}))
}

func TestAProgramAcknowledgesWithExitCode0(t *testing.T) {
	dir, a := t.TempDir(), head(t)
	script := write(t, 0o700, "#!/bin/sh\ncat > \"$1\"\n", dir, "keep")
	require.NoError(t, place(t, sinks.Config{Exec: []string{script, filepath.Join(dir, "got")}}).Anchor(t.Context(), a))
	got, err := os.ReadFile(filepath.Join(dir, "got"))
	require.NoError(t, err)
	assert.Equal(t, string(a.Line())+"\n", string(got))

	bad := write(t, 0o700, "#!/bin/sh\necho 'the disk \x1b[31mis full' >&2; echo more >&2; exit 3\n", dir, "bad")
	require.EqualError(t, place(t, sinks.Config{Exec: []string{bad}}).Anchor(t.Context(), a), "exit code 3: the disk ?[31mis full")
	for script, want := range map[string]string{
		"exit 1":        "exit code 1",
		"kill -TERM $$": "signal: terminated",
		`printf %0300d 0 >&2; printf %0300d 1 >&2; exit 2`: "exit code 2: " + strings.Repeat("0", 200),
	} {
		require.EqualError(t, place(t, sinks.Config{Exec: []string{"/bin/sh", "-c", script}}).Anchor(t.Context(), a), want, script)
	}
	require.EqualError(t, place(t, sinks.Config{Exec: []string{filepath.Join(dir, "none")}}).Anchor(t.Context(), a),
		"no such file or directory")
}

func TestOpenRefusesWhatARequiredPlaceDoesNotTake(t *testing.T) {
	state := t.TempDir()
	heads := filepath.Join(state, "elsewhere", "heads")
	dir := filepath.Join(state, "audit")
	s, err := sinks.Open(dir, audit.Config{}, []sinks.Config{{File: heads, Required: audit.Always}}, nil)
	require.NoError(t, err)
	ask := audit.Event{Kind: audit.CommandRequest, ID: "e_1", Command: "uptime", Verdict: "allow"}
	err = s.Record(t.Context(), ask)
	require.ErrorIs(t, err, audit.ErrUnavailable)
	assert.EqualError(t, err, "audit: cannot anchor at file "+heads+": no such file or directory; "+
		"make it reachable again (it is required: always); nothing is sent until then")
	require.NoError(t, os.Mkdir(filepath.Dir(heads), 0o700))
	require.NoError(t, s.Record(t.Context(), ask))
	require.NoError(t, s.Close())
	f, err := os.Open(heads)
	require.NoError(t, err)
	defer f.Close()
	anchors, _, err := audit.ReadAnchors(f)
	require.NoError(t, err)
	r, err := audit.VerifyAnchored(dir, anchors)
	require.NoError(t, err)
	require.Nil(t, r.Problem)
	assert.Equal(t, r.Records, r.Anchors.Through)

	_, err = sinks.Open(heads, audit.Config{}, nil, nil)
	assert.ErrorIs(t, err, syscall.ENOTDIR)
}

func TestAFileBesideTheChainIsRefused(t *testing.T) {
	state := t.TempDir()
	dir := filepath.Join(state, "audit")
	for _, name := range []string{"audit", "audit/heads", "audit/a/b", "audit/..heads", "x/../audit/heads"} {
		_, err := sinks.Open(dir, audit.Config{}, []sinks.Config{{Syslog: "local"}, {File: state + "/" + name}}, nil)
		assert.EqualError(t, err, "sinks: audit.sinks, entry 2: a file beside the chain proves nothing: put it where the chain's editor cannot write", name)
		assert.NoDirExists(t, dir)
	}
	for _, name := range []string{"", "heads", "audit2/heads", "audit/../heads", "..audit"} {
		s, err := sinks.Open(dir, audit.Config{}, []sinks.Config{{File: state + "/" + name}}, nil)
		require.NoError(t, err, name)
		require.NoError(t, s.Close())
	}
}

func TestAChainInADirectoryThatIsGoneIsNotOpened(t *testing.T) {
	gone := filepath.Join(t.TempDir(), "gone")
	require.NoError(t, os.Mkdir(gone, 0o700))
	t.Chdir(gone)
	if err := os.Remove(gone); err != nil {
		t.Skip("the directory that a process stands in stays here: ", err)
	}
	_, err := sinks.Open("audit", audit.Config{}, nil, nil)
	require.ErrorIs(t, err, os.ErrNotExist)
	assert.ErrorContains(t, err, "sinks: ")
}

func TestWhatCannotBeReadIsRefusedAtTheStart(t *testing.T) {
	dir := t.TempDir()
	none, text := filepath.Join(dir, "none"), write(t, 0o600, "x\n", dir, "text")
	for name, tt := range map[string]struct {
		c    sinks.Config
		want string
	}{
		"two places":                      {sinks.Config{File: text, Syslog: "local"}, "it needs exactly one of"},
		"no certificates":                 {sinks.Config{HTTPS: "https://x/", CAFile: none}, "ca_file: open " + none},
		"certificates that are none":      {sinks.Config{HTTPS: "https://x/", CAFile: text}, "holds no certificate in PEM"},
		"no token":                        {sinks.Config{HTTPS: "https://x/", TokenFile: none}, "token_file: stat " + none},
		"a directory instead of a token":  {sinks.Config{HTTPS: "https://x/", TokenFile: directory(t)}, "is a directory"},
		"a time before none":              {sinks.Config{File: text, Timeout: -1}, "timeout must be between 0 and 5m0s"},
		"a nanosecond more than the most": {sinks.Config{File: text, Timeout: 5*time.Minute + 1}, "timeout must be between 0 and 5m0s"},
	} {
		_, err := sinks.New(tt.c)
		require.ErrorContains(t, err, tt.want, name)
		assert.ErrorContains(t, err, "sinks: ", name)
	}
	place(t, sinks.Config{File: text, Timeout: 5 * time.Minute})
}

// directory returns one that this account alone may enter.
func directory(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "d")
	require.NoError(t, os.Mkdir(dir, 0o700))
	return dir
}

// What people are told of a place holds nothing that may be secret.
func TestAPlaceHasAName(t *testing.T) {
	for want, c := range map[string]sinks.Config{
		"nothing":              {},
		"file /x/heads":        {File: "/x/heads"},
		"syslog local":         {Syslog: "local"},
		"syslog tcp://x:514":   {Syslog: "tcp://x:514"},
		"https://x:8443/heads": {HTTPS: "https://ada:hush@x:8443/heads?key=hush#hush"},
		"https":                {HTTPS: "https://[hush"},
		"program /bin/keep":    {Exec: []string{"/bin/keep", "--token", "hush"}},
		"program /bin/alone":   {Exec: []string{"/bin/alone"}},
	} {
		assert.Equal(t, want, c.Name())
	}
}

func TestConfigurationIsStrict(t *testing.T) {
	for _, tt := range []struct{ name, json, want string }{
		{"no list", `{}`, "audit.sinks must be a list"},
		{"no map", `["x"]`, "entry 1: it must be a map"},
		{"nothing", `[{"required":"always"}]`, "it needs exactly one of file, syslog, https and exec"},
		{"two", `[{"file":"/x","syslog":"local"}]`, "it needs exactly one of"},
		{"an unknown key", `[{"file":"/x","url":"y"}]`, `unknown key "url"; it may have file, syslog`},
		{"a relative file", `[{"file":"x"}]`, "file must be an absolute path"},
		{"a relative token", `[{"https":"https://x/","token_file":"y"}]`, "token_file must be an absolute path"},
		{"a relative certificate", `[{"https":"https://x/","ca_file":"y"}]`, "ca_file must be an absolute path"},
		{"no name", `[{"file":""}]`, "file must be a text"},
		{"a number", `[{"file":7}]`, "file must be a text"},
		{"no URL", `[{"https":"://"}]`, "https must be a URL"},
		{"no host", `[{"https":"https:///x"}]`, "https must be a URL"},
		{"a fragment", `[{"https":"https://x/#y"}]`, "https must not hold a fragment"},
		{"plain http", `[{"https":"http://x/"}]`, "begins with https://"},
		{"a password in a URL", `[{"https":"https://a:b@x/"}]`, "must not hold a password"},
		{"a token for a file", `[{"file":"/x","token_file":"/y"}]`, "belong to https"},
		{"certificates for syslog", `[{"syslog":"local","ca_file":"/y"}]`, "belong to https"},
		{"a relative program", `[{"exec":["x"]}]`, "exec must begin with an absolute path"},
		{"a NUL in a word", `[{"exec":["/x","a\u0000b"]}]`, "exec must not hold NUL"},
		{"one word", `[{"exec":"/x"}]`, "exec must be a list of words"},
		{"no words", `[{"exec":[]}]`, "exec must be a list of words"},
		{"a number among words", `[{"exec":["/x",1]}]`, "exec must be a list of words"},
		{"another requirement", `[{"file":"/x","required":"Always"}]`, `required is "Always": it must be never, prod or always`},
		{"a bare number of seconds", `[{"file":"/x","timeout":"5"}]`, "it must be a duration like 5s"},
		{"no time", `[{"file":"/x","timeout":"0s"}]`, "it must be a duration like 5s"},
		{"a time before", `[{"file":"/x","timeout":"-5s"}]`, "it must be a duration like 5s"},
		{"an hour", `[{"file":"/x","timeout":"1h"}]`, "timeout must be between 0 and 5m0s"},
		{"udp that is required", `[{"syslog":"udp://x:514","required":"prod"}]`, "syslog over udp acknowledges nothing, so it cannot be required"},
		{"syslog without a port", `[{"syslog":"tcp://x"}]`, "must name a host and a port"},
		{"tcp that is required", `[{"syslog":"tcp://x:514","required":"always"}]`, "syslog over tcp acknowledges nothing, so it cannot be required"},
		{"syslog without a host", `[{"syslog":"tcp://:514"}]`, "must name a host and a port"},
		{"syslog with half a port", `[{"syslog":"udp://x:"}]`, "must name a host and a port"},
		{"syslog without a road", `[{"syslog":"udp"}]`, "must be local, udp"},
		{"syslog by another road", `[{"syslog":"tls://x:1"}]`, "must be local, udp"},
		{"the second of two", `[{"file":"/x"},{"file":"y"}]`, "entry 2: file must be"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var v any
			require.NoError(t, json.Unmarshal([]byte(tt.json), &v))
			_, err := sinks.Decode(v)
			require.Error(t, err)
			assert.Contains(t, err.Error(), tt.want)
			assert.True(t, strings.HasPrefix(err.Error(), "sinks: audit.sinks"))
		})
	}
	var v any
	require.NoError(t, json.Unmarshal([]byte(`[{"https":"https://x/y","required":"prod","timeout":"3s","token_file":"/t","ca_file":"/c"},
		{"syslog":"local","required":"always"},{"exec":["/bin/keep","a b"]},{"exec":["/bin/keep"],"timeout":"5m"},{"file":"/x","timeout":"1ns"},
		{"syslog":"udp://[::1]:514"}]`), &v))
	got, err := sinks.Decode(v)
	require.NoError(t, err)
	assert.Equal(t, []sinks.Config{
		{HTTPS: "https://x/y", Required: audit.Prod, Timeout: 3 * time.Second, TokenFile: "/t", CAFile: "/c"},
		{Syslog: "local", Required: audit.Always}, {Exec: []string{"/bin/keep", "a b"}},
		{Exec: []string{"/bin/keep"}, Timeout: 5 * time.Minute}, {File: "/x", Timeout: 1}, {Syslog: "udp://[::1]:514"},
	}, got)
	got, err = sinks.Decode(nil)
	require.NoError(t, err)
	assert.Empty(t, got)
}

// Whatever a configuration holds: no panic, and what is accepted can be made and has a name.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`[{"https":"https://x/y","required":"prod","timeout":"3s"},{"exec":["/bin/keep"]},{"syslog":"local"},{"file":"/x"}]`))
	f.Add([]byte(`[{"https":"https://[::1"}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var v any
		if json.Unmarshal(text, &v) != nil {
			return
		}
		places, err := sinks.Decode(v)
		if err != nil {
			return
		}
		for _, c := range places {
			require.NoError(t, c.Check())
			require.NotEqual(t, "nothing", c.Name())
		}
	})
}

func TestAProgramThatHangsIsKilledWithItsChildren(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "held")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	hangs, a := place(t, sinks.Config{Exec: []string{"/bin/sh", "-c", `exec 3>"$0"; yes >&2 & echo started >&3; wait`, fifo}}), head(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- hangs.Anchor(ctx, a) }()
	held, err := os.Open(fifo)
	require.NoError(t, err)
	defer held.Close()
	_, err = held.Read(make([]byte, 1))
	require.NoError(t, err)
	cancel()
	assert.Error(t, <-done)
	_, err = io.ReadAll(held) // which ends when nobody is left
	assert.NoError(t, err)
}
