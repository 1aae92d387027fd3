package config_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/audit/sinks"
	"github.com/fairlead-ssh/fairlead/cmd/internal/config"
	"github.com/fairlead-ssh/fairlead/cmd/internal/otlp"
)

func TestTheFileSaysWhatHoldsForEveryCommand(t *testing.T) {
	c, err := config.Parse("c.yaml", []byte(`
keeper: off
store: {url: postgres://fairlead@db/fairlead, key_file: /srv/key, keep: 90d}
audit:
  sync: always
  outputs: keep
  rotate: {size: 16MiB, age: never}
  sinks:
    - {file: /mnt/heads, required: prod}
    - syslog: local
approvals: {expire: 1h30m}
notify:
  - {webhook: "https://h/x", secret_file: /srv/secret, events: [asked, done]}
  - {exec: [/bin/page, -x], timeout: 5s}
otlp: {url: "https://h:4318", ca_file: /srv/ca.pem, token_file: /srv/token}
confirm_hosts: 20
forks: 64
fold: true
`))
	require.NoError(t, err)
	assert.Equal(t, config.Config{
		Keeper: config.Off, Store: config.Store{URL: "postgres://fairlead@db/fairlead", KeyFile: "/srv/key", Keep: 90 * 24 * time.Hour},
		Audit: config.Audit{
			Sync: audit.SyncAlways, MaxSize: 16 << 20, MaxAge: -1,
			Sinks: []sinks.Config{{File: "/mnt/heads", Required: audit.Prod}, {Syslog: "local"}}, Outputs: true,
		},
		Approvals: config.Approvals{Expire: 90 * time.Minute},
		Notify: config.Notify{
			{Webhook: "https://h/x", SecretFile: "/srv/secret", Events: []string{"asked", "done"}},
			{Exec: []string{"/bin/page", "-x"}, Timeout: 5 * time.Second},
		},
		OTLP: config.OTLP{Config: otlp.Config{URL: "https://h:4318", CAFile: "/srv/ca.pem", TokenFile: "/srv/token"}},

		ConfirmHosts: 20, Forks: 64, Fold: true,
	}, c)
	c, err = config.Parse("c.yaml", []byte("audit: {rotate: {size: never, age: 24h}}"))
	require.NoError(t, err)
	assert.Equal(t, config.Audit{MaxSize: -1, MaxAge: 24 * time.Hour}, c.Audit)
	for _, nothing := range []string{"", "# keeper: off\n", "{}"} {
		c, err = config.Parse("c.yaml", []byte(nothing))
		require.NoError(t, err, nothing)
		assert.Zero(t, c)
	}
}

func TestEveryMistakeHasItsFileAndLine(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"a key that is not known":       {"\nkeepr: off\n", `config: c.yaml:2: unknown key "keepr" in the file; known: alias, approvals, audit, confirm_hosts, exchange, fold, forks, keeper, notify, otlp, store`},
		"one further in":                {"audit:\n  rotate:\n    sze: 1MiB\n", `config: c.yaml:3: unknown key "sze" in audit.rotate; known: age, size`},
		"no fork":                       {"forks: 0", "config: c.yaml:1: forks: must be a number of hosts, from 1 to 10000"},
		"a fold that is neither":        {"fold: yes", "config: c.yaml:1: fold: must be true or false"},
		"a number of no hosts":          {"confirm_hosts: 0", "config: c.yaml:1: confirm_hosts: must be a number of hosts, from 1 to 1000000"},
		"a mode that is not known":      {"keeper: never", "config: c.yaml:1: keeper: must be auto, off or require"},
		"a value that is missing":       {"keeper:\n", "config: c.yaml:1: keeper: a value is missing"},
		"a list for a value":            {"keeper: [off]", "config: c.yaml:1: keeper: expected a single value"},
		"a value for a mapping":         {"audit: x", "config: c.yaml:1: audit: expected a mapping, as in {outputs: …}"},
		"no mapping at all":             {"- keeper", "config: c.yaml:1: the file: expected a mapping, as in {alias: …}"},
		"a key that is there twice":     {"keeper: off\nkeeper: auto", `config: c.yaml:2: "keeper" is there twice; first on line 1`},
		"a relative store":              {"store: x.db", "config: c.yaml:1: store: must be an absolute path, or a URL like postgres://user@host/name"},
		"a store of another kind":       {"store: mysql://u:secret@h/d", "config: c.yaml:1: store: the URL must begin with postgres://"},
		"a time to keep without a unit": {"store: {keep: 90}", "config: c.yaml:1: store.keep: must be a number of days from 2d to 36500d, such as 90d"},
		"a time to keep that is short":  {"store: {keep: 1d}", "config: c.yaml:1: store.keep: must be a number of days from 2d to 36500d, such as 90d"},
		"a relative key":                {"store: {url: /x, key_file: k}", "config: c.yaml:1: store.key_file: must be an absolute path"},
		"a place without a secret":      {"notify:\n  - {exec: [/x]}\n  - {webhook: https://h/}", "config: c.yaml:3: notify: webhook needs secret_file: a file that only you can read, with what requests are signed with"},
		"a program in one word":         {"notify: [{exec: /x}]", "config: c.yaml:1: notify.exec: expected a list, as in [a, b]"},
		"outputs that are unknown":      {"audit: {outputs: some}", "config: c.yaml:1: audit.outputs: must be keep or none"},
		"a size that is none":           {"audit: {rotate: {size: 1 TB}}", "config: c.yaml:1: audit.rotate.size: must be a size like 256MiB, of at least 1KiB, or never"},
		"an age that is none":           {"audit: {rotate: {age: 30d}}", "config: c.yaml:1: audit.rotate.age: must be a time like 720h, of at least 1m, or never"},
		"approvals that never end":      {"approvals: {expire: never}", "config: c.yaml:1: approvals.expire: must be a time like 15m, from 1s to 24h"},
		"approvals that last long":      {"approvals: {expire: 25h}", "config: c.yaml:1: approvals.expire: must be a time like 15m, from 1s to 24h"},
		"approvals that last not":       {"approvals:\n  expire: 0s\n", "config: c.yaml:2: approvals.expire: must be a time like 15m, from 1s to 24h"},
		"approvals that are a time":     {"approvals: 15m", "config: c.yaml:1: approvals: expected a mapping, as in {expire: …}"},
		"spans to nowhere":              {"otlp: {token_file: /x}", "config: c.yaml:1: otlp: it needs url: where the collector listens, such as https://collector.example.com:4318"},
		"spans in the clear":            {"keeper: off\notlp:\n  url: http://collector.example.com:4318\n", "config: c.yaml:3: otlp: url must begin with https://; http:// is for collectors on this machine"},
		"a password in a URL":           {"otlp: {url: 'https://u:secret@h/'}", "config: c.yaml:1: otlp: url must not hold a password: put a token into token_file"},
		"a relative token file":         {"otlp: {url: 'https://h', token_file: t}", "config: c.yaml:1: otlp: token_file must be an absolute path"},
		"a sink that is wrong":          {"audit:\n  sinks:\n    - {syslog: local}\n    - {file: x}\n", "config: c.yaml:4: audit.sinks: file must be an absolute path"},
		"a sink that is not a mapping":  {"audit: {sinks: [x]}", "config: c.yaml:1: audit.sinks: it must be a map"},
		"no YAML":                       {"keeper: off\n\tx", "config: c.yaml:2: not valid YAML: found a tab character that violates indentation"},
		"an anchor":                     {"keeper: &a off", "config: c.yaml:1: anchors and aliases are not supported"},
		"a second document":             {"keeper: off\n---\nstore: /x\n", "config: c.yaml:2: a second document begins here; a file of settings is one"},
		"several at once, in order":     {"store: x\nkeeper: x", "config: c.yaml:1: store: must be an absolute path, or a URL like postgres://user@host/name\nconfig: c.yaml:2: keeper: must be auto, off or require"},
		"what a terminal would obey":    {"\"\\e[31m\": 1", `config: c.yaml:1: unknown key "\x1b[31m" in the file; known: alias, approvals, audit, confirm_hosts, exchange, fold, forks, keeper, notify, otlp, store`},
		"bytes that are no UTF-8":       {"keeper: \xff", "config: c.yaml:1: the file is not UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := config.Parse("c.yaml", []byte(tt.text))
			require.EqualError(t, err, tt.want)
			assert.Zero(t, c)
			var e *config.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, "c.yaml", e.File)
		})
	}
}

func TestAFileThatOthersCanWriteIsRefused(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	name := filepath.Join(dir, config.FileName)
	c, err := config.Load(name)
	require.NoError(t, err, "there need not be one")
	assert.Zero(t, c)

	require.NoError(t, os.WriteFile(name, []byte("keeper: require"), 0o600))
	c, err = config.Load(name)
	require.NoError(t, err)
	assert.Equal(t, config.Require, c.Keeper)

	require.NoError(t, os.Chmod(name, 0o622))
	_, err = config.Load(name)
	require.ErrorContains(t, err, "can be written by others (mode 0622)")
	require.NoError(t, os.Chmod(name, 0o600))
	require.NoError(t, os.Chmod(dir, 0o777))
	_, err = config.Load(name)
	require.ErrorContains(t, err, "every account that can write there can replace the settings")

	require.NoError(t, os.Chmod(dir, 0o700))
	require.NoError(t, os.Remove(name))
	require.NoError(t, os.Mkdir(name, 0o700))
	_, err = config.Load(name)
	require.ErrorContains(t, err, "is not a regular file")

	require.NoError(t, os.Remove(name))
	require.NoError(t, syscall.Mkfifo(name, 0o600)) // which no program writes to
	_, err = config.Load(name)
	require.ErrorContains(t, err, "is not a regular file")
}

// Whatever a file holds, reading it says so or gives settings; it neither panics nor does both.
func FuzzParse(f *testing.F) {
	f.Add([]byte("keeper: off\naudit: {rotate: {size: 1MiB}, sinks: [{exec: [/bin/x]}]}\n"))
	f.Add([]byte("a: &x [*x]"))
	f.Add([]byte("? {a: b}\n: c"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := config.Parse("c.yaml", data)
		if err != nil {
			assert.Zero(t, c)
		}
	})
}

func TestExchangeIsADirectoryForThisAlone(t *testing.T) {
	c, err := config.Parse("c.yaml", []byte("exchange: /srv/exchange/\n"))
	require.NoError(t, err)
	assert.Equal(t, config.Exchange("/srv/exchange"), c.Exchange)
	for _, bad := range []string{"exchange: here", "exchange: /", "exchange: [a]", "exchange: ''"} {
		_, err := config.Parse("c.yaml", []byte(bad))
		assert.ErrorContains(t, err, "exchange: ", bad)
	}
}
