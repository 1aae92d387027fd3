package policy

import (
	"testing"

	"github.com/fairlead-ssh/fairlead/framing/hostcode"
	"github.com/fairlead-ssh/fairlead/framing/hostcode/hostcodetest"
)

func TestWhatIsSentOfAFileIsSmallAndMeansTheSame(t *testing.T) {
	for _, f := range []hostcodetest.File{
		{Name: "git.sh", Source: gitSource, Sent: hostcode.Shell(gitSource), Max: 1800, Shells: hostcodetest.All},
		{Name: "reads.sh", Source: readsSource, Sent: hostcode.Shell(readsSource), Max: 1760, Shells: hostcodetest.All},
	} {
		t.Run(f.Name, func(t *testing.T) { hostcodetest.Check(t, f) })
	}
}
