package wire

// NewRun asks for a command whose caller takes the output as it comes, and with whom it ends.
type NewRun struct {
	ID         string   `json:"id" minLength:"8" maxLength:"80" doc:"the caller's own choice, new for every run: it is stopped by this"`
	Host       string   `json:"host,omitempty" doc:"where, in a shell of its own; or"`
	Session    string   `json:"session,omitempty" maxLength:"80" doc:"in which session, by id or name"`
	CWD        string   `json:"cwd,omitempty" maxLength:"4096" doc:"go to this directory first; a session stays there"`
	Command    string   `json:"command" doc:"shell source, sent as it is"`
	Reason     string   `json:"reason,omitempty" maxLength:"4096" doc:"why, for the record and for who approves"`
	TimeoutS   *float64 `json:"timeout_s,omitempty" minimum:"0" doc:"stop it after so many seconds; default 600 for agents, none for others"`
	IdleS      *float64 `json:"idle_s,omitempty" minimum:"0" doc:"stop it when it printed nothing for so many seconds"`
	Confirm    bool     `json:"confirm,omitempty" doc:"an operator's second thought, where the policy wants one"`
	BreakGlass string   `json:"break_glass,omitempty" doc:"an operator's: the host's name, to run what is forbidden; takes a reason too"`
}

// RunWaits is the event “waiting”: somebody has to approve the command.
type RunWaits struct {
	Exec string `json:"exec"`
}

// RunEnd is the event “end”, the last one of a run.
type RunEnd struct {
	Result *Result `json:"result"`
	Why    string  `json:"why,omitempty" doc:"the error in a few words, for the line beside the host's name"`
	Sent   bool    `json:"sent" doc:"whether any byte of the command has left"`
}
