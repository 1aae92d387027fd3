package sinks

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/fairlead-ssh/fairlead/audit"
)

// Open opens the chain in dir, and makes a Tee of it and the places. The caller closes the Tee, which closes all. warn is
// told what [audit.TeeConfig.Warn] is. Places are not reached before there is something to tell them; mistakes in a
// Config are errors.
func Open(dir string, cfg audit.Config, places []Config, warn func(text string)) (*audit.Tee, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("sinks: %w", err)
	}
	tee := audit.TeeConfig{Warn: warn}
	var errs []error
	for i, c := range places {
		to, err := c.open(dir)
		if err != nil {
			errs = append(errs, fmt.Errorf("sinks: audit.sinks, entry %d: %w", i+1, err))
		}
		tee.Places = append(tee.Places, audit.Place{Name: c.Name(), To: to, Required: c.Required, Timeout: c.Timeout})
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	f, err := audit.Open(dir, cfg)
	if err != nil {
		return nil, err
	}
	return audit.NewTee(f, tee), nil
}

// New returns the place that c names.
func New(c Config) (audit.Anchorer, error) {
	to, err := c.open("")
	if err != nil {
		return nil, fmt.Errorf("sinks: %w", err)
	}
	return to, nil
}

// open makes the place. chain is a directory that no file may be in.
func (c Config) open(chain string) (audit.Anchorer, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	switch {
	case c.File != "":
		if within(chain, c.File) {
			return nil, errors.New("a file beside the chain proves nothing: put it where the chain's editor cannot write")
		}
		return &file{path: c.File}, nil
	case c.Syslog != "":
		return newSyslog(c.Syslog), nil
	case c.HTTPS != "":
		return newWeb(c)
	}
	return program(c.Exec), nil
}

// within reports whether a path is dir or lies below it. Nothing is within "".
func within(dir, path string) bool {
	rel, _ := filepath.Rel(dir, path) // "" after an error
	return filepath.IsLocal(rel)
}
