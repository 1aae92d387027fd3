//go:build !linux || !amd64

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "the oracle needs Linux on amd64: run it there")
	os.Exit(2)
}
