package programs

import "strings"

// checks are the functions that tables name: for programs whose words are a language of their own.
var checks = map[string]func(*call){
	"find":        find,
	"ps":          ps,
	"interval":    interval,
	"fewBytes":    fewBytes,
	"oldTail":     oldTail,
	"zones":       zones,
	"dates":       dates,
	"jq":          jq,
	"sum":         sum,
	"yq":          yq,
	"sedCheck":    sedCheck,
	"awkCheck":    awkCheck,
	"guess":       guess,
	"shellCall":   shellCall,
	"env":         env,
	"xargs":       xargs,
	"busybox":     busybox,
	"become":      become,
	"bounded":     bounded,
	"ssh":         ssh,
	"copies":      copies,
	"curl":        curl,
	"wget":        wget,
	"dig":         dig,
	"getent":      getent,
	"translates":  translates,
	"netcat":      netcat,
	"ssFilter":    ssFilter,
	"entrypoint":  entrypoint,
	"gitConfig":   gitConfig,
	"gitFormat":   gitFormat,
	"gitWorkTree": gitWorkTree,
	"gitPatch":    gitPatch,
	"gitBlame":    gitBlame,
	"gitBlob":     gitBlob,
	"gitPaths":    gitPaths,
	"gitTree":     gitTree,
	"below":       below,
}

// below: a search of directories that names none searches the one in which it runs. What comes through a pipe, only grep leaves aside.
func below(c *call) {
	d, _ := c.val("-d")
	recursive := c.node.name != "rg" && c.has("-r", "-R") || c.node.name == "rgrep" || c.node.name == "rg" && c.stdin != "pipe"
	dirs := c.ops
	if len(dirs) > 0 && !c.supplant {
		dirs = dirs[1:]
	}
	if strings.HasPrefix(d.Text, "rec") {
		recursive, c.find.Trees = true, dirs
	}
	if recursive && len(dirs) == 0 {
		c.find.Trees = []Arg{word(".")}
	}
}

// sum judges calculators: their programs can do nothing but count, and that without end.
func sum(c *call) {
	if len(c.ops) == 0 && !c.sum {
		c.say(endless, "computes what it reads, which may never end")
	}
}
