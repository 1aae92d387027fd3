package question

import (
	"errors"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// toWire makes a question fit for the API.
func toWire(id, asker string, q sshconn.Question) wire.Question {
	out := wire.Question{
		ID: id, Asker: asker, Kind: string(q.Kind), Host: q.Host, Addr: q.Addr, User: q.User, Try: q.Try, KeyFile: q.KeyFile, File: q.File,
		Method: q.Method, Name: q.Name, Instruction: q.Instruction,
	}
	for _, p := range q.Prompts {
		out.Prompts = append(out.Prompts, wire.Prompt(p))
	}
	if c := q.Change; c != nil {
		out.NewKeys, out.OldKeys = c.New, c.Old
	}
	if u := q.Unknown; u != nil {
		out.KeyType, out.Fingerprint = u.Type, u.Fingerprint
		if u.Certificate != nil {
			out.Certificate = u.Certificate.Error()
		}
		for _, k := range u.Near {
			out.Near = append(out.Near, wire.KnownKey(k))
		}
		for _, w := range u.Skipped {
			out.Skipped = append(out.Skipped, wire.SkippedLine(w))
		}
	}
	return out
}

// fromWire is the question that a keeper asks.
func fromWire(q wire.Question) sshconn.Question {
	out := sshconn.Question{
		Kind: sshconn.QuestionKind(q.Kind), Host: q.Host, Addr: q.Addr, User: q.User, Try: q.Try, KeyFile: q.KeyFile, File: q.File,
		Method: q.Method, Name: q.Name, Instruction: q.Instruction,
	}
	for _, p := range q.Prompts {
		out.Prompts = append(out.Prompts, sshconn.Prompt(p))
	}
	if out.Kind == sshconn.AskHostKeys {
		out.Change = &sshconn.HostKeyChange{Host: q.Host, New: q.NewKeys, Old: q.OldKeys}
	}
	if out.Kind == sshconn.AskHostKey {
		out.Unknown = &knownhosts.UnknownError{Presented: knownhosts.Presented{Type: q.KeyType, Fingerprint: q.Fingerprint}}
		if q.Certificate != "" {
			out.Unknown.Certificate = errors.New(q.Certificate)
		}
		for _, k := range q.Near {
			out.Unknown.Near = append(out.Unknown.Near, knownhosts.Known(k))
		}
		for _, w := range q.Skipped {
			out.Unknown.Skipped = append(out.Unknown.Skipped, knownhosts.Warning(w))
		}
	}
	return out
}
