//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

// pkg is what "go list -json" says of a package.
type pkg struct {
	ImportPath string
	Name       string
	Dir        string
	GoFiles    []string
}

func packages(ctx context.Context, patterns []string) ([]pkg, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-json=ImportPath,Name,Dir,GoFiles", "--"}, patterns...)...)
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
