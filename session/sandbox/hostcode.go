package sandbox

import (
	_ "embed"
	"sync"

	"github.com/fairlead-ssh/fairlead/framing/hostcode"
)

var (
	//go:embed host/resolve.sh
	resolveSource string
	//go:embed host/find_secrets.sh
	findSecretsSource string
	//go:embed host/probe.sh
	probeSource string

	resolveText     = sync.OnceValue(func() string { return hostcode.Shell(resolveSource) })
	findSecretsText = sync.OnceValue(func() string { return hostcode.Shell(findSecretsSource) })
	probeText       = sync.OnceValue(func() string { return hostcode.Shell(probeSource) })
)

// Functions of the scripts, as they are sent.
const (
	resolveName = "_fl_r"
	secretName  = "_fl_s"
)
