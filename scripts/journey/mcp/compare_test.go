package mcp

import (
	"encoding/json"
	"fmt"
	"html"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// comparer is a person who compares revisions by the page, by the command and by an agent.
type comparer struct {
	*harness.FakeBrowser
	agent *rawClient
	key   contract.CreatedKey
}

func newComparer(t *testing.T) *comparer {
	t.Helper()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	w := p.SignedIn(t, "ada@example.org")
	who := &harness.Member{Agent: p.WithBearer(w.CLIToken(t).AccessToken)}
	home := harness.CallAs[contract.WebWorkspace](t, who, 200, "GET", "/v1/web/workspace", nil).WorkspaceMember
	who.ID, who.Workspace = home.ID, home.WorkspaceID
	return &comparer{
		FakeBrowser: w,
		agent:       &rawClient{Env: p.Env, token: p.GrantTo(t, who, appClient, p.Origins.MCP).Key},
		key: harness.CallAs[contract.CreatedKey](
			t, who, 201, "POST", "/v1/web/keys", contract.CreateKey{Name: "K"}, harness.KeyHeader()...,
		),
	}
}

// comparedFacts are what every surface says of two revisions.
type comparedFacts struct {
	From, To id.Revision
	Counts   string
	Files    []string // how each changed, where it is and was
	Diffs    map[string]string
}

func countsOf(c contract.ComparisonCounts) string {
	var out []string
	for _, n := range []struct {
		count int
		word  string
	}{{c.Added, "added"}, {c.Removed, "removed"}, {c.Changed, "changed"}, {c.Renamed, "renamed"}} {
		if n.count > 0 {
			out = append(out, fmt.Sprintf("%d %s", n.count, n.word))
		}
	}
	return strings.Join(out, ", ")
}

// byTool follows the cursor of diff_revisions to the end.
func (c *comparer) byTool(t *testing.T, a id.Artifact) comparedFacts {
	t.Helper()
	out := comparedFacts{Diffs: map[string]string{}}
	args := map[string]any{"artifact_id": a}
	for pages := 1; ; pages++ {
		r := call[contract.Comparison](t, c.agent, "diff_revisions", args)
		out.From, out.To, out.Counts = r.FromRevisionID, r.ToRevisionID, countsOf(r.Counts)
		for _, f := range r.Files {
			out.Files = append(out.Files, strings.TrimSpace(f.Change+" "+f.Path+" "+f.PreviousPath))
			if f.Diff != "" {
				out.Diffs[f.Path] = f.Diff
			}
		}
		if !r.PageInfo.HasMore {
			if pages < 2 {
				t.Error("the answers are not many enough to have an order")
			}
			return out
		}
		args["cursor"] = *r.PageInfo.NextCursor
	}
}

// byCommand runs vitrine diff.
func (c *comparer) byCommand(t *testing.T, a id.Artifact) comparedFacts {
	t.Helper()
	program := harness.Must(harness.BuildProgram("vitrine", "./cmd/vitrine", "cmd", "shared"))(t)
	run := exec.CommandContext(t.Context(), program, "diff", string(a), "--json")
	home := t.TempDir()
	run.Env = append(os.Environ(), "VITRINE_URL="+c.Origins.API, "VITRINE_API_KEY="+c.key.Secret, "HOME="+home,
		"XDG_CONFIG_HOME="+home)
	printed, err := run.Output()
	harness.NoError(t, err)
	var said struct {
		From   id.Revision `json:"from_revision_id"`
		To     id.Revision `json:"to_revision_id"`
		Counts contract.ComparisonCounts
		Files  []struct {
			Path, Status, Diff string
			Was                string `json:"previous_path"`
		}
	}
	harness.NoError(t, json.Unmarshal(printed, &said))
	out := comparedFacts{
		From:   said.From,
		To:     said.To,
		Counts: countsOf(said.Counts),
		Diffs:  map[string]string{},
	}
	for _, f := range said.Files {
		out.Files = append(out.Files, strings.TrimSpace(f.Status+" "+f.Path+" "+f.Was))
		if f.Diff != "" {
			out.Diffs[f.Path] = f.Diff
		}
	}
	return out
}

var (
	pageChange = regexp.MustCompile(`<li><a href="[^"]*"><bdi>([^<]*)</bdi>(?: <span class="was">was <bdi>([^<]*)</bdi></span>)?</a><span class="badge (\w+)">`)
	pageCounts = regexp.MustCompile(`<span class="count">([^<]*)</span>`)
	pageChoice = regexp.MustCompile(`<option value="(rev_\w+)" selected>`)
	pageFile   = regexp.MustCompile(`(?s)<section class="panel compared" id="(f\d+)".*?<bdi>([^<]*)</bdi>.*?</section>`)
	pageHunk   = regexp.MustCompile(`(?s)<p class="hunk" id="[^"]*"><a href="[^"]*">([^<]*)</a></p>|<span class="mark">([^<]*)</span><code>([^<]*)</code>(<span class="cut">)?`)
	pageNext   = regexp.MustCompile(`href="([^"]*)" rel="next"`)
)

// byPage reads the pages of the comparison line by line.
func (c *comparer) byPage(t *testing.T, a id.Artifact) (out comparedFacts) {
	t.Helper()
	out.Diffs = map[string]string{}
	for next := "/artifacts/" + string(a) + "/compare?view=unified"; next != ""; {
		body := string(c.Get(t, next).Body)
		var files []string
		for _, m := range pageChange.FindAllStringSubmatch(body, -1) {
			files = append(files, html.UnescapeString(strings.TrimSpace(m[3]+" "+m[1]+" "+m[2])))
		}
		if out.Files != nil && cmp.Diff(out.Files, files) != "" {
			t.Errorf("%s lists other files", next)
		}
		out.Files = files
		chosen := pageChoice.FindAllStringSubmatch(body, -1)
		count := pageCounts.FindStringSubmatch(body)
		if len(chosen) != 2 || count == nil {
			t.Fatalf("%s: %s", next, body)
		}
		out.From, out.To, out.Counts = id.Revision(chosen[0][1]), id.Revision(chosen[1][1]), count[1]
		for _, m := range pageFile.FindAllStringSubmatch(body, -1) {
			if diff := shownDiff(m[0]); diff != "" {
				out.Diffs[html.UnescapeString(m[2])] = diff
			}
		}
		link := pageNext.FindStringSubmatch(body)
		if next = ""; link != nil {
			next = html.UnescapeString(link[1])
		}
	}
	return out
}

// shownDiff returns the hunks of a file on a page as a unified diff has them.
func shownDiff(section string) string {
	var out strings.Builder
	for _, m := range pageHunk.FindAllStringSubmatch(section, -1) {
		if m[1] != "" {
			out.WriteString(html.UnescapeString(m[1]) + "\n")
			continue
		}
		mark := map[string]string{"": " ", "−": "-", "+": "+"}[html.UnescapeString(m[2])]
		out.WriteString(mark + html.UnescapeString(m[3]) + "\n")
		if m[4] != "" {
			out.WriteString("\\ No newline at end of file\n")
		}
	}
	return out.String()
}

// TestTheCommandTheToolAndThePageTellTheSameChanges compares two revisions with files of every kind of change, more of
// them than one answer has.
func TestTheCommandTheToolAndThePageTellTheSameChanges(t *testing.T) {
	t.Parallel()
	c := newComparer(t)
	author := &wire.Agent{HTTP: c.Anyone.HTTP, At: c.Anyone.At, Key: c.key.Secret}
	var old, fresh []wire.File
	add := func(list *[]wire.File, path, body string) {
		*list = append(*list, wire.File{Path: path, Body: []byte(body)})
	}
	for n := range 30 {
		path := fmt.Sprintf("pages/%02d.html", n)
		add(&old, path, fmt.Sprintf("<p>one %d\n<p>two\n<p>three", n))
		add(&fresh, path, fmt.Sprintf("<p>one %d\n<p>2\n<p>three\n", n))
	}
	for path, bodies := range map[string][2]string{
		"index.html": {"<p>same\n", "<p>same\n"}, "gone.txt": {"gone\n", ""}, "new.txt": {"", "new"},
		"old.txt": {"moved\n", ""}, "moved/here.txt": {"", "moved\n"}, "logo.png": {"\x89PNG 1", "\x89PNG 2"},
		"data.csv": {"a,b\n1,2\n", "a,b\n1,3\n"}, "a & b <c>.md": {"# One\n", "# Two\n"},
	} {
		if bodies[0] != "" {
			add(&old, path, bodies[0])
		}
		if bodies[1] != "" {
			add(&fresh, path, bodies[1])
		}
	}
	made := harness.Must(author.PublishFiles(ctx, "Compared", "", old...))(t)
	harness.Must(author.PublishFiles(ctx, "Compared", made.ArtifactID, fresh...))(t)

	tool := c.byTool(t, made.ArtifactID)
	if tool.From != made.RevisionID || tool.Counts != "1 added, 1 removed, 33 changed, 1 renamed" ||
		len(tool.Files) != 36 {
		t.Errorf("the tool says %s from %s: %q", tool.Counts, tool.From, tool.Files)
	}
	if diff := cmp.Diff(tool, c.byCommand(t, made.ArtifactID)); diff != "" {
		t.Errorf("the tool and the command differ:\n%s", diff)
	}
	for path, diff := range tool.Diffs { // a page names the file above
		_, hunks, _ := strings.Cut(diff, "@@")
		tool.Diffs[path] = "@@" + hunks
	}
	if diff := cmp.Diff(tool, c.byPage(t, made.ArtifactID)); diff != "" {
		t.Errorf("the tool and the page differ:\n%s", diff)
	}

	unknown := "/artifacts/" + string(made.ArtifactID) + "/compare?to=" + string(id.NewRevision())
	if a := c.Get(t, unknown); a.Status != 404 {
		t.Errorf("an unknown revision answers %d", a.Status)
	}
}
