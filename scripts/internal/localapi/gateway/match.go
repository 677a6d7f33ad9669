package gateway

import (
	"cmp"
	"slices"
	"strings"

	"vitrine/scripts/internal/localapi/template"
)

// table is the routes of a gateway, the most specific first.
type table struct {
	rest   bool
	routes []*template.Route
}

func newTable(a *template.API) table {
	t := table{rest: a.REST, routes: slices.Clone(a.Routes)}
	slices.SortStableFunc(t.routes, func(a, b *template.Route) int {
		return cmp.Or(slices.Compare(specificity(a), specificity(b)), strings.Compare(a.Path, b.Path), anyLast(a)-anyLast(b))
	})
	return t
}

// Kinds of the parts of a path, the most specific first.
const (
	literal = iota
	single  // {name}
	greedy  // {name+}
	rest    // $default
)

func specificity(r *template.Route) (kinds []int) {
	if r.Path == "" {
		return []int{rest}
	}
	for part := range strings.SplitSeq(r.Path[1:], "/") {
		kind, _ := partOf(part)
		kinds = append(kinds, kind)
	}
	return kinds
}

func partOf(part string) (kind int, name string) {
	name, variable := strings.CutPrefix(part, "{")
	if !variable {
		return literal, part
	}
	if name, all := strings.CutSuffix(name, "+}"); all {
		return greedy, name
	}
	return single, strings.TrimSuffix(name, "}")
}

func anyLast(r *template.Route) int {
	if r.Method == "ANY" {
		return 1
	}
	return 0
}

// match finds the route of a request and the values of its variables. A REST API matches the path
// first, so that a less specific path cannot supply a missing method; an HTTP API matches both at
// once.
func (t table) match(method, path string) (*template.Route, map[string]string) {
	found := ""
	for _, r := range t.routes {
		values, matches := t.values(r, path)
		if !matches || found != "" && r.Path != found {
			continue
		}
		if r.Method == "ANY" || r.Method == method {
			return r, values
		}
		if t.rest {
			found = r.Path
		}
	}
	return nil, nil
}

// values compares part by part. REST APIs ignore a trailing slash.
func (t table) values(r *template.Route, path string) (map[string]string, bool) {
	if r.Path == "" {
		return nil, true
	}
	if !strings.HasPrefix(path, "/") {
		return nil, false
	}
	sent := strings.Split(path[1:], "/")
	if t.rest && len(sent) > 1 && sent[len(sent)-1] == "" && !strings.HasSuffix(r.Path, "+}") {
		sent = sent[:len(sent)-1]
	}
	parts := strings.Split(r.Path[1:], "/")
	values := map[string]string{}
	for i, part := range parts {
		if i >= len(sent) {
			return nil, false
		}
		switch kind, name := partOf(part); kind {
		case greedy:
			values[name] = strings.Join(sent[i:], "/")
			return values, values[name] != ""
		case single:
			if values[name] = sent[i]; sent[i] == "" {
				return nil, false
			}
		default:
			if sent[i] != name {
				return nil, false
			}
		}
	}
	return values, len(sent) == len(parts)
}
