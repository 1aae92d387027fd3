package sshconfig

import (
	"maps"
	"slices"
)

// keyword describes a directive of OpenSSH that there is no field for.
type keyword struct {
	fine   []string // values that ask for what happens anyway, in lower case
	multi  bool     // every line counts, not just the first
	stock  bool     // distributions ship it in the system's file, where it causes no message
	refuse string   // why the host is refused, and what to do; "" means that the directive has no effect
}

// notObeyed lists OpenSSH's client directives up to 10.x that Settings has no field for. Those that would change where, as whom,
// with what or by which route Fairlead connects are refused; the others are skipped, and listed in Settings.Skipped. Keywords
// that are neither here nor in apply.go are errors, as in OpenSSH.
var notObeyed = map[string]keyword{
	"refuseconnection": {refuse: "this configuration refuses connections to the host"},
	"remotecommand": {fine: []string{None},
		refuse: "a fixed remote command cannot be combined with commands of your own; fairlead ssh runs it; put it under a Host name of its own"},
	"pkcs11provider": {fine: []string{None},
		refuse: "not supported; add the key to ssh-agent with ssh-add -s, and remove this line"},
	"smartcarddevice": {fine: []string{None},
		refuse: "not supported; add the key to ssh-agent with ssh-add -s, and remove this line"},
	"securitykeyprovider": {fine: []string{"internal"},
		refuse: "not supported; add the key to ssh-agent with ssh-add -S, and remove this line"},
	"hostbasedauthentication": {fine: []string{"no", "false"},
		refuse: "not supported; log in with a key, and set it to no"},
	"gssapikeyexchange": {fine: []string{"no", "false"},
		refuse: "not supported; record the host's key in a known_hosts file, and set it to no"},

	// Other ways to trust a host than by known_hosts: without them fewer hosts are trusted, and none that would not be.
	"verifyhostkeydns": {fine: []string{"no", "false"}}, "nohostauthenticationforlocalhost": {fine: []string{"no", "false"}},

	// Other ways to log in than with keys.
	"kbdinteractivedevices":       {},
	"hostbasedacceptedalgorithms": {}, "hostbasedkeytypes": {}, "enablesshkeysign": {},
	"gssapiauthentication":      {fine: []string{"no", "false"}, stock: true},
	"gssapidelegatecredentials": {fine: []string{"no", "false"}, stock: true},
	"gssapiclientidentity":      {}, "gssapiserveridentity": {}, "gssapikexalgorithms": {stock: true},
	"gssapirenewalforcesrekey": {fine: []string{"no", "false"}}, "gssapitrustdns": {fine: []string{"no", "false"}},
	"addkeystoagent": {fine: []string{"no", "false"}},
	"usekeychain":    {}, // Apple's

	// What a session has besides its terminal.
	"forwardagent": {fine: []string{"no", "false"}},
	"localforward": {multi: true}, "remoteforward": {multi: true}, "dynamicforward": {multi: true},
	"clearallforwardings": {fine: []string{"no", "false"}}, "exitonforwardfailure": {fine: []string{"no", "false"}},
	"gatewayports": {fine: []string{"no", "false"}}, "permitremoteopen": {fine: []string{"any"}},
	"streamlocalbindmask": {}, "streamlocalbindunlink": {},
	"forwardx11": {fine: []string{"no", "false"}}, "forwardx11trusted": {stock: true}, "forwardx11timeout": {}, "xauthlocation": {},
	"tunnel": {fine: []string{"no", "false"}}, "tunneldevice": {},
	"localcommand": {}, "permitlocalcommand": {fine: []string{"no", "false"}},
	"requesttty": {fine: []string{"auto"}}, "sessiontype": {fine: []string{"default"}},
	"stdinnull": {}, "forkafterauthentication": {}, "enableescapecommandline": {}, "escapechar": {},

	// How bytes travel, and what is shown.
	"compression": {fine: []string{"no", "false"}}, "tcpkeepalive": {fine: []string{"yes", "true"}},
	"keepalive": {fine: []string{"yes", "true"}}, "ipqos": {}, "channeltimeout": {fine: []string{None}},
	"obscurekeystroketiming": {}, "versionaddendum": {},
	"proxyusefdpass": {fine: []string{"no", "false"},
		refuse: "not supported; use a ProxyCommand that passes the bytes itself, and set it to no"},
	"controlmaster": {fine: []string{"no", "false"}}, "controlpersist": {fine: []string{"no", "false"}},
	"fingerprinthash": {}, "loglevel": {}, "logverbose": {}, "syslogfacility": {}, "visualhostkey": {fine: []string{"no", "false"}},
	"warnweakcrypto": {},

	// Accepted and without effect in OpenSSH for years.
	"protocol": {fine: []string{"2"}}, "cipher": {}, "compressionlevel": {}, "fallbacktorsh": {}, "usersh": {}, "useroaming": {},
	"useprivilegedport": {}, "rhostsauthentication": {}, "rhostsrsaauthentication": {}, "rsaauthentication": {},
	"afstokenpassing": {}, "kerberosauthentication": {}, "kerberostgtpassing": {},
	"globalknownhostsfile2": {}, "userknownhostsfile2": {},
}

// obeyed are the directives that have an effect: apply.go reads them.
var obeyed = []string{"addressfamily", "batchmode", "bindaddress", "bindinterface", "canonicaldomains", "canonicalizefallbacklocal", "canonicalizehostname", "canonicalizemaxdots",
	"canonicalizepermittedcnames", "casignaturealgorithms", "certificatefile", "challengeresponseauthentication", "checkhostip", "ciphers",
	"connectionattempts", "connecttimeout", "controlpath", "dsaauthentication", "globalknownhostsfile", "hashknownhosts", "host", "hostkeyalgorithms", "hostkeyalias", "hostname",
	"identitiesonly", "identityagent", "identityfile", "identityfile2", "ignoreunknown", "include", "kbdinteractiveauthentication", "kexalgorithms", "knownhostscommand", "macs", "match",
	"numberofpasswordprompts", "passwordauthentication", "port",
	"preferredauthentications", "protocolkeepalives", "proxycommand", "proxyjump", "pubkeyacceptedalgorithms", "pubkeyacceptedkeytypes",
	"pubkeyauthentication", "rekeylimit", "requiredrsasize", "revokedhostkeys", "sendenv", "serveralivecountmax", "serveraliveinterval", "setenv", "setuptimeout",
	"skeyauthentication", "stricthostkeychecking", "tag", "tisauthentication", "updatehostkeys", "user", "userknownhostsfile"}

// Keywords returns every directive that Resolve knows, in lower case and in order.
func Keywords() []string {
	return slices.Sorted(slices.Values(slices.Concat(obeyed, slices.Collect(maps.Keys(notObeyed)))))
}
