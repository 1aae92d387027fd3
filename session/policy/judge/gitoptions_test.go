package judge_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// An option that takes its value only behind = or glued leaves the next word to itself: where the table says that it takes
// that word, an option that writes a file is hidden. Git itself decides.
func TestNoOptionOfGitHidesTheOneThatWrites(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		needs.Part(t, "git is not installed")
	}
	dir := t.TempDir()
	run := func(args ...string) {
		cmd := exec.Command(git, args...)
		cmd.Dir = dir
		cmd.Env = []string{"HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_PAGER=cat", "PATH=" + os.Getenv("PATH")}
		_ = cmd.Run() // most are errors
	}
	run("init", "-q", ".")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "f"), []byte("x\n"), 0o600))
	run("add", "f")
	run("-c", "user.name=a", "-c", "user.email=a@x", "commit", "-q", "-m", "x")
	table, err := os.ReadFile("../programs/tables/git.txt")
	require.NoError(t, err)
	var options []string
	for _, o := range regexp.MustCompile(`(?:^|[\s,])(--?[A-Za-z][\w-]*)`).FindAllStringSubmatch(string(table), -1) {
		options = append(options, o[1])
	}
	slices.Sort(options)
	options = slices.Compact(options)
	require.Greater(t, len(options), 150)
	allowed := 0
	ofCommits := strings.Fields("log show diff reflog rev-list shortlog blame grep")
	for _, sub := range []string{"log", "show", "diff", "reflog", "rev-list", "shortlog", "blame", "branch", "tag", "stash list", "status", "grep", "ls-files"} {
		for _, o := range options {
			words := append(strings.Fields(sub), o, "--output=written")
			if slices.Contains(ofCommits, sub) { // some do nothing without a commit
				words = append(words, "HEAD")
			}
			script := "git " + strings.Join(words, " ")
			if judge.Judge(judge.Request{Script: script, Shell: "bash"}).Class != policy.ReadOnly {
				continue
			}
			allowed++
			run(words...)
			if !assert.NoFileExists(t, filepath.Join(dir, "written"), script) {
				require.NoError(t, os.Remove(filepath.Join(dir, "written")))
			}
		}
	}
	t.Logf("%d commands were allowed, and run", allowed)
	assert.Greater(t, allowed, 100)
}
