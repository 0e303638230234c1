"""python -m tests.random --count 20000 --stages interp --seed 0

Random programs, at the stages of the IR and, with `--stages cxx`, through C++ and the simulator too. What fails is made
small and written to a folder as `.pto`. Exit code 1 if anything failed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

from tests.random.check import Fault, Refused, Unfit, interpreted
from tests.random.choices import Choices
from tests.random.native import Generated, generated, simulated, through_cxx
from tests.random.programs import make
from tests.random.shrink import report, shrink


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.random", description=__doc__)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0, help="of the first program; the others follow")
    parser.add_argument("--stages", choices=["interp", "cxx"], default="interp")
    parser.add_argument("--batch", type=int, default=50, help="programs in one translation unit")
    parser.add_argument("--out", type=Path, default=Path("build/random"), help="where failing programs are written")
    parser.add_argument("--shrink", type=float, default=60, help="seconds to make one failing program small")
    parser.add_argument("--faults", type=int, default=20, help="stop after so many")
    given = parser.parse_args()
    tally: Counter[str] = Counter()
    started = time.perf_counter()
    batch: list[Generated] = []

    def failed(seed: int, fault: str, native: bool) -> None:
        tally["failed"] += 1
        print(f"seed {seed}: {fault.splitlines()[0]}", flush=True)
        if given.shrink:
            choices = Choices(seed)
            make(choices, f"r{seed}")
            check = through_cxx if native else interpreted
            small, what = shrink(choices.drawn, fault, check, seed, f"r{seed}", given.shrink)
            print(f"  {report(small, what, seed, given.out)}: {what.splitlines()[0]}", flush=True)

    def flush() -> None:
        for seed, fault in simulated(batch, f"random_{batch[0].seed}" if batch else "").items():
            tally["simulated"] -= 1
            failed(seed, fault, True)
        batch.clear()

    for seed in range(given.seed, given.seed + given.count):
        made = make(Choices(seed), f"r{seed}")
        try:
            machine = interpreted(made, seed)
            if given.stages == "cxx":
                batch.append(generated(seed, made, machine))
                tally["simulated"] += 1
            tally["interpreted"] += 1
        except Refused as refused:
            tally[f"refused: {refused}"] += 1
        except Unfit:
            tally["unfit"] += 1
        except Fault as fault:
            failed(seed, str(fault), False)
        if len(batch) == given.batch:
            flush()
        if tally["failed"] >= given.faults:
            break
    flush()
    seconds = time.perf_counter() - started
    print(f"{sum(tally.values()) - tally['simulated']} programs, {seconds:.0f} s: {dict(tally)}")
    print(f"{given.count / seconds:.1f} programs a second")
    return 1 if tally["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
