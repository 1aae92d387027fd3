package config

import (
	"net/url"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// store reads a place for the store. What stands in it is not repeated: it may hold a password.
func (p *problems) store(where string, n *yaml.Node) string {
	text, ok := p.scalar(where, n)
	if !ok {
		return ""
	}
	scheme, _, isURL := strings.Cut(text, "://")
	switch {
	case !isURL && !filepath.IsAbs(text):
		p.add(n.Line, "%s: must be an absolute path, or a URL like postgres://user@host/name", where)
		return ""
	case !isURL:
		return text
	case scheme != "postgres" && scheme != "postgresql":
		p.add(n.Line, "%s: the URL must begin with postgres://", where)
		return ""
	}
	if _, err := url.Parse(text); err != nil {
		p.add(n.Line, "%s: the URL cannot be read", where)
		return ""
	}
	return text
}
