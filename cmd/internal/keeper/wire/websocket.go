package wire

import "github.com/fairlead-ssh/fairlead/session"

// TerminalSays is a text frame from the keeper: how the terminal has ended, or what there is to tell meanwhile. Binary frames
// are what it prints. Why there is none at all is the answer to the request, but for pages: browsers keep that from them.
type TerminalSays struct {
	End    *TerminalEnd `json:"end,omitempty"`
	Notice string       `json:"notice,omitempty"`
	Taken  *int64       `json:"taken,omitempty" doc:"how many of the typed bytes the program has taken"`

	Recording string `json:"recording,omitempty" doc:"the name of its recording, where it begins"`

	Problem *Problem `json:"problem,omitempty" doc:"why there is no terminal"`
}

// What is recorded of a terminal; the output without a word.
const (
	RecordOutput  = "output"
	RecordInput   = "input" // besides
	RecordNothing = "none"
)

// TerminalEnd is how a terminal has ended.
type TerminalEnd struct {
	Status    string             `json:"status" doc:"ok, exit, signal, canceled or lost"`
	ExitCode  *int               `json:"exit_code"`
	Signal    string             `json:"signal"`
	Error     *session.ErrorJSON `json:"error"`
	Why       string             `json:"why,omitempty" doc:"the error in a few words"`
	Recording string             `json:"recording" doc:"the name of its recording; empty if it is not recorded"`
}

// TerminalHears is a text frame to the keeper. Binary frames are what is typed.
type TerminalHears struct {
	Resize *TerminalSize `json:"resize,omitempty"`
	HangUp bool          `json:"hang_up,omitempty" doc:"end the terminal, and report how it ended"`
}

// MaxCells is how many rows, or columns, a terminal has at most.
const MaxCells = 1000

// TerminalSize is a size in character cells.
type TerminalSize struct {
	Rows int `json:"rows"`
	Cols int `json:"cols"`
}
