// Package completion completes words on the command line: hosts, groups, labels, sessions and approvals. It asks files and
// processes of this machine, for at most 300 ms, and starts nothing: no keeper, and no program that an inventory names.
package completion

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/inventory"
)

// Func is what cobra asks for the next words.
type Func = func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective)

// Most is how long a person who pressed Tab waits. Only tests change it.
var Most = 300 * time.Millisecond

// Within returns what f does, or nothing where that takes too long. f goes on then: the process ends soon.
func Within[T any](f func(ctx context.Context) T) (out T) {
	ctx, cancel := context.WithTimeout(context.Background(), Most)
	defer cancel()
	done := make(chan T, 1)
	go func() { done <- f(ctx) }()
	select {
	case out = <-done:
	case <-ctx.Done():
	}
	return out
}

// Words completes arguments with the words that f finds, as many as the command takes.
func Words(arguments int, f func(ctx context.Context) []string) Func {
	return func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= arguments {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		words := slices.DeleteFunc(Within(f), func(w string) bool { return !strings.HasPrefix(w, typed) || slices.Contains(args, w) })
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// load reads the inventory without a word about it.
func load(f *cmdutil.Factory) *hosts.Inventory {
	return Within(func(ctx context.Context) *hosts.Inventory {
		path, err := f.InventoryPath()
		if err != nil {
			return nil
		}
		o := f.InventoryOptions()
		o.Kept = true
		got, err := inventory.Read(ctx, path, o)
		if err != nil {
			return nil
		}
		return got.Inventory
	})
}

// Targets completes the first argument with the inventory's hosts, groups and labels. Without a readable inventory there is
// nothing to offer.
func Targets(f *cmdutil.Factory) Func {
	return func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		inv := load(f)
		if inv == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		// What is behind the last operator, and behind a user, is completed.
		done := typed[:strings.LastIndexAny(typed, ",|&!( ")+1]
		done += user(typed[len(done):])
		var words []string
		offer := func(word string) {
			if strings.HasPrefix(done+word, typed) {
				words = append(words, done+word)
			}
		}
		labels := map[string]bool{}
		for h := range inv.All() {
			offer(h.Name)
			for k, v := range h.Labels {
				labels[k+"="+v] = true
			}
			if h.Tier != "" {
				labels["tier="+h.Tier] = true
			}
		}
		for g := range inv.Groups() {
			offer("@" + g.Name)
		}
		for _, l := range slices.Sorted(maps.Keys(labels)) {
			if !strings.ContainsAny(l, " ,|&!()\"'\t") { // it would have to be quoted
				offer(l)
			}
		}
		offer("all")
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// Picked are up to most hosts of the inventory that a selector picks, by name, or else the text itself: a host that only
// ssh_config has.
func Picked(f *cmdutil.Factory, selector string, most int) (names []string) {
	inv := load(f)
	if inv == nil || !strings.ContainsAny(selector, "@,|&!([*?=~") && selector != "all" {
		return []string{selector}
	}
	sel, err := hosts.ParseSelector(selector)
	if err != nil {
		return nil
	}
	picked, err := inv.Select(sel)
	if err != nil {
		return []string{selector}
	}
	for _, h := range picked[:min(len(picked), most)] {
		names = append(names, h.Name)
	}
	return names
}

// user is the beginning of what was typed that names whom to log in as, with its @; "" is none.
func user(typed string) string {
	if at := strings.IndexByte(typed, '@'); at > 0 {
		return typed[:at+1]
	}
	return ""
}

// Hosts completes the first argument with the inventory's hosts.
func Hosts(f *cmdutil.Factory) Func {
	return func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		var words []string
		if inv := load(f); inv != nil && len(args) == 0 {
			for h := range inv.All() {
				if word := user(typed) + h.Name; strings.HasPrefix(word, typed) {
					words = append(words, word)
				}
			}
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// Sessions completes up to so many arguments with the names of the sessions that the keeper holds, if one runs.
func Sessions(f *cmdutil.Factory, arguments int) Func {
	return Words(arguments, func(ctx context.Context) (names []string) {
		c, err := f.Keepers.Find(ctx)
		if err != nil {
			return nil
		}
		defer c.Close()
		all, err := c.Sessions(ctx)
		if err != nil {
			return nil
		}
		for _, s := range all {
			if s.Name != "" {
				names = append(names, s.Name)
			}
		}
		return names
	})
}
