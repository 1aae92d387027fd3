// Package config reads config.yaml, the user's settings of the program itself: what stands in it holds for every command
// unless a flag or an environment variable says otherwise.
//
//	keeper: auto            # auto, off or require
//	store: /srv/fairlead.db # a file, or postgres://user@host/name, or {url: …, key_file: …, keep: 90d}; keep deletes what ended longer ago
//	audit:
//	  sync: always          # requests (the default) or always
//	  rotate: {size: 256MiB, age: 720h}
//	  outputs: keep         # what commands print is kept too; none is the default
//	  sinks:
//	    - {file: /mnt/worm/heads, required: prod}
//	approvals: {expire: 15m} # how long what agents ask for waits for a person, from 1s to 24h
//	notify: # who is told what waits and what has ended
//	  - {webhook: "https://chat.example.com/hook", secret_file: /etc/fairlead/hook.key, events: [asked]}
//	  - {exec: [/usr/local/bin/page], timeout: 5s}
//	confirm_hosts: 20       # ask before a command, a job or a copy that is not a read goes to more hosts; without it to any number
//	forks: 64               # how many hosts at a time where --forks does not say
//	fold: true              # group identical output of several hosts where no flag of run says how to print it
//	alias: {up: run @web --fold -- uptime} # commands of one's own: "fairlead up" adds what follows; a list of words works, too
//	exchange: /srv/exchange # agents may copy files between this directory and hosts; without it they cannot
//	otlp: {url: "https://collector.example.com:4318"} # the keeper sends OpenTelemetry spans there; also ca_file, token_file
//
// The file is strict: what is not known is a mistake, and all mistakes are told at once, each with file and line. It may
// name programs, so one that other accounts can write is refused. The package reads files and nothing else; it has no
// global state.
package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/fairlead-ssh/fairlead/hosts/strictyaml"
	"github.com/fairlead-ssh/fairlead/hosts/trustedfile"
)

// FileName is the name of the file, in the directory where the user's policy.yaml is.
const FileName = "config.yaml"

// Config is what the file says. The zero value is what holds without one.
type Config struct {
	Keeper    KeeperMode // zero is Auto
	Store     Store
	Audit     Audit
	Approvals Approvals
	Notify    Notify
	OTLP      OTLP

	ConfirmHosts ConfirmHosts
	Forks        Forks
	Fold         Fold
	Alias        Aliases
	Exchange     Exchange
}

// Load reads a file. One that does not exist is the zero Config. Mistakes in it are *Error, joined. An alias must not have the
// name of a command, and leads to one.
func Load(path string, commands ...string) (Config, error) {
	f, err := trustedfile.Open(path, "settings")
	if errors.Is(err, fs.ErrNotExist) {
		return Config{}, nil
	}
	if err != nil {
		return Config{}, fmt.Errorf("config: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, strictyaml.MaxFile+1))
	if err != nil {
		return Config{}, fmt.Errorf("config: %w", err)
	}
	return Parse(path, data, commands...)
}

// Parse reads what a file of that name holds. See Load for commands; without them it looks for loops of aliases alone.
func Parse(file string, data []byte, commands ...string) (c Config, err error) {
	p := &problems{file: file}
	if top := p.Document(data, "a file of settings"); top != nil {
		p.section(top, "", map[string]reader{
			"keeper":    c.Keeper.read,
			"store":     c.Store.read,
			"audit":     c.Audit.read,
			"approvals": c.Approvals.read,
			"notify":    c.Notify.read,
			"otlp":      c.OTLP.read,

			"confirm_hosts": c.ConfirmHosts.read,
			"forks":         c.Forks.read,
			"fold":          c.Fold.read,
			"alias":         c.Alias.read,
			"exchange":      c.Exchange.read,
		})
		c.Alias.check(p, commands)
	}
	if err := p.err(); err != nil {
		return Config{}, err
	}
	return c, nil
}
