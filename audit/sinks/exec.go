package sinks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"unicode"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/audit/procgroup"
)

// program is run for each head, which it gets on its standard input.
type program []string

// Anchor returns nil for exit code 0. The end of ctx kills the program, with what it has started in its process group.
func (p program) Anchor(ctx context.Context, a audit.Anchor) error {
	cmd := exec.CommandContext(ctx, p[0], p[1:]...)
	cmd.Stdin = bytes.NewReader(append(a.Line(), '\n'))
	said := &firstLine{}
	cmd.Stderr = said
	err := procgroup.Run(cmd)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Exited() { // and no signal ended it
		return fmt.Errorf("exit code %d%s", exit.ExitCode(), said)
	}
	return plain(err)
}

// firstLine keeps the beginning of what it is told.
type firstLine struct{ kept []byte }

const maxSaid = 200

func (l *firstLine) Write(p []byte) (int, error) {
	l.kept = append(l.kept, p[:min(len(p), maxSaid-len(l.kept))]...)
	return len(p), nil
}

func (l *firstLine) String() string {
	text, _, _ := strings.Cut(strings.TrimSpace(strings.ToValidUTF8(string(l.kept), "?")), "\n")
	if text == "" {
		return ""
	}
	return ": " + strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return '?'
		}
		return r
	}, text)
}
