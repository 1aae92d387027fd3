package programs_test

import "testing"

func TestReadersReadUntilAnOptionSaysOtherwise(t *testing.T) {
	table(t, `
		read-only | ls -la "$DIR"
		read-only | cat $FILES
		read-only | wc -l *
		read-only | head -20 a b
		read-only | stat --format='%n' -- -x
		read-only | diff -u a b
		unknown | ls --frobnicate
		unknown | tail -f x
		unknown | tail --follow=name x
		unknown | wc --files0-from=list
		unknown | du --files0-from=list
		write | file -Cm magic.txt
		write | file --compile x
		write | base64 -d x -o pwned
		write | base64 -opwned x
		write | xxd /etc/hostname pwned
		write | tree -o out .
		write | sdiff -o out a b
		unknown | sdiff --diff-program=./evil a b
		dangerous | fuser -k /srv
		unknown | ldd ./x
	`)
}

// xxd's options end at its first operand, and - is one.
func TestXxdWritesWhatFollowsItsFile(t *testing.T) {
	table(t, `
		read-only | xxd -l 64 f
		write | xxd f -b
		write | xxd - -b
		read-only | xxd -b -- f
		write | xxd -r f g
	`)
}

func TestRipgrepRunsNothingUnlessTold(t *testing.T) {
	table(t, `
		read-only | rg -n --hidden -g '*.go' needle src
		unknown | rg --pre sh x .
		unknown | rg --pre=./evil x .
		unknown | rg --'pre' sh x .
		unknown | rg --hostname-bin ./evil --hyperlink-format default x
		unknown | rg -z x
		unknown | rg "$PATTERN" "$X"
	`)
}
