package allowed

import (
	"maps"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
)

// Query returns the names that "ssh -Q what" lists, of what is there, and whether what is known.
func Query(what string) ([]string, bool) {
	secure, insecure := ssh.SupportedAlgorithms(), ssh.InsecureAlgorithms()
	exchanges, ciphers, macs := slices.Concat(secure.KeyExchanges, insecure.KeyExchanges), slices.Concat(secure.Ciphers, insecure.Ciphers), slices.Concat(secure.MACs, insecure.MACs)
	keys := slices.Concat(knownhosts.DefaultAlgorithms(), insecure.HostKeys)
	logins := slices.Concat(signatures, []string{ssh.KeyAlgoRSA, ssh.CertAlgoRSAv01})
	all := map[string][]string{
		"cipher": ciphers, "ciphers": ciphers,
		"cipher-auth": slices.DeleteFunc(slices.Clone(ciphers), func(name string) bool { return !strings.Contains(name, "gcm") && !strings.Contains(name, "poly1305") }),
		"mac":         macs, "macs": macs,
		"kex": exchanges, "kexalgorithms": exchanges,
		"key": logins, "pubkeyacceptedalgorithms": logins, "pubkeyacceptedkeytypes": logins,
		"key-cert": certified(logins, true), "key-plain": certified(logins, false),
		"key-sig": logins, "sig": certified(secure.PublicKeyAuths, false), "casignaturealgorithms": certified(secure.PublicKeyAuths, false),
		"hostkeyalgorithms": keys, "protocol-version": {"2"}, "compression": {"none"},
	}
	what = strings.ToLower(what)
	if what == "help" {
		return append(slices.Sorted(maps.Keys(all)), what), true
	}
	names, ok := all[what]
	return names, ok
}

// certified are the names that are those of certificates, or the others.
func certified(names []string, want bool) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return strings.Contains(name, "-cert-") != want })
}
