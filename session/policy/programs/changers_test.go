package programs_test

import "testing"

func TestRemovingTheSystemIsForbiddenHoweverItIsSpelt(t *testing.T) {
	table(t, `
		write | rm x
		write | rm -f x
		dangerous | rm -rf dir
		dangerous | rm -r ./build
		dangerous | rm -rf /srv/app/tmp
		dangerous | rm -rf "$DIR"
		dangerous | rm -rf "${DIR:?}/"
		dangerous | rm -rf /tmp/*
		write | rmdir x
		write | unlink x
		forbidden | rm -rf /
		forbidden | rm -rf //
		forbidden | rm -rf /.
		forbidden | rm -rf /*
		forbidden | rm -rf /.*
		forbidden | rm -rf -- /
		forbidden | rm "-rf" /
		forbidden | rm -r -f /
		forbidden | rm -fr / x
		forbidden | rm --recursive --force /
		forbidden | rm --recurs /
		forbidden | rm -rf --no-preserve-root x
		forbidden | rm -rf /etc/..
		forbidden | rm -rf /tmp/../etc
		forbidden | rm -rf /etc /usr /var
		forbidden | rm -rf /var/*
		forbidden | rm -rf "$UNSET_VAR/"
		forbidden | rm -rf $X/*
		forbidden | rm -rf ${X}/${Y}
		forbidden | rm -rf ${X:-/}
		forbidden | rm -rf ~
		forbidden | rm -rf ~/*
		forbidden | rm -rf "$HOME"
		forbidden | rm -rf ../../../../../../../../../../
		forbidden | rm -f /etc/passwd
		forbidden | rm -rf /home/ada
		dangerous | rm -rf /home/ada/tmp
		forbidden | mv / /dev/null
		forbidden | mv /etc /tmp
		write | mv a pwned
		write | mv -t dir a b
		forbidden | chmod -R 000 /etc
		forbidden | chmod -R 777 /
		forbidden | chmod 777 /
		forbidden | chmod --rec a+w /
		forbidden | chown -R bob /
		forbidden | chown -Rh bob:bob /usr
		write | chmod 644 x
		write | chmod -x x
		write | chown bob x
	`)
}

func TestPlantingRightsAndKeysIsForbidden(t *testing.T) {
	table(t, `
		forbidden | chmod 4755 /tmp/b
		forbidden | chmod 04755 /tmp/b
		forbidden | chmod 6755 /tmp/b
		forbidden | chmod u+s /tmp/b
		forbidden | chmod +s /tmp/b
		forbidden | chmod u+rx,u+s /tmp/b
		dangerous | chmod g+s dir
		write | chmod 0755 x
		write | chmod 1777 x
		forbidden | install -m 4755 /bin/bash /tmp/b
		forbidden | setcap cap_setuid+ep /tmp/b
		forbidden | tee -a ~/.ssh/authorized_keys
		forbidden | cp key /root/.ssh/authorized_keys
		forbidden | cp authorized_keys /root/.ssh/
		forbidden | cp passwd /etc/
		forbidden | cp x /etc/sudoers.d/x
		forbidden | tee /etc/sudoers
		forbidden | truncate -s 0 /etc/shadow
		forbidden | ln -s /tmp/x /etc/ld.so.preload
		forbidden | tee ~/.bashrc
		forbidden | cp x /home/bob/.profile
		forbidden | cp job /etc/cron.d/job
		dangerous | cp x.service /etc/systemd/system/
		dangerous | useradd bob
		forbidden | useradd -o -u 0 bob
		forbidden | usermod -aG sudo bob
		forbidden | adduser bob wheel
		dangerous | passwd root
		dangerous | visudo
		read-only | visudo -c
		read-only | passwd -S root
		read-only | chage -l root
		dangerous | poweroff
		dangerous | shutdown -h now
		dangerous | init 0
	`)
}

func TestChangersWrite(t *testing.T) {
	table(t, `
		write | mkdir -p /srv/x
		write | touch x
		write | ln -s a b
		write | cp a b
		unknown | cp -r $A $B
		write | tee pwned
		read-only | tee
		write | install -m 644 a b
		write | truncate -s 0 x
		unknown | patch -p1
	`)
}
