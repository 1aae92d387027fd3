package cmdutil

import "strings"

// Caller is who asks.
type Caller struct {
	Principal string // "operator/ada", "agent/claude-code"
	Mark      string // the variable that shows an agent; "" for an operator
}

type mark struct{ variable, name string }

// marks are the variables that coding agents set for the programs they start, and what to call them.
var marks = []mark{
	{"CLAUDECODE", "claude-code"},
	{"CODEX_SANDBOX", "codex"},
	{"CODEX_SANDBOX_NETWORK_DISABLED", "codex"},
	{"CURSOR_AGENT", "cursor"},
	{"GEMINI_CLI", "gemini-cli"},
	{"QWEN_CODE", "qwen-code"},
	{"OPENCODE", "opencode"},
	{"CLINE_ACTIVE", "cline"},
	{"AUGMENT_AGENT", "augment"},
	{"GOOSE_TERMINAL", "goose"},
	{"AI_AGENT", "unknown"},
}

// Caller returns who asks. A caller with an agent's marks in its environment acts as that agent: a guard rail for agents
// that mean well, since any program can take the marks out of the environment of what it starts.
func (f *Factory) Caller() Caller {
	if m, ok := markOf(f.Getenv); ok {
		return Caller{Principal: "agent/" + m.name, Mark: m.variable}
	}
	return Caller{Principal: Principal()}
}

// Marked reports whether an environment has an agent's marks.
func Marked(getenv func(string) string) bool {
	_, ok := markOf(getenv)
	return ok
}

func markOf(getenv func(string) string) (mark, bool) {
	for _, m := range marks {
		if v := getenv(m.variable); v != "" && v != "0" && !strings.EqualFold(v, "false") {
			return m, true
		}
	}
	return mark{}, false
}
