// Package foreign reads lists of hosts that other programs keep: Ansible's inventories (INI, YAML, directories, and programs
// that print JSON), clush's group files, /etc/hosts, CSV, and the hosts of an OpenSSH client configuration.
//
// Each reader returns an [Inventory]: hosts with those fields that Fairlead has too, as texts, and the groups that they are
// in. Package inventory makes hosts of them.
//
// Nothing that is named in such a file runs: no template is evaluated, no lookup, no ProxyCommand. Only [Program] starts a
// program, the one that it is given. No password is taken over. What has no counterpart is a [Note] with file and line; where
// it decides where or as whom one logs in, the field has a Refusal in place of a value, and the host must not be logged in
// to.
//
// All readers bound what they read: the size of a file, the number of files, of hosts and of values. They keep no state.
package foreign
