package cp

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/copies"
)

func TestEndpointsAreTakenApart(t *testing.T) {
	for text, want := range map[string]endpoint{
		"web1:/etc/x":           {"web1", "/etc/x"},
		"web1:":                 {"web1", ""},
		"web[01-12]:x":          {"web[01-12]", "x"},
		"@web & !web7:~/x":      {"@web & !web7", "~/x"},
		"root@10.0.0.1:2222:/x": {"root@10.0.0.1:2222", "/x"},
		"a@[::1]:/x":            {"a@[::1]", "/x"},
		"a@[::1]:22:/x":         {"a@[::1]:22", "/x"},
		"web1:a:b":              {"web1", "a:b"},
		"web1:/a:22:b":          {"web1", "/a:22:b"},
		"./a:b":                 {"", "./a:b"},
		"/a:b":                  {"", "/a:b"},
		"dir/a:b":               {"", "dir/a:b"},
		"plain":                 {"", "plain"},
		":x":                    {"", ":x"},
	} {
		assert.Equal(t, want, parseEndpoint(text), text)
	}
	for _, args := range [][]string{{"a"}, {"a", "b"}, {"a", "h:b", "c"}, {"h:a", "h:b", "c"}, {"", "h:b"}} {
		_, _, err := endpoints(args)
		var usage *cmdutil.UsageError
		assert.ErrorAs(t, err, &usage, args)
	}
	src, dst, err := endpoints([]string{"a", "b/", "h:"})
	require.NoError(t, err)
	assert.Len(t, src, 2)
	assert.True(t, dst.far())
}

func TestFlagsOfOtherProgramsAreExplained(t *testing.T) {
	ios, _, _, _ := iostreams.Test()
	for flag, want := range map[string]string{
		"-r": "-r is not needed: directories are copied whole; leave it out", "-a": "with the modes of files; --times keeps times too, and owners are not kept (rsync -a -e 'fairlead ssh' keeps them); leave it out", "--recursive": "--recursive is not needed",
		"-Z": "unknown shorthand flag", "--r": "unknown flag: --r",
	} {
		root := &cobra.Command{Use: "fairlead", SilenceErrors: true, SilenceUsage: true}
		root.AddCommand(NewCmd(&cmdutil.Factory{IO: ios}))
		root.SetArgs([]string{"cp", flag, "a", "h:b"})
		assert.ErrorContains(t, root.Execute(), want)
	}
}

func TestNamesOfDirectoriesForHosts(t *testing.T) {
	assert.Equal(t, "root@web1:22", directoryOf("root@web1:22"))
	assert.Equal(t, "a_b", directoryOf("a/b"))
	assert.Equal(t, "_..", directoryOf(".."))
	for from, want := range map[string]string{
		"/var/log/nginx/*.log": "var/log/nginx", "/home/*/x": "home", "x": "", "~/a/b": "a", "/": "", "../../etc/x": "etc", "/etc/hosts": "etc", "/srv/app/": "srv",
	} {
		assert.Equal(t, want, fixed(from), from)
	}
}

func TestDiffsAreUnified(t *testing.T) {
	old := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n"
	now := strings.Replace(strings.Replace(old, "2\n", "two\n", 1), "15\n", "15", 1)
	assert.Equal(t, `    --- /etc/x
    +++ x
    @@ -1,5 +1,5 @@
     1
    -2
    +two
     3
     4
     5
    @@ -12,4 +12,4 @@
     12
     13
     14
    -15
    +15
    \ No newline at end of file
`, diff(copies.Report{Path: "/etc/x", Name: "x", Old: []byte(old)}, []byte(now)))
	assert.NotContains(t, diff(copies.Report{Old: []byte("\x1b[2Ja\n")}, []byte("b\n")), "\x1b", "a host does not write to the terminal")
	assert.Empty(t, diff(copies.Report{Old: []byte("a\x00")}, []byte("b")))
	assert.Empty(t, diff(copies.Report{}, []byte("b")))
	assert.NotEmpty(t, diff(copies.Report{Old: []byte("a\n")}, nil))
}

func TestProgressIsOfTheWholeAndOfTheSlowest(t *testing.T) {
	v := newView(&Options{}, []hosts.Host{{Name: "web1"}}, "")
	v.each = 4 << 20
	v.hosts[0].begun, v.hosts[0].bytes = true, 1<<20
	assert.Equal(t, "25% of 4.0 MiB, 512.0 KiB/s, 0:06 left", v.progress(2*time.Second))

	v = newView(&Options{}, []hosts.Host{{Name: "web1"}, {Name: "web2"}, {Name: "web3"}}, "")
	v.each = 1 << 20
	v.hosts[0].begun, v.hosts[0].done, v.hosts[0].bytes = true, true, 1<<20
	v.hosts[1].begun, v.hosts[1].bytes = true, 1<<19
	v.n = 1
	assert.Equal(t, "1/3 hosts, 50% of 3.0 MiB, 1.5 MiB/s, 0:01 left; web2 50%", v.progress(time.Second))
	assert.Equal(t, "1:00:01", clock(time.Hour+time.Second))
}
