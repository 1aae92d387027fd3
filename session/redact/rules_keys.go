package redact

import (
	"bytes"
	"crypto/sha256"
	"math/big"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// keyRules take out private keys: blocks, and keys on one line.
func keyRules() []*rule {
	pemEnd := &blockEnd{text: []byte("-----END "), re: lazyregexp.New(`^[A-Z0-9 ]{0,60}-----`), most: 70}
	return []*rule{
		{
			// RFC 7468 and its elders, OpenSSH, PGP. After the header comes a line, or what became of a newline: in
			// program text, which only speaks of keys, a quote follows.
			kind: "private-key", keys: []string{"-----begin "}, end: pemEnd,
			re: lazyregexp.New(`^(-----BEGIN (?:(?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?|ARGO TUNNEL TOKEN)-----)(?:[\sA-Za-z0-9+/]|\\+[nr]|(?:\^M)?\$$|["'],[ \t]?["'][A-Za-z0-9+/]{40}|$)`), // cat -A ends lines with a dollar sign
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
		{ // RFC 7518: the parts of a private key in JSON
			kind: "private-key", keys: partsOfKey(), look: Window, tail: wordBytes,
			re: lazyregexp.New(`^"(?:d|p|q|dp|dq|qi)\\?"[ \t]*:[ \t]*\\?"([A-Za-z0-9_-]{43,})\\?"`),
			ok: func(m *match) bool { return random(m.text(1)) },
		},
		{ // of a symmetric key
			kind: "private-key", keys: []string{`"k":`, `"k" :`}, look: 512, tail: wordBytes,
			re: lazyregexp.New(`^"k"[ \t]*:[ \t]*"([A-Za-z0-9_-]{22,})"`),
			ok: func(m *match) bool {
				return bytes.Contains(m.before, []byte(`"oct"`)) || bytes.Contains(m.win, []byte(`"oct"`))
			},
		},
		{ // the words of BIP 39
			kind: "private-key", keys: []string{"mnemonic", "seed phrase", "seed_phrase", "seed-phrase", "seedphrase", "recovery phrase", "recovery_phrase"}, look: 384,
			re: lazyregexp.New(`^(?i)(?:mnemonic|(?:seed|recovery)[ _-]?phrase)(?:[_ ]words)?\\?["']?[ \t]*(?:=>|[=:])[ \t]*\\?["']?([a-z]{3,8}(?: [a-z]{3,8}){11,23})\b`),
		},
		{ // encrypt = "x", of Consul and Nomad
			kind: "secret", keys: []string{`encrypt"`, "encrypt =", "encrypt="}, left: wordLeft, look: 128,
			re: lazyregexp.New(`^encrypt"?[ \t]*[=:][ \t]*"([A-Za-z0-9+/]{22}==|[A-Za-z0-9+/]{43}=)"`),
		},
		{ // unseal_keys_b64:, with one on each of the lines that follow
			kind: "vault-unseal-key", keys: []string{"unseal_keys_", "recovery_keys_"}, look: 64,
			re:   lazyregexp.New(`^(?:unseal_keys_|recovery_keys_)(?:b64|hex):[ \t\r]*$`),
			then: func(m *match) follow { return entries(m.kind, true, keyDepth(m.before), nil) },
		},
		{ // unseal_keys_b64: ["x", "y"], of vault operator init
			kind: "vault-unseal-key", keys: []string{`unseal_keys_`, `recovery_keys_`, `"keys_base64"`}, look: 128,
			re:   lazyregexp.New(`^"?(?:unseal_keys_|recovery_keys_|keys_base64")(?:b64"|hex")?[ \t]*:[ \t]*\[`),
			here: func(*match) follow { return unsealKeys },
		},
		{ // "keys": ["x", "y"], of the API that they come from
			kind: "vault-unseal-key", keys: []string{`"keys":`, `"keys" :`}, look: 64,
			re:   lazyregexp.New(`^"keys"[ \t]*:[ \t]*\[`),
			here: func(*match) follow { return sharesInHex },
		},
		{ // of minisign and signify
			kind: "private-key", keys: []string{"secret key"}, look: 64,
			re: lazyregexp.New(`^secret key[ \t\r]*$`),
			ok: func(m *match) bool {
				return m.group[1] == len(m.win) && bytes.HasPrefix(linePrefix(m.before), []byte("untrusted comment:"))
			},
			then: func(*match) follow { return after("private-key", signifyKey, 1) },
		},
		{ // of Ceph: when it was made, that it has 16 bytes, and these
			kind: "secret", keys: starts("aq", hexDigits+"ghijklmnopqrstuvwxyz+/"), left: wordLeft, look: 64,
			re: lazyregexp.New(`^(AQ[A-Za-z0-9+/]{11}[BRhx]AA[A-Za-z0-9+/]{21}[AQgw]==)(?:[^A-Za-z0-9+/=]|$)`),
		},
		{ // privateExponent:, with lines of bytes, as openssl shows a key
			kind: "private-key", keys: []string{"privateexponent:", "prime1:", "prime2:", "exponent1:", "exponent2:", "coefficient:", "priv:"}, left: wordLeft, look: 64,
			re:   lazyregexp.New(`^(?:privateExponent|prime[12]|exponent[12]|coefficient|priv):[ \t\r]*$`),
			ok:   func(m *match) bool { return m.group[1] == len(m.win) && ownLine(linePrefix(m.before)) },
			then: func(*match) follow { return bytesOfKey },
		},
		{ // of a service of Tor
			kind: "private-key", keys: []string{"ed25519-v3:"}, left: wordLeft, look: 128, tail: base64Bytes,
			re: lazyregexp.New(`^ED25519-V3:([A-Za-z0-9+/]{86}==)`),
		},
		{ // (0x…), of klist -K
			kind: "secret", keys: starts("(0x", hexDigits), look: 160,
			re: lazyregexp.New(`^\(0x([0-9a-f]{32,64})\)`),
			ok: func(m *match) bool { return bytes.IndexByte(linePrefix(m.before), '@') > 0 },
		},
		{
			kind: "secret", keys: []string{"certificate-key", "certificatekey", "certificate key:"}, left: wordLeft, look: 160, tail: alnumBytes,
			re: lazyregexp.New(`^(?i)certificate-?key["']?[ \t]*[=: \t][ \t]*["']?([0-9a-f]{64})`),
		},
		{ // Using certificate key:, with x on the next line, of kubeadm
			kind: "secret", keys: []string{"certificate key:"}, left: wordLeft, look: 64,
			re:   lazyregexp.New(`^certificate key:[ \t\r]*$`),
			ok:   func(m *match) bool { return m.group[1] == len(m.win) },
			then: func(*match) follow { return after("secret", hexLine, 1) },
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

// partsOfKey returns the names of the members in JSON that hold a part of a private key, up to the colon.
func partsOfKey() (out []string) {
	for _, name := range []string{"d", "p", "q", "dp", "dq", "qi"} {
		out = append(out, `"`+name+`":`, `"`+name+`" :`, `"`+name+`\":`)
	}
	return out
}

// unsealKeys takes out the keys of a list, to the bracket that ends it.
func unsealKeys(line []byte) (*match, follow) {
	end := bytes.IndexByte(line, ']')
	if end < 0 {
		end = len(line)
	}
	if g := unsealKey.FindSubmatchIndex(line[:end]); g != nil {
		m := foundAt("vault-unseal-key", line, g[2], g[3])
		m.again, m.tail = true, nil
		return m, unsealKeys
	}
	if end < len(line) {
		return nil, nil
	}
	return nil, unsealKeys
}

// sharesInHex is unsealKeys for those in hexadecimal digits, of 33 bytes each: other lists of keys are left alone.
func sharesInHex(line []byte) (*match, follow) {
	end := bytes.IndexByte(line, ']')
	if end < 0 {
		end = len(line)
	}
	if g := shareInHex.FindSubmatchIndex(line[:end]); g != nil {
		m := foundAt("vault-unseal-key", line, g[2], g[3])
		m.again, m.tail = true, nil
		return m, sharesInHex
	}
	if from, to := indent(line); end < len(line) || len(bytes.Trim(line[from:to], `",`)) > 0 {
		return nil, nil
	}
	return nil, sharesInHex
}

// bytesOfKey takes out lines of bytes with colons between them.
func bytesOfKey(line []byte) (*match, follow) {
	if !byteLine.Match(line) {
		return nil, nil
	}
	from, to := indent(line)
	return foundAt("private-key", line, from, to), bytesOfKey
}

var (
	byteLine   = lazyregexp.New(`^[ \t]+[0-9a-f]{2}(?::[0-9a-f]{2})*:?[ \t\r]*$`)
	unsealKey  = lazyregexp.New(`"([A-Za-z0-9+/]{32,}={0,2})"`)
	shareInHex = lazyregexp.New(`^[ \t,"]*"([0-9a-f]{66})"`)
	signifyKey = lazyregexp.New(`^([A-Za-z0-9+/=]{100,})[ \t\r]*$`)
	hexLine    = lazyregexp.New(`^[ \t]*([0-9a-f]{64})[ \t\r]*$`)
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

// base58 are the digits of Bitcoin's notation.
const base58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// wif takes out private keys in the wallet import format: base 58, with a checksum that tells them from other words.
func wif() *rule {
	var keys []string
	for _, start := range strings.Fields("5h 5j 5k kw kx ky kz l1 l2 l3 l4 l5") {
		keys = append(keys, starts(start, alnums)...)
	}
	return &rule{
		kind: "private-key", keys: keys, left: wordLeft, look: 64, pre: func(_, win []byte, _ int) bool {
			n := 0
			for n < len(win) && isAlnum(win[n]) {
				n++
			}
			return n == 51 || n == 52
		},
		re: lazyregexp.New(`^((?:5[HJK]|K[w-z]|L[1-5])[1-9A-HJ-NP-Za-km-z]{49,50})(?:[^A-Za-z0-9_]|$)`),
		ok: func(m *match) bool { return checksBase58(m.text(1)) },
	}
}

// checksBase58 reports whether the last four bytes of what b stands for are the checksum of the others.
func checksBase58(b []byte) bool {
	n, digit, base := new(big.Int), new(big.Int), big.NewInt(58)
	for _, c := range b {
		at := strings.IndexByte(base58, c)
		if at < 0 {
			return false
		}
		n.Add(n.Mul(n, base), digit.SetInt64(int64(at)))
	}
	raw := n.Bytes()
	if len(raw) < 5 {
		return false
	}
	body, sum := raw[:len(raw)-4], raw[len(raw)-4:]
	once := sha256.Sum256(body)
	twice := sha256.Sum256(once[:])
	return bytes.Equal(twice[:4], sum)
}
