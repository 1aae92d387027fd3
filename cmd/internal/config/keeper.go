package config

import (
	"errors"

	"go.yaml.in/yaml/v3"
)

// KeeperMode says whether commands go through the keeper, the process that holds sessions. The zero value is Auto.
type KeeperMode string

// The modes.
const (
	Auto    KeeperMode = "auto"    // where a command profits; one is started where none runs, and done without where that fails
	Off     KeeperMode = "off"     // never
	Require KeeperMode = "require" // or fail
)

// ParseKeeperMode reads one; "" is Auto.
func ParseKeeperMode(text string) (KeeperMode, error) {
	switch m := KeeperMode(text); m {
	case "":
		return Auto, nil
	case Auto, Off, Require:
		return m, nil
	}
	return "", errors.New("must be auto, off or require")
}

func (m *KeeperMode) read(p *problems, where string, n *yaml.Node) {
	text, ok := p.Scalar(n, where)
	if !ok {
		return
	}
	var err error
	if *m, err = ParseKeeperMode(text); err != nil {
		p.Add(n.Line, "%s: %v", where, err)
	}
}
