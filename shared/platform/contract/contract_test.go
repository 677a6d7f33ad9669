package contract_test

import (
	"encoding/json"
	"testing"
	"time"

	"vitrine/shared/platform/contract"
)

func TestAnInstantIsWrittenInUTCWithMilliseconds(t *testing.T) {
	for name, c := range map[string]struct {
		at   time.Time
		want string
	}{
		"a whole second":      {time.Date(2026, 11, 22, 18, 0, 0, 0, time.UTC), `"2026-11-22T18:00:00.000Z"`},
		"microseconds":        {time.Date(2026, 11, 22, 18, 0, 0, 1_999_000, time.UTC), `"2026-11-22T18:00:00.001Z"`},
		"another zone":        {time.Date(2026, 11, 23, 1, 0, 0, 0, time.FixedZone("", 7*3600)), `"2026-11-22T18:00:00.000Z"`},
		"a year of one digit": {time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), `"0001-01-01T00:00:00.000Z"`},
	} {
		got, err := json.Marshal(contract.At(c.at))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s, %v; want %s", name, got, err, c.want)
		}
	}
}

func TestAnInstantThatIsMissingIsNull(t *testing.T) {
	if got := contract.AtOrNull(time.Time{}); got != nil {
		t.Errorf("the zero time is %v", got)
	}
	if got := contract.AtOrNull(time.Unix(1, 0)); got == nil || !got.Equal(time.Unix(1, 0)) {
		t.Errorf("the first second is %v", got)
	}
}

func TestALifetimeIsRoundedDownToSeconds(t *testing.T) {
	for d, want := range map[time.Duration]int{
		0:                           0,
		time.Second - 1:             0,
		time.Second:                 1,
		time.Hour - time.Nanosecond: 3599,
	} {
		if got := contract.Seconds(d); got != want {
			t.Errorf("%v is %d seconds, want %d", d, got, want)
		}
	}
}

func TestABodyKeepsURLsReadable(t *testing.T) {
	got, err := contract.Encode(map[string]string{"url": "https://a.example/?b=1&c=<2>"})
	if err != nil || string(got) != `{"url":"https://a.example/?b=1&c=<2>"}`+"\n" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := contract.Encode(make(chan int)); err == nil {
		t.Error("a channel is encoded")
	}
}
