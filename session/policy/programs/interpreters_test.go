package programs_test

import "testing"

func TestAShellsSourceIsJudgedLikeAnyOther(t *testing.T) {
	table(t, `
		read-only | bash -c 'ls -l'
		read-only | sh -ec 'uptime; free -m'
		write | bash -c 'touch pwned'
		write | bash -xc 'touch pwned'
		write | bash --norc -c 'touch pwned'
		write | bash -o pipefail -c 'touch pwned'
		unknown | bash -lc 'touch pwned'
		unknown | bash -lc ls
		unknown | sh -ic true
		write | bash \-c 'touch pwned'
		unknown | bash --help -c 'touch pwned'
		unknown | sh -c '$0 "$1"' touch pwned
		forbidden | sh -c '"$@"' sh rm -rf /
		forbidden | bash -c 'rm -rf /'
		unknown | bash script.sh
		unknown | bash
		unknown | echo x | sh
		unknown | sh -c "$X"
		unknown | bash $X
		unknown | fish -c ls
	`)
}

func TestInterpretersRunWhatNobodyReads(t *testing.T) {
	table(t, `
		read-only | python3 --version
		unknown | python3 -c "open('pwned','w')"
		unknown | python3 script.py --help
		unknown | python3 --version -c 1
		unknown | node -e 1
		unknown | node $'-e' 1
		unknown | perl -e 1
		unknown | ruby -e 1
		unknown | php -r 1
		unknown | lua -e 1
		unknown | make -n
		unknown | make --version -f evil
		read-only | gcc --version
		unknown | gcc x.c
		unknown | vi x
		unknown | less x
		unknown | more /etc/hostname
		unknown | ed -s x
		read-only | man ls
		unknown | man --html=./evil ls
		unknown | man -P ./evil ls
		unknown | man -M ./evil ls
	`)
}
