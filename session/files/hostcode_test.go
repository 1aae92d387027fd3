package files

import (
	"testing"

	"github.com/fairlead-ssh/fairlead/framing/hostcode/hostcodetest"
)

func TestWhatIsSentOfAFileIsSmallAndMeansTheSame(t *testing.T) {
	for _, f := range []hostcodetest.File{
		{Name: "tidy.sh", Source: tidySource, Sent: tidyText(), Max: 150, Shells: hostcodetest.All},
	} {
		t.Run(f.Name, func(t *testing.T) { hostcodetest.Check(t, f) })
	}
}
