package text

import (
	"strings"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/fault"
)

func TestFieldsAreTrimmedAndCounted(t *testing.T) {
	for name, c := range map[string]struct {
		field Field
		given string
		want  string // empty: it is refused
		says  string
	}{
		"a title":                    {Title, " Seals\tof the bay\n", "Seals\tof the bay", ""},
		"a title of one character":   {Title, "é", "é", ""},
		"the longest title":          {Title, strings.Repeat("é", 160), strings.Repeat("é", 160), ""},
		"a title that is too long":   {Title, strings.Repeat("e", 161), "", "title must have 1 to 160 characters"},
		"no title":                   {Title, "", "", "title must have 1 to 160 characters"},
		"a title of spaces":          {Title, " \t\n\u00a0", "", "title must have 1 to 160 characters"},
		"a title that is not UTF-8":  {Title, "a\xff", "a\xff", ""},
		"invisible characters count": {Title, "\u200b", "\u200b", ""},
		"the longest workspace name": {WorkspaceName, strings.Repeat("w", 120), strings.Repeat("w", 120), ""},
		"a long workspace name":      {WorkspaceName, strings.Repeat("w", 121), "", "workspace_name must have 1 to 120 characters"},
		"the longest key name":       {KeyName, " " + strings.Repeat("k", 120), strings.Repeat("k", 120), ""},
		"a long key name":            {KeyName, strings.Repeat("k", 121), "", "name must have 1 to 120 characters"},
		"the longest reason":         {Reason, strings.Repeat("r", 120), strings.Repeat("r", 120), ""},
		"no reason":                  {Reason, " ", "", "reason_code must have 1 to 120 characters"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.field.Clean(c.given)
			if c.want != "" && (err != nil || got != c.want) {
				t.Errorf("%q, %v", got, err)
			}
			if c.want == "" && (fault.CodeOf(err) != fault.InvalidRequest || !strings.HasSuffix(err.Error(), ": "+c.says)) {
				t.Errorf("it is refused with %v, not %q", err, c.says)
			}
		})
	}
}

func TestOneLineHoldsNothingInvisible(t *testing.T) {
	expect.Results(t, OneLine, map[string]string{
		"  Claude\r\nCode\t":    "Claude Code",
		"a\u202eb\u200bc\x00d":  "abc d",
		"<b>&":                  "<b>&",
		"\ufffd":                "",
		"not \xff UTF-8":        "not UTF-8",
		"\ue000private use":     "private use",
		"日本":                    "日本",
		"line\u2028separated":   "line separated",
		"no-break\u00a0space  ": "no-break space",
	})
}

func TestAClientHasAShortNameOrNone(t *testing.T) {
	for given, fits := range map[string]bool{
		"":                                 true,
		strings.Repeat("é", 80):            true,
		strings.Repeat("é", 80) + "\u200b": true, // it is counted without what is left out
		strings.Repeat("é", 81):            false,
	} {
		if got, ok := ClientName(given); ok != fits || ok && got != OneLine(given) {
			t.Errorf("%q: %q, %t", given, got, ok)
		}
	}
}

func TestWhatProgramsSayIsCut(t *testing.T) {
	for name, c := range map[string]struct{ got, want string }{
		"a long device name":            {DeviceName(strings.Repeat("é", 100)), strings.Repeat("é", 64)},
		"a device name that ends blank": {DeviceName(strings.Repeat("d", 63) + " e"), strings.Repeat("d", 63)},
		"a device name of two lines":    {DeviceName("office\nmac"), "office mac"},
		"a long browser label":          {Browser(strings.Repeat("ä\r\n\x00\u202e", 300) + "\xff"), strings.Repeat("ä", 200)},
		"a browser label with spaces":   {Browser(" Mozilla/5.0  (X11)"), " Mozilla/5.0  (X11)"},
		"no browser label":              {Browser(""), ""},
		"a short text":                  {Cut("ab", 3), "ab"},
		"a long text":                   {Cut("äbcd", 3), "äbc"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, not %q", name, c.got, c.want)
		}
	}
}

func TestIdentifiersAreOfPrintableCharactersWithoutSpaces(t *testing.T) {
	expect.Results(t, Identifier, map[string]bool{
		"": true, "ada@example.test": true, "日本": true,
		"a b": false, "a\u00a0b": false, "a\nb": false, "a\u202eb": false, "a\xff": false,
	})
}

func TestOnlyASCIILettersLoseTheirCase(t *testing.T) {
	for in, want := range map[string]string{"Ada@Example.ORG": "ada@example.org", "\u212aelvin \u0130": "\u212aelvin \u0130", "": ""} {
		if got := LowerASCII(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func TestAMessageIsLinesOfVisibleText(t *testing.T) {
	short := func(given string) string {
		got, ok := Message(given, 100)
		if !ok {
			t.Errorf("%q does not fit", given)
		}
		return got
	}
	expect.Results(t, short, map[string]string{
		"":                            "",
		" \r\n\t\n":                   "",
		"one":                         "one",
		"\n\n  one  two\r\nthree\r\n": "one two\nthree",
		"one\n\ntwo":                  "one\n\ntwo",
		"gpj\u202eexe\u2066\x00\x1b[": "gpjexe [",
		"<b>&amp;</b>":                "<b>&amp;</b>",
		"not \xff UTF-8":              "not UTF-8",
	})
	for given, fits := range map[string]bool{
		strings.Repeat("é", 10):            true,
		strings.Repeat("é", 10) + "\u200b": true, // it is counted without what is left out
		strings.Repeat("é", 11):            false,
	} {
		if _, ok := Message(given, 10); ok != fits {
			t.Errorf("%q fits: %t", given, ok)
		}
	}
}

func TestAnEmailAddressStandsAlone(t *testing.T) {
	for given, want := range map[string]bool{
		"ada@example.test":                true,
		"  ada@example.test ":             true,
		"ada+report@example.test":         true,
		"":                                false,
		"ada":                             false,
		"ada@":                            false,
		"@example.test":                   false,
		"Ada <ada@example.test>":          false,
		"<ada@example.test>":              false,
		"ada@example.test, eve@evil.com":  false,
		"ada@example.test\nBcc: e@e.e":    false,
		"\"a b\"@example.test":            false,
		"a\u202ea@example.test":           false,
		strings.Repeat("a", 251) + "@e.e": false,
		"a@b@c":                           false,
	} {
		got, ok := Email(given)
		if ok != want || ok && got != strings.TrimSpace(given) {
			t.Errorf("%q becomes %q; it is an address: %t", given, got, ok)
		}
	}
}

func TestNoProgramOfOthersHasTheNameOfTheProduct(t *testing.T) {
	for _, name := range []string{
		"Vitrine", "VITRINE CLI", "🔒 Verified: Vitrine", "Vitrine-Desktop", "ｖｉｔｒｉｎｅ", "𝐕itrine", "V i t r i n e",
		"Vit\u200brine",
		"vit rine login", "Vítrine", "Vіtrinе", "my.vitrine.app",
	} {
		if !NamesProduct(name, "") {
			t.Errorf("%q is let through", name)
		}
	}
	for _, name := range []string{"", "Claude Code", "Vitrinebau Meier", "Vit", "rine Vit", "Codex"} {
		if NamesProduct(name, "") {
			t.Errorf("%q is refused", name)
		}
	}
}

func TestNoProgramHasTheNameOfTheDeployment(t *testing.T) {
	expect.Results(t, func(name string) bool { return NamesProduct(name, "Example Reports") }, map[string]bool{
		"Example Reports": true, "example-reports CLI": true, "EXAMPLEREPORTS": true, "Éxample Rеports": true,
		"Example": false, "Reports": false, "Counterexample Reports": false, "": false,
	})
}

func TestWhatAProgramCallsTheServerIsNotItsName(t *testing.T) {
	expect.Results(t, func(name string) string { return WithoutServer(name, "Example Reports") }, map[string]string{
		"Claude Code (vitrine)":             "Claude Code",
		"Claude Code (vitrine-example-com)": "Claude Code",
		"Robot  (Example Reports, at work)": "Robot",
		"Robot (beta)":                      "Robot (beta)",
		"Robot (vitrine) two":               "Robot (vitrine) two",
		"Vitrine (vitrine)":                 "Vitrine",
		" (vitrine)":                        " (vitrine)",
		"Robot(vitrine)":                    "Robot(vitrine)",
		"Robot":                             "Robot",
	})
}

func TestSizesHaveOneUnitEverywhere(t *testing.T) {
	for got, want := range map[string]string{
		Size(0):                 "0 bytes",
		Size(1):                 "1 byte",
		Size(999):               "999 bytes",
		Size(1000):              "1 kB",
		Size(18_412):            "18 kB",
		Size(999_999):           "1 MB",
		Size(2_340_000):         "2.3 MB",
		Size(5_000_000_000_000): "5 TB",
		SizeLimit(10 << 20):     "10 MiB",
		SizeLimit(1500):         "1.5 kB",
		SizeLimit(0):            "0 bytes",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
