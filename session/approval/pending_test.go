package approval_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

func TestADocumentHoldsEveryByteAndNamesEveryField(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("x", 3600))
	p := approval.Pending{ID: "a_1", Question: policy.Question{
		Exec: "e_1", Principal: "agent/x", Host: hosts.Host{Name: "web1", Via: []string{"j1", "j2"}}, Command: "echo 1\n\x00\xff", Asked: at,
		StdinBytes: 3, StdinSHA256: "ab", StdinHead: "\x00\n", Decision: policy.Decision{LeastProof: approval.Touch},
	}}
	want := "fairlead-approval-v1\nid 3\na_1\nexec 3\ne_1\nsession 0\n\nprincipal 7\nagent/x\nhost 4\nweb1\ntransport 0\n\naddr 0\n\nport 1\n0\n" +
		"user 0\n\nvia 2\nj1\nvia 2\nj2\ntier 0\n\nssh-config 0\n\nhost-shell 0\n\nlogin 2\nno\nbecome-user 0\n\nbecome-method 0\n\n" +
		"shell 0\n\ndir 0\n\ncommand 9\necho 1\n\x00\xff\ninteractive 2\nno\n" +
		"stdin-bytes 1\n3\nstdin-sha256 2\nab\nstdin-head 2\n\x00\n\nreason 0\n\nclass 0\n\nrule 0\n\nbecause 0\n\nhint 0\n\nleast-proof 5\ntouch\n" +
		"asked 30\n2026-01-02T02:04:05.000000006Z\nexpires 0\n\n"
	assert.Equal(t, want, string(p.Document()))
	assert.Regexp(t, `^sha256:[0-9a-f]{64}$`, p.Digest())
	got, err := approval.Parse(p.Document())
	require.NoError(t, err)
	p.Question.Asked = at.UTC()
	assert.Equal(t, p, got)
}

func TestHowAPrincipalLogsInIsInADocumentWhereItIsSaid(t *testing.T) {
	p := approval.Pending{ID: "a_1", Question: policy.Question{Host: hosts.Host{Name: "web1", Identity: []string{"/k"}, IdentityOnly: true, Sandboxed: true}}}
	assert.Contains(t, string(p.Document()), "identity 2\n/k\nidentity-only 3\nyes\nsandboxed 3\nyes\nssh-config 0\n")
	got, err := approval.Parse(p.Document())
	require.NoError(t, err)
	assert.Equal(t, p.Question.Host, got.Question.Host)
	_, err = approval.Parse(bytes.Replace(p.Document(), []byte("sandboxed 3\nyes"), []byte("sandboxed 2\nno"), 1))
	assert.Error(t, err, "what is not so is not there")
}

func TestWhatIsTypedAndAYesWithInputAreInADocumentWhereTheyAre(t *testing.T) {
	p := approval.Pending{ID: "a_1", Question: policy.Question{Interactive: true}}
	plain := string(p.Document())
	assert.True(t, p.TakesInput())
	p.WithInput = true
	assert.Equal(t, plain+"with-input 3\nyes\n", string(p.Document()), "it begins with what was shown")
	p.Question.Typed = "a\n\x00\xff"
	assert.Contains(t, string(p.Document()), "interactive 3\nyes\ntyped 4\na\n\x00\xff\nstdin-bytes 1\n")
	assert.False(t, p.TakesInput())
	got, err := approval.Parse(p.Document())
	require.NoError(t, err)
	assert.Equal(t, p, got)
	for _, bad := range []string{plain + "with-input 2\nno\n", plain + "with-input 3\nyes\nwith-input 3\nyes\n",
		strings.Replace(plain, "expires", "with-input 3\nyes\nexpires", 1), strings.Replace(plain, "stdin-bytes", "typed 0\n\nstdin-bytes", 1)} {
		_, err := approval.Parse([]byte(bad))
		assert.Error(t, err)
	}
}

func TestEverythingThatMattersChangesTheDigest(t *testing.T) {
	was := approval.Pending{ID: "a_1", Question: question("agent/x")}
	for name, change := range map[string]func(p *approval.Pending){
		"id":              func(p *approval.Pending) { p.ID = "a_2" },
		"exec":            func(p *approval.Pending) { p.Question.Exec = "e_2" },
		"session":         func(p *approval.Pending) { p.Question.Session = "s_2" },
		"principal":       func(p *approval.Pending) { p.Question.Principal = "agent/y" },
		"host":            func(p *approval.Pending) { p.Question.Host.Name = "web2" },
		"address":         func(p *approval.Pending) { p.Question.Host.Addr = "10.0.0.2" },
		"port":            func(p *approval.Pending) { p.Question.Host.Port = 23 },
		"user":            func(p *approval.Pending) { p.Question.Host.User = "root" },
		"only its keys":   func(p *approval.Pending) { p.Question.Host.IdentityOnly = true },
		"its account":     func(p *approval.Pending) { p.Question.Host.Sandboxed = true },
		"jump hosts":      func(p *approval.Pending) { p.Question.Host.Via = []string{"b", "a"} },
		"transport":       func(p *approval.Pending) { p.Question.Host.Transport = hosts.Local },
		"argv":            func(p *approval.Pending) { p.Question.Host.Command = []string{"sh"} },
		"environment":     func(p *approval.Pending) { p.Question.Host.Env = nil },
		"shell":           func(p *approval.Pending) { p.Question.Shell = "zsh" },
		"directory":       func(p *approval.Pending) { p.Question.Dir = "/" },
		"command":         func(p *approval.Pending) { p.Question.Command += " " },
		"interactive":     func(p *approval.Pending) { p.Question.Interactive = false },
		"input":           func(p *approval.Pending) { p.Question.StdinSHA256 = "00" },
		"length of input": func(p *approval.Pending) { p.Question.StdinBytes++ },
		"typing":          func(p *approval.Pending) { p.Question.Typed = "x" },
		"with input":      func(p *approval.Pending) { p.WithInput = true },
		"least proof":     func(p *approval.Pending) { p.Question.Decision.LeastProof = approval.Touch },
		"asker's reason":  func(p *approval.Pending) { p.Question.Reason = "" },
		"class":           func(p *approval.Pending) { p.Question.Decision.Class = policy.Write },
		"expiry":          func(p *approval.Pending) { p.Question.Expires = p.Question.Expires.Add(1) },
		"a field's border": func(p *approval.Pending) {
			p.Question.Shell, p.Question.Dir = "bash\ndir 6\n/srv/\xfe", ""
		},
	} {
		t.Run(name, func(t *testing.T) {
			is := approval.Pending{ID: "a_1", Question: was.Question}
			change(&is)
			assert.NotEqual(t, was.Digest(), is.Digest())
		})
	}
}

func TestWhatIsNoDocumentIsRefused(t *testing.T) {
	whole := string(approval.Pending{ID: "a_1", Question: question("agent/x")}.Document())
	for name, doc := range map[string]string{
		"nothing":                 "",
		"another format":          strings.Replace(whole, "v1", "v2", 1),
		"cut":                     whole[:len(whole)-1],
		"more":                    whole + "\n",
		"an unknown field":        whole + "x 1\ny\n",
		"a field twice":           whole + "expires 0\n\n",
		"a field out of order":    strings.Replace(whole, "id 3\na_1\nexec 3\ne_1\n", "exec 3\ne_1\nid 3\na_1\n", 1),
		"a field missing":         strings.Replace(whole, "exec 3\ne_1\n", "", 1),
		"a length out of bounds":  strings.Replace(whole, "exec 3", "exec 2147483647", 1),
		"a length with a zero":    strings.Replace(whole, "exec 3", "exec 03", 1),
		"a length with a sign":    strings.Replace(whole, "exec 3", "exec +3", 1),
		"neither yes nor no":      strings.Replace(whole, "login 2\nno", "login 2\nNo", 1),
		"no port":                 strings.Replace(whole, "port 2\n22", "port 2\n-2", 1),
		"an unknown proof":        strings.Replace(whole, "least-proof 0\n", "least-proof 4\noath", 1),
		"input of less than none": strings.Replace(whole, "stdin-bytes 1\n0", "stdin-bytes 2\n-1", 1),
		"another account":         strings.Replace(whole, "become-user 0\n", "become-user 4\nroot", 1),
		"no time":                 strings.Replace(whole, "T", "t", 1),
		"too long":                whole + strings.Repeat("x", approval.MaxDocument),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := approval.Parse([]byte(doc))
			assert.ErrorContains(t, err, "approval: this is not a document")
		})
	}
	at := strings.Index(whole, "exec 3\ne_1\n")
	_, err := approval.Parse([]byte(strings.Replace(whole, "exec 3\ne_1\n", "exec 3\ne_1 ", 1)))
	assert.ErrorContains(t, err, fmt.Sprintf(": a field is not as it should be, %d bytes before the end", len(whole)-at), "a field that does not end is named by its place")
}

// What parses has these bytes as its document, so that what is shown from it is what is bound.
func FuzzParse(f *testing.F) {
	f.Add(approval.Pending{ID: "a_1", Question: question("agent/x")}.Document())
	f.Add(approval.Pending{}.Document())
	f.Add(approval.Pending{Question: policy.Question{Interactive: true, Typed: "x\n"}, WithInput: true}.Document())
	f.Fuzz(func(t *testing.T, doc []byte) {
		if p, err := approval.Parse(doc); err == nil && !bytes.Equal(p.Document(), doc) {
			t.Fatalf("%q is not the document of what it parses to", doc)
		}
	})
}

// Every field of a host that a document names is read back.
func TestAHostIsReadBackAsItWasShown(t *testing.T) {
	h := hosts.Host{Name: "web1", Transport: hosts.SSH, Addr: "10.0.0.1", Port: 2222, User: "ada", Via: []string{"a", "b"}, Tier: "prod", Identity: []string{"/k"}, IdentityOnly: true,
		Sandboxed: true, SSHConfig: "/c", Shell: "zsh", Login: true, Env: []string{"A=1"}, Command: []string{"sh"}}
	p := approval.Pending{ID: "a_1", Question: policy.Question{Host: h, Hosts: []hosts.Host{h, {Name: "web2"}}}}
	got, err := approval.Parse(p.Document())
	require.NoError(t, err)
	assert.Equal(t, p, got)
}
