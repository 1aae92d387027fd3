package programs_test

import "testing"

func TestFirewallsAreListed(t *testing.T) {
	table(t, `
		read-only | iptables -L -n -v
		read-only | iptables -nvL
		read-only | iptables -t nat -S
		dangerous | iptables -F
		dangerous | iptables -L -Z
		dangerous | iptables -A INPUT -j DROP
		dangerous | iptables
		write | iptables-save -f pwned
		unknown | iptables-save -M ./evil
		dangerous | iptables-restore
		read-only | nft list ruleset
		dangerous | nft 'list ruleset'
		dangerous | nft flush ruleset
		dangerous | nft 'list ruleset; flush ruleset'
		dangerous | nft -f rules
		read-only | ufw status numbered
		dangerous | ufw disable
		read-only | firewall-cmd --zone=public --list-all
		dangerous | firewall-cmd --add-port=80/tcp
	`)
}
