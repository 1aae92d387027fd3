package config

import (
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/audit/sinks"
	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// Audit is how the record is kept.
type Audit struct {
	Sync    audit.SyncMode // zero is audit.SyncRequests
	MaxSize int64          // bytes after which the next file begins; as audit.Config's
	MaxAge  time.Duration  // after which it does; as audit.Config's
	Sinks   []sinks.Config

	// Outputs says that what commands print is kept too, without secrets and by its hash, so that it can be shown with the
	// record and removed from it.
	Outputs bool
}

func (a *Audit) read(p *problems, where string, n *yaml.Node) {
	p.section(n, where, map[string]reader{"sync": a.readSync, "rotate": a.readRotate, "sinks": a.readSinks, "outputs": a.readOutputs})
}

func (a *Audit) readSync(p *problems, where string, n *yaml.Node) {
	switch text, ok := p.Scalar(n, where); {
	case !ok:
	case text == "requests": // as it is
	case text == "always":
		a.Sync = audit.SyncAlways
	default:
		p.Add(n.Line, "%s: must be requests or always", where)
	}
}

func (a *Audit) readOutputs(p *problems, where string, n *yaml.Node) {
	switch text, ok := p.Scalar(n, where); {
	case !ok:
	case text == "keep":
		a.Outputs = true
	case text == "none": // as it is
	default:
		p.Add(n.Line, "%s: must be keep or none", where)
	}
}

func (a *Audit) readRotate(p *problems, where string, n *yaml.Node) {
	p.section(n, where, map[string]reader{
		"size": func(p *problems, where string, n *yaml.Node) {
			text, ok := p.Scalar(n, where)
			if !ok {
				return
			}
			if a.MaxSize, ok = parseSize(text); !ok {
				p.Add(n.Line, "%s: must be a size like 256MiB, of at least 1KiB, or never", where)
			}
		},
		"age": func(p *problems, where string, n *yaml.Node) {
			text, ok := p.Scalar(n, where)
			if !ok {
				return
			}
			if text == "never" {
				a.MaxAge = -1
				return
			}
			d, err := time.ParseDuration(text)
			if err != nil || d < time.Minute {
				p.Add(n.Line, "%s: must be a time like 720h, of at least 1m, or never", where)
				return
			}
			a.MaxAge = d
		},
	})
}

var sizeText = lazyregexp.New(`^([1-9][0-9]{0,8})(KiB|MiB|GiB)?$`)

// parseSize reads bytes; "never" is -1.
func parseSize(text string) (int64, bool) {
	if text == "never" {
		return -1, true
	}
	m := sizeText.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	n, _ := strconv.ParseInt(m[1], 10, 64) // nine digits at most
	n <<= map[string]int{"": 0, "KiB": 10, "MiB": 20, "GiB": 30}[m[2]]
	return n, n >= 1<<10
}

// readSinks reads each place by itself, so that a mistake has its line.
func (a *Audit) readSinks(p *problems, where string, n *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		p.Add(n.Line, "%s: expected a list, as in [{file: /path}]", where)
		return
	}
	for _, entry := range n.Content {
		var item any
		_ = entry.Decode(&item) // what YAML may hold was checked; nothing is no sink either
		got, err := sinks.Decode([]any{item})
		if err != nil {
			_, msg, _ := strings.Cut(err.Error(), "entry 1: ")
			p.Add(entry.Line, "%s: %s", where, msg)
			continue
		}
		a.Sinks = append(a.Sinks, got...)
	}
}
