#!/bin/sh
# registry.sh labs|suites NAME... - prints a C table of labs or test suites. A lab is registered by having a folder,
# a suite by having a file. The variable of a lab is named after its folder: 06_transpose -> lab_transpose.
set -u

variable() { echo "lab_${1#*_}"; }

what=$1
shift
if [ "$what" = labs ]; then
    echo '#include "base/registry.h"'
    for lab; do echo "extern const Lab $(variable "$lab");"; done
    echo 'const LabEntry all_labs[] = {'
    for lab; do echo "    { \"$lab\", &$(variable "$lab") },"; done
    echo '    { 0 },'
else
    echo '#include <CUnit/CUnit.h>'
    for suite; do echo "extern CU_SuiteInfo $suite;"; done
    echo 'extern CU_SuiteInfo *const all_suites[];'
    echo 'CU_SuiteInfo *const all_suites[] = {'
    for suite; do echo "    &$suite,"; done
    echo '    0,'
fi
echo '};'
