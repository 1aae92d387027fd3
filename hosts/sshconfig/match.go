package sshconfig

import (
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/wildcard"
)

// matchHost evaluates a Host line. Patterns are compared with the name as typed, case-sensitively; in the final pass
// with the resolved one.
func (r *resolver) matchHost(l *line) (bool, error) {
	matched := false // as with "Host #comment": OpenSSH takes it as a block for nothing
	for _, pat := range l.args {
		if pat == "" {
			return false, errorAt(l.pos, "Host has an empty pattern")
		}
		pat, negated := strings.CutPrefix(pat, "!")
		if wildcard.Match(r.host, pat) {
			if negated {
				return false, nil
			}
			matched = true
		}
	}
	return matched, nil
}

// match evaluates a Match line. A criterion that is not supported is an error where everything else on the line holds: whether
// the block counts decides how the host is reached. never says that the block does not count anyway; then no program runs.
func (r *resolver) match(l *line, never bool) (applies bool, err error) {
	host, err := r.matchName()
	if err != nil {
		return false, err
	}
	var unsure []string
	var execs []func() (bool, error) // run once everything else on the line holds
	user := or(r.s.User.V, r.cfg.local.User)
	result, count := true, 0
	for rest := l.raw; ; {
		word, next, ok := cutWord(rest)
		if rest = next; !ok {
			return false, errorAt(l.pos, "Match: a double quote is not closed")
		}
		if word == "" || word[0] == '#' {
			break
		}
		name, negated := strings.CutPrefix(word, "!")
		name = lower(name)
		if name == "all" {
			arg, _, _ := cutWord(rest)
			if count > 1 || arg != "" && arg[0] != '#' {
				return false, errorAt(l.pos, "Match: all cannot be combined with other criteria")
			}
			result = result && !negated
			count++
			break
		}
		count++
		if name == "canonical" || name == "final" {
			r.wantFinal = r.wantFinal || name == "final"
			result = result && r.final != negated
			continue
		}
		value := rest
		arg, next, ok := cutWord(rest)
		if rest = next; !ok || arg == "" || arg[0] == '#' {
			return false, errorAt(l.pos, "Match: %s needs a value", name)
		}
		counts := result && !never
		if counts && versionsDiffer(value) {
			return false, errorAt(l.pos, "Match: versions of ssh differ on what ' and \\ mean in %s; use double quotes", name)
		}
		var holds bool
		switch name {
		case "host":
			holds = matchList(lower(host), arg, true)
		case "originalhost":
			holds = matchList(lower(r.s.Alias), arg, true)
		case "user":
			holds = matchList(user, arg, false)
		case "localuser":
			holds = matchList(r.cfg.local.User, arg, false)
		case "tagged":
			holds = matchList(r.s.Tag.V, arg, false)
		case "localnetwork":
			if holds, err = localNetwork(arg); err != nil {
				return false, &Error{Pos: l.pos, Msg: "Match localnetwork", Err: err}
			}
		case "exec":
			run, err := r.execOf(l, arg, host)
			if err != nil {
				return false, err
			}
			execs = append(execs, func() (bool, error) {
				holds, err := run()
				return holds != negated, err
			})
			continue
		case "sessiontype", "command", "version":
			if result {
				unsure = append(unsure, name)
			}
			continue
		default:
			return false, errorAt(l.pos, "Match: there is no criterion %q", name)
		}
		result = result && holds != negated
	}
	if count == 0 {
		return false, errorAt(l.pos, "Match has no criterion")
	}
	if result && !never && len(unsure) > 0 {
		return false, errorAt(l.pos, "Match %s is not supported, and it decides what counts for %s: write the block as Host or Match host, "+
			"or name another file with ssh_config: in the inventory", strings.Join(unsure, " and "), r.s.Alias)
	}
	for _, holds := range execs {
		if !result || never {
			break
		}
		if result, err = holds(); err != nil {
			return false, err
		}
	}
	return result && !never, nil
}

// versionsDiffer reports whether the word that a line goes on with is one thing to OpenSSH before 10 and another one from then on,
// which splits it as the values of directives; or whether the two go on in different places.
func versionsDiffer(s string) bool {
	old, oldRest, _ := cutWord(s)
	now, rest, ok := nextArg(s)
	return !ok || now != old || strings.TrimLeft(rest, space) != oldRest
}

// matchName is the host name that Match host sees at this point of the evaluation.
func (r *resolver) matchName() (string, error) {
	if r.final || !r.s.HostName.isSet() {
		return r.host, nil
	}
	return r.expandHostName()
}

func (r *resolver) expandHostName() (string, error) {
	name, err := expand(r.s.HostName.Raw, tokens{'h': r.s.Alias}, nil)
	if err != nil {
		return "", &Error{Pos: r.s.HostName.From, Msg: "HostName", Err: err}
	}
	return name, nil
}
