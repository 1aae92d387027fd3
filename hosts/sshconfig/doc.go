// Package sshconfig reads OpenSSH client configuration and answers what ssh(1) would do for one host.
//
// A [Config] is one or more files read once, with everything they include. [Config.Resolve] evaluates it for a name as
// typed and gives [Settings], in which each value says which file and line it came from.
//
// What it covers it decides as OpenSSH does: the first value wins, the user's file goes before the system's, Host and
// Match blocks are evaluated in order, a second pass follows where "Match final" or CanonicalizeHostname asks for one, and values
// are split, unquoted and expanded by OpenSSH's rules. A directive that it does not cover is an error with file and line where it
// would change which host is reached, as whom, with which keys and algorithms or by which route; the others have no effect and are
// listed in Settings.Skipped. Match exec runs its program, and CanonicalizeHostname asks DNS; both are bounded in time.
//
// The tests compare generated configurations with "ssh -G" of OpenSSH 9.2. These differences remain:
//
//	what is configured                 OpenSSH                        here
//	Tag, Match tagged, localnetwork    from 9.4 on; 9.2: an error     as from 9.4 on
//	Match command, sessiontype, version from 10.0 on; 9.2: an error    the host is refused where the line decides
//	Match exec                         run wherever it stands; no     run once the rest of the line holds, 15 s at most; its
//	                                   limit                          answer holds for 5 s
//	' and \ in a Match line            9.2 and 10.x differ            the host is refused where they differ
//	User with % or ${}                 9.2: as written; 10.x: expanded  the host is refused
//	Include with ${} or %              9.2: as written; 10.x: expanded  expanded
//	IdentityFile and others with a     an error when connecting       an error when resolving
//	  token or variable that is none
//	%C and %j with ProxyJump           9.2: without the jump host     with it, as from 9.6 on
//	CanonicalizeHostname, silent DNS   the name as it is              an error after 10 s
//	UpdateHostKeys ask                 asks at any time               asks once it has logged in; without a person as no
//	SendEnv                            obeyed                         for terminals and "fairlead ssh"; other shells are shared
//	ServerAliveInterval, BatchMode yes Debian: 300                    0
//	User with a dash in front          obeyed                         the host is refused
//	shell characters in names of      refused on a command line      refused where a program would get them
//	  hosts and users
//	bad values in lists of algorithms  an error                       an error when connecting
//	bad values of what is skipped, UseKeychain, byte order mark  an error  no effect
//	Include ~unknown/x; a NUL byte     no file; the end of the line   an error
//	RekeyLimit with a time, or small   obeyed                         the time has no effect; 64K is the least
//	StrictHostKeyChecking no           accepts a changed key, without password  never
//	VerifyHostKeyDNS, NoHost-          trust a host without           no effect: such a host's key is unknown until it is recorded
//	  AuthenticationForLocalhost         known_hosts
//	CheckHostIP                        records the key for the        records nothing
//	                                     address, too
//	PKCS11Provider, ProxyUseFdpass,    obeyed                         the host is refused, and the error says what to do
//	  HostbasedAuthentication, GSSAPIKeyExchange
//	RemoteCommand, RequestTTY          obeyed                         for "fairlead ssh" ([Options].Programs); else the one refuses
//	                                                                  the host ("fairlead shell": also RequestTTY no)
//
// Plain directives are decoded by github.com/kevinburke/ssh_config. Blocks, includes, and every line with quotes,
// escapes or a "#" are handled here, because there that library and OpenSSH differ.
//
// There is no global state. Config is immutable and safe for concurrent use.
package sshconfig
