"""What scripts/weight reads from a program's symbols."""

import os
import stat
import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent
NM = """#!/usr/bin/env bash
cat <<'EOF'
0000000000001000 0000000000100000 t _ZN16flowmeter_suites10properties5drops4open17h0123456789abcdefE
0000000000002000 0000000000200000 T _ZN16flowmeter_suites10properties5drops4open17hfedcba9876543210E
0000000000003000 0000000000080000 t _ZN69_$LT$std..thread..JoinHandle$LT$T$GT$$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE
0000000000004000 0000000000040000 t main
0000000000005000 0000000000040000 D _ZN3std6thread5TABLE17h0123456789abcdefE
                 U malloc
EOF
"""


class Weight(unittest.TestCase):
    """scripts/weight with a table of symbols in the place of nm's."""

    def test_functions_are_counted_by_module_and_data_is_not(self):
        with tempfile.TemporaryDirectory() as folder:
            nm = Path(folder) / "nm"
            nm.write_text(NM, encoding="utf-8")
            nm.chmod(stat.S_IRWXU)
            path = f"{folder}{os.pathsep}{os.environ['PATH']}"
            command = [SCRIPTS / "weight", "program"]
            done = subprocess.run(command, env={"PATH": path}, text=True, capture_output=True, check=True)
        rows = [line.split() for line in done.stdout.splitlines()]
        self.assertEqual(
            rows,
            [
                ["3.9", "MB", "4", "all"],
                ["3.1", "MB", "2", "flowmeter_suites::properties::drops"],
                ["0.5", "MB", "1", "std::thread"],
                ["0.3", "MB", "1", "(other)"],
            ],
        )


if __name__ == "__main__":
    unittest.main()
