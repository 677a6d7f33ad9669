package main

import (
	"regexp"
	"strings"
	"testing"

	"vitrine/shared/platform/address"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/manual"
	"vitrine/shared/platform/policy"
)

// manuals are the texts for agents by path, those of a deployment and those that belong to none.
func manuals() map[string]string {
	numbers := limits.Default()
	here := manual.New(manual.Deployment{
		Origins: address.Origins{API: "https://api.test", App: "https://app.test", MCP: "https://mcp.test"},
		Policy:  policy.Default(false),
		Limits:  &numbers,
	}).Documents()
	texts := map[string]string{"the skill of the repository": manual.New(manual.Anywhere()).Skill}
	for path, document := range here {
		texts[path] = document.Body
	}
	return texts
}

var (
	shownInline = regexp.MustCompile("`vitrine ([^`]+)`")
	shownAlone  = regexp.MustCompile(`(?m)^    vitrine (.+)$`)
	shownFlag   = regexp.MustCompile("`(--[a-z-]+)`")
)

// TestTheManualHoldsWorkingCommands parses every command in the texts for agents with the real flags.
func TestTheManualHoldsWorkingCommands(t *testing.T) {
	shown := map[string]bool{}
	for path, text := range manuals() {
		for _, m := range append(shownInline.FindAllStringSubmatch(text, -1), shownAlone.FindAllStringSubmatch(text, -1)...) {
			shown[m[1]] = true
			if err := parse(m[1]); err != nil {
				t.Errorf("%s shows %q: %v", path, m[1], err)
			}
		}
		for _, m := range shownFlag.FindAllStringSubmatch(text, -1) {
			if err := parse("publish . " + m[1]); err != nil {
				t.Errorf("%s shows %s: %v", path, m[1], err)
			}
		}
	}
	if len(shown) < 15 {
		t.Errorf("only %d commands were found", len(shown))
	}
}

// TestTheManualHasTheExitCodesOfTheGuide compares the words for each.
func TestTheManualHasTheExitCodesOfTheGuide(t *testing.T) {
	_, list, _ := strings.Cut(manual.New(manual.Anywhere()).Skill, "The CLI ends with ")
	list, _, ok := strings.Cut(list, ".\n")
	codes := strings.Split(list, ", ")
	if !ok || len(codes) < 5 {
		t.Fatalf("%q", codes)
	}
	for _, code := range codes {
		if !strings.Contains(guide, "  "+code+"  ") && !strings.Contains(guide, "  "+code+"\n") &&
			!strings.Contains(guide, "  "+code+";") {
			t.Errorf("the guide does not list %q", code)
		}
	}
}
