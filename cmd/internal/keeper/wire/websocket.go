package wire

// TerminalSays is a text frame from the keeper: how the terminal has ended. Binary frames are what it prints.
type TerminalSays struct {
	End *TerminalEnd `json:"end,omitempty"`
}

// TerminalEnd is how a terminal has ended.
type TerminalEnd struct {
	Status    string `json:"status" doc:"ok, exit, signal, canceled or lost"`
	ExitCode  *int   `json:"exit_code"`
	Signal    string `json:"signal"`
	Error     *Fault `json:"error"`
	Recording string `json:"recording" doc:"the name of its recording"`
}

// TerminalHears is a text frame to the keeper. Binary frames are what is typed.
type TerminalHears struct {
	Resize *TerminalSize `json:"resize,omitempty"`
}

// TerminalSize is a size in character cells.
type TerminalSize struct {
	Rows int `json:"rows"`
	Cols int `json:"cols"`
}
