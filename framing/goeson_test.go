package framing

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAfterInterrupt(t *testing.T) {
	long := strings.Repeat("f", 400)
	for script, want := range map[string]string{
		"":                             "",
		"# nothing":                    "+",
		"sleep 100":                    "=sleep=",
		"\tsleep 100\n":                "=sleep=",
		"A=1 B=2 f x >/dev/null 2>&1":  "=f=",
		"A=1":                          "",
		"/bin/sleep 100":               "",
		"apt-get update":               "",
		"make -j4 CC=gcc":              "=make=",
		`sh -c 'sleep 1; echo x'`:      "=sh=",
		`sh -c "trap '' INT; sleep 1"`: "=sh=",
		`grep "a;b" 'c|d' e\;f`:        "=grep=",
		"A='1 2' f":                    "+",
		`\sleep 100`:                   "+",
		">/tmp/x sleep 100":            "+",
		"! sleep 100":                  "+",
		`"$x" 100`:                     "+",
		"$x 100":                       "+",
		long:                           "",
		"A=" + long + " f":             "=f=",

		"cd /tmp && /bin/sleep 100":       "",
		"cd /tmp; A=1\nexport A; sleep 1": "=sleep=",
		"echo out; echo err >&2; f":       "=f=",
		"set -e\ncd /x || exit\nsleep 1":  "=sleep=",
		"sleep 1;":                        "+",
		"sleep 1; echo":                   "+",
		"sleep 1\necho":                   "+",
		"sleep 1 && echo":                 "+",
		"sleep 1 || echo":                 "+",
		"sleep 1 | cat":                   "+",
		"sleep 1 &":                       "+",
		"sleep 1 &>x":                     "+",
		"(sleep 1)":                       "+",
		"{ sleep 1":                       "+",
		"f() { sleep 1\n}":                "+",
		"if sleep 1; then echo; fi":       "+",
		"while cd /; do sleep 1":          "+",
		"case a in a) sleep 1":            "+",
		`grep "$(sleep 1)"`:               "+",
		"grep `sleep 1`":                  "+",
		"grep \"`sleep 1`\"":              "+",
		"sleep 1 # for a while":           "+",
		`eval "sleep 1; echo"`:            "+",
		`command eval "sleep 1; echo"`:    "+",
		". ./script":                      "+",
		`grep "unfinished`:                "+",
		`grep 'unfinished`:                "+",
		`grep \`:                          "=grep=",
		`grep "\`:                         "+",
	} {
		assert.Equal(t, want, afterInterrupt(script), "%q", script)
	}
}
