package mcp

import "github.com/google/jsonschema-go/jsonschema"

// field is a member of an object.
type field struct {
	name     string
	schema   *jsonschema.Schema
	optional bool
}

// with returns a required member.
func with(name string, schema *jsonschema.Schema) field { return field{name: name, schema: schema} }

// may returns an optional member.
func may(name string, schema *jsonschema.Schema) field {
	return field{name: name, schema: schema, optional: true}
}

// object is the schema of an object with these members and no others.
func object(fields ...field) *jsonschema.Schema {
	s := &jsonschema.Schema{
		Type:                 "object",
		Properties:           map[string]*jsonschema.Schema{},
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
	}
	for _, f := range fields {
		s.Properties[f.name] = f.schema
		s.PropertyOrder = append(s.PropertyOrder, f.name)
		if !f.optional {
			s.Required = append(s.Required, f.name)
		}
	}
	return s
}

// list is the schema of an array with a minimum and a maximum of items.
func list(of *jsonschema.Schema, least, most int) *jsonschema.Schema {
	return &jsonschema.Schema{
		Type:     "array",
		Items:    of,
		MinItems: &least,
		MaxItems: &most,
	}
}

// text is the schema of a string with a minimum and a maximum of characters.
func text(least, most int) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string", MaxLength: &most}
	if least > 0 {
		s.MinLength = &least
	}
	return s
}

// matching is the schema of a string that matches a pattern.
func matching(pattern string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Pattern: pattern}
}

// oneOf is the schema of one of several words.
func oneOf(words ...string) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, w := range words {
		s.Enum = append(s.Enum, w)
	}
	return s
}

func boolean() *jsonschema.Schema { return &jsonschema.Schema{Type: "boolean"} }

// number is the schema of an integer that is not negative.
func number() *jsonschema.Schema {
	zero := 0.0
	return &jsonschema.Schema{Type: "integer", Minimum: &zero}
}

func addressURI() *jsonschema.Schema { return &jsonschema.Schema{Type: "string", Format: "uri"} }

func instant() *jsonschema.Schema { return &jsonschema.Schema{Type: "string", Format: "date-time"} }

// told adds a description to a schema.
func told(s *jsonschema.Schema, words string) *jsonschema.Schema {
	s.Description = words
	return s
}

// The patterns of strings other than IDs.
const (
	keyPattern    = "^[A-Za-z0-9._:-]+$"
	digestPattern = "^[a-f0-9]{64}$"
)

// idTail is the pattern of an ID after its prefix.
const idTail = "[0-9A-HJKMNP-TV-Z]{26}$"

func artifactID() *jsonschema.Schema { return matching("^art_" + idTail) }
func revisionID() *jsonschema.Schema { return matching("^rev_" + idTail) }
func linkID() *jsonschema.Schema     { return matching("^al_" + idTail) }
func sessionID() *jsonschema.Schema  { return matching("^upl_" + idTail) }

// key is the schema of an idempotency key.
func key() *jsonschema.Schema {
	s := text(8, 200)
	s.Pattern = keyPattern
	return told(s, "Repeating a call with the same key gives the first result again.")
}
