"""Tests of `audit`, without a network."""

import importlib.util
import tempfile
import tomllib
import unittest
from importlib.machinery import SourceFileLoader
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
loader = SourceFileLoader("audit", str(FOLDER / "audit"))
audit = importlib.util.module_from_spec(importlib.util.spec_from_loader("audit", loader))
loader.exec_module(audit)

ADVISORY = """```toml
[advisory]
id = "RUSTSEC-2026-0049"
package = "rustls-webpki"
date = "2026-03-20"
{more}
[versions]
patched = [">= 0.103.10, < 0.104.0-alpha.1", ">= 0.104.0-alpha.5"]
unaffected = ["< 0.101.0"]
```

# CRLs are not always considered
"""


def package(name, version, licence="MIT", source="registry+https://github.com/rust-lang/crates.io-index"):
    return {"name": name, "version": version, "license": licence, "source": source}


class Audit(unittest.TestCase):
    def test_requirements_are_those_of_cargo(self):
        for version, requirement, met in [
            ("0.102.8", "<0.103", True),
            ("0.103.0", "<0.103", False),
            ("0.103.0-rc.1", "<0.103", True),
            ("1.10.0", ">= 1.9, < 2", True),
            ("2.0.0", "^1.9", False),
            ("0.3.9", "^0.3.1", True),
            ("0.4.0", "0.3.1", False),
            ("0.0.4", "^0.0.3", False),
            ("1.2.9", "~1.2.3", True),
            ("1.3.0", "~1.2.3", False),
            ("1.9.9", "~1", True),
            ("1.2.3", "=1.2.3", True),
            ("1.2.4", "=1.2.3", False),
            ("1.2.4", "=1.2", True),
            ("1.0.0-alpha.10", ">1.0.0-alpha.9", True),
            ("1.0.0+5", "<=1.0.0", True),
        ]:
            self.assertEqual(audit.meets(version, requirement), met, f"{version} {requirement}")

    def test_licences_are_expressions(self):
        for expression, met in [
            ("MIT OR GPL-3.0", True),
            ("MIT/Apache-2.0", True),
            ("MIT AND GPL-3.0", False),
            ("(MIT OR GPL-3.0) AND Zlib", True),
            ("GPL-3.0 OR MIT AND GPL-2.0", False),
            ("Apache-2.0 WITH LLVM-exception", True),
            ("Apache-2.0 WITH other-exception", False),
        ]:
            self.assertEqual(audit.allowed(expression, {"MIT", "Apache-2.0", "Zlib", "Apache-2.0 WITH LLVM-exception"}), met, expression)

    def test_rules_of_this_project_find_what_went_away(self):
        rules = tomllib.loads((FOLDER.parent / "deny.toml").read_text())
        for bad in [
            package("rustls-webpki", "0.102.8"),
            package("rustls-pemfile", "2.2.0"),
            package("rumqttc", "0.25.1"),
            package("good", "1.0.0", licence="AGPL-3.0"),
            package("good", "1.0.0", licence=None),
            package("good", "1.0.0", source="git+https://example.org/good"),
        ]:
            self.assertEqual(len([*audit.broken_rules([bad], rules)]), 1, bad)
        good = [package("rustls-webpki", "0.103.16"), package("here", "0.1.0", licence=None, source=None)]
        self.assertEqual([*audit.broken_rules(good, rules)], [])

    def test_advisories_are_found_by_version(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "crates/rustls-webpki/RUSTSEC-2026-0049.md"
            path.parent.mkdir(parents=True)
            path.write_text(ADVISORY.format(more=""))
            known = audit.advisories(Path(folder))
            for version, count in [("0.102.8", 1), ("0.103.9", 1), ("0.103.16", 0), ("0.104.0-alpha.4", 1), ("0.104.0", 0), ("0.100.0", 0)]:
                self.assertEqual(len([*audit.vulnerable([package("rustls-webpki", version)], known, [])]), count, version)
            old = [package("rustls-webpki", "0.102.8")]
            self.assertEqual([*audit.vulnerable(old, known, ["RUSTSEC-2026-0049"])], [])
            path.write_text(ADVISORY.format(more='withdrawn = "2026-04-01"'))
            self.assertEqual(audit.advisories(Path(folder)), {})


if __name__ == "__main__":
    unittest.main()
