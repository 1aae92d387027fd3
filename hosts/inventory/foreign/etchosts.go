package foreign

import (
	"bytes"
	"net/netip"
	"path/filepath"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// Hosts reads a file like /etc/hosts: an address and names on each line, of which the first one names the host. Addresses of
// this machine, and those that no host has, are passed over.
func Hosts(path string) (*Inventory, error) {
	var f files
	data, err := f.read(path)
	if err != nil {
		return nil, err
	}
	inv, err := etcHosts(path, data)
	if err != nil {
		return nil, err
	}
	inv.Files = f.all()
	return inv, nil
}

func etcHosts(file string, data []byte) (*Inventory, error) {
	inv, said := &Inventory{}, notes{}
	seen := map[string]bool{} // also second names: the first address of a name is the one that it leads to
	aliases, first, line := 0, 0, 0
	for text := range bytes.Lines(data) {
		line++
		pos := hosts.Pos{File: file, Line: line}
		plain, _, _ := strings.Cut(string(text), "#")
		words := strings.Fields(plain)
		if len(words) == 0 {
			continue
		}
		addr, err := netip.ParseAddr(words[0])
		if err != nil {
			said.add(pos, "%q is not an address", clip(words[0]))
			continue
		}
		if plain := addr.Unmap(); plain.IsLoopback() || plain.IsUnspecified() || plain.IsMulticast() || plain == netip.AddrFrom4([4]byte{255, 255, 255, 255}) {
			continue
		}
		if len(words) == 1 {
			said.add(pos, "no name follows the address")
			continue
		}
		name := words[1]
		known := seen[name]
		for _, each := range words[1:] {
			seen[each] = true
		}
		if err := hosts.CheckName(name); err != nil {
			said.leftOut(pos, "host %q is left out: a host's name %v", clip(name), err)
			continue
		}
		if len(words) > 2 {
			if aliases += len(words) - 2; first == 0 {
				first = line
			}
		}
		if known {
			said.add(pos, "%s has an address already; this one is left out", clip(name))
			continue
		}
		if len(inv.Hosts) >= maxHosts {
			return nil, wrong(pos, "more than %d hosts", maxHosts)
		}
		inv.Hosts = append(inv.Hosts, Host{Name: name, Pos: pos, Fields: []Field{{Name: "addr", Values: []string{words[0]}, Pos: pos}}})
	}
	if aliases > 0 {
		said.minor(hosts.Pos{File: file, Line: first}, "%d more names of hosts are left out: a host has one name, the first of its line", aliases)
	}
	inv.Notes = said.all(filepath.Clean(file))
	return inv, nil
}
