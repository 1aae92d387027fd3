package programs_test

import "testing"

func TestLookingAtProcessesAndStoppingThem(t *testing.T) {
	table(t, `
		read-only | ps auxf
		read-only | ps -ef
		read-only | ps -o pid,args -p 1
		sensitive-read | ps eww
		sensitive-read | ps auxe
		sensitive-read | ps -auxe
		sensitive-read | ps -eo pid,environ
		sensitive-read | ps -p 1 -o environ
		unknown | ps $X
		unknown | top
		unknown | top -b
		read-only | top -bn1
		unknown | vmstat 1
		unknown | free -s 1
		write | sar -o out 1 2
		unknown | pidstat -e ./evil
		dangerous | kill -9 1234
		dangerous | kill -9 $$
		forbidden | kill -9 -1
		forbidden | kill -- -1
		forbidden | kill -s KILL -1
		read-only | kill -0 1
		dangerous | pkill -f nginx
		forbidden | killall5 -9
	`)
}
