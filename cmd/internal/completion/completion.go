// Package completion completes words on the command line.
package completion

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
)

// Func is what cobra asks for the next words.
type Func = func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective)

// Targets completes the first argument with the inventory's hosts and groups. Without a readable inventory there is
// nothing to offer.
func Targets(f *cmdutil.Factory) Func {
	return func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		inv, err := f.Inventory()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		// A union is completed member by member.
		done := typed[:strings.LastIndexByte(typed, ',')+1]
		var words []string
		offer := func(word string) {
			if strings.HasPrefix(done+word, typed) {
				words = append(words, done+word)
			}
		}
		for h := range inv.All() {
			offer(h.Name)
		}
		for g := range inv.Groups() {
			offer("@" + g.Name)
		}
		offer("all")
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// Hosts completes the first argument with the inventory's hosts.
func Hosts(f *cmdutil.Factory) Func {
	all := Targets(f)
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		words, how := all(cmd, args, typed)
		var hosts []string
		for _, w := range words {
			if !strings.HasPrefix(w, "@") && w != "all" {
				hosts = append(hosts, w)
			}
		}
		return hosts, how
	}
}
