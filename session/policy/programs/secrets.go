package programs

import "strings"

func gpg(c *call) {
	looks := false
	for _, a := range c.args {
		s := a.Text
		switch {
		case !a.certain():
			if a.dash() {
				return
			}
		case listed("--list-keys -k --list-public-keys --fingerprint --list-sigs --list-packets --show-keys", s):
			looks = true
		case strings.HasPrefix(s, "--export-secret"), strings.HasPrefix(s, "--list-secret"), s == "-K", s == "-d", strings.HasPrefix(s, "--decrypt"):
			c.find.Class, c.find.Reason = secret, c.node.name+" shows secrets"
			return
		case listed("--with-colons --keyid-format long short 0xlong --no-default-keyring --with-fingerprint --batch --no-tty -v --verbose", s):
		case strings.HasPrefix(s, "-"):
			return
		default:
			c.path(a, false)
		}
	}
	if looks {
		c.find.Class, c.find.Reason = read, c.node.name+" changes nothing"
	}
}

// openssl: certificates and digests are looked at; keys are secret; s_client opens a connection.
func openssl(c *call) {
	if len(c.args) == 0 || !c.args[0].certain() {
		c.say(unknown, "waits for commands")
		return
	}
	options, values := "", ""
	switch c.args[0].Text {
	case "version", "ciphers", "help", "list", "errstr":
		options = "-a -v -V -s -b -d -f -o -p -tls1_2 -tls1_3 -ssl3 -commands -digest-commands -cipher-commands"
	case "x509":
		options = "-noout -text -subject -issuer -dates -startdate -enddate -serial -fingerprint -sha256 -sha1 -md5 -hash -subject_hash -issuer_hash -pubkey -modulus -purpose -email -ocsp_uri -alias -ocspid"
		values = "-in -inform -nameopt -certopt -checkend -ext -checkhost -checkip -outform"
	case "req", "crl", "pkcs7":
		options = "-noout -text -subject -verify -pubkey -modulus -issuer -lastupdate -nextupdate -fingerprint -print_certs"
		values = "-in -inform -nameopt"
	case "verify":
		options, values = "-verbose -show_chain -x509_strict -partial_chain", "-CAfile -CApath -untrusted -purpose"
	case "dgst", "md5", "sha1", "sha256", "sha512":
		options = "-md5 -sha1 -sha256 -sha384 -sha512 -r -hex -binary -c -md_gost94"
	case "asn1parse":
		options, values = "-i -dump", "-in -inform -offset -length"
	case "s_client", "s_time", "ocsp", "s_server", "cmp", "tsget":
		c.say(write, "opens network connections")
		return
	case "rsa", "pkey", "ec", "dsa", "pkcs8", "pkcs12", "enc", "rsautl", "pkeyutl", "cms", "smime":
		c.say(secret, "reads private keys or what they protect")
		c.say(unknown, "may write files")
	default:
		c.say(unknown, "has a command that no table lists")
		return
	}
	for i := 1; i < len(c.args); i++ {
		a := c.args[i]
		s := a.Text
		switch {
		case !a.certain() && a.dash():
			c.say(unknown, "has a word that isn't literal and could be an option")
		case !strings.HasPrefix(s, "-"):
			c.path(a, false)
		case listed(options, s):
		case listed(values, s):
			if i++; i < len(c.args) && (s == "-in" || strings.HasPrefix(s, "-CA") || s == "-untrusted") {
				c.path(c.args[i], false)
			}
		default:
			c.say(unknown, "has an option that no table lists")
			if (s == "-in" || s == "-inkey" || s == "-key") && i+1 < len(c.args) {
				c.path(c.args[i+1], false)
			}
			if s == "-out" && i+1 < len(c.args) {
				c.path(c.args[i+1], true)
			}
		}
	}
}
