package hosts_test

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// lists answers ReadList from memory.
type lists map[string]string

func (l lists) read(name string) ([]byte, error) {
	text, ok := l[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(text), nil
}

func TestListsAreReadOnlyByWhoAllowsIt(t *testing.T) {
	o := hosts.ParseOptions{ReadList: lists{
		"failed.txt": "# failed last night\nweb01\n\nweb02 # twice\r\nweb02\ndb[1-2], Gate.example.com",
		"my file":    "\ufeffdb1",
		"-":          "web03",
	}.read}
	inv := fleet(t)
	for name, tt := range map[string]struct{ selector, canonical, want string }{
		"a file":                    {"^failed.txt", "Gate.example.com,db[1-2],web[01-02]", "web01 web02 db1 db2 Gate.example.com"},
		"its twin for shells":       {"file:failed.txt", "Gate.example.com,db[1-2],web[01-02]", "web01 web02 db1 db2 Gate.example.com"},
		"a path in quotes":          {`^"my file"`, "db1", "db1"},
		"standard input":            {"-", "web03", "web03"},
		"it takes part in algebra":  {"^failed.txt&@web,-", "(Gate.example.com,db[1-2],web[01-02])&@web,web03", "web01 web02 web03"},
		"it can be an exclusion":    {"all & !^failed.txt", "all&!(Gate.example.com,db[1-2],web[01-02])", "web03"},
		"it ends at a parenthesis":  {"(^failed.txt)&db1", "(Gate.example.com,db[1-2],web[01-02])&db1", "db1"},
		"it joins the union around": {"^failed.txt,-", "Gate.example.com,db[1-2],web[01-02],web03", "web01 web02 web03 db1 db2 Gate.example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			sel, err := o.Parse(tt.selector)
			require.NoError(t, err)
			assert.Equal(t, tt.canonical, sel.String())
			again, err := hosts.ParseSelector(sel.String())
			require.NoError(t, err, "the canonical form must need no file")
			assert.Equal(t, sel, again)
			got, err := inv.Select(sel)
			require.NoError(t, err)
			assert.Equal(t, tt.want, names(got))
		})
	}
}

func TestListErrorsNameTheLine(t *testing.T) {
	o := hosts.ParseOptions{ReadList: lists{
		"bad":   "web01\n\nweb01;reboot\n",
		"expr":  "all\n",
		"empty": "\n# nobody\n",
		"huge":  "a[1-99999]\nb[1-99999]",
	}.read}
	for name, tt := range map[string]struct{ selector, want string }{
		"a strange character":   {"^bad", "hosts: bad:3: unexpected ';' in a name"},
		"lists hold names only": {"^expr", `hosts: expr:1: "all" is a word of selectors: "all" means every host`},
		"an empty list":         {"web01,^empty", "hosts: selector, column 7: file empty names no host"},
		"too many names":        {"^huge", "hosts: huge:2: more than 100000 names"},
		"a missing file":        {"a,^gone", "hosts: selector, column 3: cannot read the list of hosts: file does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := o.Parse(tt.selector)
			require.EqualError(t, err, tt.want)
			var pe *hosts.ParseError
			assert.True(t, errors.As(err, &pe))
		})
	}
	_, err := o.Parse("^gone")
	assert.ErrorIs(t, err, fs.ErrNotExist)
}
