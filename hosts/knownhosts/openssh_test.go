package knownhosts_test

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
)

// found runs "ssh-keygen -F" and returns the numbers of the lines it finds for a name.
func found(t *testing.T, keygen, file, name string) []int {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), keygen, "-F", name, "-f", file).Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	var lines []int
	for l := range strings.Lines(string(out)) {
		if _, n, ok := strings.Cut(strings.TrimSpace(l), "found: line "); ok {
			n, _, _ = strings.Cut(n, " ")
			i, err := strconv.Atoi(n)
			require.NoError(t, err)
			lines = append(lines, i)
		}
	}
	return lines
}

// Every first field is checked in a file of its own.
func TestNamesMatchAsWithSSHKeygen(t *testing.T) {
	keygen := tool(t, "ssh-keygen")
	k := testKeys()
	fields := []string{"web", "Web", "WEB,db", "*", "w?b", "web*", "*.example.com", "*,!web", "!web", "!web,*", "[web]:2222", "[*]:2222",
		"[web]:*", "w*b,!w??", "10.0.0.?", "fe80::a", "[fe80::A]:2222", "we", "webb", "", ",", "web,", "?", "???", "[w]eb",
		knownhosts.HashName("web"), knownhosts.HashName("[web]:2222"), knownhosts.HashName("Web"), "|1|AAAA|BBBB", "|2|x|y"}
	names := []string{"web", "WEB", "db", "a.example.com", "A.Example.COM", "[web]:2222", "[web]:22", "10.0.0.1", "10.0.0.12",
		"fe80::a", "[fe80::a]:2222", "x", "|1|AAAA|BBBB"}
	for _, field := range fields {
		f := file(t, field+" "+line(k.ed.PublicKey()))
		for _, name := range names {
			if strings.HasPrefix(field, "|") {
				name = strings.ToLower(name) // ssh does that before hashing, ssh-keygen -F does not
			}
			want := len(found(t, keygen, f, name)) > 0
			got, _ := knownhosts.MatchNames(orX(field), strings.ToLower(name))
			if field == "" {
				got = false // the type takes the place of the name
			}
			assert.Equal(t, want, got, "%q for %q", field, name)
		}
	}
}

func orX(s string) string {
	if s == "" {
		return "x"
	}
	return s
}

func TestSSHKeygenFindsAndRemovesWhatAppendWrote(t *testing.T) {
	keygen := tool(t, "ssh-keygen")
	k := testKeys()
	f := file(t, "# mine")
	for i, o := range []knownhosts.AppendOptions{{}, {Hash: true}} {
		name := knownhosts.Name("web"+strconv.Itoa(i), 2222)
		require.NoError(t, knownhosts.Append(f, name, k.ed.PublicKey(), o))
		assert.Equal(t, []int{i + 2}, found(t, keygen, f, name))
	}
	require.NoError(t, exec.CommandContext(t.Context(), keygen, "-f", f, "-R", "[web1]:2222").Run())
	db, err := knownhosts.Open(f)
	require.NoError(t, err)
	assert.NoError(t, db.Check(knownhosts.Query{Host: "web0", Port: 2222}, k.ed.PublicKey()))
	assert.Equal(t, unknown, verdict(db.Check(knownhosts.Query{Host: "web1", Port: 2222}, k.ed.PublicKey())))
}

func TestFilesHashedBySSHKeygenAreUnderstood(t *testing.T) {
	keygen := tool(t, "ssh-keygen")
	k := testKeys()
	f := file(t, "Web,db "+line(k.ed.PublicKey()), "[web]:2222 "+line(k.ec.PublicKey()), "*.example.com "+line(k.rsa.PublicKey()),
		"@cert-authority ca.example.org "+line(k.ca.PublicKey()))
	require.NoError(t, exec.CommandContext(t.Context(), keygen, "-H", "-f", f).Run())
	data, err := os.ReadFile(f)
	require.NoError(t, err)
	require.Contains(t, string(data), "|1|")
	db, err := knownhosts.Open(f)
	require.NoError(t, err)
	assert.Empty(t, db.Warnings())
	for _, q := range []knownhosts.Query{{Host: "web"}, {Host: "DB"}} {
		assert.NoError(t, db.Check(q, k.ed.PublicKey()), q.Host)
	}
	assert.NoError(t, db.Check(knownhosts.Query{Host: "web", Port: 2222}, k.ec.PublicKey()))
	assert.NoError(t, db.Check(knownhosts.Query{Host: "a.example.com"}, k.rsa.PublicKey()))
}
