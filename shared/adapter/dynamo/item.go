package dynamo

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/shared/publishing/lint"
)

// item is a stored item. Setters omit zero values, and getters return the zero value for a missing attribute, so that
// old code can read new items and new code old ones. Instants are stored in milliseconds, except ttl, which is in
// seconds.
type item map[string]types.AttributeValue

func newItem(k key) item {
	return item{}.str("pk", k.pk).str("sk", k.sk)
}

// str writes a string. Most attributes use it; inlined, it would enlarge the api program by 0.2 %.
//
//go:noinline
func (i item) str(name, v string) item {
	if v != "" {
		i[name] = &types.AttributeValueMemberS{Value: v}
	}
	return i
}

func (i item) num(name string, v int64) item {
	if v != 0 {
		i[name] = number(v)
	}
	return i
}

func (i item) time(name string, t time.Time) item {
	if !t.IsZero() {
		i[name] = number(t.UnixMilli())
	}
	return i
}

func (i item) ttl(t time.Time) item {
	i["ttl"] = number(t.Unix())
	return i
}

func (i item) bin(name string, v []byte) item {
	if len(v) > 0 {
		i[name] = &types.AttributeValueMemberB{Value: v}
	}
	return i
}

func (i item) flag(name string, v bool) item {
	if v {
		i[name] = &types.AttributeValueMemberBOOL{Value: true}
	}
	return i
}

func (i item) getStr(name string) string {
	if v, ok := i[name].(*types.AttributeValueMemberS); ok {
		return v.Value
	}
	return ""
}

func (i item) getNum(name string) int64 {
	v, ok := i[name].(*types.AttributeValueMemberN)
	if !ok {
		return 0
	}
	n, _ := strconv.ParseInt(v.Value, 10, 64)
	return n
}

func (i item) getTime(name string) time.Time {
	if _, ok := i[name]; !ok {
		return time.Time{}
	}
	return time.UnixMilli(i.getNum(name)).UTC()
}

// getSeconds reads ttl.
func (i item) getSeconds(name string) time.Time {
	if _, ok := i[name]; !ok {
		return time.Time{}
	}
	return time.Unix(i.getNum(name), 0).UTC()
}

func (i item) getBin(name string) []byte {
	if v, ok := i[name].(*types.AttributeValueMemberB); ok {
		return v.Value
	}
	return nil
}

// getSet reads a set of strings.
func (i item) getSet(name string) []string {
	if v, ok := i[name].(*types.AttributeValueMemberSS); ok {
		return v.Value
	}
	return nil
}

func (i item) getFlag(name string) bool {
	v, ok := i[name].(*types.AttributeValueMemberBOOL)
	return ok && v.Value
}

// size returns the item's size in bytes as DynamoDB charges it.
func (i item) size() (n int) {
	for name, value := range i {
		n += len(name)
		switch v := value.(type) {
		case *types.AttributeValueMemberS:
			n += len(v.Value)
		case *types.AttributeValueMemberB:
			n += len(v.Value)
		case *types.AttributeValueMemberN:
			n += (len(v.Value)+1)/2 + 1
		case *types.AttributeValueMemberSS:
			n += 3 + len(strings.Join(v.Value, ""))
		default:
			n++
		}
	}
	return n
}

// An item of up to writeUnit bytes costs one write unit. growth of these bytes are left for attributes that updates
// add.
const (
	writeUnit = 1024
	growth    = 96
)

// withFiles adds a packed list of files, provided that the item still costs one write unit, and reports whether it did.
func (i item) withFiles(packed []byte) bool {
	if i.size()+len(filesName)+len(packed) > writeUnit-growth {
		return false
	}
	i.bin(filesName, packed)
	return true
}

// withReport adds the findings in the pages of a revision, the worst first, as long as the item still costs one write
// unit. It stores the number of those that it leaves out.
func (i item) withReport(r lint.Report) item {
	room := writeUnit - growth - i.size() - len(lintName)
	for n := len(r.Warnings); n >= 0; n-- {
		if packed := packReport(r.Worst(n)); len(packed) <= room {
			return i.bin(lintName, packed)
		}
	}
	return i
}

// lintName is the attribute with the findings in the pages of a revision.
const lintName = "lint"

// filesName is the attribute with a packed list of files.
const filesName = "files"

func number(v int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(v, 10)}
}

func (k key) attributes() item {
	i := item{"pk": &types.AttributeValueMemberS{Value: k.pk}}
	return i.str("sk", k.sk)
}

// key returns the key of an item that was read.
func (i item) key() key { return key{i.getStr("pk"), i.getStr("sk")} }

// keysIn returns the keys of rows.
func keysIn[row ~map[string]types.AttributeValue](rows []row) []key {
	keys := make([]key, len(rows))
	for n, i := range rows {
		keys[n] = item(i).key()
	}
	return keys
}

// values holds the placeholders of an expression, by name without the colon.
type values map[string]any

func (v values) attributes() item {
	if len(v) == 0 {
		return nil
	}
	out := make(item, len(v))
	for name, value := range v {
		out[":"+name] = attribute(value)
	}
	return out
}

func attribute(value any) types.AttributeValue {
	switch v := value.(type) {
	case string:
		return &types.AttributeValueMemberS{Value: v}
	case int:
		return number(int64(v))
	case int64:
		return number(v)
	case time.Time:
		return number(v.UnixMilli())
	case []byte:
		return &types.AttributeValueMemberB{Value: v}
	case []string:
		return &types.AttributeValueMemberSS{Value: v}
	case bool:
		return &types.AttributeValueMemberBOOL{Value: v}
	}
	panic("dynamo: a placeholder has a type that no expression uses")
}

var alias = regexp.MustCompile(`#[a-z0-9_]+`)

// expressions holds the expressions of one call. The second may be empty.
type expressions [2]string

// aliases caches the aliases by expressions. There are few entries, because expressions are constants of this package.
// Calls share the maps, which are read-only.
var aliases = struct {
	sync.RWMutex
	of map[expressions]map[string]string
}{of: map[expressions]map[string]string{}}

// names maps every #alias in one or two expressions to its attribute: #status stands for status. All attributes have
// aliases, because DynamoDB reserves many plain names.
func names(one string, two ...string) map[string]string {
	e := expressions{one}
	copy(e[1:], two)
	aliases.RLock()
	found, ok := aliases.of[e]
	aliases.RUnlock()
	if ok {
		return found
	}
	for _, text := range e {
		for _, a := range alias.FindAllString(text, -1) {
			if found == nil {
				found = map[string]string{}
			}
			found[a] = a[1:]
		}
	}
	aliases.Lock()
	defer aliases.Unlock()
	aliases.of[e] = found
	return found
}
