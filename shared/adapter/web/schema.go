package web

import (
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// completeSchemas adds to the document what huma does not derive from the shapes. It runs once all
// routes are registered.
func completeSchemas(schemas huma.Registry) {
	for name, schema := range schemas.Map() {
		t := schemas.TypeFromRef(schemaPrefix + name)
		if t == nil || t.Kind() != reflect.Struct {
			continue // one that this package makes
		}
		for _, f := range reflect.VisibleFields(t) {
			member, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			property := schema.Properties[member]
			if property == nil {
				continue
			}
			documentTypes(property, f)
			if f.Type.Kind() == reflect.Pointer && options == "" && property.Ref != "" {
				schema.Properties[member] = orNull(property)
			}
		}
	}
}

// orNull lets a member that holds an object be null, because huma does so for strings and numbers
// only.
func orNull(property *huma.Schema) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{{Ref: property.Ref}, {Type: "null"}}}
}

// documentTypes adds the types of the tag documentType to the document. Requests are not validated
// against them, because the member takes any value and ignores those that do not fit.
func documentTypes(property *huma.Schema, f reflect.StructField) {
	if types := f.Tag.Get("documentType"); types != "" {
		property.Extensions = map[string]any{"type": strings.Split(types, ",")}
	}
}
