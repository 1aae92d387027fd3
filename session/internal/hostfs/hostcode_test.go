package hostfs

import (
	"testing"

	"github.com/fairlead-ssh/fairlead/framing/hostcode/hostcodetest"
)

func TestWhatIsSentOfAFileIsSmallAndMeansTheSame(t *testing.T) {
	for _, f := range []hostcodetest.File{
		{Name: "create.sh", Source: createSource, Sent: createText(), Max: 210, Shells: hostcodetest.All},
		{Name: "dress.sh", Source: dressSource, Sent: dressText(), Max: 100, Shells: hostcodetest.All},
		{Name: "list.sh", Source: listSource, Sent: listText(), Max: 870, Shells: hostcodetest.All},
		{Name: "make.sh", Source: makeSource, Sent: makeText(), Max: 120, Shells: hostcodetest.All},
		{Name: "real.sh", Source: realSource, Sent: realText(), Max: 420, Shells: hostcodetest.All},
		{Name: "rename.sh", Source: renameSource, Sent: renameText(), Max: 100, Shells: hostcodetest.All},
		{Name: "times.sh", Source: timesSource, Sent: timesText(), Max: 420, Shells: hostcodetest.All},
	} {
		t.Run(f.Name, func(t *testing.T) { hostcodetest.Check(t, f) })
	}
}
