package place

import (
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/consent"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// Answers puts into a request what an operator has said yes to, with --yes or at the terminal. names are those of the hosts.
// An agent has said nothing.
func Answers(in *wire.NewRun, who cmdutil.Caller, yes bool, judged *consent.Verdict, names []string) {
	if who.Mark != "" || !yes && judged.Answered() == "" {
		return
	}
	in.Confirm, in.Answered = true, "flag"
	if judged.AtTerminal() {
		in.Answered = "terminal"
	}
	if judged.Answered() == policy.NeedsBreakGlass {
		in.BreakGlass = consent.GlassWord(names)
	}
}
