package redact

import (
	"slices"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// allRules returns the rules in the order in which they are tried at one place.
func allRules() []*rule {
	return slices.Concat(markRules(), keyRules(), tokenRules(), commandRules(), sqlRules(), windowsRules(), headerRules(), lineRules(), yamlRules(), callRules(), directiveRules(), deviceRules(), tableRules(), valueRules())
}

// markRules let the search see marks, which are left alone.
func markRules() []*rule {
	return []*rule{{kind: "mark", keys: []string{markOpen}, re: lazyregexp.New(`^\z.`)}}
}

var (
	tokenBytes  = classOf("A-Za-z0-9_.-")
	wordBytes   = classOf("A-Za-z0-9_-")
	alnumBytes  = classOf("A-Za-z0-9")
	base64Bytes = classOf("A-Za-z0-9+/=")
	// wrappedBytes are those of base64 that is broken into lines.
	wrappedBytes = classOf("A-Za-z0-9+/=\r\n")
	visible      = but("")
	unquoted     = but("\"'`")
	listed       = but("\"'`,;|<>)]}")
	queried      = but("\"'`,;&|<>)]}#")
)
