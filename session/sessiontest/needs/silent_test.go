package needs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every skip for a missing part of the machine goes through Part, or asks for CI itself in the lines before.
func TestNoSkipForAMissingPartIsSilent(t *testing.T) {
	skip := regexp.MustCompile(`\.Skipf?\(.*(installed|only root|takes root|tmpfs|mounted|Landlock has|bubblewrap|strace|no python|no less|no sed|no awk|no ssh-keygen)`)
	allowed := []string{
		"the manual of ssh_config is not installed", // slim systems leave manuals out
		"it installs packages",                      // with -short
		"bubblewrap hides sockets",                  // not a part that is missing
	}
	tests := 0
	err := filepath.WalkDir("../../..", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() && e.Name() == ".git" {
			return err
		}
		if !strings.HasSuffix(name, "_test.go") || name == "silent_test.go" || strings.HasSuffix(name, "needs/silent_test.go") {
			return nil
		}
		tests++
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		lines := strings.Split(string(text), "\n")
		for i, line := range lines {
			if !skip.MatchString(line) || slices.ContainsFunc(allowed, func(a string) bool { return strings.Contains(line, a) }) {
				continue
			}
			if !strings.Contains(strings.Join(lines[max(0, i-5):i], "\n"), `os.Getenv("CI")`) {
				t.Errorf("%s:%d: this skip is silent with CI=true: use needs.Part", name, i+1)
			}
		}
		return nil
	})
	if err != nil || tests < 300 {
		t.Fatalf("%d files of tests were read: %v", tests, err)
	}
}
