package judge

import (
	"mvdan.cc/sh/v3/syntax"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// walker judges one text in one dialect. Nested scripts get walkers of their own that share the account.
type walker struct {
	*account
	d      dialect
	shell  string
	src    string
	shapes map[string]shape // by source: what words that are not literal may look like

	cur         *Part     // the part being judged
	facts       *facts    // what the current pipeline stage does
	subst       *facts    // what the substitutions in the current command's words do
	dir         string    // where the next command runs, "" when nobody knows
	stdin       string    // what the next command reads
	sum         bool      // which is a calculation that surely ends
	stdinPlain  bool      // a file that holds no secrets
	fed         bool      // what comes through the pipe are names of files that operands tell
	idLines     bool      // each line that comes through the pipe is an identifier
	inDouble    bool      // within ${…} within double quotes
	inPattern   bool      // which % or # of ${…} removes
	sure        []certain // what variables hold whenever the next command runs
	substituted facts     // of the last substitution
	listings    []facts   // of those of the current command that write one name of a file
	subshell    int       // how many shells of their own lie between here and the session
	remote      bool      // on another machine or in a container
	far         bool      // not by the session's own shell, so that its functions are not there
	timed       bool      // something ends what runs here soon
	started     bool      // the words are run by a program or builtin, to which functions mean nothing

	helpers, defined, calling []*syntax.FuncDecl // see functions.go: of this text, those defined so far, and those within which this is
	given                     []programs.Arg     // to the innermost of those, if all of it is known
	looked                    []*syntax.FuncDecl // by forgetSetBy
}

// account is what all walkers of one judgement share.
type account struct {
	interactive bool
	resolved    bool // see [Request.Resolved]
	installs    bool // see [Request.Installs]
	depth       int
	parts       int
	classes     uint8
	capped      bool
	hidden      bool
	setNames    []string
	useNames    []string
	reads       []Path
	writes      []Path
	to          []string
	functions   []string          // defined so far in this script
	fetched     []string          // names that something fetched may have been saved under
	values      map[string]string // what the script itself says of its variables
	patterns    int
	last        syntax.Pos // where the script's last command begins
	ends        bool       // see [Report.Ends]
	looseDir    bool       // directories are what the text says, and links may lead elsewhere

	own             *Own // see [Request.Own]
	ownUse, ownAsks bool
	named           []Named
}

// raise says that the current part is at least of this class.
func (w *walker) raise(c policy.Class, rule, reason string) {
	r := c.Rank()
	w.classes |= 1 << r
	if r > w.cur.Class.Rank() {
		w.cur.Class, w.cur.Rule, w.cur.Reason = policy.Classes[r], rule, reason
	}
}

// hides says that something runs that the script does not say. What was fetched or decoded to that end nobody can have seen.
func (w *walker) hides() {
	w.hidden = true
	if w.subst != nil && w.subst.unseen() {
		w.forbidUnseen()
	}
}

func (w *walker) cap(reason string) {
	w.capped = true
	w.raise(policy.Unknown, "judge/cap", reason)
}

// room reports whether a list of names may grow: what is left out of a report is not allowed unseen.
func (w *walker) room(n int) bool {
	if n >= maxNames {
		w.cap("it names more files, hosts or variables than are looked at")
	}
	return n < maxNames
}

// enter counts one level of nesting; false means that nothing below is looked at. Every true wants a leave.
func (w *walker) enter() bool {
	if w.depth >= hardDepth {
		w.cap("nested deeper than is looked at")
		return false
	}
	w.depth++
	if w.depth > maxDepth {
		w.cap("nested deeper than is looked at")
	}
	return true
}

func (w *walker) leave() { w.depth-- }

// part judges one command with fn and hangs it below the current part.
func (w *walker) part(n syntax.Node, text string, fn func()) {
	w.account.parts++
	if w.account.parts > hardParts {
		w.cap("more commands than are looked at")
		return
	}
	if w.account.parts > maxParts {
		w.cap("more commands than are judged")
	}
	p := Part{Text: clip(text), Class: policy.ReadOnly, Rule: "judge/nothing", Reason: "it changes nothing"}
	if n != nil {
		p.Line, p.Col = int(n.Pos().Line()), int(n.Pos().Col())
	}
	parent := w.cur
	w.cur = &p
	w.classes |= 1
	fn()
	w.cur = parent
	if p.Class.Worse(parent.Class) || parent.Rule == "" || parent.Rule == "judge/nothing" && p.Rule != "" {
		parent.Class, parent.Rule, parent.Reason = policy.Worst(parent.Class, p.Class), p.Rule, p.Reason
	}
	if w.account.parts <= maxParts {
		parent.Parts = append(parent.Parts, p)
	}
}

func clip(s string) string {
	if len(s) <= maxText {
		return s
	}
	cut := maxText
	for cut > 0 && s[cut]&0xc0 == 0x80 {
		cut--
	}
	return s[:cut]
}

func (w *walker) sets(name *syntax.Lit) {
	if name != nil {
		w.setsName(name.Value)
	}
}

// setsName notes a name that the script sets. In a subshell it does not reach the session, but later commands of the
// same subshell mean what it makes of them, so it counts all the same.
func (w *walker) setsName(name string) {
	if name == "" {
		name = "*"
	}
	w.forget(name)
	if w.room(len(w.setNames)) {
		w.setNames = append(w.setNames, name)
	}
}

// reach notes a host that the current part connects to. What a machine tells about itself to whoever asks is secret.
func (w *walker) reach(host string) {
	if w.remote {
		host = "" // what a name means elsewhere
	}
	if !w.room(len(w.to)) {
		return
	}
	w.to, w.cur.To = append(w.to, host), append(w.cur.To, host)
	if Metadata(host) {
		w.raise(policy.SensitiveRead, "secrets/metadata", "the machine's own metadata service returns credentials")
	}
}

func (w *walker) use(name string) {
	if len(w.useNames) == maxNames && !w.capped {
		w.useNames = sortedNames(w.useNames) // most scripts use few names often
	}
	if w.room(len(w.useNames)) {
		w.useNames = append(w.useNames, name)
	}
}
