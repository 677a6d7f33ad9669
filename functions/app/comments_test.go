package app

import (
	"net/url"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/fault"
)

func commented(s *fakeServices) { s.links[0].Comments = true }

func TestTheShareLinkTakesFeedbackOrNot(t *testing.T) {
	const form, turnOn, turnOff = linkPath + `/comments"`, `name="comments" value="on"`, `name="comments" value="off"`
	for name, tt := range map[string]struct {
		state func(*fakeServices)
		has   []string
		lacks []string
	}{
		"without": {nil, []string{form, turnOn, "People with the share link only read"}, []string{turnOff, "by people who have it"}},
		"with": {
			commented, []string{form, turnOff, "People with the share link may write feedback", "by people who have it"}, []string{turnOn},
		},
		"locked":  {all(commented, locked), nil, []string{form}},
		"private": {private, nil, []string{form}},
		"ended":   {all(commented, ended), nil, []string{form}},
	} {
		body := page(t, artifactPage, tt.state)
		expect.Has(t, name, body, tt.has...)
		expect.Lacks(t, name, body, tt.lacks...)
	}
	expect.Has(t, "the list of links", page(t, "/access-links", commented), "by people who have it")
	expect.Lacks(t, "the list of links", page(t, "/access-links", commented), form)
}

func TestTheFormOfCommentsIsAboutTheLinkThatItShows(t *testing.T) {
	for value, on := range map[string]bool{"on": true, "off": false} {
		s := newServices()
		sent := url.Values{"comments": {value}, "once": {formName}}
		wantRedirect(t, value, s.post(linkPath+"/comments", sent), artifactPage+"#links")
		if asked := s.accessLinks.wanted; asked.Comments == nil || *asked.Comments != on || asked.Existing != shareID ||
			asked.ExpiresAt != nil {
			t.Errorf("%s asks for %+v", value, asked)
		}
	}
	s := newServices()
	odd := url.Values{"comments": {"maybe"}, "once": {formName}}
	if r := s.post(linkPath+"/comments", odd); r.StatusCode != 400 || len(s.changes) > 0 {
		t.Errorf("another value: %d, %v", r.StatusCode, s.changes)
	}
	s = newServices()
	s.fail = fault.New(fault.NotFound, "gone")
	late := s.post(linkPath+"/comments", forms[linkPath+"/comments"].fields)
	wantRedirect(t, "a link that has ended", late, artifactPage+"#links")
}
