package pages

import (
	"strings"
	"testing"
	"time"
)

// all returns every page, empty or with hostile text in every field that users control.
func all(zero bool) map[string]Page {
	if zero {
		return emptyPages
	}
	return hostilePages
}

var emptyPages = map[string]Page{
	"home":               Home{},
	"viewer":             Viewer{},
	"message":            Message{},
	"overview":           Overview{},
	"artifacts":          Artifacts{},
	"artifact":           ArtifactPage{},
	"keys":               Keys{},
	"connections":        Connections{},
	"settings":           Settings{},
	"confirm":            Confirm{},
	"done":               Done{},
	"delete":             Delete{},
	"deletion":           Deletion{},
	"deletion-requested": DeletionRequested{},
	"claim":              Claim{},
	"claim-preview":      ClaimPreview{},
	"audit":              Audit{},
	"admin":              Triage{},
	"admin-finding":      Finding{},
	"admin-content":      OpenedContent{},
	"admin-reports":      Reports{},
	"admin-lockdowns":    Lockdowns{},
	"admin-events":       Events{},
	"admin-provisioning": Provisioning{},
	"links":              AccessLinks{},
	"address":            Address{},
	"private":            Private{},
	"comparison":         Comparison{},
	"opened":             Opened{},
	"agent":              AgentRequest{},
	"keep":               Keep{},
	"device":             Device{},
	"device-request":     DeviceRequest{},
	"consent":            Consent{},
	"leave":              Leave{},
	"app-error":          AppError{},
	"signed-out":         SignedOut{},
	"report":             Report{},
	"selection":          Selection{},
	"outcomes":           Outcomes{},
	"billing":            Billing{},
	"admin-plan":         PlanOverride{},
	"depart":             Depart{},
}

// Parts of hostilePages.
var (
	links  = []Link{{Path: hostile, Text: hostile}, {Path: hostile, Text: hostile}}
	now    = time.Now()
	turns  = Pages{Of: hostile, First: hostile, Next: hostile}
	shell  = Layout{Workspace: spoofing, Email: spoofing, Here: "/keys"}
	linked = Linked{
		ID:      hostile,
		Name:    spoofing,
		Host:    hostile,
		Address: spoofing,
		Rights:  []string{hostile},
	}
	shown = Artifact{
		ID:     hostile,
		Title:  spoofing,
		Status: hostile,
		Pinned: true,
	}
	live = AccessLink{
		ID:       hostile,
		Public:   hostile,
		Artifact: hostile,
		Title:    spoofing,
		Revision: hostile,
		State:    Live,
	}
	revisions = []Revision{{
		ID:      hostile,
		State:   hostile,
		Number:  2,
		Newest:  true,
		Open:    hostile,
		Restore: hostile,
	}, {ID: hostile, State: hostile}}
	panel = Panel{
		Files:   []File{{Path: spoofing, URL: hostile, Kind: hostile}},
		Bundle:  Bundle{State: "ready", URL: hostile},
		Address: hostile,
		APIURL:  hostile,
	}
	lot = ArtifactSummary{Titles: []string{spoofing}, Count: 9, Most: true}
	key = Key{
		ID:     hostile,
		Public: hostile,
		Name:   spoofing,
		Scopes: []string{hostile},
	}
)

var comparedChange = FileChange{
	Kind:   "changed",
	Path:   spoofing,
	Was:    spoofing,
	URL:    hostile,
	Before: &FileVersion{URL: hostile},
	After:  &FileVersion{URL: hostile},
}

var hostilePages = map[string]Page{
	"comparison": Comparison{
		Layout:    shell,
		ID:        hostile,
		Title:     spoofing,
		From:      revisions[1],
		To:        revisions[0],
		Revisions: revisions,
		View:      hostile,
		Views:     []ViewLink{{Name: hostile, Path: hostile}},
		Only:      spoofing,
		All:       hostile,
		Changes:   []FileChange{comparedChange},
		Pages:     turns,
		Files: []ComparedFile{{
			FileChange: comparedChange,
			Anchor:     hostile,
			Note:       hostile,
			Picture:    true,
			Hunks: []Hunk{{
				Header:   hostile,
				Anchor:   hostile,
				Segments: [][]Line{{{Op: hostile, Side: hostile, From: 1, To: 1, Anchor: hostile, Text: spoofing}}},
			}},
			Blocks: []Block{{Op: hostile, Kind: hostile, Runs: []Run{{"added", spoofing}, {"removed", spoofing}, {hostile, spoofing}}}},
			Table: &ComparedTable{
				Head: Row{Cells: []Cell{{"changed", spoofing, spoofing}}},
				Rows: []Row{{Op: hostile, Cells: []Cell{{"same", spoofing, spoofing}, {"changed", spoofing, spoofing}}}},
			},
			Alone: hostile,
		}},
	},
	"home":   Home{APIURL: hostile, AppURL: hostile, SignIn: hostile},
	"viewer": Viewer{PublicID: hostile, ContentOrigin: hostile, APIURL: hostile},
	"message": Message{
		Heading:   hostile,
		Text:      hostile,
		RequestID: hostile,
		Links:     links,
	},
	"overview": Overview{Layout: shell, APIURL: hostile, Recent: []Artifact{shown}},
	"empty":    Overview{Layout: shell, APIURL: hostile},
	"artifacts": Artifacts{
		Layout:   shell,
		APIURL:   hostile,
		Items:    []Artifact{shown},
		Pages:    turns,
		Search:   Search{Title: hostile},
		Searched: true,
		Looked:   1,
		AllURL:   hostile,
	},
	"selection": Selection{
		Layout:  shell,
		Heading: hostile,
		Text:    hostile,
		Items:   []Artifact{shown},
		Do:      hostile,
		Button:  hostile,
		Back:    hostile,
		Once:    hostile,
	},
	"outcomes": Outcomes{Layout: shell, Items: []Outcome{{Artifact: shown, Text: hostile, Failed: true}}},
	"artifact": ArtifactPage{
		Layout:     shell,
		Artifact:   shown,
		Entrypoint: spoofing,
		Source:     hostile,
		Framed:     true,
		Warned:     []WarnedFile{{Path: spoofing, Warnings: []Warning{{Severity: hostile, Line: 1, Text: spoofing}}}},
		Unshown:    2,
		Revisions:  revisions,
		Links:      []AccessLink{live},
		Pages:      turns,
		Once:       hostile,
		Name:       hostile,
		Error:      hostile,
	},
	"links": AccessLinks{Layout: shell, Items: []AccessLink{live}, Pages: turns},
	"address": Address{
		Layout:   shell,
		Artifact: hostile,
		Link:     live,
		URL:      hostile,
	},
	"private": Private{
		Workspace:     spoofing,
		ID:            hostile,
		Title:         spoofing,
		Older:         hostile,
		Entrypoint:    spoofing,
		Source:        hostile,
		Framed:        true,
		ContentOrigin: hostile,
		Strip: Strip{
			Artifact: hostile,
			Revision: hostile,
			Newest:   hostile,
			Older:    hostile,
			Newer:    hostile,
		},
		Panel:     panel,
		Revision:  hostile,
		MCPURL:    hostile,
		Revisions: revisions,
		More:      true,
	},
	"opened": Opened{
		Panel:      panel,
		PublicID:   hostile,
		Blob:       hostile,
		Revision:   hostile,
		Title:      spoofing,
		Mode:       hostile,
		Entrypoint: spoofing,
		Source:     hostile,
		Framed:     true,
	},
	"opened-download": Opened{Title: spoofing, Entrypoint: spoofing, Source: hostile},
	"private-download": Private{
		ID:         hostile,
		Title:      spoofing,
		Entrypoint: spoofing,
		Source:     hostile,
	},
	"download": ArtifactPage{
		Layout:     shell,
		Artifact:   shown,
		Entrypoint: spoofing,
		Source:     hostile,
	},
	"keys": Keys{
		Layout: shell,
		APIURL: hostile,
		Items:  []Key{key},
		Made:   &Made{key, hostile},
		Once:   hostile,
		Name:   hostile,
		Error:  hostile,
	},
	"no-keys": Keys{Layout: shell, APIURL: hostile},
	"ended-keys": Keys{
		Layout: shell,
		Ended:  true,
		Items:  []Key{key},
		Pages:  turns,
	},
	"settings": Settings{
		Layout:  shell,
		ID:      hostile,
		Member:  hostile,
		Scopes:  []string{hostile},
		Browser: spoofing,
		Network: hostile,
		Others:  []Session{{Name: hostile, Browser: spoofing, Network: hostile}},
		Change: &Change{
			Once:  hostile,
			Name:  hostile,
			Days:  hostile,
			Wrong: "days",
			Error: hostile,
		},
	},
	"audit": Audit{
		Layout: shell, Pages: turns,
		Items: []AuditEntry{{
			Parts:   []Part{{Text: hostile}, {Text: spoofing, Quoted: true, Path: hostile}, {Text: spoofing, Code: true}},
			Target:  Ref{Kind: spoofing, ID: hostile, Path: hostile},
			Request: spoofing,
		}},
	},
	"delete": Delete{
		Layout:  shell,
		Days:    14,
		Problem: hostile,
	},
	"deletion-requested": DeletionRequested{SignIn: hostile, Days: 14},
	"deletion": Deletion{
		Workspace: spoofing,
		Email:     spoofing,
		DeletesAt: now,
		Admin:     true,
	},
	"confirm": Confirm{
		Layout:  shell,
		Heading: hostile,
		Subject: spoofing,
		Detail:  hostile,
		Text:    hostile,
		Action:  hostile,
		Button:  hostile,
		Back:    hostile,
		Once:    hostile,
	},
	"done": Done{
		Layout:  shell,
		Heading: hostile,
		Subject: spoofing,
		Points:  []string{hostile},
		Fine:    hostile,
		Links:   links,
	},
	"claim":     Claim{Layout: shell, SignedIn: true, Error: hostile},
	"claim-out": Claim{SignIn: hostile},
	"preview": ClaimPreview{
		Layout:          shell,
		ArtifactSummary: lot,
		Token:           hostile,
		Once:            hostile,
	},
	"keep": Keep{Email: spoofing, Linked: []Linked{linked}, Question: hostile},
	"agent-vouched": AgentRequest{
		Layout:   shell,
		Network:  hostile,
		Attempt:  hostile,
		Provider: spoofing,
		Host:     hostile,
		Address:  spoofing,
		Rights:   []string{hostile},
	},
	"agent": AgentRequest{
		Layout:          shell,
		ArtifactSummary: lot,
		Network:         hostile,
		Attempt:         hostile,
		Error:           hostile,
	},
	"device": Device{Layout: shell, Code: hostile, Error: hostile},
	"request": DeviceRequest{
		Layout:  shell,
		Client:  spoofing,
		Name:    spoofing,
		Network: hostile,
		Rights:  []string{hostile},
		Code:    hostile,
	},
	"consent": Consent{
		Layout:      shell,
		Client:      spoofing,
		ID:          hostile,
		Host:        hostile,
		DescribedAt: hostile,
		Loopback:    true,
		Rights:      []string{hostile},
		Audience:    hostile,
		Request:     hostile,
	},
	"billing": Billing{
		Layout:    Layout{Workspace: spoofing, Email: spoofing, Here: hostile, Sells: true, Operates: true},
		Given:     true,
		Standing:  &Standing{Name: hostile, Badge: hostile, Text: hostile, Paid: hostile, When: hostile, At: now, Trouble: true},
		Outcome:   &Standing{Name: hostile, Text: hostile, Reload: true},
		Manages:   true,
		Customer:  true,
		Offers:    true,
		OnceMonth: hostile,
		OnceYear:  hostile,
		Invoices: []Invoice{{
			Number: spoofing,
			Amount: spoofing,
			Status: spoofing,
			About:  spoofing,
			At:     now,
			URL:    hostile,
		}},
	},
	"admin-plan": PlanOverride{
		Path:         hostile,
		Workspace:    hostile,
		Plan:         hostile,
		Override:     hostile,
		Subscription: hostile,
		Chosen:       hostile,
		Reason:       hostile,
		Once:         hostile,
		Error:        hostile,
	},
	"depart": Depart{Heading: hostile, Text: hostile, Host: spoofing, To: "https://example.test/?a=%22%3E%3Cscript%3E&b='\""},
	"leave":  Leave{Client: spoofing, Host: hostile, To: "https://example.test/?a=%22%3E%3Cscript%3E&b='\""},
	"app-error": AppError{
		Client:  spoofing,
		ID:      hostile,
		Host:    spoofing,
		Code:    hostile,
		Meaning: hostile,
		Detail:  hostile,
		To:      "https://example.test/?a=%22%3E%3Cscript%3E&b='\"",
	},
	"signed-out": SignedOut{SignIn: hostile, Provider: hostile},
	"report": Report{
		Target:    hostile,
		Reason:    hostile,
		Text:      hostile,
		Email:     hostile,
		Reasons:   []Choice{{Code: hostile, Name: hostile}},
		Wrong:     "target",
		Error:     hostile,
		Challenge: hostile,
		Wait:      hostile,
	},
	"connections": Connections{
		Layout: shell,
		APIURL: hostile,
		Agents: []Agent{{
			ID:           hostile,
			Network:      hostile,
			RegisteredAt: now,
			ApprovedAt:   now,
		}},
		Linked:      []Linked{linked},
		LinkedPages: turns,
		Apps: []App{{
			ID:          hostile,
			Name:        spoofing,
			Audience:    hostile,
			DescribedAt: hostile,
			Scopes:      []string{hostile},
		}},
		AgentPages: turns,
		AppPages:   turns,
	},
}

const hostile = `javascript:alert(1)//"'><script>alert(2)</script><img src=x onerror=alert(3)>{{.}}</title></noscript>`

// spoofing is a text that would change the writing direction of what follows it.
const spoofing = "\u202Egpj\u2066" + hostile

func TestEveryTemplateRendersItsZeroValue(t *testing.T) {
	pages := all(true)
	if len(pages) != len(templates) {
		t.Fatalf("%d pages for %d templates", len(pages), len(templates))
	}
	for name, p := range pages {
		body, err := Render(p, now)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if s := string(body); !strings.HasPrefix(s, "<!doctype html>") || !strings.Contains(s, "Vitrine") {
			t.Errorf("%s is no whole document", name)
		}
	}
}

func TestHostileTextStaysText(t *testing.T) {
	for name, p := range all(false) {
		body, err := Render(p, now)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, bad := range []string{"<script>", "<img src=x", `href="javascript:`, `src="javascript:`, "{{", "\u202E", "\u2066"} {
			if strings.Contains(strings.ReplaceAll(string(body), "{{.}}", ""), bad) {
				t.Errorf("%s contains %q:\n%s", name, bad, body)
			}
		}
	}
}

// The host's policies forbid inline scripts and styles and other origins, so templates must not contain any.
func TestTemplatesKeepToThePolicy(t *testing.T) {
	for name, p := range all(true) {
		body, _ := Render(p, now)
		for _, bad := range []string{" style=", "<style", " onclick", " onload", "<script>", "http://", "#ZgotmplZ"} {
			if strings.Contains(string(body), bad) {
				t.Errorf("%s contains %q", name, bad)
			}
		}
	}
}

func TestAssets(t *testing.T) {
	for _, name := range []string{
		"vitrine.css", "viewer.js", "exhibit.js", "live.js", "private.js", "panel.js", "claim.js", "forms.js", "decision.js",
		"icon.svg", "report.js", "since.js",
	} {
		a, ok := FindAsset(name)
		if !ok || a.Type == "" || len(a.Body) == 0 {
			t.Errorf("%s: found %v, type %q, %d bytes", name, ok, a.Type, len(a.Body))
		}
		if path, err := AssetPath(name); err != nil || path != "/assets/"+Build()+"/"+name {
			t.Errorf("AssetPath(%s) = %q, %v", name, path, err)
		}
	}
	if len(assets) != 12 {
		t.Errorf("%d assets, want those above", len(assets))
	}
	if _, err := AssetPath("none.css"); err == nil {
		t.Error("a template may name an asset that does not exist")
	}
}

// User-controlled strings must reach the document as text only.
func TestScriptsMakeNoMarkup(t *testing.T) {
	var scripts string
	for _, name := range []string{
		"viewer.js", "exhibit.js", "live.js", "private.js", "panel.js", "claim.js", "forms.js", "decision.js",
		"report.js",
	} {
		a, _ := FindAsset(name)
		scripts += string(a.Body)
	}
	for _, bad := range []string{
		"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "srcdoc", "document.cookie",
		"localStorage", "\"allow-same-origin",
	} {
		if strings.Contains(scripts, bad) {
			t.Errorf("a script contains %s", bad)
		}
	}
}

func TestPlainTextCannotPassForAnother(t *testing.T) {
	for given, want := range map[string]string{
		"Seals of the bay":             "Seals of the bay",
		"gpj\u202Eexe.":                "gpj\uFFFDexe.",
		"a\u2066b\u2069":               "a\uFFFDb\uFFFD",
		"line\r\nbreak\x00\x1b[31m":    "line\uFFFD\uFFFDbreak\uFFFD\uFFFD[31m",
		"zero\u200Bwidth\uFEFF":        "zero\uFFFDwidth\uFFFD",
		"\xff\xfe":                     "\uFFFD",
		"":                             "(no name)",
		" \u00A0 ":                     "(no name)",
		"café 漢字 עברית":                "café 漢字 עברית",
		"👩\u200D🚀":                     "👩\u200D🚀",
		"می\u200Cخواهم":                "می\u200Cخواهم",
		"Ver\u00ADfassung \u0600٣":     "Ver\u00ADfassung \u0600٣",
		"a\u200Eb\u061Cc\u2060":        "a\uFFFDb\uFFFDc\uFFFD",
		strings.Repeat("ä", 200):       strings.Repeat("ä", 200),
		strings.Repeat("ä", 201):       strings.Repeat("ä", 200) + "…",
		"<b>&amp;</b>":                 "<b>&amp;</b>", // templates escape
		"paragraph\u2029and\u2028line": "paragraph\uFFFDand\uFFFDline",
	} {
		if got := Plain(given); got != want {
			t.Errorf("Plain(%q) = %q, want %q", given, got, want)
		}
	}
}

func TestNumbersForPeople(t *testing.T) {
	for got, want := range map[string]string{
		size(0):                       "0 bytes",
		size(1):                       "1 byte",
		size(999):                     "999 bytes",
		size(1000):                    "1 kB",
		size(18_412):                  "18 kB",
		size(2_340_000):               "2.3 MB",
		size(999_999):                 "1 MB",
		size(5_000_000_000_000):       "5 TB",
		most(10 << 20):                "10 MiB",
		most(1500):                    "1.5 kB",
		Span(24 * time.Hour):          "1 day",
		Span(72 * time.Hour):          "3 days",
		Span(36 * time.Hour):          "36 hours",
		Span(90 * time.Second):        "90 seconds",
		Wait(0):                       "1 second",
		Wait(1100 * time.Millisecond): "2 seconds",
		Wait(90 * time.Second):        "90 seconds",
		Wait(91 * time.Second):        "2 minutes",
		Wait(time.Hour + time.Second): "61 minutes",
		Wait(100 * time.Minute):       "2 hours",
		Wait(24*time.Hour + 1):        "25 hours",
		utc(time.Date(2026, 3, 1, 23, 5, 0, 0, time.FixedZone("", 3600))):     "1 March 2026, 22:05 UTC",
		machine(time.Date(2026, 3, 1, 23, 5, 0, 0, time.FixedZone("", 3600))): "2026-03-01T22:05:00Z",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
