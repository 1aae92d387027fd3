//go:build linux && amd64

package proof_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/oracle/proof"
)

var (
	seed = flag.Uint64("oracle.seed", 1, "which commands the oracle makes up")
	runs = flag.Int("oracle.runs", 600, "how many it runs")
	span = flag.Duration("oracle.for", 3*time.Second, "how long it begins new ones")
)

func TestMain(m *testing.M) {
	proof.InCage()
	os.Exit(m.Run())
}

// cage skips where no sandbox can be made.
func cage(t *testing.T) *proof.Cage {
	c, err := proof.NewCage("")
	if err != nil {
		require.Empty(t, os.Getenv("CI"), "the oracle needs bubblewrap and user namespaces: %v", err)
		t.Skipf("the oracle needs bubblewrap and user namespaces: %v", err)
	}
	t.Cleanup(c.Close)
	return c
}

func shells(t *testing.T) (all []proof.Shell) {
	for _, s := range proof.Shells {
		if s.Installed() {
			all = append(all, s)
			continue
		}
		require.Empty(t, os.Getenv("CI"), "%s is needed", s.Name)
		t.Logf("%s is not installed", s.Name)
	}
	return all
}

// A short run of what the long one does: go run ./cmd/internal/oracle.
func TestWhatIsAllowedDoesWhatItsReportNames(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bwrap"); err != nil {
		require.Empty(t, os.Getenv("CI"), "bubblewrap is needed")
		t.Skip("bubblewrap is not installed")
	}
	cage(t)
	expected, err := os.ReadFile("expected.txt")
	require.NoError(t, err)
	corpus, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "session", "policy", "judge", "testdata", "more", "allow.txt"))
	require.NoError(t, err)
	res, err := proof.Run(proof.Config{
		Seed: *seed, Runs: *runs, Span: *span / slowdown, Workers: 2, Shells: shells(t), Share: [3]int{5, 3, 2},
		Corpus: quick(strings.Split(strings.TrimSpace(string(corpus)), "\n")), Expect: proof.MustReadRules("expected.txt", string(expected)),
		Limit: 10 * time.Second, Skip: slow,
	})
	require.NoError(t, err)
	for _, f := range res.Findings {
		assert.Fail(t, "an allowed command did more", "%s", f)
	}
	assert.NotZero(t, res.Runs)
	t.Logf("%d executions on %v", res.Runs, res.PerShell)
}

// slow are programs that take seconds each.
var slow = strings.Fields("npm npx gcloud gsutil bq pip pip3 apt apt-cache apt-mark apt-config apt-get man javac jar java jshell jps keytool kubectl docker gdb node find grep du service systemctl dpkg")

// quick leaves out what runs a slow program.
func quick(commands []string) []string {
	return slices.DeleteFunc(commands, func(c string) bool {
		return slices.ContainsFunc(strings.Fields(c), func(word string) bool { return slices.Contains(slow, word) })
	})
}

// The oracle itself notices each of these.
func TestTheOracleNotices(t *testing.T) {
	t.Parallel()
	c := cage(t)
	sh := []string{"/bin/sh", "-c"}
	for script, want := range map[string]proof.Kind{
		"touch pwned":                       proof.Write,
		": >pwned":                          proof.Write,
		"echo x >>f":                        proof.Write,
		"ln -s f pwned":                     proof.Write,
		"mkdir d":                           proof.Write,
		"rm f":                              proof.Write,
		"mv f g":                            proof.Write,
		"chmod 700 f":                       proof.Write,
		"cd dir; rm a":                      proof.Write,
		"kill -TERM 1":                      proof.Signal,
		"kill -9 -1":                        proof.Signal,
		"bash -c ': </dev/tcp/127.0.0.1/9'": proof.Connect,
		"date":                              proof.Start,
		"nice -n 5 true":                    proof.Start,
	} {
		out := c.Run(append(sh, script), "null", 20*time.Second, false)
		require.Empty(t, out.Failed)
		found := false
		for _, e := range out.Events {
			found = found || e.Kind == want
		}
		assert.True(t, found, "%q: %v", script, out.Events)
	}
	assert.True(t, c.Run(append(sh, "yes"), "null", 20*time.Second, false).Flood)
	assert.True(t, c.Run(append(sh, "sleep 1000"), "null", time.Second/2, false).Endless)
	assert.NotEmpty(t, c.Run(append(sh, "sleep 1000 >/dev/null 2>&1 &"), "null", 20*time.Second, false).Left)
	out := c.Run(append(sh, "id -u; cat /proc/net/dev; ls /tmp/w; cat f"), "pipe", 20*time.Second, false)
	assert.NotContains(t, out.Output, "eth")
	assert.Contains(t, out.Output, "a 1\n", "the directory is made anew after a command that changed it")
	assert.NotRegexp(t, `^0\n`, out.Output)
}

var full = flag.Bool("oracle.full", false, "compare every script on every shell, not each on one")

// Each script stands for a thing that a parser may read in another way than shells. What shells start must be what the
// judge lists.
func TestShellsRunWhatTheJudgeLists(t *testing.T) {
	t.Parallel()
	cage(t)
	text, err := os.ReadFile(filepath.Join("testdata", "shellsource.txt"))
	require.NoError(t, err)
	scripts := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n%%\n")
	all := shells(t)
	per := make([][]string, len(all))
	for i, s := range scripts {
		for j := range all {
			if *full || i%len(all) == j && i/len(all)%slowdown == 0 {
				per[j] = append(per[j], s)
			}
		}
	}
	for j, sh := range all {
		t.Run(sh.Name, func(t *testing.T) {
			t.Parallel()
			found, err := proof.Compare(proof.Config{Shells: []proof.Shell{sh}, Workers: 1, Limit: 10 * time.Second}, per[j])
			require.NoError(t, err)
			for _, f := range found {
				assert.Fail(t, "a shell runs what the judge does not list", "%s", f)
			}
		})
	}
}
