package files

import (
	"testing"

	"github.com/fairlead-ssh/fairlead/framing/hostcode/hostcodetest"
)

func TestWhatIsSentOfAFileIsSmallAndMeansTheSame(t *testing.T) {
	for _, f := range []hostcodetest.File{
		{Name: "create.sh", Source: createSource, Sent: createText(), Max: 110, Shells: hostcodetest.All},
		{Name: "dress.sh", Source: dressSource, Sent: dressText(), Max: 70, Shells: hostcodetest.All},
		{Name: "rename.sh", Source: renameSource, Sent: renameText(), Max: 50, Shells: hostcodetest.All},
		{Name: "tidy.sh", Source: tidySource, Sent: tidyText(), Max: 150, Shells: hostcodetest.All},
	} {
		t.Run(f.Name, func(t *testing.T) { hostcodetest.Check(t, f) })
	}
}
