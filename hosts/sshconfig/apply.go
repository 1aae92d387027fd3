package sshconfig

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/wildcard"
)

const (
	maxIdentities = 100 // OpenSSH's limits
	maxHostFiles  = 32
)

var (
	errMissing = errors.New("the value is missing")
	errExtra   = errors.New("there is more than one value")
)

// directive takes one line into the settings if active, and checks it in any case.
func (r *resolver) directive(l *line, active bool) error {
	s, err := &r.s, error(nil)
	switch l.key {
	case "hostname":
		err = text(l, active, &s.HostName)
	case "user":
		err = text(l, active, &s.User)
	case "port":
		err = one(l, active, &s.Port, parsePort)
	case "identityfile", "identityfile2":
		err = r.appendFile(l, active, &s.IdentityFiles)
	case "certificatefile":
		err = r.appendFile(l, active, &s.CertificateFiles)
	case "identitiesonly":
		err = one(l, active, &s.IdentitiesOnly, parseFlag)
	case "identityagent":
		err = one(l, active, &s.IdentityAgent, r.checkAgent)
	case "userknownhostsfile":
		err = r.hostFiles(l, active, &s.UserKnownHostsFiles, &r.userHostsFrom)
	case "globalknownhostsfile":
		err = r.hostFiles(l, active, &s.GlobalKnownHostsFiles, &r.globalHostsFrom)
	case "revokedhostkeys":
		err = text(l, active, &s.RevokedHostKeys)
	case "hostkeyalias":
		err = text(l, active, &s.HostKeyAlias)
	case "hostkeyalgorithms":
		err = text(l, active, &s.HostKeyAlgorithms)
	case "kexalgorithms":
		err = text(l, active, &s.KexAlgorithms)
	case "ciphers":
		err = text(l, active, &s.Ciphers)
	case "macs":
		err = text(l, active, &s.MACs)
	case "pubkeyacceptedalgorithms", "pubkeyacceptedkeytypes":
		err = text(l, active, &s.PubkeyAcceptedAlgorithms)
	case "casignaturealgorithms":
		err = text(l, active, &s.CASignatureAlgorithms)
	case "requiredrsasize":
		err = one(l, active, &s.RequiredRSASize, parseCount)
	case "rekeylimit":
		err = r.rekeyLimit(l, active)
	case "addressfamily":
		err = one(l, active, &s.AddressFamily, parseFamily)
	case "bindaddress":
		err = text(l, active, &s.BindAddress)
	case "bindinterface":
		err = text(l, active, &s.BindInterface)
	case "connectionattempts":
		err = one(l, active, &s.ConnectionAttempts, parseCount)
	case "pubkeyauthentication", "dsaauthentication": // an alias, whatever keys there are
		err = one(l, active, &s.PubkeyAuthentication, parsePubkey)
	case "passwordauthentication":
		err = one(l, active, &s.PasswordAuthentication, parseFlag)
	case "kbdinteractiveauthentication", "challengeresponseauthentication", "skeyauthentication", "tisauthentication":
		err = one(l, active, &s.KbdInteractiveAuthentication, parseFlag)
	case "numberofpasswordprompts":
		err = one(l, active, &s.NumberOfPasswordPrompts, parseCount)
	case "preferredauthentications":
		err = text(l, active, &s.PreferredAuthentications)
	case "batchmode":
		err = one(l, active, &s.BatchMode, parseFlag)
	case "sendenv":
		err = sendEnv(l, active, &s.SendEnv)
	case "setenv":
		err = setEnv(l, active, &s.SetEnv)
	case "stricthostkeychecking":
		err = one(l, active, &s.StrictHostKeyChecking, parseStrict)
	case "checkhostip":
		err = one(l, active, &s.CheckHostIP, parseFlag)
	case "hashknownhosts":
		err = one(l, active, &s.HashKnownHosts, parseFlag)
	case "connecttimeout":
		err = duration(l, active, &s.ConnectTimeout)
	case "serveraliveinterval", "protocolkeepalives", "setuptimeout": // the others are Debian's
		err = duration(l, active, &s.ServerAliveInterval)
	case "serveralivecountmax":
		err = one(l, active, &s.ServerAliveCountMax, parseCount)
	case "proxyjump":
		var jumps []Jump
		if jumps, err = parseJumps(l.raw); err == nil && active && !s.ProxyJump.isSet() && !s.ProxyCommand.isSet() {
			s.ProxyJump = Value[[]Jump]{V: jumps, Raw: l.raw, From: l.pos}
		}
	case "proxycommand":
		// "ProxyJump none" keeps later ProxyJump lines out, but not a ProxyCommand.
		if active && len(s.ProxyJump.V) == 0 && !s.ProxyCommand.isSet() {
			raw := strings.TrimLeft(l.raw, space+"=")
			s.ProxyCommand = Value[string]{V: raw, Raw: raw, From: l.pos}
		}
	case "knownhostscommand":
		if active && !s.KnownHostsCommand.isSet() {
			s.KnownHostsCommand = Value[Command]{Raw: strings.TrimLeft(l.raw, space+"="), From: l.pos}
		}
	case "updatehostkeys":
		err = one(l, active, &s.UpdateHostKeys, parseUpdate)
	case "controlpath":
		err = text(l, active, &s.ControlPath)
	case "controlmaster":
		if err = one(l, active, &r.controlMaster, parseMaster); err == nil {
			return r.notObeyed(l, active) // Fairlead shares its connections in another way
		}
	case "forwardagent":
		if l.pos.File != CommandLine {
			return r.notObeyed(l, active)
		}
		err = one(l, active, &s.ForwardAgent, r.parseForward)
	case "canonicalizehostname", "canonicaldomains", "canonicalizemaxdots", "canonicalizefallbacklocal", "canonicalizepermittedcnames":
		err = r.canonicalDirective(l, active)
	case "remotecommand", "requesttty":
		if !r.programs {
			return r.notObeyed(l, active)
		}
		err = r.program(l, active)
	case "tag":
		err = text(l, active, &s.Tag)
	case "ignoreunknown":
		var v Value[string]
		if err = text(l, true, &v); err == nil && active && r.ignoreUnknown == "" {
			r.ignoreUnknown = v.V
		}
	default:
		return r.notObeyed(l, active)
	}
	if err != nil {
		return &Error{Pos: l.pos, Msg: l.name, Err: err}
	}
	return nil
}

// program takes what is about the program on the host. A command is the rest of its line, as it stands.
func (r *resolver) program(l *line, active bool) error {
	if l.key == "requesttty" {
		return one(l, active, &r.s.RequestTTY, parseTTY)
	}
	if v := &r.s.RemoteCommand; active && !v.isSet() {
		raw := strings.TrimLeft(l.raw, space+"=")
		*v = Value[string]{V: raw, Raw: raw, From: l.pos}
	}
	return nil
}

// notObeyed decides about a directive there is no field for: it is refused, or has no effect here.
func (r *resolver) notObeyed(l *line, active bool) error {
	kw, known := notObeyed[l.key]
	if !known {
		if r.ignoreUnknown != "" && matchList(l.key, r.ignoreUnknown, true) {
			return nil
		}
		return errorAt(l.pos, "%q is not a directive of ssh; correct it, or name it in IgnoreUnknown before this line", l.name)
	}
	if !active || r.seen[l.key] && !kw.multi {
		return nil
	}
	r.seen[l.key] = true
	value := strings.Join(l.args, " ")
	if slices.Contains(kw.fine, lower(value)) || kw.stock && r.system {
		return nil
	}
	if kw.refuse != "" {
		return errorAt(l.pos, "%s %s: %s", l.name, value, kw.refuse)
	}
	r.skip(l, l.raw)
	return nil
}

// skip notes that a line, or a part of it, has no effect.
func (r *resolver) skip(l *line, value string) {
	if slices.ContainsFunc(r.s.Skipped, func(d Directive) bool { return d.From == l.pos }) {
		return // second pass
	}
	r.s.Skipped = append(r.s.Skipped, Directive{Keyword: l.name, Value: value, From: l.pos})
}

// rekeyLimit takes the number of bytes. The time behind it has no effect: the SSH library counts bytes only.
func (r *resolver) rekeyLimit(l *line, active bool) error {
	if len(l.args) == 0 || l.args[0] == "" {
		return errMissing
	}
	if len(l.args) > 2 {
		return errExtra
	}
	limit, err := parseRekey(l.args[0])
	if err != nil {
		return err
	}
	v, timed := &r.s.RekeyLimit, len(l.args) == 2 && lower(l.args[1]) != None
	if timed {
		if _, err := parseTime(l.args[1]); err != nil {
			return err
		}
	}
	if !active || v.isSet() && v.From != l.pos {
		return nil
	}
	*v = Value[uint64]{V: limit, Raw: l.args[0], From: l.pos}
	if timed {
		r.skip(l, "after "+l.args[1])
	}
	return nil
}

// parseUpdate takes a flag or "ask".
func parseUpdate(s string) (string, error) {
	if lower(s) == "ask" {
		return "ask", nil
	}
	switch yes, err := parseFlag(s); {
	case err != nil:
		return "", fmt.Errorf("%q is not yes, no or ask", s)
	case yes:
		return "yes", nil
	}
	return "no", nil
}

// maxSendEnv bounds the patterns of SendEnv.
const maxSendEnv = 256

// sendEnv adds patterns of all active lines. One with a "-" takes those out that it matches.
func sendEnv(l *line, active bool, list *[]Value[string]) error {
	if len(l.args) == 0 {
		return errMissing
	}
	for _, word := range l.args {
		if word == "" || strings.Contains(word, "=") {
			return errors.New("expected names of variables, which may be patterns")
		}
		if !active {
			continue
		}
		if out, ok := strings.CutPrefix(word, "-"); ok {
			*list = slices.DeleteFunc(*list, func(v Value[string]) bool { return wildcard.Match(v.V, out) })
			continue
		}
		if slices.ContainsFunc(*list, func(v Value[string]) bool { return v.V == word }) {
			continue // also in the second pass
		}
		if len(*list) >= maxSendEnv {
			return fmt.Errorf("more than %d patterns", maxSendEnv)
		}
		*list = append(*list, Value[string]{V: word, Raw: word, From: l.pos})
	}
	return nil
}

// setEnv takes the variables of the first active line; of a name that stands there twice the first counts.
func setEnv(l *line, active bool, list *[]Value[string]) error {
	if len(l.args) == 0 {
		return errMissing
	}
	take := active && len(*list) == 0
	for _, word := range l.args {
		name, _, ok := strings.Cut(word, "=")
		if !ok || name == "" {
			return errors.New("expected NAME=VALUE")
		}
		if take && !slices.ContainsFunc(*list, func(v Value[string]) bool { return strings.HasPrefix(v.V, name+"=") }) {
			*list = append(*list, Value[string]{V: word, Raw: word, From: l.pos})
		}
	}
	return nil
}

// single returns the only word of a line.
func single(l *line) (string, error) {
	switch {
	case len(l.args) == 0 || l.args[0] == "":
		return "", errMissing
	case len(l.args) > 1:
		return "", errExtra
	}
	return l.args[0], nil
}

// one checks a line of one word and sets v if the line is active and v not set yet: the first value wins.
func one[T any](l *line, active bool, v *Value[T], parse func(string) (T, error)) error {
	word, err := single(l)
	if err != nil {
		return err
	}
	x, err := parse(word)
	if err != nil {
		return err
	}
	if active && !v.isSet() {
		*v = Value[T]{V: x, Raw: word, From: l.pos}
	}
	return nil
}

func text(l *line, active bool, v *Value[string]) error {
	return one(l, active, v, func(s string) (string, error) { return s, nil })
}

// duration is one for times. In OpenSSH "none" leaves the setting open, so that a later line can still set it.
func duration[T ~int64](l *line, active bool, v *Value[T]) error {
	if word, err := single(l); err == nil && word == None {
		return nil
	}
	return one(l, active, v, func(s string) (T, error) {
		d, err := parseTime(s)
		return T(d), err
	})
}

func (r *resolver) appendFile(l *line, active bool, list *[]Value[string]) error {
	word, err := single(l)
	if err != nil || !active {
		return err
	}
	if slices.ContainsFunc(*list, func(v Value[string]) bool { return v.Raw == word }) {
		return nil
	}
	if len(*list) >= maxIdentities {
		return fmt.Errorf("more than %d files", maxIdentities)
	}
	*list = append(*list, Value[string]{V: word, Raw: word, From: l.pos})
	return nil
}

// hostFiles takes a list that is set as a whole by the first active line.
func (r *resolver) hostFiles(l *line, active bool, list *[]Value[string], from *hosts.Pos) error {
	if len(l.args) == 0 {
		return errMissing
	}
	if len(l.args) > maxHostFiles {
		return fmt.Errorf("more than %d files", maxHostFiles)
	}
	var files []Value[string]
	for _, word := range l.args {
		if word == "" {
			return errMissing
		}
		if lower(word) == None {
			if len(l.args) > 1 {
				return errors.New("none must be the only value")
			}
			continue
		}
		files = append(files, Value[string]{V: word, Raw: word, From: l.pos})
	}
	if active && from.File == "" {
		*list, *from = files, l.pos
	}
	return nil
}

// parseForward takes yes, no, or an agent's socket as checkAgent does, which also means yes.
func (r *resolver) parseForward(s string) (bool, error) {
	on, err := parseFlag(s)
	if err == nil {
		return on, nil
	}
	_, err = r.checkAgent(s)
	return true, err
}

// checkAgent checks the two forms that name an environment variable.
func (r *resolver) checkAgent(s string) (string, error) {
	// "$NAME" is an older form; the text behind it must be a name.
	if name, ok := strings.CutPrefix(s, "$"); ok && !strings.HasPrefix(name, "{") {
		bad := name == ""
		for i := range len(name) {
			bad = bad || !isAlnum(name[i]) && name[i] != '_'
		}
		if bad {
			return "", fmt.Errorf("%q is not the name of an environment variable", s)
		}
		return s, nil
	}
	if strings.Contains(s, "${") {
		if _, err := expand(strings.ReplaceAll(s, "%", "%%"), nil, r.env); err != nil {
			return "", err
		}
	}
	return s, nil
}
