package wire

import "time"

// KeptRun is a run that is kept: a command on hosts, and how it ended on each, without output.
type KeptRun struct {
	ID       string     `json:"id"`
	State    string     `json:"state" enum:"running,done,lost" doc:"lost: its process went away without a report"`
	Started  time.Time  `json:"started"`
	Ended    *time.Time `json:"ended,omitempty"`
	Targets  string     `json:"targets" doc:"as they were asked for"`
	Command  string     `json:"command" doc:"redacted"`
	Exact    bool       `json:"exact" doc:"command is what was sent: it held no secret"`
	ExitCode *int       `json:"exit_code,omitempty" doc:"of the program that ran it; left out for a run over the API"`
	OK       int        `json:"ok" doc:"hosts"`
	Failed   int        `json:"failed"`
	NotRun   int        `json:"notrun" doc:"hosts that got nothing"`
	Rollout  *RunReport `json:"rollout,omitempty"`
	Hosts    []KeptHost `json:"hosts,omitempty" doc:"left out in lists"`
}

// KeptHost is how a run ended on a host.
type KeptHost struct {
	Host     string `json:"host"`
	Status   string `json:"status" doc:"as in a result; empty where it is not known"`
	ExitCode *int   `json:"exit_code,omitempty"`
	Why      string `json:"why,omitempty"`
	NotRun   bool   `json:"notrun,omitempty"`
	Verify   bool   `json:"verify,omitempty" doc:"the command succeeded, and this is of the check after it"`

	Unverified bool `json:"unverified,omitempty" doc:"the command succeeded, and the check after it was not completed"`
}

// KeptRuns are runs, the newest first.
type KeptRuns struct {
	Items []KeptRun `json:"items"`
}
