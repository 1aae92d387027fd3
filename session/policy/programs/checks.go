package programs

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
}

// sum judges calculators: their programs can do nothing but count, and that without end.
func sum(c *call) {
	if len(c.ops) == 0 && !c.sum {
		c.say(endless, "computes what it reads, which may never end")
	}
}
