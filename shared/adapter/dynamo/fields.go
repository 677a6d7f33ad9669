package dynamo

import (
	"strings"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/delegation"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/lint"
)

// fields copies attributes between an item and a value, in one direction. For each kind of item, one function names the
// attributes and runs in both directions, so that reading matches writing.
type fields struct {
	item  item
	write bool
	names *[]string // if not nil, only names of attributes are collected
}

func writing(i item) fields { return fields{item: i, write: true} }

func reading(i item) fields { return fields{item: i} }

// encode returns the item at k with the attributes of v.
func encode[T any](k key, v *T, attributes func(fields, *T)) item {
	i := newItem(k)
	attributes(writing(i), v)
	return i
}

// decode fills v from an item; the caller has set what the key says. It returns nil if there is no item.
func decode[T any](i item, v *T, attributes func(fields, *T)) *T {
	if i == nil {
		return nil
	}
	attributes(reading(i), v)
	return v
}

// named collects the name of an attribute, and reports whether only names are wanted.
func (f fields) named(name string) bool {
	if f.names == nil {
		return false
	}
	*f.names = append(*f.names, name)
	return true
}

// text copies a string. Inlined at its hundred calls, it would enlarge the api program by 0.6 %.
//
//go:noinline
func text[T ~string](f fields, name string, v *T) {
	switch {
	case f.named(name):
	case f.write:
		f.item.str(name, string(*v))
	default:
		*v = T(f.item.getStr(name))
	}
}

func integer[T ~int | ~int64 | ~byte](f fields, name string, v *T) {
	switch {
	case f.named(name):
	case f.write:
		f.item.num(name, int64(*v))
	default:
		*v = T(f.item.getNum(name))
	}
}

// words copies a list that is stored as one string, separated by spaces.
func words[T ~string](f fields, name string, v *[]T) {
	switch {
	case f.named(name):
	case f.write:
		all := make([]string, len(*v))
		for n, word := range *v {
			all[n] = string(word)
		}
		f.item.str(name, strings.Join(all, " "))
	default:
		*v = nil
		for _, word := range strings.Fields(f.item.getStr(name)) {
			*v = append(*v, T(word))
		}
	}
}

func (f fields) time(name string, v *time.Time) {
	switch {
	case f.named(name):
	case f.write:
		f.item.time(name, *v)
	default:
		*v = f.item.getTime(name)
	}
}

// millis copies a duration, which is stored in milliseconds.
func (f fields) millis(name string, v *time.Duration) {
	ms := int64(*v / time.Millisecond)
	integer(f, name, &ms)
	*v = time.Duration(ms) * time.Millisecond
}

func (f fields) flag(name string, v *bool) {
	switch {
	case f.named(name):
	case f.write:
		f.item.flag(name, *v)
	default:
		*v = f.item.getFlag(name)
	}
}

func (f fields) bytes(name string, v *[]byte) {
	switch {
	case f.named(name):
	case f.write:
		f.item.bin(name, *v)
	default:
		*v = f.item.getBin(name)
	}
}

// hash copies a keyed hash, which is stored in two attributes.
func (f fields) hash(mac, pepper string, v *credential.Hash) {
	f.bytes(mac, &v.MAC)
	integer(f, pepper, &v.Pepper)
}

// life copies when a value was made and when it ends.
func (f fields) life(created, expires *time.Time) {
	f.time("created", created)
	f.time("exp", expires)
}

// member copies the member and the workspace that a credential acts for, and the epoch of the workspace in which it
// works.
func (f fields) member(m *id.Member, w *id.Workspace, epoch *int64) {
	text(f, "mem", m)
	text(f, "ws", w)
	integer(f, "epoch", epoch)
}

// principal copies the person that an agent provider vouches for.
func (f fields) principal(p *delegation.Principal) {
	text(f, "iss", &p.Issuer)
	text(f, "sub", &p.Subject)
	text(f, "aud", &p.Audience)
}

// signIns copies the times of the sign-ins as an operator and as a member.
func (f fields) signIns(operator, member *time.Time) {
	f.time("op_at", operator)
	f.time("auth_at", member)
}

// size copies the number of files and their bytes.
func (f fields) size(files *int, bytes *int64) {
	integer(f, "n", files)
	integer(f, "bytes", bytes)
}

// terms copies a list of ended terms, which is stored as one string. Each term is its end in milliseconds, a colon and
// its name.
func (f fields) terms(name string, v *[]workspace.EndedTerm) {
	switch {
	case f.named(name):
	case f.write:
		f.item.str(name, packTerms(*v))
	default:
		*v = unpackTerms(f.item.getStr(name))
	}
}

func packTerms(terms []workspace.EndedTerm) string {
	all := make([]string, len(terms))
	for n, t := range terms {
		all[n] = millisKey(t.At) + ":" + string(t.Term)
	}
	return strings.Join(all, " ")
}

func unpackTerms(text string) (out []workspace.EndedTerm) {
	for _, word := range strings.Fields(text) {
		at, term, _ := strings.Cut(word, ":")
		out = append(out, workspace.EndedTerm{Term: id.Term(term), At: parseMillis(at)})
	}
	return out
}

// report copies the findings in the pages of a revision.
func (f fields) report(name string, v *lint.Report) {
	switch {
	case f.named(name):
	case f.write:
		f.item.bin(name, packReport(*v))
	default:
		*v = unpackReport(f.item.getBin(name))
	}
}

// tokens copies a list of access tokens, packed into one attribute.
func (f fields) tokens(name string, v *[]oauth.AccessToken) {
	switch {
	case f.named(name):
	case f.write:
		f.item.bin(name, packTokens(*v))
	default:
		*v = unpackTokens(f.item.getBin(name))
	}
}
