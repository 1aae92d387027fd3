package inventory_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts/inventory"
)

func TestKeysOfOtherToolsAreAnsweredWithOurs(t *testing.T) {
	for theirs, ours := range inventory.Elsewhere {
		text := fmt.Sprintf("version: 1\nhosts:\n  - {name: a, %s: x}\n", theirs)
		_, _, err := inventory.Parse([]byte(text), "x.yaml", quiet)
		require.Error(t, err)
		require.Regexp(t, fmt.Sprintf(`x.yaml:3: unknown key %q in a host \(did you mean (.* or )?%s( or .*)?\?\)`, theirs, ours), err.Error())

		text = fmt.Sprintf("version: 1\nhosts: [a]\ncredentials:\n  - {%s: x}\n", theirs)
		_, _, err = inventory.Parse([]byte(text), "x.yaml", quiet)
		require.Error(t, err)
		if ours == "labels" || ours == "addr" {
			require.NotContains(t, err.Error(), "did you mean "+ours, "no such key is known there")
		}
	}
}
