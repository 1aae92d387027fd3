package hostfs

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
	//go:embed host/list.sh
	listSource string
	//go:embed host/make.sh
	makeSource string
	//go:embed host/real.sh
	realSource string
	//go:embed host/rename.sh
	renameSource string
	//go:embed host/times.sh
	timesSource string

	createText = sync.OnceValue(func() string { return hostcode.Shell(createSource) })
	dressText  = sync.OnceValue(func() string { return hostcode.Shell(dressSource) })
	listText   = sync.OnceValue(func() string { return hostcode.Shell(listSource) })
	makeText   = sync.OnceValue(func() string { return hostcode.Shell(makeSource) })
	realText   = sync.OnceValue(func() string { return hostcode.Shell(realSource) })
	renameText = sync.OnceValue(func() string { return hostcode.Shell(renameSource) })
	timesText  = sync.OnceValue(func() string { return hostcode.Shell(timesSource) })
)
