package programs_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

func TestEveryEntryOfEveryTableCompiles(t *testing.T) {
	names := programs.Names()
	assert.Greater(t, len(names), 900)
	t.Log(len(names), "programs, by family:", programs.Families())
}
