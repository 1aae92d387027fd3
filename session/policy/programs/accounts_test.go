package programs_test

import "testing"

func TestAccountsAreListedChangedAndPlanted(t *testing.T) {
	table(t, `
		dangerous | useradd bob
		forbidden | useradd -o -u 0 toor
		forbidden | usermod -aG sudo bob
		forbidden | usermod -p x root
		dangerous | usermod -s /bin/zsh bob
		dangerous | passwd bob
		read-only | passwd -S bob
		forbidden | passwd -d root
		forbidden | passwd --delete bob
		forbidden | passwd --stdin root
		forbidden | chpasswd
		forbidden | newusers file
		read-only | chage -l bob
		dangerous | visudo -f file
		forbidden | gpasswd -a bob docker
	`)
}

func TestStoppingEverythingIsForbidden(t *testing.T) {
	table(t, `
		dangerous | pkill nginx
		dangerous | pkill -9 -f app.py
		forbidden | pkill -9 .
		forbidden | pkill -f '.*'
		forbidden | pkill -u root
		forbidden | pkill -v nothing
		forbidden | killall -u root
		forbidden | killall -9 -r '.*'
		dangerous | killall -9 nginx
		dangerous | pkill -u bob
		forbidden | pkill systemd
	`)
}

func TestKernelHooksAndModulesThatInstall(t *testing.T) {
	table(t, `
		write | sysctl -w vm.swappiness=1
		forbidden | sysctl -w 'kernel.core_pattern=|/tmp/x'
		forbidden | python3 -m pip install x
		unknown | python3 -m http.server
		unknown | stty -echo
		read-only | stty -a
	`)
}
