package limits

import (
	"net/http"
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

func provision(t testing.TB, d *harness.Env, body any) wire.Answer {
	t.Helper()
	a, err := d.Anyone.Do(ctx, "POST", d.Origins.API+"/v1/ephemeral/provision", body)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAnAddressProvesWorkFromItsFourthWorkspaceInAMinute(t *testing.T) {
	d := harness.NewEnv(t)
	for range limits.PowFree {
		if a := provision(t, d, nil); a.Status != http.StatusCreated {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
	a := provision(t, d, nil)
	if a.Status != http.StatusUnauthorized || a.Code() != fault.PowRequired {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	proof, err := wire.Prove(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	if proof.Challenge.Difficulty != limits.PowBits {
		t.Errorf("%d bits", proof.Challenge.Difficulty)
	}
	wrong := proof
	wrong.Solution = &contract.Solution{Nonce: proof.Solution.Nonce, Counter: proof.Solution.Counter + 1}
	if a := provision(t, d, wrong); a.Status != http.StatusBadRequest || a.Code() != fault.PowInvalid {
		t.Errorf("a wrong solution: %d %s", a.Status, a.Body)
	}
	if a := provision(t, d, proof); a.Status != http.StatusCreated {
		t.Errorf("a right solution: %d %s", a.Status, a.Body)
	}
	if a := provision(t, d, proof); a.Status != http.StatusBadRequest || a.Code() != fault.PowInvalid {
		t.Errorf("a solution again: %d %s", a.Status, a.Body)
	}
}

func TestWorkGetsHarderWithTheGate(t *testing.T) {
	d := harness.NewEnv(t, func(o *stack.Options) {
		o.Limits.ProvisionAddress.Limit = 100
	})
	var asked []int
	for made := 0; made < 17; {
		a := provision(t, d, nil)
		if a.Code() == fault.ProvisionRateLimited {
			break // the minute of the gate ended in between, or its places did
		}
		if a.Code() != fault.PowRequired {
			made++
			continue
		}
		proof, err := wire.Prove(ctx, a)
		if err != nil {
			t.Fatal(err)
		}
		asked = append(asked, proof.Challenge.Difficulty)
		if a := provision(t, d, proof); a.Status == http.StatusCreated {
			made++
		}
	}
	if asked[0] != limits.PowBits || asked[len(asked)-1] != limits.PowBitsBusy {
		t.Errorf("difficulties %v", asked)
	}
}

func TestWorkCanBeAlwaysOrNever(t *testing.T) {
	always := harness.NewEnv(t, func(o *stack.Options) { o.Limits.Pow = limits.PowAlways })
	if a := provision(t, always, nil); a.Code() != fault.PowRequired {
		t.Errorf("always: %d %s", a.Status, a.Body)
	}
	never := harness.NewEnv(t, func(o *stack.Options) { o.Limits.Pow = limits.PowOff })
	for range limits.PowFree + 2 {
		if a := provision(t, never, nil); a.Status != http.StatusCreated {
			t.Errorf("off: %d %s", a.Status, a.Body)
		}
	}
}
