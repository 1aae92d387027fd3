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
			re: lazyregexp.New(`^(-----BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----)(?:[\sA-Za-z0-9+/]|\\+[nr]|(?:\^M)?\$$|["'],[ \t]?["'][A-Za-z0-9+/]{40}|$)`), // cat -A ends lines with a dollar sign
		},
		{ // the lines of a block as strings in a list
			kind: "private-key", keys: []string{"-----begin "}, look: 128, need: "PRIVATE",
			re:   lazyregexp.New(`^-----BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----["'],[ \t\r]*$`),
			ok:   func(m *match) bool { return m.group[1] == len(m.win) },
			then: func(*match) follow { return keyStrings(40) },
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
		{ // wg0, a private key, a public one, a port: of wg show all dump; wg0, a public key, a preshared one, an address
			kind: "wireguard-key", keys: []string{"wg0\t", "wg1\t", "wg2\t"}, left: wordLeft, look: 192,
			re: lazyregexp.New(`^wg\d\t(?:([A-Za-z0-9+/]{43}=)\t[A-Za-z0-9+/]{43}=\t\d+\t|[A-Za-z0-9+/]{43}=\t([A-Za-z0-9+/]{43}=)\t(?:\(none\)|\S+:\d+)\t)`),
		},
		{ // "primaryKey": "x", of Azure
			kind: "azure-key", keys: []string{"primarykey", "secondarykey", "primarymasterkey", "secondarymasterkey", "primaryreadonlymasterkey", "secondaryreadonlymasterkey"}, look: 256,
			re: lazyregexp.New(`^(?i)(?:primary|secondary)(?:readonly)?(?:master)?key["']?[ \t]*[=:][ \t]*["']?([A-Za-z0-9+/]{40,}={1,2})`),
		},
		{ // "keyName": "key1", with its value on one of the next lines
			kind: "azure-key", keys: []string{`"keyname"`}, look: 64,
			re:   lazyregexp.New(`^"keyName": "[\w-]+",[ \t\r]*$`),
			ok:   func(m *match) bool { return m.group[1] == len(m.win) },
			then: func(*match) follow { return within("azure-key", azureValue, 3) },
		},
		{ // encrypt = "x", of Consul and Nomad
			kind: "secret", keys: []string{`encrypt"`, "encrypt =", "encrypt="}, left: wordLeft, look: 128,
			re: lazyregexp.New(`^encrypt"?[ \t]*[=:][ \t]*"([A-Za-z0-9+/]{22}==|[A-Za-z0-9+/]{43}=)"`),
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

var (
	azureValue = lazyregexp.New(`^[ \t]*"value": "([A-Za-z0-9+/]{40,}={1,2})"`)
	keyString  = lazyregexp.New(`^[ \t]*["']([A-Za-z0-9+/=]+)["'],?[ \t\r]*$`)
	keyHeader  = lazyregexp.New(`^[ \t]*["'](?:(?:Proc-Type|DEK-Info|Comment|Version): [^"'\n]*)?["'],[ \t\r]*$`)
)

// keyStrings takes out the lines of a key that are strings in a list. The first has at least so many bytes.
func keyStrings(least int) follow {
	var next follow
	next = func(line []byte) (*match, follow) {
		g := keyString.FindSubmatchIndex(line)
		switch {
		case g != nil && g[3]-g[2] >= least:
			return foundAt("private-key", line, g[2], g[3]), keyStrings(1)
		case g == nil && least > 1 && keyHeader.Match(line):
			return nil, next
		}
		return nil, nil
	}
	return next
}
