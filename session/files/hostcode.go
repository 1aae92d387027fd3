package files

import (
	_ "embed"
	"sync"

	"github.com/fairlead-ssh/fairlead/framing/hostcode"
)

// The scripts that are more than one command. Their words come as positional parameters, so nothing is ever quoted into them.
var (
	//go:embed host/create.sh
	createSource string
	//go:embed host/dress.sh
	dressSource string
	//go:embed host/rename.sh
	renameSource string
	//go:embed host/tidy.sh
	tidySource string

	createText = sync.OnceValue(func() string { return hostcode.Shell(createSource) })
	dressText  = sync.OnceValue(func() string { return hostcode.Shell(dressSource) })
	renameText = sync.OnceValue(func() string { return hostcode.Shell(renameSource) })
	tidyText   = sync.OnceValue(func() string { return hostcode.Shell(tidySource) })
)
