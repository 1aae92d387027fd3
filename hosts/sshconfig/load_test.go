package sshconfig_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

func TestTheUsersFileGoesBeforeTheSystems(t *testing.T) {
	h := newHome(t)
	h.write("home/.ssh/config", "Host web\nPort 5\nIdentityFile /u\n")
	h.write("etc/ssh_config", "Host *\nPort 6\nUser bob\nIdentityFile /s\n")
	cfg, err := h.Load()
	require.NoError(t, err)
	s, err := cfg.Resolve("web", sshconfig.Options{})
	require.NoError(t, err)
	assert.EqualValues(t, 5, s.Port.V)
	assert.Equal(t, "bob", s.User.V)
	assert.Equal(t, []string{"/u", "/s"}, paths(s.IdentityFiles), "lists grow over both files")
	assert.Len(t, cfg.Files(), 2)
}

func TestMissingFilesAreFineExceptTheOneAskedFor(t *testing.T) {
	h := newHome(t)
	cfg, err := h.Load()
	require.NoError(t, err)
	assert.Empty(t, cfg.Files())
	_, err = h.Open(filepath.Join(h.dir, "missing"))
	assert.ErrorIs(t, err, fs.ErrNotExist)
	assert.ErrorContains(t, err, "missing: cannot be read: no such file")
	_, err = h.Load(sshconfig.None, h.dir+"/missing")
	assert.NoError(t, err)
	cfg, err = h.Open("/dev/null")
	require.NoError(t, err)
	_, err = cfg.Resolve("web", sshconfig.Options{})
	assert.NoError(t, err)
}

func TestBrokenFilesAreErrorsWithEveryLine(t *testing.T) {
	h := newHome(t)
	file := h.write("home/.ssh/config", "Port \"5\nHost web\nUser\n")
	_, err := h.Load()
	require.Error(t, err)
	assert.ErrorContains(t, err, file+":1:")
	assert.ErrorContains(t, err, file+":3: User has no value")

	_, err = h.Load(h.write("junk", strings.Repeat("x\n", 1000)))
	require.Error(t, err)
	assert.Less(t, strings.Count(err.Error(), "\n"), 25, "errors are bounded")

	_, err = h.Open(h.dir)
	assert.ErrorContains(t, err, "not a regular file")
}

func TestFilesThatOthersMayChangeAreRefused(t *testing.T) {
	h := newHome(t)
	file := h.write("home/.ssh/config", "Port 5\n")
	require.NoError(t, os.Chmod(file, 0o666))
	_, err := h.Load()
	assert.ErrorContains(t, err, "can be written by other accounts")
	_, err = h.Open(file)
	assert.NoError(t, err, "a file named by hand is not checked, as with ssh -F")
}

func TestIncludes(t *testing.T) {
	h := newHome(t)
	h.write("home/.ssh/conf.d/10.conf", "Host web\nPort 10\nHost db\n")
	h.write("home/.ssh/conf.d/20.conf", "User twenty\n")
	h.write("home/.ssh/conf.d/.30.conf", "HostName hidden\n")
	h.write("home/.ssh/conf.d/dir.conf/x", "")
	h.write("home/.ssh/q a", "ConnectTimeout 4\n")
	h.write("keys/abs", "IdentityFile /abs\n")
	for name, c := range map[string]struct {
		text string
		port int
		user string
	}{
		"relative to ~/.ssh, glob":           {"Include conf.d/*.conf\n", 10, "twenty"},
		"tilde":                              {"Include ~/.ssh/conf.d/1*\n", 10, "alice"},
		"token":                              {"Include %d/.ssh/conf.d/10.conf\n", 10, "alice"},
		"missing":                            {"Include nothing/* neither\nPort 3\n", 3, "alice"},
		"quoted":                             {"Include \"q a\" conf.d/20.conf\n", 22, "twenty"},
		"negated class":                      {"Include conf.d/[!2]0.conf\n", 10, "alice"},
		"in a block that does not apply":     {"Host db\nInclude conf.d/*.conf\n", 22, "alice"},
		"in a block that applies":            {"Host web\nInclude conf.d/*.conf\n", 10, "twenty"},
		"the block goes on after the file":   {"Host web\nInclude conf.d/10.conf\nUser after\n", 10, "after"},
		"each file starts with the includer": {"Include conf.d/10.conf\nUser after\n", 10, "after"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, err := h.Open(h.write("home/.ssh/config", c.text))
			require.NoError(t, err)
			s, err := cfg.Resolve("web", sshconfig.Options{})
			require.NoError(t, err)
			assert.EqualValues(t, c.port, s.Port.V)
			assert.Equal(t, c.user, s.User.V)
			assert.Equal(t, "web", s.HostName.V)
		})
	}
}

func TestIncludesOfTheSystemFile(t *testing.T) {
	h := newHome(t)
	h.write("etc/ssh_config.d/a.conf", "Port 7\n")
	h.write("etc/ssh_config", "Include ssh_config.d/*.conf\n")
	cfg, err := h.Load()
	require.NoError(t, err)
	s, err := cfg.Resolve("web", sshconfig.Options{})
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(h.SystemDir, "ssh_config.d/a.conf:1"), s.Port.Source())

	h.write("etc/ssh_config", "Include ~/x\n")
	_, err = h.Load()
	assert.ErrorContains(t, err, "ssh_config:1: Include ~/x: a system file cannot include from a home directory")
}

func TestIncludeMistakesAreNamed(t *testing.T) {
	h := newHome(t)
	h.write("home/.ssh/a", "Include b\n")
	h.write("home/.ssh/b", "\nInclude a\n")
	h.write("home/.ssh/bad", "Port \"\n")
	h.write("home/.ssh/open", "Port 5\n")
	require.NoError(t, os.Chmod(filepath.Join(h.Home, ".ssh/open"), 0o602))
	for text, want := range map[string]string{
		"Include a":           filepath.Join(h.Home, ".ssh/b") + ":2: the file includes itself: ",
		"Include \"\"":        "empty file name",
		"Include #x":          "names no file",
		"Include ${NOPE}":     "NOPE is not set",
		"Include ${EMPTY}":    "it is expanded to an empty file name",
		"Include %h.conf":     `"%h" is not known here`,
		"Include [":           "malformed pattern",
		"Host x\nInclude bad": "bad:1:",
		"Include open":        "can be written by other accounts",
		"Include ~nouser-x/a": "no account",
	} {
		_, err := h.resolve(text, "web")
		assert.ErrorContains(t, err, want, text)
	}
	h.write("home/.ssh/config", "Include a\n")
	_, err := h.Load()
	a, b := filepath.Join(h.Home, ".ssh/a"), filepath.Join(h.Home, ".ssh/b")
	assert.ErrorContains(t, err, "includes itself: "+a+" → "+b+" → "+a, "from where the circle begins")
}

// A file counts as often as it is included.
func TestSoManyFilesMayBeIncludedAndNotMore(t *testing.T) {
	const most = 4096 // with the first one
	h := newHome(t)
	h.write("home/.ssh/more", "")
	file := h.write("home/.ssh/config", strings.Repeat("Include more\n", most-1))
	_, err := h.Open(file)
	require.NoError(t, err)
	h.write("home/.ssh/config", strings.Repeat("Include more\n", most))
	_, err = h.Open(file)
	assert.ErrorContains(t, err, fmt.Sprintf(":%d: Include: ", most))
	assert.ErrorContains(t, err, fmt.Sprintf("more than %d files are included", most))
	assert.Equal(t, 1, strings.Count(err.Error(), "sshconfig: "), "%v", err)
}

// The package's name stands once in front of an error, however many files lead to the place.
func TestAnErrorOfAnIncludedFileNamesThePackageOnce(t *testing.T) {
	h := newHome(t)
	h.write("home/.ssh/f1", "Include f2\n")
	require.NoError(t, syscall.Mkfifo(filepath.Join(h.Home, ".ssh/f2"), 0o600))
	_, err := h.Open(h.write("home/.ssh/config", "Include f1\n"))
	assert.EqualError(t, err, fmt.Sprintf("sshconfig: %[1]s/f1:1: Include: %[1]s/f2: is not a regular file", filepath.Join(h.Home, ".ssh")))
}

func TestIncludesMayBeSixteenDeepAndNotMore(t *testing.T) {
	h := newHome(t)
	for i := range 20 {
		h.write(fmt.Sprintf("home/.ssh/f%d", i), fmt.Sprintf("Include f%d\n", i+1))
	}
	h.write("home/.ssh/f16", "Port 16\n")
	cfg, err := h.Open(filepath.Join(h.Home, ".ssh/f0"))
	require.NoError(t, err)
	s, err := cfg.Resolve("web", sshconfig.Options{})
	require.NoError(t, err)
	assert.EqualValues(t, 16, s.Port.V)
	h.write("home/.ssh/f16", "Include f17\n")
	h.write("home/.ssh/f17", "Port 17\n")
	_, err = h.Open(filepath.Join(h.Home, ".ssh/f0"))
	assert.ErrorContains(t, err, "f16:1: files are included more than 16 levels deep")
}

func TestIncludesThatMultiplyAreBounded(t *testing.T) {
	h := newHome(t)
	for i := range 8 {
		h.write(fmt.Sprintf("home/.ssh/m%d", i), strings.Repeat(fmt.Sprintf("Include m%d\n", i+1), 10))
	}
	_, err := h.Open(filepath.Join(h.Home, ".ssh/m0"))
	assert.ErrorContains(t, err, "more than 4096 files")
}
