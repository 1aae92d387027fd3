package programs_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
)

func TestSedScriptsAreRead(t *testing.T) {
	table(t, `
		read-only | sed -n '1,5p' f
		read-only | sed 's/a\/b/c/g; s|x|y|' f
		read-only | sed -E 's/^[[:space:]]+//' f
		read-only | sed -e '/a/{' -e 'n;d' -e '}' f
		read-only | sed '$!N;$!D' f
		read-only | sed '/x/I,+3d' f
		read-only | sed 'a\text w file' f
		read-only | sed 's/e/w/' f
		read-only | sed '\,w x,d' f
		read-only | sed ':a;N;$!ba;s/\n/ /g' f
		read-only | sed 'y/abc/xyz/' f
		read-only | sed 5q f
		write | sed -i 's/a/b/' f
		write | sed --in-pl=.bak p f
		write | sed -n '1w pwned' f
		write | sed '/x/w pwned' f
		write | sed 's/a/b/w pwned' f
		write | sed 's/a/b/gw pwned' f
		write | sed -n 'h;W pwned' f
		unknown | sed '1e touch pwned' f
		unknown | sed 'e' f
		unknown | sed 's/.*/touch pwned/e' f
		unknown | sed 's/a/b/pe' f
		unknown | sed -f script f
		unknown | sed -f - f
		unknown | sed --expression="$X" f
		unknown | sed "s/a/$X/" f
		unknown | sed 's/[/]/x/;e id' f
		unknown | sed 's/a/b' f
		unknown | sed 'k' f
		unknown | sed -e 'a\' -e 'x' -e 'e id' f
		read-only | sed -e 'a\' -e 'e id' f
		forbidden | sed '1e rm -rf /' f
	`)
}

func TestTextThatSedAppendsEndsWithItsLine(t *testing.T) {
	assert.Equal(t, policy.ReadOnly, judge(t, "sed 'a x\\\nw /tmp/x' f").class)
	assert.Equal(t, policy.Write, judge(t, "sed 'a x\\\\\nw /tmp/x' f").class, "two backslashes are one, and do not continue the line")
}
