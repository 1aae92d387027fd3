package sshconfig

// keyword describes a directive of OpenSSH that is known but not acted on.
type keyword struct {
	fine  []string // values that ask for what happens anyway, in lower case
	multi bool     // every line counts, not just the first
	minor bool     // see Directive.Minor
	fatal string   // why leaving it out is not safe; "" means it is only reported
}

// unsupported lists OpenSSH's client directives up to 10.x that Settings has no field for. Keywords that are neither
// here nor handled in apply.go are errors, as in OpenSSH.
var unsupported = map[string]keyword{
	"refuseconnection": {fatal: "this configuration refuses connections to the host"},
	"canonicalizehostname": {fine: []string{"no", "false"},
		fatal: "rewriting host names is not supported and would change which host is reached"},
	"revokedhostkeys": {fine: []string{None},
		fatal: "revocation files are not supported, and a revoked key must not be accepted"},
	"remotecommand": {fine: []string{None},
		fatal: "a fixed remote command cannot be combined with commands of one's own; ssh refuses that too"},

	"sendenv": {multi: true}, "setenv": {multi: true},
	"localforward": {multi: true}, "remoteforward": {multi: true}, "dynamicforward": {multi: true},

	"addressfamily": {fine: []string{"any"}}, "bindaddress": {}, "bindinterface": {},
	"ciphers": {}, "macs": {}, "kexalgorithms": {}, "casignaturealgorithms": {}, "requiredrsasize": {},
	"pubkeyacceptedalgorithms": {}, "pubkeyacceptedkeytypes": {}, "rekeylimit": {},
	"hostbasedacceptedalgorithms": {minor: true}, "hostbasedkeytypes": {minor: true},
	"preferredauthentications": {}, "numberofpasswordprompts": {}, "batchmode": {fine: []string{"no", "false"}},
	"pubkeyauthentication":            {fine: []string{"yes", "true"}},
	"passwordauthentication":          {fine: []string{"yes", "true"}},
	"kbdinteractiveauthentication":    {fine: []string{"yes", "true"}},
	"challengeresponseauthentication": {fine: []string{"yes", "true"}},
	"skeyauthentication":              {fine: []string{"yes", "true"}},
	"tisauthentication":               {fine: []string{"yes", "true"}},
	"kbdinteractivedevices":           {},
	"hostbasedauthentication":         {fine: []string{"no", "false"}},
	"gssapiauthentication":            {fine: []string{"no", "false"}},
	"gssapidelegatecredentials":       {fine: []string{"no", "false"}},
	"gssapikeyexchange":               {fine: []string{"no", "false"}},
	"gssapiclientidentity":            {}, "gssapiserveridentity": {}, "gssapikexalgorithms": {minor: true},
	"gssapirenewalforcesrekey": {fine: []string{"no", "false"}}, "gssapitrustdns": {fine: []string{"no", "false"}},
	"pkcs11provider": {fine: []string{None}}, "smartcarddevice": {fine: []string{None}},
	"securitykeyprovider": {fine: []string{"internal"}},
	"addkeystoagent":      {fine: []string{"no", "false"}, minor: true},
	"forwardagent":        {fine: []string{"no", "false"}},
	"connectionattempts":  {fine: []string{"1"}},
	"tcpkeepalive":        {fine: []string{"yes", "true"}}, "keepalive": {fine: []string{"yes", "true"}},
	"knownhostscommand": {fine: []string{None}}, "checkhostip": {fine: []string{"no", "false"}},
	"verifyhostkeydns":                 {fine: []string{"no", "false"}},
	"nohostauthenticationforlocalhost": {fine: []string{"no", "false"}},
	"updatehostkeys":                   {fine: []string{"no", "false"}, minor: true},
	"compression":                      {fine: []string{"no", "false"}},
	"channeltimeout":                   {fine: []string{None}},
	"clearallforwardings":              {fine: []string{"no", "false"}},
	"requesttty":                       {fine: []string{"auto"}}, "sessiontype": {fine: []string{"default"}},
	"tunnel": {fine: []string{"no", "false"}}, "tunneldevice": {minor: true},
	"forwardx11":        {fine: []string{"no", "false"}},
	"forwardx11trusted": {minor: true}, "forwardx11timeout": {minor: true}, "xauthlocation": {minor: true},
	"localcommand": {}, "permitlocalcommand": {fine: []string{"no", "false"}},
	"proxyusefdpass": {fine: []string{"no", "false"}},
	"controlmaster":  {fine: []string{"no", "false"}, minor: true}, "controlpath": {fine: []string{None}, minor: true},
	"controlpersist": {fine: []string{"no", "false"}, minor: true},

	"canonicaldomains": {minor: true}, "canonicalizefallbacklocal": {minor: true},
	"canonicalizemaxdots": {minor: true}, "canonicalizepermittedcnames": {minor: true},
	"enableescapecommandline": {minor: true}, "enablesshkeysign": {minor: true}, "escapechar": {minor: true},
	"exitonforwardfailure": {minor: true}, "fingerprinthash": {minor: true}, "forkafterauthentication": {minor: true},
	"gatewayports": {minor: true}, "ipqos": {minor: true}, "loglevel": {minor: true}, "logverbose": {minor: true},
	"obscurekeystroketiming": {}, "permitremoteopen": {minor: true}, "stdinnull": {minor: true},
	"streamlocalbindmask": {minor: true}, "streamlocalbindunlink": {minor: true}, "syslogfacility": {minor: true},
	"versionaddendum": {minor: true}, "visualhostkey": {minor: true}, "warnweakcrypto": {minor: true},

	// Apple's and Debian's own.
	"usekeychain": {minor: true}, "protocolkeepalives": {minor: true}, "setuptimeout": {minor: true},

	// Accepted and without effect in OpenSSH for years.
	"protocol": {fine: []string{"2"}, minor: true}, "cipher": {minor: true}, "compressionlevel": {minor: true},
	"fallbacktorsh": {minor: true}, "usersh": {minor: true}, "useroaming": {minor: true},
	"useprivilegedport": {minor: true}, "rhostsauthentication": {minor: true}, "rhostsrsaauthentication": {minor: true},
	"rsaauthentication": {minor: true}, "afstokenpassing": {minor: true}, "kerberosauthentication": {minor: true},
	"kerberostgtpassing": {minor: true}, "dsaauthentication": {minor: true},
	"globalknownhostsfile2": {minor: true}, "userknownhostsfile2": {minor: true},
}
