package journey

import (
	"net/http"
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

func (d *deployment) provision(t testing.TB, body any) wire.Answer {
	t.Helper()
	a, err := d.anyone.Do(ctx, "POST", d.Origins.API+"/v1/ephemeral/provision", body)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAnAddressProvesWorkFromItsFourthWorkspaceInAMinute(t *testing.T) {
	d := deploy(t)
	for range limits.PowFree {
		if a := d.provision(t, nil); a.Status != http.StatusCreated {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
	a := d.provision(t, nil)
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
	if a := d.provision(t, wrong); a.Status != http.StatusBadRequest || a.Code() != fault.PowInvalid {
		t.Errorf("a wrong solution: %d %s", a.Status, a.Body)
	}
	if a := d.provision(t, proof); a.Status != http.StatusCreated {
		t.Errorf("a right solution: %d %s", a.Status, a.Body)
	}
	if a := d.provision(t, proof); a.Status != http.StatusBadRequest || a.Code() != fault.PowInvalid {
		t.Errorf("a solution again: %d %s", a.Status, a.Body)
	}
}

func TestWorkGetsHarderWithTheGate(t *testing.T) {
	d := deploy(t, func(o *stack.Options) {
		o.Limits.ProvisionAddress.Limit = 100
	})
	var asked []int
	for made := 0; made < 17; {
		a := d.provision(t, nil)
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
		if a := d.provision(t, proof); a.Status == http.StatusCreated {
			made++
		}
	}
	if asked[0] != limits.PowBits || asked[len(asked)-1] != limits.PowBitsBusy {
		t.Errorf("difficulties %v", asked)
	}
}

func TestWorkCanBeAlwaysOrNever(t *testing.T) {
	always := deploy(t, func(o *stack.Options) { o.Limits.Pow = limits.PowAlways })
	if a := always.provision(t, nil); a.Code() != fault.PowRequired {
		t.Errorf("always: %d %s", a.Status, a.Body)
	}
	never := deploy(t, func(o *stack.Options) { o.Limits.Pow = limits.PowOff })
	for range limits.PowFree + 2 {
		if a := never.provision(t, nil); a.Status != http.StatusCreated {
			t.Errorf("off: %d %s", a.Status, a.Body)
		}
	}
}

func TestTheCommandProvesWorkByItself(t *testing.T) {
	d := deploy(t, func(o *stack.Options) { o.Limits.Pow = limits.PowAlways })
	out, _ := d.terminal(t).types(t, 0, "", "publish", folderOf(t, map[string]string{"index.html": "<p>worked for"}), "--ephemeral")
	link := linkForm.FindString(out)
	if _, err := d.anyone.Resolve(ctx, link); err != nil {
		t.Error(err)
	}
}
