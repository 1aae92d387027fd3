package programs_test

import "testing"

func TestTheSystemIsShownAndNotSet(t *testing.T) {
	table(t, `
		read-only | date -d '1 hour ago' +%F
		read-only | date "+%F $X"
		write | date -s2030-01-01
		write | date --set=2030-01-01
		write | date --se=2030-01-01
		write | date 010112002030
		unknown | date $X
		write | hostname newname
		write | hostname -F f
		write | sysctl -w a.b=1
		write | sysctl a.b=1
		read-only | sysctl a.b
		dangerous | dmesg -C
		unknown | dmesg -w
		write | hwclock --systohc
		write | timedatectl set-time 10:00
		unknown | timedatectl -H root@other status
		sensitive-read | getent shadow
		dangerous | setenforce 0
		unknown | lastlog -R /x
		dangerous | modprobe x
		read-only | efibootmgr -v
		dangerous | efibootmgr -v -n 1
		read-only | zdump -v UTC
		write | redis-server --version --daemonize yes
	`)
}
