// Package hosts describes the machines an operator knows and chooses among them.
//
// A [Host] is one machine, resolved once to a value that policy, connection and audit all use. An [Inventory] is a
// set of hosts that never changes after it was built. A [Selector] is a parsed expression that picks hosts from it.
//
// Begin with inventory.Load, or with [NewInventory] for hosts that a program knows by itself, and [ParseSelector]. The package
// is stable; Host may gain fields.
//
// The package reads no files and makes no connections: loading lives in hosts/inventory, OpenSSH's client
// configuration in hosts/sshconfig, host keys in hosts/knownhosts. It keeps no global state; every exported value is
// safe for concurrent use because none of them changes.
package hosts
