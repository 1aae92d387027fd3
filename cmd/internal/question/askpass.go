package question

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// askpass is what the environment says about a program that asks, as ssh(1) reads it.
type askpass struct {
	program string // "" is none
	first   bool   // before the terminal
}

func askpassOf(getenv func(string) string) askpass {
	a := askpass{program: getenv("SSH_ASKPASS")}
	allowed := getenv("DISPLAY") != "" || getenv("WAYLAND_DISPLAY") != ""
	switch strings.ToLower(getenv("SSH_ASKPASS_REQUIRE")) {
	case "force":
		allowed, a.first = true, true
	case "prefer":
		a.first = allowed
	case "never":
		allowed = false
	}
	if !allowed {
		a.program = ""
	}
	return a
}

// ask runs the program, which shows prompt and prints the answer. hint is what kind of answer is wanted.
func (a askpass) ask(ctx context.Context, prompt, hint string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, a.program, prompt)
	cmd.Env = append(os.Environ(), "SSH_ASKPASS_PROMPT="+hint)
	if hint == "" {
		cmd.Env = os.Environ()
	}
	out, err := cmd.Output()
	if ctx.Err() != nil {
		clear(out)
		return nil, context.Cause(ctx)
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		clear(out)
		return nil, errCanceled
	case err != nil:
		return nil, fmt.Errorf("SSH_ASKPASS cannot be run: %w", err)
	}
	line, _, _ := bytes.Cut(out, []byte("\n"))
	line = bytes.TrimSuffix(line, []byte("\r"))
	if len(line) > maxTyped {
		clear(out)
		return nil, fmt.Errorf("an answer has at most %d bytes", maxTyped)
	}
	return line, nil
}
