package mcpserver

// The results, as JSON. Fields that are empty, or that hold what is usual, are left out: a command that has ended says so
// with its status alone, and an exit code unless it is 0. Each result has a text with the same facts, see render.go.

// faultOut says why there is no answer from the host.
type faultOut struct {
	Code      string `json:"code"`
	Message   string `json:"message"`
	Retriable bool   `json:"retriable"`
	Exec      string `json:"exec,omitempty"` // for busy: the command that is running
	Next      string `json:"next,omitempty"` // what to call next
}

// decisionOut is why a command was not simply allowed.
type decisionOut struct {
	Verdict  string `json:"verdict"`
	Class    string `json:"class,omitempty"`
	Rule     string `json:"rule,omitempty"`
	Reason   string `json:"reason,omitempty"` // names the part of the command that needs approval, and what the others are
	Approval string `json:"approval,omitempty"`
	Needs    string `json:"needs,omitempty"`
	Hint     string `json:"hint,omitempty"`

	WithInput bool `json:"with_input,omitempty"` // the approval covers what is typed at the command, too
}

// typedOut is what became of the last text that a person had to approve.
type typedOut struct {
	State string    `json:"state"` // awaiting_approval, typed or refused
	Error *faultOut `json:"error,omitempty"`
}

// waitingOut is what a running command seems to wait for.
type waitingOut struct {
	Kind   string `json:"kind"` // a guess: input, password, confirm, pager, fullscreen or silent
	Prompt string `json:"prompt,omitempty"`
	Known  bool   `json:"known,omitempty"`
}

type screenOut struct {
	Lines     []string `json:"lines"`
	Row       int      `json:"row"` // of the cursor, from 0; -1 if unknown
	Col       int      `json:"col"`
	Alternate bool     `json:"alternate,omitempty"`
	Title     string   `json:"title,omitempty"`
}

// pageOut is a piece of one stream.
type pageOut struct {
	Stream  string `json:"stream"`
	Offset  int64  `json:"offset"`
	Next    int64  `json:"next_offset"`
	End     bool   `json:"end,omitempty"`     // nothing comes after this page, now or later
	Skipped int64  `json:"skipped,omitempty"` // bytes before offset that were not kept
	Text    string `json:"text,omitempty"`    // exact, unless base64 is there too
	Base64  string `json:"base64,omitempty"`  // the exact bytes, where text had to be cleaned and no secret was hidden in them

	Cleaned  map[string]int `json:"cleaned,omitempty"` // what was taken out of text, where base64 is not there
	Redacted map[string]int `json:"redacted,omitempty"`

	removed int // Cleaned, also where base64 is there
}

// outputOut is what a command printed.
type outputOut struct {
	Offset      int64            `json:"offset,omitempty"`        // where stdout begins here; a poll shows what is new
	StderrFrom  int64            `json:"stderr_offset,omitempty"` // likewise
	Next        int64            `json:"next_offset,omitempty"`   // of stdout, while the command runs
	Stdout      string           `json:"stdout,omitempty"`
	Stderr      string           `json:"stderr,omitempty"`
	Stray       string           `json:"stray,omitempty"`        // what commands before this one printed late
	StdoutBytes int64            `json:"stdout_bytes,omitempty"` // all of them, where some are omitted
	StderrBytes int64            `json:"stderr_bytes,omitempty"`
	Omitted     map[string]int64 `json:"omitted,omitempty"`
	CutAt       map[string]int64 `json:"cut_at,omitempty"`
	Matched     map[string]int64 `json:"matched,omitempty"`
	Redacted    map[string]int   `json:"redacted,omitempty"`
	Cleaned     map[string]int   `json:"cleaned,omitempty"`
	Binary      []string         `json:"binary,omitempty"` // streams that are not text
}

// execOut is the result of one command.
type execOut struct {
	from     string // the host, for the text
	Host     string `json:"host,omitempty"`    // where there is more to say than how it ended: else it is the session's
	Session  string `json:"session,omitempty"` // of a read beside a pending command
	Exec     string `json:"exec,omitempty"`
	Command  string `json:"command,omitempty"`   // where it is not what the caller has just sent
	State    string `json:"state,omitempty"`     // awaiting_approval or running; done is left out
	Status   string `json:"status,omitempty"`    // how it ended, where no exit code says so
	ExitCode *int   `json:"exit_code,omitempty"` // ok means 0
	Signal   string `json:"signal,omitempty"`
	outputOut
	CWD            string       `json:"cwd,omitempty"` // where the command left the session, if that is elsewhere
	DurationMS     int64        `json:"duration_ms,omitempty"`
	QueueMS        int64        `json:"queue_ms,omitempty"`
	DialMS         int64        `json:"dial_ms,omitempty"`
	StderrMode     string       `json:"stderr_mode,omitempty"`
	Lane           string       `json:"lane,omitempty"`
	NotHeld        string       `json:"not_held,omitempty"`        // why the kernel did not hold a read that the policy wants held
	Refused        []string     `json:"refused,omitempty"`         // calls that the kernel refused to the held command
	RefusedUnknown string       `json:"refused_unknown,omitempty"` // why these are not known
	StoppedBy      string       `json:"stopped_by,omitempty"`
	MayRun         bool         `json:"may_run,omitempty"`
	ShellRestarted bool         `json:"shell_restarted,omitempty"`
	Reconnected    bool         `json:"reconnected,omitempty"`
	Restored       []string     `json:"restored,omitempty"`
	WaitingFor     *waitingOut  `json:"waiting_for,omitempty"`
	Typed          *typedOut    `json:"typed,omitempty"`
	Woke           string       `json:"woke,omitempty"`
	Screen         *screenOut   `json:"screen,omitempty"`
	Note           string       `json:"note,omitempty"`
	Page           *pageOut     `json:"page,omitempty"`
	File           *fileFacts   `json:"file,omitempty"`
	Decision       *decisionOut `json:"decision,omitempty"`
	Next           string       `json:"next,omitempty"` // what to call next
	Error          *faultOut    `json:"error,omitempty"`
}

func (o *execOut) fault() **faultOut { return &o.Error }
func (o *execOut) failed() bool      { return o.Error != nil }

// runOut is the results of one command on several hosts.
type runOut struct {
	Run      string            `json:"run,omitempty"`
	Command  string            `json:"command,omitempty"` // where it is not what was sent
	State    string            `json:"state,omitempty"`
	Hosts    int               `json:"hosts,omitempty"`
	Statuses map[string]string `json:"statuses,omitempty"`
	counts   map[string]int    // of hosts with each status
	Groups   []groupOut        `json:"groups,omitempty"`
	More     int               `json:"more_groups,omitempty"`
	Rollout  *rolloutOut       `json:"rollout,omitempty"`
	Decision *decisionOut      `json:"decision,omitempty"`
	Note     string            `json:"note,omitempty"`
	Next     string            `json:"next,omitempty"`
	Error    *faultOut         `json:"error,omitempty"`
}

func (o *runOut) fault() **faultOut { return &o.Error }

// failed reports whether no host gave an answer, and none will.
func (o *runOut) failed() bool {
	if o.Error != nil {
		return true
	}
	for _, g := range o.Groups {
		if g.Error == nil {
			return false
		}
	}
	return (o.State == "" || done(o.State)) && len(o.Groups) > 0
}

// groupOut is hosts with the same outcome.
type groupOut struct {
	Hosts    string `json:"hosts"`
	Count    int    `json:"count,omitempty"` // where it is more than one
	State    string `json:"state,omitempty"`
	Status   string `json:"status,omitempty"`
	ExitCode *int   `json:"exit_code,omitempty"`
	Signal   string `json:"signal,omitempty"`
	outputOut
	StoppedBy string            `json:"stopped_by,omitempty"`
	MayRun    bool              `json:"may_run,omitempty"`
	Exec      string            `json:"exec,omitempty"`  // of the first host's command, where there is more of it
	Execs     map[string]string `json:"execs,omitempty"` // while running: each host's command
	Decision  *decisionOut      `json:"decision,omitempty"`
	Error     *faultOut         `json:"error,omitempty"`
}

type sessionOut struct {
	SessionID string    `json:"session_id,omitempty"`
	Host      string    `json:"host,omitempty"`
	Shell     string    `json:"shell,omitempty"`
	CWD       string    `json:"cwd,omitempty"`
	Sandbox   string    `json:"sandbox,omitempty"`
	Why       string    `json:"sandbox_why,omitempty"`
	Closed    bool      `json:"closed,omitempty"`
	Left      []string  `json:"left_running,omitempty"`
	Reset     bool      `json:"reset,omitempty"`
	Run       string    `json:"run,omitempty"` // that was stopped, instead of all else
	Stopped   bool      `json:"stopped,omitempty"`
	State     string    `json:"state,omitempty"` // of what sets its variables, until that has ended
	Exec      string    `json:"exec,omitempty"`
	Note      string    `json:"note,omitempty"`
	Next      string    `json:"next,omitempty"`
	Error     *faultOut `json:"error,omitempty"`
}

func (o *sessionOut) fault() **faultOut { return &o.Error }
func (o *sessionOut) failed() bool      { return o.Error != nil }

type hostOut struct {
	Name       string   `json:"name"`
	Groups     []string `json:"groups,omitempty"`
	Labels     []string `json:"labels,omitempty"`
	Tier       string   `json:"tier"`
	Transport  string   `json:"transport"`
	Connection string   `json:"connection,omitempty"`
}

type hostsOut struct {
	Count int       `json:"count,omitempty"`
	Hosts []hostOut `json:"hosts,omitempty"`
	More  int       `json:"more,omitempty"`
	Error *faultOut `json:"error,omitempty"`
}

func (o *hostsOut) fault() **faultOut { return &o.Error }
func (o *hostsOut) failed() bool      { return o.Error != nil }
