package setup_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/setup"
)

// editIn runs "setup vscode --file FILE" in dir, whose user has home.
func editIn(t *testing.T, dir, home, file string) (string, error) {
	t.Helper()
	t.Chdir(dir)
	var out, errs bytes.Buffer
	cmd := setup.NewCmd(&cmdutil.Factory{
		IO:     iostreams.New(strings.NewReader(""), &out, &errs),
		Getenv: func(name string) string { return map[string]string{"HOME": home}[name] },
	}, nil)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs([]string{"vscode", "--file", file})
	err := cmd.ExecuteContext(t.Context())
	return errs.String(), err
}

// A checkout that somebody else wrote must not be able to choose a file of the user's that is written.
func TestNothingIsWrittenThroughALinkThatLeadsOut(t *testing.T) {
	const keys = "ssh-ed25519 AAAA own\n"
	const hostile = "/*\nssh-ed25519 AAAA evil\n*/\n{\"servers\":{}}"
	for name, tt := range map[string]struct {
		links   map[string]string // to make in the checkout
		refused bool
	}{
		"the backup is a link":                     {map[string]string{".vscode/mcp.json.fairlead-backup": "HOME/.ssh/authorized_keys"}, false},
		"the backup is a relative link":            {map[string]string{".vscode/mcp.json.fairlead-backup": "../../.ssh/authorized_keys"}, false},
		"the backup is a link to a new file":       {map[string]string{".vscode/mcp.json.fairlead-backup": "HOME/.ssh/new"}, false},
		"the backups are links":                    {map[string]string{".vscode/mcp.json.fairlead-backup": "HOME/.ssh/new", ".vscode/mcp.json.fairlead-backup.1": "HOME/.ssh/authorized_keys"}, false},
		"the file is a link":                       {map[string]string{".vscode/mcp.json": "HOME/.ssh/authorized_keys"}, true},
		"the file is a link to a new file":         {map[string]string{".vscode/mcp.json": "HOME/.ssh/new"}, true},
		"the file is a link within the checkout":   {map[string]string{".vscode/mcp.json": "../top.json"}, true},
		"the directory is a link":                  {map[string]string{".vscode": "../.ssh"}, true},
		"the directory is a link by a second link": {map[string]string{".vscode": "deep", "deep": "HOME/.ssh"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			home, err := filepath.EvalSymlinks(t.TempDir())
			require.NoError(t, err)
			repo := filepath.Join(home, "repo")
			require.NoError(t, os.MkdirAll(filepath.Join(home, ".ssh"), 0o700))
			require.NoError(t, os.Mkdir(repo, 0o700))
			authorized := filepath.Join(home, ".ssh/authorized_keys")
			require.NoError(t, os.WriteFile(authorized, []byte(keys), 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(repo, "top.json"), []byte("{}"), 0o600))
			if tt.links[".vscode"] == "" {
				require.NoError(t, os.Mkdir(filepath.Join(repo, ".vscode"), 0o700))
				if tt.links[".vscode/mcp.json"] == "" {
					require.NoError(t, os.WriteFile(filepath.Join(repo, ".vscode/mcp.json"), []byte(hostile), 0o600))
				}
			}
			for at, to := range tt.links {
				require.NoError(t, os.Symlink(strings.Replace(to, "HOME", home, 1), filepath.Join(repo, at)))
			}
			for _, file := range []string{".vscode/mcp.json", filepath.Join(repo, ".vscode/mcp.json")} {
				said, err := editIn(t, repo, home, file)
				if tt.refused {
					require.ErrorContains(t, err, "is a link that leads out of its directory")
					_, usage := err.(*cmdutil.UsageError) //nolint:errorlint // it is what the command returns
					assert.True(t, usage)
				} else {
					require.NoError(t, err, said)
				}
				got, err := os.ReadFile(authorized)
				require.NoError(t, err)
				assert.Equal(t, keys, string(got))
				inside, err := os.ReadDir(filepath.Join(home, ".ssh"))
				require.NoError(t, err)
				assert.Len(t, inside, 1)
			}
		})
	}
}

func TestEveryOldFileIsKept(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "mcp.json")
	for i, text := range []string{"{}", "{ }", "{  }"} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o640))
		said, err := editIn(t, dir, "/nowhere", "mcp.json")
		require.NoError(t, err)
		backup := file + ".fairlead-backup" + []string{"", ".1", ".2"}[i]
		assert.Contains(t, said, "the old file is kept as "+backup)
		kept, err := os.ReadFile(backup)
		require.NoError(t, err)
		assert.Equal(t, text, string(kept))
		st, err := os.Stat(backup)
		require.NoError(t, err)
		assert.EqualValues(t, 0o600, st.Mode().Perm())
		st, err = os.Stat(file)
		require.NoError(t, err)
		assert.EqualValues(t, 0o640, st.Mode().Perm(), "the mode stays")
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	require.NoError(t, err)
	assert.Empty(t, left, "no temporary file is left")
}

// Links of the user's own, as dotfile managers make them, work.
func TestLinksThatStayInTheirDirectoryAreFollowed(t *testing.T) {
	home := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(home, "dotfiles/vs"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(home, "dotfiles/vs/mcp.json"), []byte("{}"), 0o600))
	require.NoError(t, os.Symlink("dotfiles/vs", filepath.Join(home, "conf")))
	require.NoError(t, os.Symlink("mcp.json", filepath.Join(home, "dotfiles/vs/link.json")))
	for _, file := range []string{"conf/mcp.json", "conf/link.json"} {
		require.NoError(t, os.WriteFile(filepath.Join(home, "dotfiles/vs/mcp.json"), []byte("{}"), 0o600))
		_, err := editIn(t, home, home, file)
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(home, "dotfiles/vs/mcp.json"))
		require.NoError(t, err)
		assert.Contains(t, string(got), `"fairlead"`)
	}
	st, err := os.Lstat(filepath.Join(home, "dotfiles/vs/link.json"))
	require.NoError(t, err)
	assert.NotZero(t, st.Mode()&os.ModeSymlink)
}

func TestWhatIsNotARegularFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "mcp.json"), 0o600))
	_, err := editIn(t, dir, dir, "mcp.json")
	require.ErrorContains(t, err, "is not a regular file")
	_, err = editIn(t, dir, dir, ".")
	require.ErrorContains(t, err, "is not a regular file")
}
