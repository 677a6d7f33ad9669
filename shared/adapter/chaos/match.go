package chaos

import (
	"reflect"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Table matches DynamoDB inputs that name the table, possibly among others.
func Table(name string) func(input any) bool {
	return func(input any) bool {
		return search("", reflect.ValueOf(input), func(field string, v reflect.Value) bool {
			if field == "RequestItems" && v.Kind() == reflect.Map {
				return v.MapIndex(reflect.ValueOf(name)).IsValid()
			}
			return field == "TableName" && v.Kind() == reflect.String && v.String() == name
		})
	}
}

// Key matches DynamoDB inputs whose key or item has a string attribute that begins with prefix, and queries for such a
// value.
func Key(attribute, prefix string) func(input any) bool {
	return func(input any) bool {
		if query, ok := input.(*dynamodb.QueryInput); ok {
			for _, v := range query.ExpressionAttributeValues {
				if hasPrefix(v, prefix) {
					return true
				}
			}
			return false
		}
		return search("", reflect.ValueOf(input), func(field string, v reflect.Value) bool {
			item, ok := v.Interface().(map[string]types.AttributeValue)
			return ok && field != "ExpressionAttributeValues" && hasPrefix(item[attribute], prefix)
		})
	}
}

func hasPrefix(v types.AttributeValue, prefix string) bool {
	s, ok := v.(*types.AttributeValueMemberS)
	return ok && strings.HasPrefix(s.Value, prefix)
}

// Object matches S3 inputs whose key, or whose prefix to list, begins with prefix.
func Object(prefix string) func(input any) bool {
	return func(input any) bool {
		return search("", reflect.ValueOf(input), func(field string, v reflect.Value) bool {
			return (field == "Key" || field == "Prefix") && v.Kind() == reflect.String && strings.HasPrefix(v.String(), prefix)
		})
	}
}

// search reports whether found accepts a value within structs, lists and maps. It does not look behind interfaces
// (attribute values, bodies). field is the name of the struct field that holds the value.
func search(field string, v reflect.Value, found func(field string, v reflect.Value) bool) bool {
	if v.Kind() == reflect.Pointer {
		return !v.IsNil() && search(field, v.Elem(), found)
	}
	if v.IsValid() && found(field, v) {
		return true
	}
	switch v.Kind() {
	case reflect.Struct:
		for f, inner := range v.Fields() {
			if f.IsExported() && search(f.Name, inner, found) {
				return true
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			if search(field, v.Index(i), found) {
				return true
			}
		}
	case reflect.Map:
		for _, inner := range v.Seq2() {
			if search("", inner, found) {
				return true
			}
		}
	}
	return false
}
