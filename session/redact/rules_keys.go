package redact

import "github.com/fairlead-ssh/fairlead/hosts/lazyregexp"

// keyRules take out private keys: blocks, and keys on one line.
func keyRules() []*rule {
	pemEnd := &blockEnd{text: []byte("-----END "), re: lazyregexp.New(`^[A-Z0-9 ]{0,60}-----`), most: 70}
	return []*rule{
		{
			// RFC 7468 and its elders, OpenSSH, PGP. After the header comes a line, or what became of a newline: in
			// program text, which only speaks of keys, a quote follows.
			kind: "private-key", keys: []string{"-----begin "}, end: pemEnd,
			re: lazyregexp.New(`^(-----BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----)(?:[\sA-Za-z0-9+/]|\\+[nr]|$)`),
		},
		{
			kind: "private-key", keys: []string{"---- begin ssh2"},
			re:  lazyregexp.New(`^(---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----)`),
			end: &blockEnd{text: []byte("---- END SSH2 ENCRYPTED PRIVATE KEY ----")},
		},
		{ // of OpenVPN, for tls-auth and tls-crypt
			kind: "private-key", keys: []string{"-----begin openvpn "},
			re:  lazyregexp.New(`^(-----BEGIN OpenVPN (?:Static key V1|tls-crypt-v2 (?:client|server) key)-----)`),
			end: &blockEnd{text: []byte("-----END OpenVPN "), re: lazyregexp.New(`^[A-Za-z0-9 -]{0,40}-----`), most: 50},
		},
		{
			// https://the.earth.li/~sgtatham/putty/0.83/htmldoc/AppendixC.html
			kind: "putty-key", keys: []string{"private-lines:"}, re: lazyregexp.New(`^(Private-Lines: ?\d+)`),
			end: &blockEnd{text: []byte("Private-MAC:")},
		},
		{
			kind: "age-key", keys: []string{"age-secret-key-"}, left: wordLeft, hold: true, tail: alnumBytes,
			re: lazyregexp.New(`^(?i)AGE-SECRET-KEY-(?:PQ-)?1[a-z0-9]{40,}`),
		},
		{
			// A PEM block in base64, as kubeconfig files and Kubernetes secrets hold it.
			kind: "private-key", keys: []string{"ls0tls1crudjti"}, tail: wrappedBytes,
			re: lazyregexp.New(`^LS0tLS1CRUdJTi(?:BQUklWQVRFIEtF|BSU0EgUFJJVkFURSBL|BFQyBQUklWQVRFIEtF|BEU0EgUFJJVkFURSBL|` +
				`BPUEVOU1NIIFBSSVZBVEUg|BFTkNSWVBURUQgUFJJVkFU)[A-Za-z0-9+/=]*`),
		},
		{
			kind: "kubeconfig-key", keys: []string{"client-key-data"}, tail: base64Bytes,
			re: lazyregexp.New(`^client-key-data["']?[ \t]*:[ \t]*["']?([A-Za-z0-9+/=]{16,})`),
		},
		{ // of RSA, as BIND writes them
			kind: "private-key", keys: []string{"privateexponent:", "prime1:", "prime2:", "exponent1:", "exponent2:", "coefficient:"}, tail: base64Bytes,
			re: lazyregexp.New(`^(?:PrivateExponent|Prime[12]|Exponent[12]|Coefficient):[ \t]+([A-Za-z0-9+/]{40,})`),
		},
		{
			kind: "vault-unseal-key", keys: []string{"unseal key", "recovery key"}, look: 256, tail: base64Bytes,
			re: lazyregexp.New(`^(?i)(?:unseal|recovery) key[ \t]+\d{1,2}:[ \t]*([A-Za-z0-9+/=]{32,})`),
		},
		{
			kind: "wireguard-key", keys: []string{"privatekey", "presharedkey", "private-key", "preshared-key", "private key:", "preshared key:"},
			re: lazyregexp.New(`^(?i)(?:private|preshared)[- ]?key["']?[ \t]*[=:]?[ \t]*["']?([A-Za-z0-9+/]{43}=)`),
		},
	}
}
