package keyring_test

import (
	"fmt"
	"time"

	"vitrine/shared/platform/keyring"
)

// A key is replaced in three steps. Every signature of the old key stays valid until it expires.
func ExampleRing_Flip() {
	ring, now := keyring.New().Content, time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	drain := keyring.Drain("content")

	ring, err := ring.Stage(now)
	show("staged", ring, err)

	_, err = ring.Flip(now.Add(time.Minute), drain, keyring.Patient)
	fmt.Println("too early:", err)

	now = now.Add(keyring.StageAge)
	ring, err = ring.Flip(now, drain, keyring.Patient)
	show("flipped", ring, err)

	ring, dropped, err := ring.Drop(now.Add(drain), keyring.Patient)
	show(fmt.Sprint("dropped ", dropped), ring, err)
	// Output:
	// staged: 1=active 2=next
	// too early: key 2 was staged less than 15 minutes ago, so instances may run that do not know it
	// flipped: 1=verify 2=active
	// dropped [1]: 2=active
}

func show(step string, ring keyring.Ring, err error) {
	if err != nil {
		fmt.Println(step, err)
		return
	}
	fmt.Print(step, ":")
	for _, k := range ring.Keys {
		fmt.Printf(" %d=%s", k.ID, k.State)
	}
	fmt.Println()
}

// Each use has keys of its own, which are derived from those of the ring.
func ExampleRing_Derive() {
	ring := keyring.New().Content
	tokens, err := ring.Derive("token")
	if err != nil {
		fmt.Println(err)
		return
	}
	addresses, err := ring.Derive("address")
	if err != nil {
		fmt.Println(err)
		return
	}
	kid, signs := tokens.Active()

	fmt.Println("signs with key", kid)
	fmt.Println("knows key 2:", tokens.Key(2) != nil)
	fmt.Println("shared with another use:", string(signs) == string(addresses.Key(kid)))
	// Output:
	// signs with key 1
	// knows key 2: false
	// shared with another use: false
}
