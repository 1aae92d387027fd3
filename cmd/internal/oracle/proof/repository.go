//go:build linux && amd64

package proof

import (
	"os"
	"os/exec"
	"sync"
)

const pristine = "/run/oracle-repository"

// repository puts a repository with two commits into the working directory, where git is installed.
func repository() error {
	if err := makeRepository(); err != nil {
		return err
	}
	if _, err := os.Stat(pristine + "/.git"); err != nil {
		return nil
	}
	return os.CopyFS(Work+"/.git", os.DirFS(pristine+"/.git"))
}

var makeRepository = sync.OnceValue(func() error {
	git, err := exec.LookPath("git")
	if err != nil {
		return nil
	}
	if err := os.MkdirAll(pristine, 0o755); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"init", "-q", "--template=", "-b", "main"}, {"commit", "-q", "--allow-empty", "-m", "one"}, {"add", "f"}, {"commit", "-q", "-m", "two"}, {"tag", "v1"}, {"branch", "side"},
	} {
		if args[0] == "add" {
			if err := os.WriteFile(pristine+"/f", []byte(fixtureFiles["f"]), 0o644); err != nil {
				return err
			}
		}
		c := exec.Command(git, args...)
		c.Dir = pristine
		c.Env = []string{"HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}
		if err := c.Run(); err != nil {
			return err
		}
	}
	return nil
})
