// Command fairlead keeps a shell open on every machine you operate and runs commands through it.
package main

import (
	"os"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cli"
)

func main() { os.Exit(cli.Main()) }
