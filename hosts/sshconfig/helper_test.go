package sshconfig_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

// home is a made-up account with files below a fresh directory.
type home struct {
	t   *testing.T
	dir string
	sshconfig.Loader
}

func newHome(t *testing.T) *home {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{"home/.ssh", "etc"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, d), 0o700))
	}
	env := map[string]string{"SSH_AUTH_SOCK": "/run/agent", "KEYS": "/keys", "EMPTY": ""}
	return &home{t: t, dir: dir, Loader: sshconfig.Loader{
		Home: filepath.Join(dir, "home"), SystemDir: filepath.Join(dir, "etc"),
		User: "alice", UID: "1000", Hostname: "desk.example.org",
		LookupEnv: func(k string) (string, bool) { v, ok := env[k]; return v, ok },
	}}
}

// write creates a file; names are relative to the fresh directory. "@" in the text stands for that directory.
func (h *home) write(name, text string) string {
	h.t.Helper()
	path := filepath.Join(h.dir, name)
	require.NoError(h.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(h.t, os.WriteFile(path, []byte(strings.ReplaceAll(text, "@", h.dir)), 0o600))
	return path
}

func (h *home) resolve(text, alias string) (sshconfig.Settings, error) {
	h.t.Helper()
	cfg, err := h.Open(h.writeRaw("home/.ssh/config", text))
	if err != nil {
		return sshconfig.Settings{}, err
	}
	return cfg.Resolve(alias, sshconfig.Options{})
}

func (h *home) writeRaw(name, text string) string {
	h.t.Helper()
	path := filepath.Join(h.dir, name)
	require.NoError(h.t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func must(t *testing.T, text, alias string) sshconfig.Settings {
	t.Helper()
	s, err := newHome(t).resolve(text, alias)
	require.NoError(t, err)
	return s
}

func paths(vs []sshconfig.Value[string]) []string {
	out := []string{}
	for _, v := range vs {
		out = append(out, v.V)
	}
	return out
}
