package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/archive"
	"vitrine/shared/publishing/tree"
)

// laterPage is how many files the fake server's pages have after the first.
const laterPage = 800

// page returns a page of a view with more files than one call answers, or answers that the cursor is of no use.
func (server *fakeServer) page(
	w http.ResponseWriter, s *snapshot, cursor string,
) (v contract.PublicAgentView, ok bool) {
	v = server.viewOf(s)
	from, to := 0, limits.ViewFiles
	if cursor != "" {
		if _, err := fmt.Sscanf(cursor, "c"+string(s.id)+".%d", &from); err != nil {
			plannedFault{status: 400, code: "invalid_request"}.answer("", w)
			return v, false
		}
		to = from + laterPage
	}
	if len(v.Files) <= limits.ViewFiles {
		return v, true
	}
	v.FilesTotal, v.SizeTotal = len(v.Files), s.size()
	slices.SortStableFunc(v.Files, func(a, b contract.AgentViewFile) int {
		return strings.Compare(rank(a, s), rank(b, s))
	})
	if to < len(v.Files) {
		v.FilesNextCursor = fmt.Sprintf("c%s.%d", s.id, to)
	}
	v.Files = v.Files[from:min(to, len(v.Files))]
	return v, true
}

// rank sorts the entrypoint first, and the others by path.
func rank(f contract.AgentViewFile, s *snapshot) string {
	if f.Path == s.entrypoint {
		return ""
	}
	return f.Path
}

// isUncounted answers 400 to a partial revision whose client has not compared all files of a large base.
func (server *fakeServer) isUncounted(w http.ResponseWriter, s contract.CreateSession) bool {
	server.mu.Lock()
	defer server.mu.Unlock()
	base := server.world.revision(s.BaseRevisionID)
	if base == nil || len(base.files) <= limits.ViewFiles {
		if s.BaseFiles != 0 {
			server.wrong = append(server.wrong, "create: base_files of a small base")
		}
		return false
	}
	if s.BaseFiles == len(base.files) && !server.forgets {
		return false
	}
	answer(w, 400, contract.Envelope{Error: contract.Problem{
		Code:    "invalid_request",
		Message: "base_revision_not_publishable: base_files is not the number of its files",
	}})
	return true
}

// makeMany makes a revision of n files the newest one, and a folder of the same files.
func (server *fakeServer) makeMany(ts *testscript.TestScript, n int, dir string) {
	files := map[string]string{"index.html": "<h1>Many</h1>\n"}
	for i := range n - 1 {
		files[fmt.Sprintf("f/%04d.txt", i)] = fmt.Sprintln("file", i)
	}
	server.world.add(server.world.title, "index.html", files)
	ts.Check(os.MkdirAll(filepath.Join(dir, "f"), 0o777))
	for path, text := range files {
		ts.Check(os.WriteFile(filepath.Join(dir, path), []byte(text), 0o666))
	}
}

// makeLarge NAME SIZE makes a file that takes no space, and makeLarge FOLDER paths N makes N empty files with long paths.
func makeLarge(ts *testscript.TestScript, neg bool, args []string) {
	switch {
	case neg || len(args) < 2:
		ts.Fatalf("usage: make-large NAME SIZE, or make-large FOLDER paths N")
	case args[1] != "paths":
		name := ts.MkAbs(args[0])
		ts.Check(os.MkdirAll(filepath.Dir(name), 0o777))
		ts.Check(os.WriteFile(name, nil, 0o666))
		ts.Check(os.Truncate(name, int64(number(ts, args[1]))))
	default:
		dir := filepath.Join(ts.MkAbs(args[0]), strings.Repeat("a", 250), strings.Repeat("b", 250), strings.Repeat("c", 250))
		ts.Check(os.MkdirAll(dir, 0o777))
		for i := range number(ts, args[2]) {
			ts.Check(os.WriteFile(filepath.Join(dir, fmt.Sprintf("%0200d", i)), nil, 0o666))
		}
	}
}

// checkArchive compares a file with the archive that the server would make of the newest revision.
func (server *fakeServer) checkArchive(ts *testscript.TestScript, name string) {
	s := server.world.newest()
	var files tree.Tree
	for path, text := range s.files {
		files = append(files, tree.File{Path: path, Size: int64(len(text))})
	}
	var want strings.Builder
	ts.Check(archive.Write(&want, files, s.entrypoint, epoch, func(f tree.File) (archive.Body, error) {
		return archive.Bytes([]byte(s.files[f.Path])), nil
	}))
	if got := ts.ReadFile(name); got != want.String() {
		ts.Fatalf("%s has %d bytes, the archive %d, or others", name, len(got), want.Len())
	}
}
