package parse

import "mvdan.cc/sh/v3/syntax"

// leaves are programs whose process goes on when the session of its shell ends, or that start another which does.
var leaves = map[string]bool{"nohup": true, "setsid": true, "daemonize": true, "daemon": true, "start-stop-daemon": true, "systemd-run": true, "at": true, "batch": true, "tmux": true, "screen": true}

// LeavesBehind reports whether a source of bash's or POSIX's starts something in the background that nothing in it waits for, and that
// ends with its shell. It looks at words only, and says no where one of them may be a program that leaves.
func LeavesBehind(src string) bool {
	file, _, err := File(syntax.LangBash, src)
	if err != nil {
		return false
	}
	behind, waited := false, false
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			behind = behind || n.Background && !mayLeave(n)
		case *syntax.CallExpr:
			if len(n.Args) > 0 {
				switch n.Args[0].Lit() {
				case "wait", "fg", "trap": // a trap knows what to do with it
					waited = true
				}
			}
		}
		return true
	})
	return behind && !waited
}

// mayLeave reports whether a word in s is that of a program that leaves: it may stand behind cd, sudo or env.
func mayLeave(s *syntax.Stmt) (found bool) {
	syntax.Walk(s, func(n syntax.Node) bool {
		w, ok := n.(*syntax.Word)
		found = found || ok && leaves[w.Lit()]
		return !found
	})
	return found
}
