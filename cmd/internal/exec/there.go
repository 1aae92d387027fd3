package exec

import (
	"context"
	"fmt"
	"io"

	"github.com/fairlead-ssh/fairlead/cmd/internal/consent"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/place"
	"github.com/fairlead-ssh/fairlead/session"
)

// there runs the command in the keeper.
func (o *Options) there(ctx context.Context, p *site, judged *consent.Verdict, stdout, stderr io.Writer) (session.Result, error) {
	in := wire.NewRun{Host: p.asked, CWD: o.CWD, Reason: o.Reason}
	if o.Program {
		in.Program, in.Args = o.Words[0], o.Words[1:]
	} else {
		in.SetCommand(o.Script)
	}
	place.Answers(&in, o.Caller(), o.Yes, judged, []string{p.host.Name})
	if o.Timeout > 0 {
		s := o.Timeout.Seconds()
		in.TimeoutS = &s
	}
	if p.session != nil {
		id, err := p.session(ctx)
		if err != nil {
			return place.Refused(err, p.host.Name, o.Script, false)
		}
		in.Host, in.Session = "", id
	}
	end, err := p.keeper.RunLive(ctx, in, client.Live{Stdout: stdout, Stderr: stderr, Waiting: func() {
		fmt.Fprintf(o.IO.Err, "fairlead: %s: waiting for an approval; see fairlead approvals\n", p.host.Name)
	}})
	if err != nil {
		return place.Refused(err, p.host.Name, o.Script, true)
	}
	r, err := end.Result.Result()
	return place.Because(ctx, r), err
}
