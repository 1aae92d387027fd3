package jobs_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// What a shell says of the third line of a job's command says so.
func TestTheLinesOfAJobAreThoseOfItsCommand(t *testing.T) {
	for _, shell := range shells(t) {
		if shell == "mksh" {
			continue // does not count lines
		}
		t.Run(shell, func(t *testing.T) {
			home(t)
			h := on(t, shell)
			for command, want := range map[string]string{
				"true\n\n/nonexistent/program\ntrue":   `\b3\b.*/nonexistent/program`,
				"\n\n/nonexistent/program # a comment": `\b3\b.*/nonexistent/program`,
				"# a comment\ntrue\n)\n":               `\b3\b.*\)`,
			} {
				l := ended(t, h, started(t, h, command).ID)
				assert.Regexp(t, want, string(l.Stderr), "%q", command)
			}
		})
	}
}
