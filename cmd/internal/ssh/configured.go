package ssh

import (
	"cmp"
	"errors"
	"fmt"

	hostscmd "github.com/fairlead-ssh/fairlead/cmd/internal/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

// request is RequestTTY, which -t and -T go before.
func (c *call) request(value string) {
	if c.tty != 0 {
		return
	}
	switch value {
	case "no", "false":
		c.tty = -1
	case "yes", "true":
		c.tty = 1
	case "force":
		c.tty = 2
	}
}

// configured takes what files say about the program on the host, behind what the command line says. A RemoteCommand is not run where
// the call forwards only.
func (c *call) configured(p hostscmd.Program) error {
	if !c.saidTTY {
		c.request(p.TTY)
	}
	c.noInput = c.noInput || p.NoInput && !c.saidInput
	if p.Background && !c.saidBackground {
		c.background, c.noInput = true, true
	}
	if from := cmp.Or(c.local, p.LocalFrom); from != "" && from != sshconfig.None && p.LocalOK != "" && !c.saidLocal {
		c.warnings = append(c.warnings, fmt.Sprintf("LocalCommand (%s) is not supported and not run, though %s permits it; -o PermitLocalCommand=no leaves out this warning", from, p.LocalOK))
	}
	c.gateway = c.gateway || p.Gateway && !c.saidGateway
	if !c.saidEscape {
		if _, err := escapeOf(p.Escape); err != nil {
			return fmt.Errorf("%s: EscapeChar: %w", p.EscapeFrom, err)
		}
		c.escape = p.Escape
	}
	if !c.saidSession && !c.noCommand && !c.subsystem && c.forward == "" {
		switch {
		case p.Session == "none" && len(c.words) > 0:
			return fmt.Errorf("%s: SessionType none and a command exclude each other; -o SessionType=default runs the command", p.SessionFrom)
		case p.Session == "none":
			c.noCommand = true
		case p.Session == "subsystem":
			c.subsystem = true
		}
	}
	switch {
	case p.Command == "" || c.command != "" || c.noCommand || c.forward != "":
	case len(c.words) > 0:
		return fmt.Errorf("%s: RemoteCommand and a command exclude each other; -o RemoteCommand=none runs the command", p.From)
	default:
		c.command = p.Command
	}
	if c.background && !c.noCommand && len(c.words) == 0 && c.command == "" && c.forward == "" {
		return errors.New("-f needs a command, or -N")
	}
	return c.check()
}
