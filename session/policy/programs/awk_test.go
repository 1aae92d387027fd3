package programs_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
)

func TestAwkProgramsAreRead(t *testing.T) {
	table(t, `
		read-only | awk '{print $1/$2, NF-1}' f
		read-only | awk -F: '$3 > 1000 || /a|b/ {print $1 "|" $2}' f
		read-only | awk '{ print ($2 > 5 ? "a" : "b") }' f
		read-only | awk 'function f(x) { return x*2 } { print f($1) }' f
		read-only | awk '{ gsub(/"/, ""); printf "%s\n", $0 }' f
		read-only | awk '/[0-9]+\/x/ { n++ } END { print n }' f
		read-only | awk 'NR==FNR { a[$1]; next } $1 in a' x y
		read-only | awk '{print > "/dev/stderr"}' f
		read-only | awk '{ print "system(\"x\")" }' f
		sensitive-read | awk 'BEGIN { print ENVIRON["X"] }'
		unknown | awk 'BEGIN{system("touch pwned")}'
		unknown | awk 'BEGIN{system ("touch pwned")}'
		unknown | awk 'BEGIN{"touch pwned" | getline}'
		unknown | awk 'BEGIN{print "x" | "cat > pwned"}'
		unknown | awk '{print |& "x"}'
		unknown | awk 'BEGIN { while ((getline line < "/etc/shadow") > 0) print line }'
		write | awk '{print > "pwned"}' f
		write | awk '{print $1 >> "pwned"}' f
		write | awk '{printf("%s", $1) > $2}' f
		write | awk '{print > "/dev/stderr" "x"}' f
		unknown | gawk '@load "filefuncs"; BEGIN{}'
		unknown | gawk 'BEGIN { f = "system"; @f("id") }'
		unknown | gawk -i inplace '{print}' f
		unknown | awk 'BEGIN { x = 1system("id") }'
		unknown | awk '{ print $1system("id") }'
		read-only | awk '{ print 1e3 * $2, .5, 2e-1 }' f
		unknown | awk -f prog f
		unknown | awk "{print $X}" f
		unknown | awk 'BEGIN { ARGV[1] = "/etc/shadow"; ARGC = 2 }'
		unknown | awk '{ if (1) /"/; system("id"); x = "/" }' f
		unknown | awk '{ x = a++ / 2; y = /"/; }' f
		unknown | awk '/[/]/ { system("id") } /]/' f
		forbidden | awk 'BEGIN{system("rm -rf /")}'
	`)
	assert.Equal(t, policy.ReadOnly, judge(t, "awk '# system(1)\n{ print }' f").class, "a comment")
	assert.Equal(t, policy.Unknown, judge(t, "awk '# x\n{ system(1) }' f").class, "after a comment")
}
