package programs_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

func TestEveryTableIsWithoutMistakes(t *testing.T) {
	for _, err := range programs.Problems() {
		assert.NoError(t, err)
	}
	t.Log(len(programs.Names()), "programs")
}
