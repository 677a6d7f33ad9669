"""Greets."""
import sys


class Greeter:
    def __init__(self, name: str = "world") -> None:
        self.name = name  # who

    def greet(self) -> str:
        return f"hello {self.name}, {3.14 * 2:.2f}"


if __name__ == "__main__":
    print(Greeter(*sys.argv[1:]).greet(), None, True)
