package config_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/config"
	"github.com/fairlead-ssh/fairlead/cmd/internal/notify"
	"github.com/fairlead-ssh/fairlead/hosts/strictyaml"
)

func TestTheFirstAndTheLastValueThatIsTaken(t *testing.T) {
	for text, want := range map[string]config.Config{
		"approvals: {expire: 1s}":              {Approvals: config.Approvals{Expire: time.Second}},
		"approvals: {expire: 24h}":             {Approvals: config.Approvals{Expire: 24 * time.Hour}},
		"audit: {rotate: {age: 1m}}":           {Audit: config.Audit{MaxAge: time.Minute}},
		"audit: {sync: requests}":              {Audit: config.Audit{Sync: audit.SyncRequests}},
		"audit: {sync: always}":                {Audit: config.Audit{Sync: audit.SyncAlways}},
		"audit: {outputs: none}":               {},
		"audit: {outputs: keep}":               {Audit: config.Audit{Outputs: true}},
		"audit: {sinks: []}":                   {},
		"store: {keep: 2d}":                    {Store: config.Store{Keep: 48 * time.Hour}},
		"store: {keep: 36500d}":                {Store: config.Store{Keep: 36500 * 24 * time.Hour}},
		"store: /x":                            {Store: config.Store{URL: "/x"}},
		"store: postgresql://h/d":              {Store: config.Store{URL: "postgresql://h/d"}},
		"keeper: auto":                         {Keeper: config.Auto},
		"keeper: off":                          {Keeper: config.Off},
		"keeper: require":                      {Keeper: config.Require},
		"fold: true":                           {Fold: true},
		"fold: false":                          {},
		"notify: []":                           {},
		"notify: [{exec: [/x], timeout: 1ns}]": {Notify: config.Notify{{Exec: []string{"/x"}, Timeout: 1}}},
		"notify: [{exec: [/x], timeout: 5m}]":  {Notify: config.Notify{{Exec: []string{"/x"}, Timeout: notify.MaxTimeout}}},
		"notify: [{webhook: https://h, secret_file: /s, ca_file: /c}]": {Notify: config.Notify{{Webhook: "https://h", SecretFile: "/s", CAFile: "/c"}}},
	} {
		c, err := config.Parse("c.yaml", []byte(text))
		require.NoError(t, err, text)
		assert.Equal(t, want, c, text)
	}
	m, err := config.ParseKeeperMode("")
	require.NoError(t, err)
	assert.Equal(t, config.Auto, m, "nothing is the usual")
}

// Each mistake is reported once, with what to write, and none of what is in the file holds.
func TestWhatIsJustBeyondIsRefused(t *testing.T) {
	const (
		expire = "approvals.expire: must be a time like 15m, from 1s to 24h"
		age    = "audit.rotate.age: must be a time like 720h, of at least 1m, or never"
		keep   = "store.keep: must be a number of days from 2d to 36500d, such as 90d"
		wait   = "notify.timeout: must be a time like 10s"
		single = ": expected a single value"
	)
	for text, want := range map[string]string{
		"approvals: {expire: 999ms}":               expire,
		"approvals: {expire: 24h1ns}":              expire,
		"approvals: {expire: [1s]}":                "approvals.expire" + single,
		"audit: {rotate: {age: 59s}}":              age,
		"audit: {rotate: {age: [1h]}}":             "audit.rotate.age" + single,
		"audit: {rotate: {size: [1MiB]}}":          "audit.rotate.size" + single,
		"audit: {sync: [always]}":                  "audit.sync" + single,
		"audit: {sync: sometimes}":                 "audit.sync: must be requests or always",
		"audit: {outputs: [keep]}":                 "audit.outputs" + single,
		"audit: {sinks: /x}":                       "audit.sinks: expected a list, as in [{file: /path}]",
		"audit: {sinks: [~]}":                      "audit.sinks: it must be a map",
		"audit: {sinks: ['']}":                     "audit.sinks: it must be a map",
		"store: {keep: 36501d}":                    keep,
		"store: {keep: 90h}":                       keep,
		"store: {keep: xd}":                        keep,
		"store: {keep: [90d]}":                     "store.keep" + single,
		"store: {key_file: [/x]}":                  "store.key_file" + single,
		"store: [/x]":                              "store" + single,
		"store: {url: x}":                          "store.url: must be an absolute path, or a URL like postgres://user@host/name",
		"store: 'postgres://u:secret@[::1/d'":      "store: the URL cannot be read",
		"keeper: {a: b}":                           "keeper" + single,
		"notify: /x":                               "notify: expected a list, as in [{exec: [/path]}]",
		"notify: [{exec: [/x], timeout: 0s}]":      wait,
		"notify: [{exec: [/x], timeout: -1s}]":     wait,
		"notify: [{timeout: soon}]":                wait,
		"notify: [{exec: [/x], timeout: [1s]}]":    "notify.timeout" + single,
		"notify: [{exec: [/x], timeout: 301s}]":    "notify: timeout must be between 0 and 5m0s",
		"notify: [{webhook: [https://h]}]":         "notify.webhook" + single,
		"notify: [{exec: [/x], events: [some]}]":   `notify: unknown event "some"; use asked, approved, rejected, expired, canceled, done`,
		"notify: [{exec: [/x]}, {}, {exec: [/y]}]": "notify: it needs one of webhook and exec",
	} {
		c, err := config.Parse("c.yaml", []byte(text))
		assert.EqualError(t, err, "config: c.yaml:1: "+want, text)
		assert.Zero(t, c, text)
	}
}

func TestAFileThatIsTooLongIsRefused(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	name := filepath.Join(dir, config.FileName)
	text := "keeper: off\n#"
	require.NoError(t, os.WriteFile(name, []byte(text+strings.Repeat("x", strictyaml.MaxFile-len(text))), 0o600))
	c, err := config.Load(name)
	require.NoError(t, err)
	assert.Equal(t, config.Off, c.Keeper)
	require.NoError(t, os.WriteFile(name, []byte(text+strings.Repeat("x", strictyaml.MaxFile-len(text)+1)), 0o600))
	_, err = config.Load(name)
	assert.ErrorContains(t, err, "the file has more than 1048576 bytes")
}

func TestAFileThatCannotBeReadIsAnError(t *testing.T) {
	circle := filepath.Join(t.TempDir(), config.FileName)
	require.NoError(t, os.Symlink(circle, circle))
	_, err := config.Load(circle)
	assert.ErrorContains(t, err, "config: open "+circle)
	if runtime.GOOS == "linux" { // its first page can be opened and not be read
		_, err = config.Load("/proc/self/mem")
		assert.ErrorContains(t, err, "config: ")
	}
}

// The directory of a link and the one that it leads to both count; where others cannot replace a file, they do not.
func TestWhichDirectoriesMayBeOpenToOthers(t *testing.T) {
	for name, c := range map[string]struct {
		ofLink, ofFile os.FileMode
		fine           bool
	}{
		"neither":                    {0o700, 0o755, true},
		"that of the link":           {0o777, 0o700, false},
		"that of the file":           {0o700, 0o770, false},
		"that of the link, as /tmp":  {0o777 | os.ModeSticky, 0o700, true},
		"that of the file, as /tmp":  {0o700, 0o777 | os.ModeSticky, true},
		"both, and only one is /tmp": {0o777 | os.ModeSticky, 0o777, false},
	} {
		t.Run(name, func(t *testing.T) {
			file, link := filepath.Join(t.TempDir(), "f"), filepath.Join(t.TempDir(), "l")
			require.NoError(t, os.WriteFile(file, []byte("keeper: off"), 0o600))
			require.NoError(t, os.Symlink(file, link))
			require.NoError(t, os.Chmod(filepath.Dir(file), c.ofFile))
			require.NoError(t, os.Chmod(filepath.Dir(link), c.ofLink))
			got, err := config.Load(link)
			if c.fine {
				require.NoError(t, err)
				assert.Equal(t, config.Off, got.Keeper)
				return
			}
			assert.ErrorContains(t, err, "every account that can write there can replace the settings")
		})
	}
}
