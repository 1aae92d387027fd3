package judge

import (
	"net/netip"
	"strings"
)

// metadataNets are where clouds tell a machine about itself, its credentials among it, and what has no address of its own.
var metadataNets = []netip.Prefix{
	netip.MustParsePrefix("169.254.0.0/16"),
	netip.MustParsePrefix("fe80::/10"),
	netip.MustParsePrefix("fd00:ec2::/32"),      // Amazon
	netip.MustParsePrefix("fd20:ce::254/128"),   // Google
	netip.MustParsePrefix("100.100.100.200/32"), // Alibaba
	netip.MustParsePrefix("168.63.129.16/32"),   // Azure
	netip.MustParsePrefix("192.0.0.192/32"),     // Oracle
}

// Metadata reports whether a host, as [Report] names it, is a metadata service, from which anything on the machine gets the
// machine's credentials. Such an address is never a private one.
func Metadata(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		return MetadataAddr(a)
	}
	first, rest, _ := strings.Cut(host, ".")
	switch first {
	case "metadata":
		return rest == "" || rest == "google" || rest == "goog" || strings.HasSuffix(rest, "internal") || strings.HasSuffix(rest, "tencentyun.com")
	case "instance-data":
		return rest == "" || strings.HasSuffix(rest, "internal")
	}
	return false
}

// MetadataAddr is Metadata of an address.
func MetadataAddr(a netip.Addr) bool {
	for _, p := range metadataNets {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// MetadataPrefix reports whether all of a network is metadata services.
func MetadataPrefix(n netip.Prefix) bool {
	for _, p := range metadataNets {
		if p.Bits() <= n.Bits() && p.Contains(n.Addr()) {
			return true
		}
	}
	return false
}
