package web

import (
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// nullObjects lets the document say that members which hold an object or null may be null: huma says so of texts and
// numbers only.
func nullObjects(schemas huma.Registry) {
	for name, schema := range schemas.Map() {
		t := schemas.TypeFromRef(schemaPrefix + name)
		if t == nil || t.Kind() != reflect.Struct {
			continue // one of our own making
		}
		for _, f := range reflect.VisibleFields(t) {
			member, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			property := schema.Properties[member]
			if f.Type.Kind() == reflect.Pointer && options == "" && property != nil && property.Ref != "" {
				schema.Properties[member] = &huma.Schema{AnyOf: []*huma.Schema{{Ref: property.Ref}, {Type: "null"}}}
			}
		}
	}
}
