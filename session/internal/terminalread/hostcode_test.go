package terminalread

import (
	"testing"

	"github.com/fairlead-ssh/fairlead/framing/hostcode/hostcodetest"
)

func TestWhatIsSentOfAFileIsSmallAndMeansTheSame(t *testing.T) {
	for _, f := range []hostcodetest.File{
		{Name: "processes.sh", Source: processesSource, Sent: processesText(), Max: 630, Shells: hostcodetest.All},
	} {
		t.Run(f.Name, func(t *testing.T) { hostcodetest.Check(t, f) })
	}
}
