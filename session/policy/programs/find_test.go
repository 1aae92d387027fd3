package programs_test

import "testing"

func TestFindDoesWhatItsActionsSay(t *testing.T) {
	table(t, `
		read-only | find . -name '*.log' -mtime -1
		read-only | find /etc /usr -xdev \( -name a -o -name b \) -print0
		read-only | find . -exec grep -l x {} +
		read-only | find . -newermt '1 day ago' -printf '%p\n'
		dangerous | find . -delete
		dangerous | find /var/log -name '*.gz' -delete
		forbidden | find / -delete
		forbidden | find / -type f -exec rm {} +
		forbidden | find /etc -name '*' -exec rm -f {} \;
		write | find . -maxdepth 0 -execdir touch pwned \;
		write | find . -maxdepth 0 -ok touch pwned \;
		write | find . -maxdepth 0 -fprint pwned
		write | find . -maxdepth 0 -fprint0 pwned
		write | find . -maxdepth 0 -fls pwned
		write | find . -fprintf pwned '%p'
		unknown | find . -files0-from list
		unknown | find $DIR -name x
		unknown | find . -name *.log
		unknown | find . -exec sh -c 'x {}' \;
		unknown | find . -exec {} \;
		write | find '' b -exec rm {} +
		write | find b '' -exec rm {} +
		write | find a ab -exec rm {} +
		forbidden | find /etc /usr -exec rm {} +
		unknown | find . -frobnicate
		write | find . -maxdepth 0 -e"x"ec touch pwned \;
	`)
}
