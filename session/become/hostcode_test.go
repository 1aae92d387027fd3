package become

import (
	"testing"

	"github.com/fairlead-ssh/fairlead/framing/hostcode"
	"github.com/fairlead-ssh/fairlead/framing/hostcode/hostcodetest"
)

func TestWhatIsSentOfAFileIsSmallAndMeansTheSame(t *testing.T) {
	for name, source := range map[string]string{"sudo": sudoSource, "sudo_rs": sudoRSSource, "doas": doasSource, "su": suSource} {
		whole := hostcode.Fill(becomeSource, "start", source)
		t.Run(name, func(t *testing.T) {
			hostcodetest.Check(t, hostcodetest.File{Name: "become.sh with " + name, Source: whole, Sent: hostcode.Line(whole), Max: 480, Shells: hostcodetest.All})
		})
	}
	t.Run("elevated", func(t *testing.T) {
		hostcodetest.Check(t, hostcodetest.File{Name: "elevated.sh", Source: elevatedSource, Sent: hostcode.Line(elevatedSource), Max: 300, Shells: hostcodetest.All})
	})
}
