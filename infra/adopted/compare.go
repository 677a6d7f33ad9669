package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// aspect is one thing that tables or buckets have besides their content.
type aspect struct {
	what      string
	want, got any    // as JSON unpacks them
	exact     bool   // more than what is wanted is wrong too
	fix       string // the command, or the sentence, that says what to do
}

// differs reports whether something wanted is missing.
func (a aspect) differs() bool {
	want, got := filled(a.want), filled(a.got)
	return !covers(got, want) || a.exact && !covers(want, got)
}

// problems returns the aspects that differ, each with what to do.
func problems(of string, all []aspect) (out []string) {
	for _, a := range all {
		if a.differs() {
			out = append(out, fmt.Sprintf("%s: %s is not what a deployment has:\n  %s", of, a.what, a.fix))
		}
	}
	return out
}

// unpacked returns a value as JSON unpacks it.
func unpacked(v any) any {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // answers of the SDK always have JSON
	}
	var out any
	if err := json.Unmarshal(text, &out); err != nil {
		panic(err)
	}
	return out
}

// packed returns a value as JSON in one line.
func packed(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // it was unpacked from JSON
	}
	return string(text)
}

// filled removes members that are null or empty, which services add and leave away as they like, and puts lists in one
// order.
func filled(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, member := range v {
			if member = filled(member); member != nil {
				out[name] = member
			}
		}
		if len(out) > 0 {
			return out
		}
		return nil
	case []any:
		out := []any{}
		for _, member := range v {
			out = append(out, filled(member))
		}
		slices.SortFunc(out, func(a, b any) int { return slices.Compare(names(a), names(b)) })
		return out
	case string:
		if v == "" {
			return nil
		}
	}
	return v
}

// names returns what tells members of a list apart.
func names(v any) (out []string) {
	member, ok := v.(map[string]any)
	if !ok {
		return []string{packed(v)}
	}
	for _, by := range []string{"ID", "IndexName", "KeyType", "AttributeName"} {
		name, _ := member[by].(string)
		out = append(out, name)
	}
	return out
}

// covers reports whether got has every member of want. Lists have to be of the same length.
func covers(got, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		got, _ := got.(map[string]any)
		return !slices.ContainsFunc(slices.Collect(maps.Keys(want)), func(name string) bool {
			return !covers(got[name], want[name])
		})
	case []any:
		got, _ := got.([]any)
		return slices.EqualFunc(got, want, covers)
	}
	return got == want
}
