package approval_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/golden"
)

// documents are requests that between them have every field.
func documents() map[string]approval.Pending {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	host := hosts.Host{Name: "web1", Addr: "10.0.0.1", Port: 22, User: "deploy", Via: []string{"j1", "j2"}, Tier: "prod", Identity: []string{"/k", "/l"}, IdentityOnly: true}
	argv := hosts.Host{Name: "box", Transport: hosts.Command, Command: []string{"docker", "exec", "-i", "c"}, Sandboxed: true, Shell: "bash"}
	q := policy.Question{
		Exec: "e_1", Session: "s_1", Principal: "agent/x", Host: host, Shell: "bash", Dir: "/srv", Command: "echo 1\n\x00\xff", Reason: "so", Asked: at, Expires: at.Add(time.Hour),
		StdinBytes: 3, StdinSHA256: "ab", StdinHead: "\x00\n", Decision: policy.Decision{Class: policy.Write, Rule: "r", Reason: "because", Hint: "h", LeastProof: approval.Touch},
	}
	typed := q
	typed.Interactive, typed.Typed, typed.Host, typed.Sandbox = true, "q\x03", argv, "sb_1"
	many := q
	many.Session, many.Hosts = "", []hosts.Host{host, argv, {Name: "here", Transport: hosts.Local}}
	return map[string]approval.Pending{
		"one": {ID: "a_1", Question: q}, "typed": {ID: "a_2", Question: typed}, "many": {ID: "a_3", Question: many},
		"with input":    {ID: "a_4", Question: policy.Question{Interactive: true, Session: "s_1"}, WithInput: true},
		"for a session": {ID: "a_5", Question: policy.Question{Session: "s_1", Dir: "/", Command: "ls"}, ForSession: &approval.Scope{Prefix: []string{"ls", "-l"}, For: time.Minute}},
	}
}

// What is made of a document of which one byte or one line is not what was written, and of a line of the file of approvers likewise.
func TestWhatIsMadeOfAnEditedTextIsWhatItWas(t *testing.T) {
	f := golden.Open(t, "testdata/edited.tsv")
	docs := documents()
	for _, name := range slices.Sorted(maps.Keys(docs)) {
		p := docs[name]
		doc := p.Document()
		for _, how := range slices.Sorted(maps.Keys(bytewise)) {
			edit := bytewise[how]
			f.Check(name+" "+how, stretches(doc, edit, func(b []byte) string {
				got, err := approval.Parse(b)
				if err != nil {
					return err.Error()
				}
				return fmt.Sprintf("%+v %+v", got, got.ForSession)
			}))
		}
		lines := bytes.SplitAfter(doc, []byte("\n"))
		for i := 1; i+1 < len(lines); i++ { // two lines make a field
			edited := map[string][][]byte{"missing": slices.Delete(slices.Clone(lines), i, i+2), "twice": slices.Insert(slices.Clone(lines), i, lines[i], lines[i+1]), "other": slices.Replace(slices.Clone(lines), i, i+2, []byte("x 1\n"), []byte("y\n"))}
			for _, how := range slices.Sorted(maps.Keys(edited)) {
				some := edited[how]
				got, err := approval.Parse(bytes.Join(some, nil))
				f.Check(fmt.Sprintf("%s line %d %q %s", name, i, lines[i], how), fmt.Sprint(got.ID, " ", err))
			}
		}
	}
	key, err := ssh.NewPublicKey(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize)).Public())
	require.NoError(t, err)
	at := `valid-after="20260101Z",valid-before="20270101123456Z",namespaces="` + approval.Namespace + `"`
	line := "ada@example " + at + " ssh-ed25519 " + base64.StdEncoding.EncodeToString(key.Marshal()) + " role approver, laptop"
	read := func(b []byte) string {
		all, err := approval.ParseApprovers(b, "approvers")
		if err != nil {
			return err.Error()
		}
		said := "read:"
		for _, a := range all {
			said += fmt.Sprintf(" %q %d %s %s", a.Name, a.Line, a.Key.Type(), strings.ReplaceAll(fmt.Sprintf("%+v", a), fmt.Sprintf("%+v", a.Key), "KEY"))
		}
		return said
	}
	for _, text := range []string{line, strings.Replace(line, at, `namespaces="`+approval.Namespace+`"`, 1)} {
		for _, how := range slices.Sorted(maps.Keys(bytewise)) {
			edit := bytewise[how]
			if text == line {
				break // a time without its Z is that of this machine's zone
			}
			f.Check("approver "+text[:40]+" "+how, stretches([]byte(text), edit, read))
		}
		others := map[string][2]string{
			"twice": {"ada", "ada"}, "another namespace": {approval.Namespace, "file"}, "other key type": {"ssh-ed25519 ", "ssh-rsa "}, "no options": {"namespaces=", "x="}, "a comment": {"ada", "# ada"}, "blank": {"ada", " \tada"},
			"name -": {"ada", "-ada"}, "name .": {"ada", ".ada"}, "name long": {"ada", strings.Repeat("a", 63)}, "name longer": {"ada", strings.Repeat("a", 300)}, "name *": {"ada", "*"}, "name ,": {"ada", "a,b"}, "name !": {"ada", "!a"}, "name ä": {"ada", "ä"},
		}
		for _, i := range slices.Sorted(maps.Keys(others)) {
			other := others[i]
			f.Check("approver "+text[:40]+" with "+i, read([]byte(strings.Replace(text, other[0], other[1], 1)+"\n\n# x\n"+line+"\n")))
		}
	}
	for _, name := range strings.Split("a|A|z|Z|0|9|_|a-b|a.b|a@b|a+b|-a|.a|+a|@a|a b|a*|a,b|a!|ä||"+strings.Repeat("a", 64)+"|"+strings.Repeat("a", 100)+"|"+strings.Repeat("a", 101)+"|"+strings.Repeat("a", 65), "|") {
		f.Check("name "+name, fmt.Sprint(approval.CheckName(name)))
	}
	for _, text := range strings.Split("10.0.0.1 5 10.0.0.2 22|::1 5 ::1 22|10.0.0.1 5 10.0.0.2|10.0.0.1 5 10.0.0.2 22 x|a 5 b 22|10.0.0.1 0 10.0.0.2 22|10.0.0.1 65536 10.0.0.2 22|10.0.0.1  5 10.0.0.2 22| 10.0.0.1 5 10.0.0.2 22|10.0.0.1 +5 10.0.0.2 22|fe80::1%eth0 5 fe80::2%eth0 22||10.0.0.1 05 10.0.0.2 22|::ffff:10.0.0.1 5 10.0.0.2 22", "|") {
		client, server, ok := approval.ParseConnection(text)
		f.Check("connection "+text, fmt.Sprint(client, " ", server, " ", ok))
	}
}

// bytewise are edits of one byte.
var bytewise = map[string]func(b []byte, i int) []byte{
	"changed":  func(b []byte, i int) []byte { c := bytes.Clone(b); c[i] ^= 1; return c },
	"removed":  func(b []byte, i int) []byte { return slices.Delete(bytes.Clone(b), i, i+1) },
	"inserted": func(b []byte, i int) []byte { return slices.Insert(bytes.Clone(b), i, '0') },
	"cut":      func(b []byte, i int) []byte { return b[:i] },
	"spaced":   func(b []byte, i int) []byte { return slices.Insert(bytes.Clone(b), i, ' ') },
}

// stretches lists where what is made of a text with an edit at each place changes.
func stretches(text []byte, edit func([]byte, int) []byte, read func([]byte) string) string {
	var list []string
	last := ""
	for i := range text {
		got := read(edit(text, i))
		if got != last && !strings.Contains(got, "bytes before the end") || i == 0 {
			if len(got) > 160 {
				got = got[:160] + "…"
			}
			list = append(list, fmt.Sprintf("%d %s", i, got))
		}
		last = got
	}
	return strings.Join(list, " | ")
}
