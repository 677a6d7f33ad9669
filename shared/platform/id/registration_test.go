package id

import "testing"

func TestARegistrationIsNamedByItsClaimToken(t *testing.T) {
	for range 200 {
		one, two := NewPublic(), NewPublic()
		r := RegistrationOf(one)
		if !r.Valid() || r != RegistrationOf(one) || r == RegistrationOf(two) {
			t.Fatalf("%s of %s and %s of %s", r, one, RegistrationOf(two), two)
		}
	}
}
