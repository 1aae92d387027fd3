package files

import (
	_ "embed"
	"sync"

	"github.com/fairlead-ssh/fairlead/framing/hostcode"
)

// The scripts that are more than one command. Their words come as positional parameters, so nothing is ever quoted into them.
var (
	//go:embed host/tidy.sh
	tidySource string

	tidyText = sync.OnceValue(func() string { return hostcode.Shell(tidySource) })
)
