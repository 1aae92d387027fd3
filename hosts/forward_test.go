package hosts_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

func TestSocketsStandForPorts(t *testing.T) {
	for _, c := range []struct {
		option, text, err string
		want              hosts.Forward
	}{
		{option: "-L", text: "8080:/run/x", want: hosts.Forward{Bind: "localhost", Port: 8080, Host: "/run/x"}},
		{option: "-L", text: "*:8080:/run/x", want: hosts.Forward{Port: 8080, Host: "/run/x"}},
		{option: "-L", text: "/run/y:/run/x", want: hosts.Forward{Bind: "/run/y", Host: "/run/x"}},
		{option: "-L", text: "./y:db:80", want: hosts.Forward{Bind: "./y", Host: "db", To: 80}},
		{option: "-L", text: `/a\:b\\c:/d\ e`, want: hosts.Forward{Bind: `/a:b\c`, Host: "/d e"}},
		{option: "-L", text: "[/a:b]:[/c:d]", want: hosts.Forward{Bind: "/a:b", Host: "/c:d"}},
		{option: "-R", text: "/run/y", want: hosts.Forward{Bind: "/run/y"}},
		{option: "-R", text: "/run/y:x/z", want: hosts.Forward{Bind: "/run/y", Host: "x/z"}},
		{option: "-R", text: "0:/run/x", want: hosts.Forward{Bind: "localhost", Host: "/run/x"}},
		{option: "-D", text: "/run/y", want: hosts.Forward{Bind: "/run/y"}},
		{option: "-L", text: "/run/y", err: "is not [address:]port:host:port; the path of a socket may stand for"},
		{option: "-L", text: "/run/y:80", err: "is not [address:]port:host:port"},
		{option: "-L", text: "a:/run/y:db:80", err: "is not [address:]port:host:port"},
		{option: "-L", text: "80:/run/y:80", err: "is not [address:]port:host:port"},
		{option: "-D", text: "/run/y:/run/x", err: "is not [address:]port"},
		{option: "-R", text: "run/x:80:db:80", err: "is not [address:]port[:host:port]"},
		{option: "-L", text: "80:/run/x\n", err: "without control characters"},
		{option: "-L", text: "80:/run/", err: "does not end with a slash"},
		{option: "-L", text: `80:/run/\`, err: "ends with a backslash"},
	} {
		f, err := hosts.ParseForward(c.option, c.text)
		if c.err != "" {
			assert.ErrorContains(t, err, c.err, c.text)
			continue
		}
		c.want.Option = c.option
		require.NoError(t, err, c.text)
		assert.Equal(t, c.want, f, c.text)
		again, err := hosts.ParseForwardLine(f.String())
		require.NoError(t, err, f.String())
		assert.Equal(t, f, again)
	}
}

func TestPathsOfSocketsAreCompleted(t *testing.T) {
	here, err := os.Getwd()
	require.NoError(t, err)
	expand := func(path string) (string, error) {
		if strings.Contains(path, "%X") {
			return "", errors.New("unknown")
		}
		return strings.ReplaceAll(path, "%h", "web1"), nil
	}
	for line, want := range map[string]string{
		"-L ./y:/run/%h":    "-L " + here + "/y:/run/web1",
		"-R /run/%h:a/../x": "-R /run/web1:" + here + "/x",
		"-L 80:%h:80":       "-L localhost:80:%h:80",
		"-D x/%h":           "-D " + here + "/x/web1",
		"-L 80:run/x":       "error: -L localhost:80:run/x: the path of a socket must be absolute",
		"-R run/x:db:80":    "error: -R run/x:db:80: the path of a socket must be absolute",
		"-R /run/y:/tmp/%X": "error: -R /run/y:/tmp/%X: unknown",
	} {
		f, err := hosts.ParseForwardLine(line)
		require.NoError(t, err, line)
		if f, err = f.Complete(expand); err != nil {
			assert.Equal(t, want, "error: "+err.Error(), line)
			continue
		}
		assert.Equal(t, want, f.String(), line)
	}
}

// What ParseForward takes, ssh takes too, and -G shows that it means the same; -L, -R and -D with parts of all kinds. ssh also takes
// what nothing can connect to, such as a host without a name.
func TestForwardsAreReadAsSSHReadsThem(t *testing.T) {
	if _, err := exec.LookPath("ssh"); err != nil {
		needs.Part(t, "ssh is not installed")
	}
	kinds := []string{"80", "db", "*", "", "[::1]", "/run/x", `/a\:b`, "[/c:d]"}
	var texts []string
	var add func(text string, n int)
	add = func(text string, n int) {
		for _, k := range kinds {
			texts = append(texts, text+k)
			if n > 1 {
				add(text+k+":", n-1)
			}
		}
	}
	add("", 3)
	for i, part := range kinds { // of four, some
		texts = append(texts, part+":80:db:80", "db:"+part+":db:80", "db:80:"+part+":80", "db:80:db:"+part, kinds[(i+3)%len(kinds)]+":80:"+part+":80:80")
	}
	config := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(config, nil, 0o600))
	taken := 0
	for option, keyword := range map[string]string{"-L": "localforward", "-R": "remoteforward", "-D": "dynamicforward"} {
		for i, text := range texts {
			if needs.Sample && i%3 != 0 {
				continue
			}
			f, err := hosts.ParseForward(option, text)
			if err != nil {
				continue
			}
			taken++
			out, err := exec.Command("ssh", "-F", config, "-G", option, text, "host").CombinedOutput()
			require.NoError(t, err, "%s %q: %s", option, text, out)
			said := "nothing"
			for line := range strings.Lines(string(out)) {
				if rest, ok := strings.CutPrefix(line, keyword+" "); ok {
					said = strings.TrimSpace(rest)
				}
			}
			assert.Equal(t, said, shown(f, strings.HasPrefix(text, ":")), "%s %q", option, text)
		}
	}
	assert.Greater(t, taken, 20)
}

// shown is a forward as ssh -G shows it. empty says that all addresses are not written as a star.
func shown(f hosts.Forward, empty bool) string {
	bind := "[" + f.Bind + "]:"
	switch {
	case hosts.IsSocket(f.Bind):
		bind = f.Bind
	case f.Bind == "localhost":
		bind = ""
	case f.Bind == "" && !empty:
		bind = "[*]:"
	}
	if !hosts.IsSocket(f.Bind) {
		bind += strconv.Itoa(int(f.Port))
	}
	switch {
	case f.Option == "-D":
		return bind
	case f.Host == "":
		return bind + " [socks]:0"
	case hosts.IsSocket(f.Host):
		return bind + " " + f.Host
	}
	return bind + " [" + f.Host + "]:" + strconv.Itoa(int(f.To))
}
