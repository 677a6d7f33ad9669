package client

import (
	"errors"
	"strings"
	"testing"

	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// pageOf3 returns a page of a revision of three files.
func pageOf3(revision id.Revision, next string, paths ...string) contract.PublicAgentView {
	v := contract.PublicAgentView{RevisionID: revision, FilesTotal: 3, FilesNextCursor: next}
	for _, p := range paths {
		v.Files = append(v.Files, contract.AgentViewFile{Path: p})
	}
	return v
}

func TestPagesOfAView(t *testing.T) {
	type pages []contract.PublicAgentView
	for name, tt := range map[string]struct {
		later pages
		want  string // part of the failure
	}{
		"are two":                 {pages{pageOf3("r", "", "b", "c")}, ""},
		"may be three":            {pages{pageOf3("r", "3", "b"), pageOf3("r", "", "c")}, ""},
		"are of one revision":     {pages{pageOf3("s", "", "b", "c")}, "of another revision"},
		"have no file twice":      {pages{pageOf3("r", "", "b", "a")}, "each file"},
		"have all files":          {pages{pageOf3("r", "", "b")}, "each file"},
		"have no more than all":   {pages{pageOf3("r", "", "b", "c", "d")}, "more files"},
		"do not lead to the same": {pages{pageOf3("r", "2", "b")}, "more files"},
		"do not go in a circle":   {pages{pageOf3("r", "3", "b"), pageOf3("r", "2", "c"), pageOf3("r", "3", "b")}, "more files"},
	} {
		t.Run(name, func(t *testing.T) {
			left := append(pages{pageOf3("r", "2", "a")}, tt.later...)
			v, err := (&Deployment{caller: &Caller{}}).allFiles(func(string) (v contract.PublicAgentView, err error) {
				v, left = left[0], left[1:]
				return v, nil
			})
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%v, want %q", err, tt.want)
				}
				return
			}
			if err != nil || len(v.Files) != 3 || v.Files[2].Path != "c" || v.FilesNextCursor != "" {
				t.Errorf("%+v, %v", v, err)
			}
		})
	}
}

func TestARefusedCursorBeginsAnewAFewTimes(t *testing.T) {
	refused := failure.New(failure.Invalid, fault.InvalidRequest, "files_cursor is of another revision")
	for refusals, calls := range map[int]int{1: 4, 2: 6, 9: 2 * maxReads} {
		left, n := refusals, 0
		_, err := (&Deployment{caller: &Caller{}}).allFiles(func(cursor string) (contract.PublicAgentView, error) {
			n++
			if cursor == "" {
				return pageOf3("r", "2", "a"), nil
			}
			if left--; left >= 0 {
				return contract.PublicAgentView{}, refused
			}
			return pageOf3("r", "", "b", "c"), nil
		})
		if n != calls || (err != nil) != (refusals >= maxReads) {
			t.Errorf("%d refusals: %d calls, want %d; %v", refusals, n, calls, err)
		}
	}
}

func TestAnotherFailureOfAPageEndsTheReading(t *testing.T) {
	broken, n := errors.New("broken"), 0
	_, err := (&Deployment{caller: &Caller{}}).allFiles(func(cursor string) (contract.PublicAgentView, error) {
		if n++; cursor == "" {
			return pageOf3("r", "2", "a"), nil
		}
		return contract.PublicAgentView{}, broken
	})
	if n != 2 || !errors.Is(err, broken) {
		t.Errorf("%d calls, %v", n, err)
	}
}
