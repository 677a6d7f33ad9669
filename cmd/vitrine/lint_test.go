package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"vitrine/shared/platform/contract"
)

func TestWatchTellsOfNewFindingsOnly(t *testing.T) {
	for _, args := range [][]string{nil, {"--json"}} {
		w := newWatchTest(t, append(args, "--artifact-id", artifact)...)
		for revision, found := range map[int]string{3: "one 5", 4: "one 6, two 7", 5: "one 8"} {
			var warnings []contract.PageWarning
			for each := range strings.SplitSeq(found, ", ") {
				p := contract.PageWarning{Code: "missing_file", Severity: "error", Path: "index.html"}
				fmt.Sscan(each, &p.Message, &p.Line)
				warnings = append(warnings, p)
			}
			body, _ := json.Marshal(contract.Finalized{
				ArtifactID:      artifact,
				RevisionID:      revisionID(revision),
				Status:          "draft",
				Warnings:        warnings,
				WarningsOmitted: 2,
			})
			w.happens[10*(revision-3)+1] = func() {
				w.plan("finalize", 1, plannedFault{done: true, status: 200, body: string(body)})
				w.write(t, "index.html", found)
			}
		}
		w.run(t, 30)
		if args != nil {
			if e := w.jsonLines(t)[2]; len(e["page_warnings"].([]any)) != 2 || e["page_warnings_omitted"] != 2.0 {
				t.Errorf("an event is %v", e)
			}
			continue
		}
		_, told, _ := strings.Cut(w.err.String(), "Ctrl-C ends it\n")
		wantLines(t, strings.Split(told, "\n"), "index.html:5: error: one [missing_file]", "And 2 more findings in the pages",
			"index.html:7: error: two [missing_file]", "")
	}
}
