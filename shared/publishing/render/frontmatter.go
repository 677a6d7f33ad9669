package render

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v4"

	"vitrine/shared/platform/text"
)

const maxFrontMatterRows = 100

// frontMatter writes the fields before a document as a table, and returns the document without them. Text that is not a
// YAML mapping is part of the document.
func (d *document) frontMatter(b *body, source []byte) []byte {
	head, rest, found := text.CutFrontMatter(source)
	if !found {
		return source
	}
	var root yaml.Node
	if yaml.Unmarshal(head, &root) != nil || len(root.Content) != 1 || root.Content[0].Kind != yaml.MappingNode {
		return source
	}
	fields := root.Content[0].Content
	b.printf(`<div class="v-wide v-head" tabindex="0"><table class="v-front"><tbody>`)
	for i := 0; i+1 < len(fields) && i/2 < maxFrontMatterRows; i += 2 {
		b.printf(`<tr data-line="%d"><th scope="row">%s</th><td dir="auto">%s</td></tr>`, fields[i].Line+1,
			escape(clip(fields[i].Value, 100)), escape(clip(inline(fields[i+1], 0), maxCell)))
	}
	b.printf("</tbody></table></div>")
	d.line += bytes.Count(source[:len(source)-len(rest)], []byte("\n"))
	return rest
}

// inline returns a value in one line.
func inline(n *yaml.Node, depth int) string {
	switch {
	case depth > 4:
		return "…"
	case n.Kind == yaml.AliasNode:
		return "*" + n.Value
	case n.Kind != yaml.MappingNode && n.Kind != yaml.SequenceNode:
		return n.Value
	}
	var parts []string
	for i := 0; i < len(n.Content) && i < maxFrontMatterRows; i++ {
		part := inline(n.Content[i], depth+1)
		if n.Kind == yaml.MappingNode && i+1 < len(n.Content) {
			part += ": " + inline(n.Content[i+1], depth+1)
			i++
		}
		parts = append(parts, part)
	}
	if n.Kind == yaml.MappingNode {
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return strings.Join(parts, ", ")
}
