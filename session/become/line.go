package become

import (
	_ "embed"
	"sync"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/framing/hostcode"
	"github.com/fairlead-ssh/fairlead/hosts"
)

// The code that runs on a host is in the directory host; package hostcode says what its files look like and how they are sent.
var (
	//go:embed host/become.sh
	becomeSource string
	//go:embed host/sudo.sh
	sudoSource string
	//go:embed host/sudo_rs.sh
	sudoRSSource string
	//go:embed host/doas.sh
	doasSource string
	//go:embed host/su.sh
	suSource string
	//go:embed host/elevated.sh
	elevatedSource string
)

// method is one of hosts.BecomeMethods.
type method struct {
	text   func() string // of the command line
	raw    bool          // it takes the password from a terminal that is raw
	keyed  bool          // its prompt is ours
	others bool          // it asks for the password of the account to become
	check  string        // a command that shows a person what it allows
	free   string        // how to do without a password
}

// change is a command for a person, who changes a password there that has expired.
func (m method) change(become string) string {
	if m.others {
		return "su " + become
	}
	return "passwd"
}

var methods = map[string]method{
	"sudo":    {text: line(&sudoSource), raw: true, keyed: true, check: "sudo -l", free: "NOPASSWD in sudoers"},
	"sudo-rs": {text: line(&sudoRSSource), raw: true, check: "sudo -l", free: "NOPASSWD in sudoers"},
	"doas":    {text: line(&doasSource), raw: true, check: "doas -C /etc/doas.conf sh", free: "nopass in doas.conf"},
	// su reads with one read(2), which a terminal answers with a whole line only where it is not raw.
	"su": {text: line(&suSource), others: true, check: "su", free: "another method"},
}

func line(start *string) func() string {
	return sync.OnceValue(func() string { return hostcode.Line(hostcode.Fill(becomeSource, "start", *start)) })
}

var elevatedText = sync.OnceValue(func() string { return hostcode.Line(elevatedSource) })

// No byte of a password is a key for the terminal. The other account's sh makes the terminal what it is for a program.
const (
	rawTerminal  = "raw -echo -isig -iexten noflsh"
	lineTerminal = "sane -echo -onlcr -isig -iexten -ixon -icrnl noflsh eof undef erase undef kill undef"
)

// Elevation is one start of a program as another account.
type Elevation struct {
	Line string // the command line for the account's login shell, on a terminal

	become     hosts.Become
	how        method
	key, token string
	text       string // what the other account's sh runs
	asked      bool
}

// New returns the start of a program as another account. cooked leaves the terminal to it as it was, instead of raw. The error is
// that of b.
func New(b hosts.Become, cooked bool) (*Elevation, error) {
	if err := b.Check(); err != nil {
		return nil, err
	}
	e := &Elevation{become: b, how: methods[b.Program()]}
	key, token := framing.NewToken(), framing.NewToken()
	e.key, e.token = key.String(), token.String()
	mode := lineTerminal
	if e.how.raw {
		mode = rawTerminal
	}
	const half = framing.TokenLen / 2 // no echo of the line holds a token
	e.text = hostcode.Fill(elevatedText(), "token1", e.token[:half], "token2", e.token[half:])
	e.Line = "exec sh -c '" + hostcode.Fill(e.how.text(), "mode", mode, "user", b.User, "key1", e.key[:half], "key2", e.key[half:]) + "' '" + e.text + "'"
	if cooked {
		e.Line += " y"
	}
	return e, nil
}

// Asked reports whether a password was needed.
func (e *Elevation) Asked() bool { return e.asked }
