package sshconfig

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// localNetwork reports whether an interface of this machine that is up has an address in one of the networks of a list.
func localNetwork(list string) (bool, error) {
	var nets []netip.Prefix
	for word := range strings.SplitSeq(list, ",") {
		p, err := parseNetwork(word)
		if err != nil {
			return false, err
		}
		nets = append(nets, p)
	}
	all, err := net.Interfaces()
	if err != nil {
		return false, fmt.Errorf("the addresses of this machine are unknown: %w", err)
	}
	for _, i := range all {
		if i.Flags&net.FlagUp == 0 {
			continue
		}
		addrs, err := i.Addrs()
		if err != nil {
			return false, fmt.Errorf("the addresses of this machine are unknown: %w", err)
		}
		for _, a := range addrs {
			own, err := netip.ParsePrefix(a.String())
			if err != nil {
				continue
			}
			for _, n := range nets {
				if n.Contains(own.Addr().Unmap().WithZone("")) {
					return true, nil
				}
			}
		}
	}
	return false, nil
}

func parseNetwork(s string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(s); err == nil && a.Zone() == "" {
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(s)
	if err != nil || p.Masked() != p {
		return p, fmt.Errorf("%q is not a network such as 10.0.0.0/8", s)
	}
	return p, nil
}
