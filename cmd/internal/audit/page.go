package audit

import (
	"bufio"
	"context"
	"fmt"
	"html/template"
	"io"
	"sync"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/table"
)

// The page is in three parts, so that a long record is written as it is read. It forbids itself every request and script;
// what is on record is text in it, escaped, without what a reader cannot see.
var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Parse(`{{define "head"}}<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width">
<title>Fairlead audit log</title>
<style>
:root{color-scheme:light dark}
body{font:14px/1.4 system-ui,sans-serif;margin:1.5rem}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.2rem .6rem;border-bottom:1px solid #8884}
th{position:sticky;top:0;background:Canvas}
code{font:12px/1.4 ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere}
.bad{color:#c22;font-weight:600}
</style>
</head>
<body>
<h1>Fairlead audit log</h1>
<p>Written {{.Now}}.{{if .Range}} Records {{.Range}}.{{end}}</p>
{{if .Problem}}<p class="bad">The audit log is damaged: {{.Problem}}</p>
{{else}}<p>The audit log is whole: {{.Records}}. Head: <code>{{.Head}}</code></p>
{{end}}<table>
<thead><tr><th>time</th><th>entry</th><th>kind</th><th>id</th><th>who</th><th>host</th><th>verdict</th><th>what</th><th>result</th></tr></thead>
<tbody>
{{end}}{{define "row"}}<tr><td>{{.Time}}</td><td>{{.Seq}}</td><td>{{.Kind}}</td><td>{{.ID}}</td><td>{{.Who}}</td><td>{{.Host}}</td><td{{if .Denied}} class="bad"{{end}}>{{.Verdict}}</td><td><code>{{.What}}</code></td><td{{if .Failed}} class="bad"{{end}}>{{.Result}}</td></tr>
{{end}}{{define "foot"}}</tbody>
</table>
</body>
</html>
{{end}}`))
})

type pageHead struct{ Now, Range, Problem, Records, Head string }

type pageRow struct {
	Time, Kind, ID, Who, Host, Verdict, What, Result string
	Seq                                              uint64
	Denied, Failed                                   bool
}

func exportHTML(ctx context.Context, w io.Writer, o *ExportOptions, dir string, report audit.Report) error {
	out := bufio.NewWriter(w)
	head := pageHead{Now: stamp(o.Now()), Records: cmdutil.Count(report.Records, "entry"), Head: report.Head}
	if !o.Since.IsZero() {
		head.Range = "from " + stamp(o.Since)
	}
	if !o.Until.IsZero() {
		head.Range += " before " + stamp(o.Until)
	}
	if report.Problem != nil {
		head.Problem = table.Clean(report.Problem.String())
	}
	if err := page().ExecuteTemplate(out, "head", head); err != nil {
		return err
	}
	err := o.wanted(ctx, dir, func(r audit.Record) error { return page().ExecuteTemplate(out, "row", rowOf(r.Event)) })
	if err != nil {
		return err
	}
	if err := page().ExecuteTemplate(out, "foot", nil); err != nil {
		return err
	}
	return out.Flush()
}

func rowOf(e audit.Event) pageRow {
	r := pageRow{
		Time: stamp(e.Time), Seq: e.Seq, Kind: string(e.Kind), ID: e.ID, Who: e.Principal, Host: e.Host, Verdict: e.Verdict,
		What: quoted(e.Command), Result: e.Status, Denied: e.Verdict == "deny", Failed: e.Status != "" && e.Status != "ok" && e.Status != "approved",
	}
	if e.Reason != "" {
		r.What += "\n# " + e.Reason
	}
	if e.Rule != "" {
		r.Verdict += " (" + e.Rule + ")"
	}
	if e.ApprovedBy != "" {
		r.Verdict += " by " + e.ApprovedBy
	}
	if e.ExitCode != nil {
		r.Result += fmt.Sprintf(" %d", *e.ExitCode)
	}
	if e.Error.Message != "" {
		r.Result += ": " + e.Error.Message
	}
	for _, s := range []*string{&r.Kind, &r.ID, &r.Who, &r.Host, &r.Verdict, &r.Result} {
		*s = table.Clean(*s)
	}
	r.What = cleanLines(r.What)
	return r
}
