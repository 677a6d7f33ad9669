package idempotency_test

import (
	"encoding/json"
	"fmt"
	"time"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/idempotency"
)

// records stands in for a store. A commit writes the effect of a command and its record together.
type records map[idempotency.Key]idempotency.Record

func (s records) commit(c idempotency.Command, result []byte, now time.Time) error {
	if old, there := s[c.Key]; there {
		return &idempotency.AlreadyDone{Record: old}
	}
	s[c.Key] = idempotency.Record{
		Fingerprint: c.Fingerprint,
		Done:        true,
		Result:      result,
		Expires:     now.Add(time.Hour),
	}
	return nil
}

// service numbers what is published.
type service struct {
	store records
	last  int
}

// publish answers a repetition with the number that the first request got.
func (s *service) publish(clientKey, body string, now time.Time) (number int, err error) {
	c := idempotency.Command{
		Key: idempotency.Key{
			Actor:     "key_1",
			Operation: idempotency.PublishRevision,
			Target:    "rev_1",
			Client:    clientKey,
		},
		Fingerprint: idempotency.FingerprintOf("POST", "/publish", []byte(body)),
	}
	return idempotency.Do(c, nil, now, func() (int, error) {
		result, err := json.Marshal(s.last + 1)
		if err != nil {
			return 0, err
		}
		if err := s.store.commit(c, result, now); err != nil {
			return 0, err
		}
		s.last++
		return s.last, nil
	})
}

func Example() {
	s, now := &service{store: records{}}, time.Now()
	for _, request := range []struct{ key, body string }{
		{"publish-0001", `{"title":"Tides"}`},
		{"publish-0001", `{ "title": "Tides" }`},
		{"publish-0002", `{"title":"Tides"}`},
		{"publish-0001", `{"title":"Winds"}`},
	} {
		number, err := s.publish(request.key, request.body, now)
		if err != nil {
			fmt.Println("refused:", fault.CodeOf(err))
			continue
		}
		fmt.Println("published as", number)
	}
	// Output:
	// published as 1
	// published as 1
	// published as 2
	// refused: invalid_idempotency_key
}
