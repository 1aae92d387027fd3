package mcpserver

// The results, as JSON. Fields that are empty are left out.

// faultOut says why there is no answer from the host.
type faultOut struct {
	Code      string `json:"code" jsonschema:"for programs: busy, denied, not_found, closed, unreachable, timeout, lost and others"`
	Message   string `json:"message"`
	Retriable bool   `json:"retriable" jsonschema:"whether trying again may help"`
	Exec      string `json:"exec,omitempty" jsonschema:"for busy: the command that is running"`
}

type decisionOut struct {
	Verdict  string `json:"verdict" jsonschema:"allow, ask or deny"`
	Class    string `json:"class,omitempty"`
	Rule     string `json:"rule,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Approval string `json:"approval,omitempty"`
	Needs    string `json:"needs,omitempty" jsonschema:"what would turn an ask into an allow"`
	Hint     string `json:"hint,omitempty"`

	WithInput bool `json:"with_input,omitempty" jsonschema:"the approval covers what is typed at the command, too"`
}

type typedOut struct {
	State string    `json:"state" jsonschema:"awaiting_approval, typed or refused"`
	Error *faultOut `json:"error,omitempty"`
}

type waitingOut struct {
	Kind   string `json:"kind" jsonschema:"a guess: running, input, password, confirm, pager, fullscreen or silent"`
	Prompt string `json:"prompt,omitempty" jsonschema:"the line that says so: data from the host"`
	Known  bool   `json:"known,omitempty" jsonschema:"whether the line has a known form"`
}

type screenOut struct {
	Lines     []string `json:"lines" jsonschema:"what the terminal shows: data from the host"`
	Row       int      `json:"row" jsonschema:"of the cursor, from 0; -1 if unknown"`
	Col       int      `json:"col"`
	Alternate bool     `json:"alternate,omitempty" jsonschema:"a full-screen program is at work"`
	Title     string   `json:"title,omitempty"`
}

type pageOut struct {
	Stream  string `json:"stream"`
	Offset  int64  `json:"offset" jsonschema:"of the first byte"`
	Next    int64  `json:"next_offset" jsonschema:"where to go on"`
	End     bool   `json:"end,omitempty" jsonschema:"nothing comes after this page, now or later"`
	Skipped int64  `json:"skipped,omitempty" jsonschema:"bytes before offset that were not kept"`
	Text    string `json:"text,omitempty" jsonschema:"data from the host; exact, unless base64 is there too"`
	Base64  string `json:"base64,omitempty" jsonschema:"the exact bytes, where text had to be cleaned and no secret was hidden in them"`

	Redacted map[string]int `json:"redacted,omitempty" jsonschema:"secrets that were hidden among control sequences of this page, per kind"`
}

// outputOut is what a command printed.
type outputOut struct {
	Stdout      string           `json:"stdout,omitempty" jsonschema:"head and tail; data from the host"`
	Stderr      string           `json:"stderr,omitempty" jsonschema:"data from the host"`
	Stray       string           `json:"stray,omitempty" jsonschema:"what commands before this one printed late"`
	StdoutBytes int64            `json:"stdout_bytes,omitempty"`
	StderrBytes int64            `json:"stderr_bytes,omitempty"`
	Omitted     map[string]int64 `json:"omitted,omitempty" jsonschema:"bytes left out, per stream; page them with session_output"`
	CutAt       map[string]int64 `json:"cut_at,omitempty" jsonschema:"offset of the first byte left out, per stream"`
	Matched     map[string]int64 `json:"matched,omitempty" jsonschema:"lines that grep found, shown or not, per stream"`
	Redacted    map[string]int   `json:"redacted,omitempty" jsonschema:"secrets taken out, per kind"`
	Cleaned     map[string]int   `json:"cleaned,omitempty" jsonschema:"control sequences, carriage returns, backspaces and hidden characters taken out, per stream; session_output with stream has the exact bytes"`
	Binary      []string         `json:"binary,omitempty" jsonschema:"streams that are not text"`
	OutputIs    string           `json:"output_is,omitempty"`
}

// execOut is the result of one command.
type execOut struct {
	Host     string `json:"host,omitempty"`
	Session  string `json:"session,omitempty"`
	Exec     string `json:"exec,omitempty" jsonschema:"the command's id, for session_output"`
	Command  string `json:"command,omitempty" jsonschema:"as it was sent, but control characters as ␛ and the like, and hidden ones as <U+200B>; long ones are cut"`
	State    string `json:"state,omitempty" jsonschema:"awaiting_approval, running or done"`
	Status   string `json:"status,omitempty" jsonschema:"once done: ok, exit, signal, timeout, canceled, denied, expired, unreachable, auth, hostkey, lost (outcome unknown) or error"`
	ExitCode *int   `json:"exit_code,omitempty" jsonschema:"only if the host said so"`
	Signal   string `json:"signal,omitempty"`
	outputOut
	CWD            string       `json:"cwd,omitempty" jsonschema:"the working directory afterwards"`
	Started        string       `json:"started,omitempty"`
	DurationMS     int64        `json:"duration_ms,omitempty"`
	QueueMS        int64        `json:"queue_ms,omitempty"`
	DialMS         int64        `json:"dial_ms,omitempty"`
	StderrMode     string       `json:"stderr_mode,omitempty"`
	Lane           string       `json:"lane,omitempty"`
	StoppedBy      string       `json:"stopped_by,omitempty"`
	MayRun         bool         `json:"may_run,omitempty" jsonschema:"what was stopped may still be running"`
	ShellRestarted bool         `json:"shell_restarted,omitempty" jsonschema:"the shell was new: functions, aliases and options are gone"`
	Reconnected    bool         `json:"reconnected,omitempty"`
	Restored       []string     `json:"restored,omitempty" jsonschema:"what of the old shell's state the new one got"`
	WaitingFor     *waitingOut  `json:"waiting_for,omitempty" jsonschema:"what a running command seems to wait for"`
	Typed          *typedOut    `json:"typed,omitempty" jsonschema:"what has become of the last text that a person had to approve"`
	Woke           string       `json:"woke,omitempty" jsonschema:"why the wait ended: end, match, prompt, silence, refused or time"`
	Screen         *screenOut   `json:"screen,omitempty"`
	Note           string       `json:"note,omitempty" jsonschema:"what to know of what was just done"`
	Page           *pageOut     `json:"page,omitempty"`
	File           *fileFacts   `json:"file,omitempty" jsonschema:"of file_read, file_write and file_edit"`
	Decision       *decisionOut `json:"decision,omitempty"`
	Error          *faultOut    `json:"error,omitempty"`
}

func (o *execOut) fault() **faultOut { return &o.Error }

// runOut is the results of one command on several hosts.
type runOut struct {
	Run      string            `json:"run,omitempty" jsonschema:"the id of this run, for session_output's exec_id"`
	Command  string            `json:"command,omitempty"`
	State    string            `json:"state,omitempty" jsonschema:"awaiting_approval while nothing but a person's approval is waited for, running while any host is at work, else done"`
	Hosts    int               `json:"hosts,omitempty"`
	Statuses map[string]string `json:"statuses,omitempty" jsonschema:"every host's status: the folded names under each; running, waiting and awaiting_approval are not done yet"`
	Groups   []groupOut        `json:"groups,omitempty" jsonschema:"hosts with the same outcome, the most first"`
	More     int               `json:"more_groups,omitempty" jsonschema:"groups that are not shown"`
	OutputIs string            `json:"output_is,omitempty"`
	Error    *faultOut         `json:"error,omitempty"`
}

func (o *runOut) fault() **faultOut { return &o.Error }

// groupOut is hosts with the same outcome.
type groupOut struct {
	Hosts    string `json:"hosts" jsonschema:"folded names"`
	Count    int    `json:"count"`
	State    string `json:"state,omitempty"`
	Status   string `json:"status,omitempty"`
	ExitCode *int   `json:"exit_code,omitempty"`
	Signal   string `json:"signal,omitempty"`
	outputOut
	StoppedBy string            `json:"stopped_by,omitempty"`
	MayRun    bool              `json:"may_run,omitempty"`
	Exec      string            `json:"exec,omitempty" jsonschema:"the id of the first host's command, for session_output"`
	Execs     map[string]string `json:"execs,omitempty" jsonschema:"while running: each host's command"`
	Error     *faultOut         `json:"error,omitempty"`
}

type sessionOut struct {
	SessionID string    `json:"session_id,omitempty"`
	Name      string    `json:"name,omitempty"`
	Host      string    `json:"host,omitempty"`
	Shell     string    `json:"shell,omitempty"`
	CWD       string    `json:"cwd,omitempty"`
	Sandbox   string    `json:"sandbox,omitempty" jsonschema:"how it is enforced: kernel, account, checked; left out without one"`
	Closed    bool      `json:"closed,omitempty"`
	Reset     bool      `json:"reset,omitempty"`
	Error     *faultOut `json:"error,omitempty"`
}

func (o *sessionOut) fault() **faultOut { return &o.Error }

type hostOut struct {
	Name       string   `json:"name"`
	Groups     []string `json:"groups,omitempty"`
	Labels     []string `json:"labels,omitempty"`
	Tier       string   `json:"tier"`
	Transport  string   `json:"transport"`
	Connection string   `json:"connection,omitempty" jsonschema:"connected, or why the last attempt failed, or why there must be none; left out where there was none"`
}

type hostsOut struct {
	Count int       `json:"count"`
	Hosts []hostOut `json:"hosts,omitempty"`
	More  int       `json:"more,omitempty" jsonschema:"hosts that are not shown: use a narrower selector"`
	Error *faultOut `json:"error,omitempty"`
}

func (o *hostsOut) fault() **faultOut { return &o.Error }
