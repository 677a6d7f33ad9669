package main

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

func TestPartOf(t *testing.T) {
	declared := func(names ...string) (files []contract.DeclaredFile) {
		for _, n := range names {
			files = append(files, contract.DeclaredFile{Path: n[:1], SizeBytes: 1, SHA256: n})
		}
		return files
	}
	base := &contract.AgentView{PublicAgentView: contract.PublicAgentView{RevisionID: revision, Entrypoint: "a"}}
	for _, f := range declared("a1", "b1", "c1") {
		base.Files = append(base.Files, contract.AgentViewFile{Path: f.Path, SizeBytes: 1, SHA256: f.SHA256})
	}
	base.Files = append(base.Files, contract.AgentViewFile{Path: "u", SizeBytes: 1}) // without a digest
	for _, tt := range []struct {
		name    string
		files   []contract.DeclaredFile
		entry   string
		sent    []contract.DeclaredFile
		deleted []string
		ok      bool
	}{
		{"one changed", declared("a1", "b2", "c1", "u1"), "a", declared("b2", "u1"), nil, true},
		{"one more", declared("a1", "b1", "c1", "d1", "u1"), "a", declared("d1", "u1"), nil, true},
		{"some gone", declared("a1", "b1"), "a", []contract.DeclaredFile{}, []string{"c", "u"}, true},
		{"the entrypoint gone", declared("b1", "c1"), "b", nil, nil, false},
		{"another entrypoint", declared("a1", "b1", "c2"), "b", nil, nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			whole := contract.CreateSession{Title: "t", Entrypoint: tt.entry, Files: tt.files}
			part, ok := partOf(whole, base)
			want := whole
			if tt.ok {
				want.BaseRevisionID = revision
				want.Files = tt.sent
				want.DeletedPaths = tt.deleted
			}
			if diff := cmp.Diff(want, part, cmpopts.IgnoreUnexported(contract.CreateSession{})); diff != "" || ok != tt.ok {
				t.Errorf("ok %v\n%s", ok, diff)
			}
		})
	}
	base.Files = base.Files[:3]
	if _, ok := partOf(contract.CreateSession{Entrypoint: "a", Files: declared("a1", "b1", "c1")}, base); ok {
		t.Error("a part without a difference")
	}
	if _, ok := partOf(contract.CreateSession{Entrypoint: "a"}, nil); ok {
		t.Error("a part without a base")
	}
}

func TestUnbuildable(t *testing.T) {
	for _, word := range baseWords {
		if !unbuildable(failure.New(failure.Invalid, fault.InvalidRequest, "the server says: %s: rev_1", word)) {
			t.Errorf("%s is not known", word)
		}
		if unbuildable(failure.New(failure.Invalid, fault.FileSizeCapExceeded, "%s", word)) {
			t.Errorf("another code with %s is taken for it", word)
		}
	}
	for _, err := range []error{nil, errors.New("x"), failure.New(failure.Invalid, fault.InvalidRequest, "no")} {
		if unbuildable(err) {
			t.Errorf("%v is", err)
		}
	}
}
