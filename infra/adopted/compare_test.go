package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestDiffersWhereSomethingWantedIsMissing(t *testing.T) {
	for name, tt := range map[string]struct {
		want, got string
		exact     bool
		differs   bool
	}{
		"the same":                    {`{"a": 1}`, `{"a": 1}`, true, false},
		"another value":               {`{"a": 1}`, `{"a": 2}`, false, true},
		"a missing member":            {`{"a": 1}`, `{}`, false, true},
		"no answer":                   {`{"a": 1}`, `null`, false, true},
		"more than is wanted":         {`{"a": 1}`, `{"a": 1, "b": 2}`, false, false},
		"more than is wanted, exact":  {`{"a": 1}`, `{"a": 1, "b": 2}`, true, true},
		"an empty member more, exact": {`{"a": 1}`, `{"a": 1, "b": {"c": ""}, "d": null}`, true, false},
		"another order of a list":     {`[{"ID": "x"}, {"ID": "y"}]`, `[{"ID": "y"}, {"ID": "x"}]`, true, false},
		"a longer list":               {`["x"]`, `["x", "y"]`, false, true},
		"a shorter list":              {`["x", "y"]`, `["x"]`, false, true},
		"text for a number":           {`1`, `"1"`, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			a := aspect{
				what:  "the thing",
				want:  parse(t, tt.want),
				got:   parse(t, tt.got),
				exact: tt.exact,
				fix:   "aws fix",
			}
			found := problems("table T", []aspect{a})
			if (len(found) > 0) != tt.differs {
				t.Errorf("it finds %q, want a difference: %v", found, tt.differs)
			}
			if tt.differs && (!strings.Contains(found[0], "table T: the thing") || !strings.Contains(found[0], "aws fix")) {
				t.Errorf("it says %q", found[0])
			}
		})
	}
}

func parse(t *testing.T, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}
