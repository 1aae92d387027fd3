package inventory

import (
	"slices"

	"github.com/fairlead-ssh/fairlead/hosts/internal/near"
)

// elsewhere are keys by which other tools call ours: those of ssh_config(5), Ansible's connection variables, and the words of
// usual inventories. They are not taken for ours, as their values may be spelled differently; they are named.
var elsewhere = map[string]string{
	"address": "addr", "hostname": "addr", "host": "addr", "ip": "addr", "fqdn": "addr", "HostName": "addr", "ansible_host": "addr",
	"username": "user", "login_user": "user", "remote_user": "user", "User": "user", "ansible_user": "user",
	"Port": "port", "ssh_port": "port", "ansible_port": "port",
	"key": "identity", "key_file": "identity", "keyfile": "identity", "private_key": "identity", "identity_file": "identity",
	"ssh_key": "identity", "IdentityFile": "identity", "ansible_ssh_private_key_file": "identity",
	"jump": "via", "jump_host": "via", "jumphost": "via", "proxy_jump": "via", "proxyjump": "via", "ProxyJump": "via", "bastion": "via",
	"gateway": "via", "proxy": "via",
	"tag": "labels", "tags": "labels", "group": "groups", "environment": "env", "timeout": "connect_timeout",
	"connection": "transport", "type": "transport", "ansible_connection": "transport", "stage": "tier",
	"sudo": "become", "ansible_become": "become",
}

// meant gives the keys of known that key may stand for: those that are spelled like it, else that which it is called elsewhere.
func meant(key string, known []string) []string {
	found := near.Find(key, slices.Values(known))
	if ours, ok := elsewhere[key]; ok && len(found) == 0 && slices.Contains(known, ours) {
		found = append(found, ours)
	}
	return found
}
