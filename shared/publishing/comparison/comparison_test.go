package comparison

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
)

func TestFilesThatDifferAreListedByPath(t *testing.T) {
	e := newEnv(t, map[string]string{
		"same.txt":    "same",
		"b.txt":       "one\ntwo\n",
		"gone.txt":    "gone\n",
		"old/name.md": "moved",
		"empty":       "",
	}, map[string]string{
		"same.txt":    "same",
		"b.txt":       "one\n2\n",
		"a.txt":       "fresh\n",
		"new/name.md": "moved",
		"void":        "",
	})
	out := e.compare(t, Query{})
	if out.ArtifactID != e.a.ID || out.FromRevisionID != e.revision(1) || out.ToRevisionID != e.revision(2) ||
		out.PageInfo.HasMore {
		t.Errorf("%+v, want both revisions on one page", out)
	}
	var got []string
	for _, f := range out.Files {
		got = append(got, fmt.Sprintf("%s %s %s %q", f.Change, f.Path, f.PreviousPath, f.Diff))
	}
	want := []string{
		`added a.txt  "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+fresh\n"`,
		`changed b.txt  "--- a/b.txt\n+++ b/b.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"`,
		`removed empty  ""`,
		`removed gone.txt  "--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n"`,
		`renamed new/name.md old/name.md ""`,
		`added void  ""`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	b := out.Files[1]
	if b.From == nil || b.To == nil || b.From.SizeBytes != 8 || b.To.SHA256 != tree.DigestOf("one\n2\n").String() {
		t.Errorf("%+v, want both sides", b)
	}
	if out.Files[0].From != nil || out.Files[3].To != nil {
		t.Error("a file is in a revision that does not have it")
	}
	if len(e.store.opened) != 4 || slices.Contains(e.store.opened, "same") || slices.Contains(e.store.opened, "moved") {
		t.Errorf("these bodies were read: %q", e.store.opened)
	}
}

func TestTheRevisionsAreTheCallersChoice(t *testing.T) {
	e := newEnv(t, map[string]string{"f": "1\n"}, map[string]string{"f": "2\n"}, map[string]string{"f": "3\n"})
	for name, c := range map[string]struct {
		q        Query
		from, to int // numbers; 0: none
		reads    int // of revisions
	}{
		"the last two":             {Query{}, 2, 3, 1},
		"one and the one before":   {Query{To: e.revision(2)}, 1, 2, 2},
		"the first":                {Query{To: e.revision(1)}, 0, 1, 1},
		"an older one and the new": {Query{From: e.revision(1)}, 1, 3, 1},
		"two":                      {Query{From: e.revision(1), To: e.revision(2)}, 1, 2, 2},
		"backwards":                {Query{From: e.revision(3), To: e.revision(1)}, 3, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			e.store.reads = 0
			out := e.compare(t, c.q)
			if trees := min(c.from, 1) + 1; e.store.reads-trees != c.reads {
				t.Errorf("%d reads of revisions, want %d", e.store.reads-trees, c.reads)
			}
			want := fmt.Sprintf("-%d\n+%d\n", c.from, c.to)
			if c.from == 0 {
				want = "+1\n"
			} else if out.FromRevisionID != e.revision(c.from) {
				t.Errorf("from %s", out.FromRevisionID)
			}
			if out.ToRevisionID != e.revision(c.to) || !strings.HasSuffix(out.Files[0].Diff, "@@\n"+want) {
				t.Errorf("%+v, want the newer revision and what was changed", out)
			}
		})
	}
	if out := e.compare(t, Query{From: e.revision(2), To: e.revision(2)}); len(out.Files) != 0 || out.Files == nil {
		t.Errorf("a revision differs from itself: %+v", out)
	}
}

func TestWhatMayNotBeReadIsNotCompared(t *testing.T) {
	e := newEnv(t, map[string]string{"f": "1"}, map[string]string{"f": "2"}, map[string]string{"f": "3"})
	add := func(s artifact.RevisionStatus, number int) id.Revision {
		r := artifact.Revision{ID: id.NewRevision(), Status: s, Number: number}
		e.store.revisions = append(e.store.revisions, r)
		return r.ID
	}
	draft, discarded := add(artifact.Draft, 0), add(artifact.Retained, 0)
	e.store.revisions[0].Status = artifact.Retained
	for name, c := range map[string]struct {
		set  func(*artifact.Artifact)
		q    Query
		want fault.Code
	}{
		"a draft":                      {nil, Query{To: draft}, fault.NotFound},
		"from a draft":                 {nil, Query{From: draft}, fault.NotFound},
		"a discarded draft":            {nil, Query{To: discarded}, fault.NotFound},
		"one of another artifact":      {nil, Query{From: id.NewRevision()}, fault.NotFound},
		"no id":                        {nil, Query{To: "nonsense"}, fault.NotFound},
		"one whose bytes are gone":     {nil, Query{From: e.revision(1)}, fault.RevisionRetained},
		"to one whose bytes are gone":  {nil, Query{To: e.revision(1)}, fault.RevisionRetained},
		"the one before is gone":       {nil, Query{To: e.revision(2)}, fault.RevisionRetained},
		"a path in neither":            {nil, Query{Path: "g"}, fault.NotFound},
		"a deleted artifact":           {func(a *artifact.Artifact) { a.Status = artifact.Deleted }, Query{}, fault.NotFound},
		"an expired one":               {func(a *artifact.Artifact) { a.ExpiresAt = now }, Query{}, fault.NotFound},
		"a locked one":                 {func(a *artifact.Artifact) { a.Lock = id.NewLockdown() }, Query{}, fault.NotFound},
		"one of another workspace":     {func(a *artifact.Artifact) { a.Owner = id.NewWorkspace() }, Query{}, fault.NotFound},
		"one without a publication":    {func(a *artifact.Artifact) { a.Current = "" }, Query{}, fault.NotFound},
		"a cursor that is none":        {nil, Query{Cursor: "v1.AAAA"}, fault.InvalidCursor},
		"what is readable, to compare": {nil, Query{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := *e.a
			if c.set != nil {
				c.set(&a)
			}
			if _, err := e.Compare(t.Context(), e.by, &a, c.q); fault.CodeOf(err) != c.want {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	if _, err := e.Compare(t.Context(), e.by, nil, Query{}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("no artifact: %v", err)
	}
}

func TestAPathLimitsTheComparisonToOneFile(t *testing.T) {
	e := newEnv(t, map[string]string{"a": "1", "b": "1", "old": "x"}, map[string]string{"a": "2", "b": "2", "new": "x"})
	e.publish(map[string]string{"a": "2", "b": "3", "new": "x"})
	for path, want := range map[string]string{"a": "changed", "old": "renamed", "new": "renamed"} {
		out := e.compare(t, Query{From: e.revision(1), To: e.revision(2), Path: path})
		if len(out.Files) != 1 || out.Files[0].Change != want {
			t.Errorf("%s: %+v", path, out.Files)
		}
	}
	if out := e.compare(t, Query{Path: "a"}); len(out.Files) != 0 {
		t.Errorf("a file that is the same differs: %+v", out.Files)
	}
}

func TestFilesWithoutADiffHaveAReason(t *testing.T) {
	big := strings.Repeat("a\n", limits.ComparedFile/2)
	for name, c := range map[string]struct {
		path, before, after string
		omitted             string // part of the reason; empty: there is a diff
		opened              int
	}{
		"text":                    {"f.txt", "a\n", "b\n", "", 2},
		"text without extension":  {"Makefile", "a\n", "b\n", "", 2},
		"a drawing":               {"f.svg", "<svg/>\n", "<svg></svg>\n", "", 2},
		"a picture":               {"f.png", "a", "b", "not text", 0},
		"bytes":                   {"f.bin", "a", "\xff\xfe", "not text", 2},
		"a NUL":                   {"f.txt", "a", "a\x00", "not text", 2},
		"the largest file":        {"f.txt", "a\n", lines(15000, "nine ltrs"), "", 2},
		"one that is too large":   {"f.txt", "a\n", big + "a", "more than 262144 bytes", 0},
		"it was too large":        {"f.txt", big + "a", "a\n", "more than 262144 bytes", 0},
		"too many lines":          {"f.txt", "", strings.Repeat("\n", limits.ComparedLines), "16384 lines", 1},
		"a line that is too long": {"f.js", "a\n", strings.Repeat("a", limits.ComparedLine+1), "a line of more than 8192", 2},
		"the longest line":        {"f.js", "a\n", strings.Repeat("a", limits.ComparedLine), "", 2},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, map[string]string{c.path: c.before}, map[string]string{c.path: c.after})
			f := e.compare(t, Query{}).Files[0]
			if c.omitted == "" && (f.DiffOmitted != "" || f.Diff == "") || !strings.Contains(f.DiffOmitted, c.omitted) {
				t.Errorf("%.200q omitted: %q, want %q", f.Diff, f.DiffOmitted, c.omitted)
			}
			if (f.Diff == "") != (f.DiffOmitted != "") || len(e.store.opened) != c.opened {
				t.Errorf("%d objects were read, want %d", len(e.store.opened), c.opened)
			}
		})
	}
}

func TestObjectsThatCannotBeReadFailTheComparison(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(*fakeStore)
		want fault.Code
	}{
		"they are gone": {func(f *fakeStore) { clear(f.objects) }, fault.NotFound},
		"S3 is down": {
			func(f *fakeStore) { f.opens = fault.New(fault.StorageUnavailable, "down") }, fault.StorageUnavailable,
		},
		"they are damaged": {func(f *fakeStore) {
			for o := range f.objects {
				f.objects[o] = "?"
			}
		}, fault.StorageUnavailable},
		"the files are gone": {func(f *fakeStore) { clear(f.trees) }, fault.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, map[string]string{"f": "1"}, map[string]string{"f": "2"})
			c.set(e.store)
			if _, err := e.Compare(t.Context(), e.by, e.a, Query{}); fault.CodeOf(err) != c.want {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestAnAnswerIsEncodedAsItsSchemaSays(t *testing.T) {
	e := newEnv(t, map[string]string{"f": "<1>\n"})
	body, err := contract.Encode(e.compare(t, Query{}))
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`{"artifact_id":"%s","to_revision_id":"%s","counts":{"added":1,"removed":0,"changed":0,"renamed":0},"files":[{"path":"f","change":"added",`+
		`"to":{"size_bytes":4,"sha256":"%s"},"diff":"--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+<1>\n"}],`+
		`"page_info":{"next_cursor":null,"has_more":false}}`+"\n",
		e.a.ID, e.a.Current, tree.DigestOf("<1>\n"))
	if string(body) != want {
		t.Errorf("%s\nwant %s", body, want)
	}
}
