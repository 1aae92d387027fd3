package sandbox

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/fairlead-ssh/fairlead/framing/hostcode"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
)

// Ability is what a host's kernel was found to do, by trying it. The zero Ability is nothing.
type Ability struct {
	Bubblewrap bool   // bubblewrap is there, and made the place that [Bubblewrap] describes
	At         string // the path of bubblewrap; "" where it has none but a name
	Keys       bool   // as [Bubblewrap.Keys]
	Landlock   int    // [LandlockVersion] on a host of the kind local; 0 on others, where there is no helper
	Why        string // why not, in one sentence; "" where something was found

	Hide Secrets // what [FindSecrets] found there for the account; [Probe] leaves it empty
}

// Probe tries on the host whether bubblewrap works there for the sandbox: in many containers it is installed and its
// namespaces are refused. It changes nothing, and takes one command; the answer holds for the account and the host, so
// ask once. The sandbox's directory must be there. An error means that the host did not say.
func Probe(ctx context.Context, run Runner, b Bubblewrap, s Sandbox) (Ability, error) {
	args, err := b.args(s)
	if err != nil {
		return Ability{Why: strings.TrimPrefix(err.Error(), "sandbox: ")}, nil
	}
	said, err := run(ctx, s.Host, hostcode.Fill(probeText(), "arguments", strings.Join(args, " ")))
	if err != nil {
		return Ability{}, fmt.Errorf("sandbox: %s was asked what its kernel can do and did not say: %w", s.Host, err)
	}
	at, works := strings.CutPrefix(said, "fairlead:works:")
	at, keys := strings.CutPrefix(at, "keys:")
	switch {
	case works && wrappable(at):
		return Ability{Bubblewrap: true, At: at, Keys: keys}, nil
	case works && strings.Contains(at, "/"):
		return Ability{Why: "bubblewrap is at a path with characters that not every login shell passes on as they are"}, nil
	case works: // the shell has a word for it
		return Ability{Bubblewrap: true, Keys: keys}, nil
	case said == "fairlead:absent":
		return Ability{Why: "bubblewrap is not installed on the host"}, nil
	case strings.HasPrefix(said, "fairlead:refused:"):
		why := "bubblewrap does not work there"
		if more := strings.Join(strings.Fields(strings.TrimPrefix(said, "fairlead:refused:")), " "); more != "" {
			why += ": " + strconv.QuoteToGraphic(printable.Clip(more, maxQuoted))
		}
		return Ability{Why: why}, nil
	}
	return Ability{}, fmt.Errorf("sandbox: %s was asked what its kernel can do and gave an answer that makes no sense; is its shell a POSIX shell?", s.Host)
}
