package page

import (
	"io/fs"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What hosts and agents send becomes text in the page, never markup or code: nothing in it parses a string as either.
func TestThePageParsesNoTextAsMarkupOrCode(t *testing.T) {
	parses := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc|createContextualFragment|DOMParser|setHTML|\beval\(|new Function|javascript:`)
	files := 0
	require.NoError(t, fs.WalkDir(os.DirFS("site"), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || regexp.MustCompile(`(^|/)(vendor|xterm)`).MatchString(name) {
			return err
		}
		text, err := os.ReadFile("site/" + name)
		require.NoError(t, err)
		files++
		assert.NotRegexp(t, parses, string(text), name)
		return nil
	}))
	assert.Greater(t, files, 10)
}
