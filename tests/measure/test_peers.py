"""The comparison with other tools: its kernel copies, and on a GPU all agree."""

from __future__ import annotations

import peers
import pytest

from compile_lane import needs_compilers, raw_facts


@needs_compilers()
def test_the_copy_is_not_folded_into_one_pass():
    facts = raw_facts(peers.SOURCE, "copy_passes")
    assert facts.spills == 0
    assert facts.count("ld.global.v4") == facts.count("st.global.v4") > 0


# CuPy 14.2 prefers `Stream.from_external`, which its older versions do not have.
@pytest.mark.filterwarnings("ignore:ExternalStream is deprecated:DeprecationWarning")
@pytest.mark.gpu
def test_we_agree_with_every_peer_that_is_installed():
    rows = peers.compare()
    assert not [str(row) for row in rows if row.within is False]
