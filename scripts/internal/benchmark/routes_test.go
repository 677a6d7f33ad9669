package main

import (
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"vitrine/scripts/local/engines"
)

const led = "a redirect to the app host, which reads nothing"

const budgeted = "few ask for it, and a test holds its calls"

const asLinks = "it costs what the list of access links does, and reads two items for each row"

const asKeys = "a member's token costs one read more than a key, and the rest is as for keys"

// unmeasured are the operations without a row, and why.
var unmeasured = map[string]string{
	"GET /.well-known/{document}/{path}": "it answers as the document above it",
	"GET /v1/mcp/whoami":                 "a person lets an app in first; it costs what whoami does",

	"GET /skill.md":                            led,
	"GET /skills/vitrine.zip":                  led,
	"GET /.well-known/agent-skills/index.json": led,
	"GET /llms.txt":                            led,
	"GET /llms-full.txt":                       led,
	"GET /agents.md":                           led,

	"GET /{$}":                              "a document from memory, like the metadata",
	"GET /healthz":                          "it tells nothing but that the host runs",
	"GET /openapi.json":                     "a document from memory, like the metadata",
	"GET /.well-known/openid-configuration": "the document of the authorization server by another name",

	"GET /v1/web/feedback":                                        asLinks,
	"GET /v1/web/artifacts/{artifact_id}/feedback":                asKeys,
	"POST /v1/web/artifacts/{artifact_id}/feedback":               asKeys,
	"GET /v1/web/artifacts/{artifact_id}/feedback/{thread_id}":    asKeys,
	"POST /v1/web/artifacts/{artifact_id}/feedback/{thread_id}":   asKeys,
	"DELETE /v1/web/artifacts/{artifact_id}/feedback/{thread_id}": asKeys,
	"PUT /v1/web/artifacts/{artifact_id}/feedback-policy":         asKeys,

	"DELETE /v1/web/artifacts/{artifact_id}/feedback/{thread_id}/messages/{message_id}": asKeys,

	"GET /v1/artifacts/{artifact_id}/feedback":                  budgeted,
	"POST /v1/artifacts/{artifact_id}/feedback":                 budgeted,
	"GET /v1/artifacts/{artifact_id}/feedback/{thread_id}":      budgeted,
	"POST /v1/artifacts/{artifact_id}/feedback/{thread_id}":     budgeted,
	"POST /agent/event/notify":                                  budgeted,
	"PATCH /v1/web/settings":                                    budgeted,
	"POST /v1/web/keys/{api_key_id}/revoke":                     budgeted,
	"POST /v1/web/artifacts/{artifact_id}/access-links":         budgeted,
	"POST /v1/web/artifacts/{artifact_id}/access-link-lockdown": budgeted,
	"POST /v1/web/access-links/{access_link_id}/mint":           budgeted,
	"POST /v1/web/access-links/{access_link_id}/revoke":         budgeted,
	"POST /v1/web/workspace/deletion":                           budgeted,
	"DELETE /v1/web/workspace/deletion":                         budgeted,

	"GET /v1/web/workspace/deletion": "it costs what GET workspace does",
	"POST /v1/web/workspace/export":  "a workspace makes five a day",
	"GET /r/{token}":                 "a list of files, which costs what a page does",
	"HEAD /r/{token}":                "a list of files, which costs what a page does",
	"GET /r/{token}/{path}":          "it reads what a file does; package render has benchmarks of its view",
	"HEAD /r/{token}/{path}":         "it reads what HEAD of a file does",
	"GET /x/{token}":                 "it costs what a bundle does, and is read once or twice",
	"HEAD /x/{token}":                "it costs what a bundle does, and is read once or twice",

	"GET /v1/web/billing":                               "without an account at Stripe it answers not_found",
	"GET /v1/web/billing/invoices":                      "Stripe takes most of its time",
	"GET /v1/web/billing/return":                        "Stripe takes most of its time",
	"POST /v1/web/billing/checkout":                     "Stripe takes most of its time",
	"POST /v1/web/billing/portal":                       "Stripe takes most of its time",
	"POST /v1/billing/webhook":                          "Stripe takes most of its time",
	"POST /v1/web/admin/workspaces/{workspace_id}/plan": "operators are few",

	"GET /v1/web/admin/events":                           "operators are few",
	"GET /v1/web/admin/lockdowns":                        "operators are few",
	"POST /v1/web/admin/lockdowns":                       "operators are few",
	"DELETE /v1/web/admin/lockdowns/{scope}/{target_id}": "operators are few",
}

// operations are those of the documents of the hosts, as method and path. Tests hold the calls of the tools of mcp.
func operations(t *testing.T) map[string]bool {
	t.Helper()
	root, err := engines.Root()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, host := range []string{"api", "upload", "content"} {
		text, err := os.ReadFile(filepath.Join(root, "openapi", host+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var document struct {
			Paths map[string]map[string]struct{ OperationID string }
		}
		if err := json.Unmarshal(text, &document); err != nil {
			t.Fatal(err)
		}
		for path, methods := range document.Paths {
			if path == "/" {
				path = "/{$}" // as the log has it
			}
			for method, operation := range methods {
				preflight := method == "options"
				later := strings.HasSuffix(path, "/unpin") || strings.HasSuffix(path, "/lift") // in turn with another operation
				if operation.OperationID != "" && !preflight && !later {
					all[strings.ToUpper(method)+" "+path] = true
				}
			}
		}
	}
	return all
}

// asked are the operations in the request log of a bench.
func asked(t *testing.T, b *bench) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(b.folder, requestLog))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	parameter := regexp.MustCompile(`\.\.\.}`)
	for line := range strings.Lines(string(text)) {
		var l struct{ Method, Route string }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		all[l.Method+" "+parameter.ReplaceAllLiteralString(l.Route, "}")] = true
	}
	return all
}

func TestEveryRouteHasARow(t *testing.T) {
	o := short(t, "/1$")
	o.inMemory = true
	o.stock = 32
	o.rows = (*bench).routeRows
	o.print = func(b *bench, stdout io.Writer, rows []*row) error {
		served := asked(t, b)
		for operation := range operations(t) {
			if reason := unmeasured[operation]; served[operation] == (reason != "") {
				t.Errorf("%s has a row: %t; reason for having none: %q", operation, served[operation], reason)
			}
		}
		return b.printTable(stdout, rows)
	}
	var out strings.Builder
	if err := o.run(t.Context(), &out, t.Output()); err != nil {
		t.Fatal(err)
	}
	t.Log(out.String())
	rows := rowOfOne.FindAllStringSubmatch(out.String(), -1)
	if len(rows) == 0 {
		t.Error("the table has no rows")
	}
	for _, row := range rows {
		// Each has the permits of a credential and of a workspace, or of an artifact, although most requests have them in
		// hand: how many of those that fit into the time have none depends on the machine.
		want, checked := map[string][3]float64{
			"POST publish, first": {4, 5, 23}, "DELETE artifact": {5, 5, 15}, "HEAD content": {2, 2, 1}, "GET viewer page": {},
			"POST finalize, 3 files": {7, 5, 18}, "POST finalize, 3 files that are known": {11, 5, 21},
		}[row[1]]
		// A request may stamp its key, and where a row has one request, that may be the one. A stamp is a call of 2 WRU.
		stamps := 0.0
		for n, most := range want {
			got, err := strconv.ParseFloat(row[2+n], 64)
			switch n {
			case 0:
				stamps = min(max(got-most, 0), 1)
				got -= stamps
			case 2:
				got -= 2 * stamps
			}
			// Single calls that are repeated on a busy machine are rounded away; the journeys hold the exact numbers.
			if checked && (err != nil || math.Round(got) > most) {
				t.Errorf("%s takes %s calls, RRU and WRU, want at most %v", row[1], row[2:], want)
			}
		}
	}
	leavesNothing(t)
}
