package cp

import (
	"cmp"
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/completion"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/files"
)

// completePaths completes up to so many arguments with paths here, hosts, and paths on a host to which the keeper has a
// connection: nothing logs in for that. here says whether paths of this machine are offered.
func completePaths(f *cmdutil.Factory, arguments int, here bool) completion.Func {
	hosts := completion.Hosts(f)
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if arguments > 0 && len(args) >= arguments {
			return nil, cobra.ShellCompDirectiveDefault
		}
		var words []string
		if e := parseEndpoint(typed); e.far() {
			words = completion.Within(func(ctx context.Context) []string { return pathsOn(ctx, f, e) })
			return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		}
		if here {
			words = pathsHere(typed)
		}
		if !strings.Contains(typed, "/") {
			names, _ := hosts(cmd, nil, typed)
			for _, name := range names {
				words = append(words, name+":")
			}
		}
		directive := cobra.ShellCompDirectiveNoFileComp
		if slices.ContainsFunc(words, func(w string) bool { return strings.HasSuffix(w, ":") || strings.HasSuffix(w, "/") }) {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		return words, directive
	}
}

// pathsHere are the paths of this machine that begin with what was typed.
func pathsHere(typed string) (words []string) {
	dir, base := path.Split(typed)
	names, err := os.ReadDir(cmp.Or(dir, "."))
	if err != nil {
		return nil
	}
	for _, n := range names {
		if !offered(n.Name(), base) {
			continue
		}
		word := dir + n.Name()
		if st, err := os.Stat(filepath.FromSlash(word)); err == nil && st.IsDir() {
			word += "/"
		}
		words = append(words, word)
	}
	return words
}

// maxTried bounds on how many hosts a path is looked for.
const maxTried = 20

// pathsOn are those of a host, if the keeper runs and is connected to it. Of several it is the first one that answers.
func pathsOn(ctx context.Context, f *cmdutil.Factory, e endpoint) (words []string) {
	c, err := f.Keepers.Find(ctx)
	if err != nil {
		return nil
	}
	defer c.Close()
	dir, base := path.Split(e.path)
	var names []wire.FileName
	for _, host := range completion.Picked(f, e.targets, maxTried) { // which are alike, most often
		if names, err = c.NamesNow(ctx, host, cmp.Or(dir, ".")); err == nil {
			break
		}
	}
	for _, n := range names {
		if !offered(n.Name, base) {
			continue
		}
		word := e.targets + ":" + dir + n.Name
		if n.Kind == string(files.Directory) {
			word += "/"
		}
		words = append(words, word)
	}
	return words
}

// offered reports whether a name continues what was typed. Hidden names are offered to who types a dot, and names that a terminal
// would obey to nobody.
func offered(name, typed string) bool {
	return strings.HasPrefix(name, typed) && (typed != "" || !strings.HasPrefix(name, ".")) &&
		!strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}
