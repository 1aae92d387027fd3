package hostcode_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/framing/hostcode"
)

func TestStripping(t *testing.T) {
	for name, tt := range map[string]struct {
		strip        func(string) string
		source, sent string
	}{
		"comments, indentation and blank lines go": {hostcode.Shell, "# why\n\nif a; then\n\t# why\n\tb\nfi\n", "if a; then\nb\nfi"},
		"in strings too":                        {hostcode.Shell, "x='a\n\t# why\n\tb'\n", "x='a\nb'"},
		"what looks like a comment elsewhere":   {hostcode.Shell, "x=${y#z} # w\n", "x=${y#z} # w"},
		"blanks at the end of a line":           {hostcode.Shell, "case $x in (' \t\n') a;; esac\n", "case $x in (' \t\n') a;; esac"},
		"lines that are joined":                 {hostcode.Shell, "a \\\n\tb \\\n\tc\nd\n", "a b c\nd"},
		"a comment between joined lines":        {hostcode.Shell, "a \\\n\t# why\n\tb\n", "a b"},
		"names":                                 {hostcode.Shell, "#= _x _exit_code how it ended\n_exit_code=1; f \"$_exit_code\" _exit_codes\n", "_x=1; f \"$_x\" _exit_codes"},
		"names with a sigil are variables only": {hostcode.Perl, "#= $t $token what marks\n#= @a @all all\n$token = token @all, $all;\n", "$t=token@a,$all;"},
		"one line": {hostcode.Line, "if a;then\n\tb\nelse\n\tc &\n\td\nfi\nf() {\n\tcase $x in\n\t(a) b;;\n\t(c) d;;\n\tesac\n}\n",
			"if a;then b;else c &d;fi;f() { case $x in (a) b;;(c) d;;esac;}"},
		"perl's blanks":               {hostcode.Perl, "my $x = 1 + $y;\nprint \"a  b\", 'c  d';\n$x =~ /a  \\/b/ and exit 1\n", "my$x=1+$y;print\"a  b\",'c  d';$x=~/a  \\/b/ and exit 1"},
		"signs of perl that join":     {hostcode.Perl, "$x && !$y\n", "$x&& !$y"},
		"perl's escapes in its words": {hostcode.Perl, "print \"a \\\" b\" . $c\n", "print\"a \\\" b\".$c"},
		"python's indentation stays":  {hostcode.Python, "#= x the_x what\n# why\nif the_x:\n\t# why\n\n\treturn 1 if the_x else  -1\n", "if x:\n\treturn 1 if x else-1"},
		"python's blanks":             {hostcode.Python, "a = b[1 : 2] + {'x  y': \"c \\\" d\"}\nif a in (1, 2) or 'x' not in b: d(* a)\n", "a=b[1:2]+{'x  y':\"c \\\" d\"}\nif a in(1,2)or'x'not in b:d(*a)"},
		"nothing":                     {hostcode.Shell, "", ""},
	} {
		assert.Equal(t, tt.sent, tt.strip(tt.source), name)
	}
}

func TestALongLineOfPerlEndsWhereTheFileHasOne(t *testing.T) {
	source := ""
	for range 100 {
		source += "print \"0123456789\";\n"
	}
	lines := 0
	for line := range strings.Lines(hostcode.Perl(source)) {
		assert.Less(t, len(line), 500)
		lines++
	}
	assert.Greater(t, lines, 3)
}

func TestFillLooksAtNoValueAgain(t *testing.T) {
	assert.Equal(t, "a @two@ b 2 \"$@\" @other@", hostcode.Fill(`a @one@ b @two@ "$@" @other@`, "one", "@two@", "two", "2"))
}
