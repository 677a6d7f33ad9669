package pages

import (
	"html/template"
	"reflect"
	"slices"
	"time"
)

// empty are all pages, without values.
var empty = []Page{
	AccessLinks{}, Address{}, AgentRequest{}, AppError{}, ArtifactPage{}, Artifacts{}, Audit{}, Billing{}, Claim{},
	ClaimPreview{}, Comparison{}, Confirm{}, Connections{}, Consent{}, Delete{}, Deletion{}, DeletionRequested{}, Depart{},
	Device{}, DeviceRequest{}, Done{}, Events{}, FeedbackPage{}, Finding{}, Home{}, Inbox{}, Keep{}, Keys{}, Leave{}, Lockdowns{}, Message{},
	NotAllowed{}, OpenedContent{}, Opened{}, Outcomes{}, Overview{}, PlanOverride{}, Policy{}, Private{}, Provisioning{},
	Report{}, Reports{}, Selection{}, Settings{}, SignedOut{}, ThreadPage{}, Triage{}, Viewer{},
}

const hostile = `javascript:alert(1)//"'><script>alert(2)</script><img src=x onerror=alert(3)>{{.}}</title></noscript>`

// spoofing is a text that would change the writing direction of what follows it.
const spoofing = "\u202Egpj\u2066" + hostile

// strangers are the fields with texts that strangers choose; the others are our own, or ids and addresses.
var strangers = []string{
	"AccessLink.Title", "AgentRequest.Address", "App.Name", "AppError.Client", "AppError.Host",
	"Artifact.Title", "ArtifactPage.Entrypoint", "ArtifactSummary.Titles", "AuditEntry.Request", "Cell.After",
	"Cell.Before", "Comparison.Only", "Comparison.Title", "Confirm.Subject", "Consent.Client", "Deletion.Email",
	"Deletion.Workspace", "Depart.Host", "Discussed.Title", "DeviceRequest.Client", "DeviceRequest.Name", "Done.Subject", "FeedbackPage.Title",
	"File.Path",
	"FileChange.Path", "FileChange.Was", "Invoice.About", "Invoice.Amount", "Invoice.Number", "Invoice.Status",
	"Keep.Email", "Key.Name", "Layout.Email", "Layout.Workspace", "Leave.Client", "Line.Text", "Linked.Address",
	"Linked.Name", "Opened.Entrypoint", "Opened.Title", "Private.Entrypoint", "Private.Title", "Private.Workspace",
	"Ref.Kind", "Run.Text", "Said.Author", "Said.Text", "Session.Browser", "Settings.Browser", "Thread.Path", "Thread.Quote",
	"ThreadPage.Title", "WarnedFile.Path", "Warning.Text",
}

// words are those that templates know, by field. Each form has another one.
var words = map[string][]string{
	"AccessLink.State":      {Live, Revoked, Locked},
	"Artifact.Status":       {"Live", "Expired"},
	"AgentRequest.Provider": {spoofing, ""},
	"Bundle.State":          {"ready", "pending", "failed"},
	"Cell.Op":               {"changed", "same"},
	"Change.Wrong":          {"days", "name"},
	"Export.State":          {"ready", "pending", "failed"},
	"FileChange.Kind":       {"changed", "added"},
	"Layout.Here":           {"/keys"},
	"LockRow.Scope":         {"artifact", "workspace"},
	"Line.Op":               {"removed", "same", "added"},
	"Report.Wrong":          {"target", "reason", "text", "email"},
	"Run.Op":                {"added", "removed"},
	"Thread.About":          {"artifact", "text", "lines", "file"},
	"Thread.State":          {"open", "addressed", "resolved", "held"},
}

// form is a way to fill a page in, so that templates go every way.
type form struct {
	n     int  // its half is what all numbers are
	yes   bool // what all booleans are
	items int  // in each list
	at    time.Time
}

var now = time.Now()

var forms = []form{
	{0, true, 2, now}, {1, false, 2, now}, {2, true, 2, time.Time{}}, {3, false, 1, time.Time{}}, {4, true, 0, now},
	{5, false, 0, time.Time{}}, {6, true, 2, now},
}

// filled returns a page with hostile text in all fields.
func filled(p Page, f form) Page {
	v := reflect.New(reflect.TypeOf(p)).Elem()
	f.fill(v, "")
	return v.Interface().(Page)
}

func (f form) fill(v reflect.Value, field string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(f.text(v.Type(), field))
	case reflect.Bool:
		v.SetBool(f.yes)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(f.n / 2))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem(), field)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), f.items, f.items))
		for i := range f.items {
			f.fill(v.Index(i), field)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(f.at))
			return
		}
		for i := range v.NumField() {
			f.fill(v.Field(i), v.Type().Name()+"."+v.Type().Field(i).Name)
		}
	}
}

func (f form) text(of reflect.Type, field string) string {
	switch known := words[field]; {
	case of == reflect.TypeFor[template.URL]():
		return "https://example.test/?a=%22%3E%3Cscript%3E&b='\""
	case len(known) > 0:
		return known[f.n%len(known)]
	case slices.Contains(strangers, field), field == "Part.Text" && f.yes: // a quoted part
		return spoofing
	}
	return hostile
}
