package config

import (
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Store is where sandboxes, commands and tokens are kept.
type Store struct {
	URL string // an absolute path or a postgres:// URL; "" is the usual place

	// KeyFile is an absolute path: what seals the exact text of commands that wait. All keepers that share a Postgres database
	// need the same. "" is beside a file, and in the state directory for Postgres.
	KeyFile string

	Keep time.Duration // commands that ended longer ago are deleted with their outputs; 0 keeps them until "audit purge"
}

func (s *Store) read(p *problems, where string, n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		s.URL = p.store(where, n)
		return
	}
	p.section(n, where, map[string]reader{
		"url":      func(p *problems, where string, n *yaml.Node) { s.URL = p.store(where, n) },
		"key_file": func(p *problems, where string, n *yaml.Node) { s.KeyFile = p.path(where, n) },
		"keep":     func(p *problems, where string, n *yaml.Node) { s.Keep = p.days(where, n) },
	})
}

// Idempotency keys are remembered for a day: what they stand for must not go before.
const (
	minKeepDays = 2
	maxKeepDays = 36500
)

// days reads a number of days: 90d.
func (p *problems) days(where string, n *yaml.Node) time.Duration {
	text, ok := p.Scalar(n, where)
	if !ok {
		return 0
	}
	number, unit := strings.CutSuffix(text, "d")
	days, err := strconv.Atoi(number)
	if !unit || err != nil || days < minKeepDays || days > maxKeepDays {
		p.Add(n.Line, "%s: must be a number of days from %dd to %dd, such as 90d", where, minKeepDays, maxKeepDays)
		return 0
	}
	return time.Duration(days) * 24 * time.Hour
}

// path reads an absolute path.
func (p *problems) path(where string, n *yaml.Node) string {
	text, ok := p.Scalar(n, where)
	if ok && !filepath.IsAbs(text) {
		p.Add(n.Line, "%s: must be an absolute path", where)
		return ""
	}
	return text
}

// store reads a place for the store. What stands in it is not repeated: it may hold a password.
func (p *problems) store(where string, n *yaml.Node) string {
	text, ok := p.Scalar(n, where)
	if !ok {
		return ""
	}
	scheme, _, isURL := strings.Cut(text, "://")
	switch {
	case !isURL && !filepath.IsAbs(text):
		p.Add(n.Line, "%s: must be an absolute path, or a URL like postgres://user@host/name", where)
		return ""
	case !isURL:
		return text
	case scheme != "postgres" && scheme != "postgresql":
		p.Add(n.Line, "%s: the URL must begin with postgres://", where)
		return ""
	}
	if _, err := url.Parse(text); err != nil {
		p.Add(n.Line, "%s: the URL cannot be read", where)
		return ""
	}
	return text
}
