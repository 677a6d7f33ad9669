package mcp

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

// TestTwoAgentsThatEditOneArtifactLoseNothing lets several agents add lines to one file at once. An edit that is
// acknowledged is in the last revision, and one that is not says so.
func TestTwoAgentsThatEditOneArtifactLoseNothing(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	c, who := connected(t, p)
	made := call[contract.MCPPublished](t, c, "publish_artifact",
		map[string]any{"title": "Lines", "body": "<end>", "render_mode": "text"})
	const agents, edits = 3, 4
	var mu sync.Mutex
	var acknowledged []string
	var wait sync.WaitGroup
	for agent := range agents {
		wait.Go(func() {
			g := &rawClient{Env: p.Env, token: p.GrantTo(t, who, appClient, p.Origins.MCP).Key}
			for n := range edits {
				line := fmt.Sprintf("line %d of agent %d\n", n, agent)
				r := g.try(t, "multi_edit", map[string]any{"artifact_id": made.ArtifactID, "path": "content.txt",
					"edits": []map[string]any{{"old_string": "<end>", "new_string": line + "<end>"}}})
				if !r.IsError {
					mu.Lock()
					acknowledged = append(acknowledged, line)
					mu.Unlock()
				} else if code := r.code(t); code != fault.PatchConflict && code != fault.DraftRevisionConflict {
					t.Errorf("%s: %s", line, r.Value)
				}
			}
		})
	}
	wait.Wait()
	file := call[contract.MCPFile](t, c, "read_file",
		map[string]any{"artifact_id": made.ArtifactID, "path": "content.txt"})
	for _, line := range acknowledged {
		if strings.Count(*file.Body, line) != 1 {
			t.Errorf("%q is %d times in the file", line, strings.Count(*file.Body, line))
		}
	}
	if n := strings.Count(*file.Body, "line "); n != len(acknowledged) || n == 0 {
		t.Errorf("%d lines are in the file, %d were acknowledged", n, len(acknowledged))
	}
	t.Logf("%d of %d edits were acknowledged", len(acknowledged), agents*edits)
}

// TestARepeatedCallHasOneEffect repeats calls as clients do that lost an answer.
func TestARepeatedCallHasOneEffect(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	c, _ := connected(t, p)
	repeat := func(tool string, args map[string]any) (first, second contract.MCPPublished) {
		t.Helper()
		first = call[contract.MCPPublished](t, c, tool, args)
		c.last--
		return first, call[contract.MCPPublished](t, c, tool, args)
	}
	first, second := repeat("publish_artifact", map[string]any{"title": "Once", "body": "one", "render_mode": "text"})
	if first.RevisionID != second.RevisionID {
		t.Errorf("published %s and %s", first.ArtifactID, second.ArtifactID)
	}
	edit := map[string]any{"artifact_id": first.ArtifactID, "path": "content.txt",
		"edits": []map[string]any{{"old_string": "one", "new_string": "two"}}}
	if first, second = repeat("multi_edit", edit); first.RevisionID != second.RevisionID {
		t.Errorf("edited twice: %s and %s", first.RevisionID, second.RevisionID)
	}
	if _, again := repeat("add_revision", map[string]any{
		"artifact_id": first.ArtifactID, "body": "two", "render_mode": "text",
	}); again.RevisionID != first.RevisionID || again.Stats.TotalFiles != 0 {
		t.Errorf("the same text makes %+v", again)
	}
	keyed := map[string]any{"title": "Keyed", "body": "one", "render_mode": "text", "idempotency_key": key(1)}
	made := call[contract.MCPPublished](t, c, "publish_artifact", keyed)
	if same := call[contract.MCPPublished](t, c, "publish_artifact", keyed); same.ArtifactID != made.ArtifactID {
		t.Errorf("one key made %s and %s", made.ArtifactID, same.ArtifactID)
	}
	keyed["body"] = "another"
	c.refused(t, fault.InvalidIdempotencyKey, "publish_artifact", keyed)
	list := call[contract.ArtifactList](t, c, "list_artifacts", nil)
	if len(list.Data) != 2 {
		t.Errorf("%d artifacts", len(list.Data))
	}
}
