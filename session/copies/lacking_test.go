package copies_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/copies"
	"github.com/fairlead-ssh/fairlead/session/localpty"
)

// What a small system lacks is said, and not taken for what fails without it; nothing is left.
func TestAHostSaysWhatCopiesTakeAndItLacks(t *testing.T) {
	all := []string{"sh", "stty", "env", "cat", "chmod", "head", "ls", "mkdir", "mkfifo", "mv", "rm", "rmdir", "sync", "tr", "wc"}
	src := filepath.Join(tempDir(t), "src")
	write(t, src+"/a", []byte("hello"), 0o640)
	if perl, err := exec.LookPath("perl"); err == nil { // without it a shell takes some of these itself
		all = append(all, filepath.Base(perl))
	}
	for _, lacks := range []string{"chmod", "ls", "mkdir", "mv", "sync", "wc"} {
		t.Run(lacks, func(t *testing.T) {
			bin, dir := t.TempDir(), tempDir(t)
			for _, name := range all {
				if path, err := exec.LookPath(name); err == nil && name != lacks {
					require.NoError(t, os.Symlink(path, filepath.Join(bin, name)))
				}
			}
			s := newSite(t, hosts.Host{Name: "box", Transport: hosts.Command, Command: []string{"env", "PATH=" + bin, "sh"}}, localpty.Dial)
			res, reports := s.upload(copies.Plan{Path: dir}, src)
			err := errOf(res)
			require.Error(t, err)
			said := err.Error()
			for _, r := range reports {
				said += r.Why
			}
			assert.Contains(t, said, "the host has no "+lacks+", which files take where there is no sftp")
			noLeftovers(t, dir)
		})
	}
}
