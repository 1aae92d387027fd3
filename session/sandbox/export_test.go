package sandbox

import (
	"fmt"

	"mvdan.cc/sh/v3/syntax"
)

// Literal is what a word is to the program, and whether that is certain.
func Literal(w *syntax.Word) (text string, sure bool) { return literal(w) }

// Isolation is what tests start bwrap with, as Bubblewrap does.
var Isolation = isolation

// ReachesFurther says why a command's meaning is more than the paths in it.
var ReachesFurther = reachesFurther

// Planned is all that must hold of a command before it may run.
func Planned(root, dir, shell, command string) string {
	p := makePlan(root, dir, shell, command)
	return fmt.Sprintf("%q %t %t %+v %+v", p.ask, p.move, p.rests, p.checks, p.sure())
}

// SortedSecrets is what is looked at of what a host has named.
var SortedSecrets = Secrets.sorted
