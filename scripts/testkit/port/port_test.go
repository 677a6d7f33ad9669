package port

import "testing"

func TestABaseIsGivenOutOnce(t *testing.T) {
	taken := map[int]bool{}
	for range 50 {
		base := Base(t)
		if taken[base] {
			t.Fatalf("%d was given out twice", base)
		}
		taken[base] = true
		if l, err := listen(base); err == nil {
			l.Close()
			t.Errorf("%d is not reserved", base)
		}
	}
}

func TestARangeWithATakenPortIsNotFree(t *testing.T) {
	base := Base(t)
	l, err := listen(base + span)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if free(base) {
		t.Error("a range with a taken port counts as free")
	}
}
