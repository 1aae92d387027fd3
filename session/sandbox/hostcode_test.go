package sandbox

import (
	"testing"

	"github.com/fairlead-ssh/fairlead/framing/hostcode/hostcodetest"
)

func TestWhatIsSentOfAFileIsSmallAndMeansTheSame(t *testing.T) {
	for _, f := range []hostcodetest.File{
		{Name: "resolve.sh", Source: resolveSource, Sent: resolveText(), Max: 1270, Shells: hostcodetest.All},
		{Name: "find_secrets.sh", Source: findSecretsSource, Sent: findSecretsText(), Max: 640, Shells: hostcodetest.All},
		{Name: "probe.sh", Source: probeSource, Sent: probeText(), Max: 450, Shells: hostcodetest.All},
	} {
		t.Run(f.Name, func(t *testing.T) { hostcodetest.Check(t, f) })
	}
}
