package mcp

import (
	"strings"
	"testing"

	"vitrine/shared/platform/fault"
)

func TestArgumentsThatDoNotFitAreToldToTheModel(t *testing.T) {
	e := newEnv(t)
	const art = "art_00000000000000000000000000"
	type object = map[string]any
	files := func(size any) any {
		return object{"title": "x", "files": []any{object{"path": "a", "size_bytes": size}}}
	}
	edits := func(edit any) any {
		fits := object{"old_string": "a", "new_string": "b", "replace_all": true}
		return object{"artifact_id": art, "path": "a", "edits": []any{fits, edit}}
	}
	page := func(name string, value any) any {
		out := object{"title": "x", "body": "x", "render_mode": "text", name: value}
		if value == nil {
			delete(out, name)
		}
		return out
	}
	const isID = "an id: art_ and 26 digits and capital letters, as an earlier answer has it"
	long := strings.Repeat("ä", 500)
	for name, tt := range map[string]struct {
		tool string
		args any
		want string
	}{
		"missing": {"publish_artifact", page("body", nil),
			"body is missing: send text of 1 to 4194304 characters"},
		"missing below": {"multi_edit", edits(object{"old_string": "a"}),
			"edits[1].new_string is missing: send text of at most 4194304 characters"},
		"another name": {"multi_edit", edits(object{"old_text": "a", "new_string": "b"}),
			`edits[1]."old_text" is not known here; send an object with old_string, new_string, replace_all`},
		"unknown": {"whoami", object{"name": "x"}, `"name" is not known here; send an empty object`},
		"a long name": {"whoami", object{long: "x"},
			`"` + strings.Repeat("ä", 60) + `" is not known here; send an empty object`},
		"no object": {"whoami", []any{}, "arguments must be an empty object"},
		"no object below": {"multi_edit", edits("a"),
			"edits[1] must be an object with old_string, new_string, replace_all"},
		"no text":       {"publish_artifact", page("title", 7), "title must be text of 1 to 160 characters"},
		"a long text":   {"publish_artifact", page("title", long), "title must be text of 1 to 160 characters"},
		"an empty text": {"publish_artifact", page("body", ""), "body must be text of 1 to 4194304 characters"},
		"a short key": {"publish_artifact", page("idempotency_key", "a"),
			"idempotency_key must be text of 8 to 200 letters, digits and . _ : -"},
		"a wrong type": {"read_artifact", object{"artifact_id": 7}, "artifact_id must be " + isID},
		"a wrong id":   {"read_artifact", object{"artifact_id": "art_" + long}, "artifact_id must be " + isID},
		"a wrong word": {"set_visibility", object{"artifact_id": art, "visibility": "public"},
			"visibility must be private or unlisted"},
		"no list": {"multi_edit", object{"artifact_id": art, "path": "a", "edits": "a"},
			"edits must be a list of 1 to 100 items"},
		"an empty list": {"multi_edit", object{"artifact_id": art, "path": "a", "edits": []any{}},
			"edits must be a list of 1 to 100 items"},
		"no boolean": {"multi_edit", edits(object{"old_string": "a", "new_string": "b", "replace_all": "yes"}),
			"edits[1].replace_all must be true or false"},
		"nothing": {"multi_edit", edits(object{"old_string": nil, "new_string": "b"}),
			"edits[1].old_string must be text of 1 to 4194304 characters"},
		"a negative size": {"prepare_upload", files(-1),
			"files[0].size_bytes must be a whole number from 0 to 188743680"},
		"a half size": {"prepare_upload", files(1.5),
			"files[0].size_bytes must be a whole number from 0 to 188743680"},
	} {
		t.Run(name, func(t *testing.T) {
			r := e.toolAnswer(t, tt.tool, tt.args)
			p := failed(t, r.Value)
			if !r.IsError || p.Code != string(fault.InvalidRequest) || p.Message != tt.want ||
				p.RequestID == "" || r.Content[0].Text != string(r.Value) {
				t.Errorf("it answers %s", r.Value)
			}
		})
	}
}

func TestFilesOfWhichNoneOpensFirstOpenAsAList(t *testing.T) {
	for _, tt := range []struct {
		paths, entrypoint string
		listing           bool
		want              string
	}{
		{"a.png index.html", "", false, "index.html"},
		{"a.png README.md", "", false, "README.md"},
		{"b.png a.png", "", false, "the list and b.png"},
		{"b.png a.png", "a.png", false, "a.png"},
		{"b.png", "", false, "b.png"},
		{"a.png index.html", "", true, "the list and index.html"},
		{"a.png index.html", "a.png", true, "the list and a.png"},
	} {
		in := prepareInput{Entrypoint: tt.entrypoint, Listing: tt.listing}
		for path := range strings.FieldsSeq(tt.paths) {
			in.Files = append(in.Files, preparedFile{Path: path})
		}
		s := in.session()
		got := s.Entrypoint
		if s.Listing {
			got = "the list and " + got
		}
		if got != tt.want {
			t.Errorf("%+v opens %q, want %q", tt, got, tt.want)
		}
	}
}
