package web

import (
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// completeSchemas adds to the document what huma does not derive from Go types. It runs after all routes are
// registered.
func completeSchemas(schemas huma.Registry) {
	for name, schema := range schemas.Map() {
		t := schemas.TypeFromRef(schemaPrefix + name)
		if t == nil || t.Kind() != reflect.Struct {
			continue // a schema of this package, without a Go type
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

// orNull makes null a valid value of a member that holds an object. huma itself does so for strings and numbers only.
func orNull(property *huma.Schema) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{{Ref: property.Ref}, {Type: "null"}}}
}

// documentTypes adds the types in the tag documentType to the document. Requests are not validated against them,
// because the member takes any value and ignores those of other types.
func documentTypes(property *huma.Schema, f reflect.StructField) {
	if types := f.Tag.Get("documentType"); types != "" {
		property.Extensions = map[string]any{"type": strings.Split(types, ",")}
	}
}
