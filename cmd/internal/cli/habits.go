package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// habits are words that people know from other programs, by the command that does here what they mean there.
var habits = map[string]string{
	"run":               "adhoc command do execute invoke",
	"exec":              "docker",
	"shell":             "attach bash connect login open sh terminal",
	"sessions":          "ls ps session status who",
	"jobs":              "background bg delete job kill logs nohup queue rm stop",
	"runs":              "rollout stop",
	"cp":                "copy push put rsync scp send sftp sync upload",
	"fetch":             "download get pull",
	"edit":              "vi vim",
	"forward":           "port-forward proxy tunnel",
	"hosts":             "add describe forget host import inventory known-hosts list ls nodes ping trust",
	"doctor":            "check debug diagnose status test",
	"approvals":         "allow approve confirm deny grant pending reject",
	"audit":             "log logs record",
	"policy":            "explain rules",
	"serve":             "api daemon keeper kill restart server start stop",
	"setup":             "claude config configure enable init install",
	"web":               "dashboard ui",
	"sessions list":     "get ls ps show",
	"sessions close":    "delete end kill rm stop",
	"jobs start":        "add create new run submit",
	"jobs list":         "get ls ps show status",
	"jobs output":       "cat log show tail",
	"jobs follow":       "attach tail watch",
	"jobs stop":         "abort cancel kill",
	"jobs clean":        "delete purge remove rm",
	"runs list":         "ls ps",
	"runs show":         "get log status",
	"runs follow":       "tail watch",
	"runs stop":         "abort cancel kill",
	"runs rerun":        "again repeat retry",
	"hosts list":        "get ls",
	"hosts show":        "describe info",
	"hosts import":      "add create new",
	"hosts ping":        "check test",
	"hosts trust":       "accept keyscan scan",
	"hosts forget":      "untrust",
	"audit tail":        "follow list log ls watch",
	"audit search":      "find grep query",
	"audit verify":      "check",
	"approvals list":    "get ls pending",
	"approvals approve": "accept allow confirm grant yes",
	"approvals reject":  "cancel deny no refuse",
	"policy check":      "can decide",
	"policy explain":    "show why",
	"policy test":       "lint validate verify",
	"sandbox create":    "new",
	"sandbox delete":    "remove rm",
	"sandbox list":      "get ls ps",
	"forward close":     "delete kill rm stop",
	"forward list":      "ls ps show",
}

// knowHabits lets what says that there is no such command say which one is meant.
func knowHabits(root *cobra.Command) {
	for _, group := range root.Commands() {
		group.SuggestFor = strings.Fields(habits[group.Name()])
		for _, c := range group.Commands() {
			c.SuggestFor = strings.Fields(habits[group.Name()+" "+c.Name()])
		}
	}
}
