package jobs

import (
	_ "embed"
	"sync"

	"github.com/fairlead-ssh/fairlead/framing/hostcode"
)

// The scripts in the directory host run on the host, in whatever its sh is.
var (
	//go:embed host/common.sh
	commonSource string
	//go:embed host/start.sh
	startSource string
	//go:embed host/wait.sh
	waitSource string
	//go:embed host/run.sh
	runSource string
	//go:embed host/look.sh
	lookSource string

	startText = withCommon(&startSource)
	waitText  = withCommon(&waitSource)
	runText   = withCommon(&runSource)
	lookText  = withCommon(&lookSource)
)

func withCommon(source *string) func() string {
	return sync.OnceValue(func() string { return hostcode.Shell(hostcode.Fill(*source, "common", commonSource)) + "\n" })
}
