package main

import (
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
)

func TestNoncurrentVersionsAndBareMarkersEnd(t *testing.T) {
	const keep = 14 * 24 * time.Hour
	for key, life := range map[string]time.Duration{
		"o/a":   keep,
		"b/a":   briefly,
		"d/a":   briefly,
		"x/a":   briefly,
		"cli/a": briefly,
	} {
		eachStore(t, func(t *testing.T, e *env) {
			e.put(t, key, "one")
			e.put(t, key, "two")
			e.remove(t, key, "")
			e.remove(t, key, "")
			e.put(t, "o/living", "bytes")
			sweep := func(after time.Duration) {
				t.Helper()
				if err := (expiry{e.versions, keep}).sweep(time.Now().Add(after)); err != nil {
					t.Fatal(err)
				}
			}
			sweep(life - time.Minute)
			if all := e.list(t); len(all.Versions) != 3 || len(all.DeleteMarkers) != 2 {
				t.Errorf("%s: %d versions and %d markers before their end", key, len(all.Versions), len(all.DeleteMarkers))
			}
			sweep(life)
			if all := e.list(t); len(all.Versions) != 1 || len(all.DeleteMarkers) != 0 {
				t.Errorf("%s: %d versions and %d markers after their end", key, len(all.Versions), len(all.DeleteMarkers))
			}
			e.wantBody(t, "o/living", "", "bytes")
			if _, err := e.tryPut(t, key, "again", true); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAVersionLivesFromTheTimeOfTheNextOne(t *testing.T) {
	eachStore(t, func(t *testing.T, e *env) {
		old := e.put(t, "o/a", "old")
		e.put(t, "o/a", "new")
		deleted := e.remove(t, "o/a", "")
		if err := (expiry{e.versions, 0}).sweep(time.Now().Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
		e.wantBody(t, "o/a", old, "old") // it was current an hour ago
		e.remove(t, "o/a", deleted)
		if err := (expiry{e.versions, 0}).sweep(time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		e.wantBody(t, "o/a", "", "new") // undeleted, so it never ends
		if all := e.list(t); len(all.Versions) != 1 {
			t.Errorf("%d versions, want 1", len(all.Versions))
		}
	})
}

func TestAnOldObjectIsKeptAfterItsDeletion(t *testing.T) {
	eachStore(t, func(t *testing.T, e *env) {
		e.put(t, "o/a", "bytes")
		long := ulid.MustNew(ulid.Timestamp(time.Now().Add(-1000*time.Hour)), nil).String()
		if err := e.versions.meta.StoreAttribute(nil, testBucket, "o/a", versionAttribute, []byte(long)); err != nil {
			t.Fatal(err)
		}
		e.remove(t, "o/a", "")
		if err := (expiry{e.versions, 24 * time.Hour}).sweep(time.Now()); err != nil {
			t.Fatal(err)
		}
		e.wantBody(t, "o/a", long, "bytes")
	})
}
