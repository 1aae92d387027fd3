package config

import (
	"path/filepath"

	"go.yaml.in/yaml/v3"
)

// Exchange is the directory of this machine from which agents upload files to hosts, and to which they download; "" is none.
type Exchange string

func (e *Exchange) read(p *problems, where string, n *yaml.Node) {
	text, ok := p.Scalar(n, where)
	switch {
	case !ok:
	case !filepath.IsAbs(text) || filepath.Clean(text) == "/":
		p.Add(n.Line, "%s: must be the absolute path of a directory for this alone", where)
	default:
		*e = Exchange(filepath.Clean(text))
	}
}
