package jobs

import (
	"testing"

	"github.com/fairlead-ssh/fairlead/framing/hostcode"
	"github.com/fairlead-ssh/fairlead/framing/hostcode/hostcodetest"
)

func TestWhatIsSentOfAFileIsSmallAndMeansTheSame(t *testing.T) {
	for _, f := range []hostcodetest.File{
		{Name: "start.sh", Source: startSource, Sent: startText(), Max: 3000, Shells: hostcodetest.All},
		{Name: "wait.sh", Source: waitSource, Sent: waitText(), Max: 1150, Shells: hostcodetest.All},
		{Name: "run.sh", Source: runSource, Sent: runText(), Max: 1300, Shells: hostcodetest.All},
		{Name: "look.sh", Source: lookSource, Sent: lookText(), Max: 6450, Shells: hostcodetest.All},
	} {
		f.Source = hostcode.Fill(f.Source, "common", commonSource)
		t.Run(f.Name, func(t *testing.T) { hostcodetest.Check(t, f) })
	}
}
