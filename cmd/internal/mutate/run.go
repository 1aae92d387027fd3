//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// pkg is what "go list -json" says of a package.
type pkg struct {
	ImportPath string
	Dir        string
	GoFiles    []string
}

func packages(ctx context.Context, patterns []string) ([]pkg, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-json=ImportPath,Dir,GoFiles", "--"}, patterns...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var all []pkg
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p pkg
		if err := d.Decode(&p); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// result is what became of a mutant.
type result int

const (
	killed   result = iota // a test failed
	survived               // every test passed
	late                   // the tests did not end in time
	invalid                // it does not compile
	results
)

func (r result) String() string {
	return [...]string{"killed", "survived", "timeout", "does not compile"}[r]
}

// try runs the tests of a package with a mutant, nil for none, and returns what they printed.
func try(ctx context.Context, p pkg, m *mutant, limit time.Duration) (result, string, error) {
	args := []string{"test", "-failfast", "-count=1", "-vet=off", "-timeout", limit.String()}
	if m != nil {
		dir, err := os.MkdirTemp("", "mutate")
		if err != nil {
			return 0, "", err
		}
		defer os.RemoveAll(dir)
		overlay, err := m.overlay(dir)
		if err != nil {
			return 0, "", err
		}
		args = append(args, "-overlay", overlay)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, p.ImportPath)...)
	cmd.Env = append(os.Environ(), "GOFLAGS=")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a mutant may leave processes behind
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out, err := cmd.CombinedOutput()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	said := string(out)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return survived, said, nil
	case ctx.Err() != nil:
		return 0, said, ctx.Err()
	case !errors.As(err, &exit):
		return 0, said, err
	case strings.Contains(said, "[build failed]") || strings.Contains(said, "[setup failed]"):
		return invalid, said, nil
	case strings.Contains(said, "panic: test timed out after"):
		return late, said, nil
	}
	return killed, said, nil
}

// overlay writes the mutated file and what go's -overlay reads, and returns the name of that.
func (m *mutant) overlay(dir string) (string, error) {
	src, err := os.ReadFile(m.file)
	if err != nil {
		return "", err
	}
	changed := filepath.Join(dir, filepath.Base(m.file))
	text := string(src[:m.from]) + m.text + string(src[m.to:])
	if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
		return "", err
	}
	data, err := json.Marshal(map[string]map[string]string{"Replace": {m.file: changed}})
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "overlay.json")
	return name, os.WriteFile(name, data, 0o600)
}

// failure is the line of a test that failed, or of a panic.
var failure = regexp.MustCompile(`(?m)^(?:\s*--- FAIL: (\S+)|(panic: .*)|(fatal error: .*))`)

// firstFailure returns the names of the test that failed first and of its innermost case, or the panic that ended the tests.
func firstFailure(said string) string {
	var name string
	for _, m := range failure.FindAllStringSubmatch(said, -1) {
		if found := m[1] + m[2] + m[3]; name == "" || m[1] != "" && strings.HasPrefix(found, name+"/") {
			name = found
		}
	}
	return name
}
