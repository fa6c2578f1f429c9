"""The pace: never more requests than the vendor permits, in any stretch of time of its length; and not much less."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penmark.records import Pace as Limit
from penmark.stages.scan import open_scan
from penmark.stages.scan.rate_limit import RateLimit


class Clock:
    """Time that passes when somebody waits."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def wait(self, seconds: float) -> bool:
        self.now += seconds
        return False


def most(times: list[float], seconds: float) -> int:
    """The most of ``times`` that lie in any stretch of so many seconds."""
    return max(sum(start <= at < start + seconds for at in times) for start in times)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 60), st.integers(1, 5), st.lists(st.floats(0, 2), min_size=1, max_size=120))
def test_no_stretch_of_time_has_more_than_the_limit(requests: int, seconds: int, idle: list[float]) -> None:
    clock, times = Clock(), []
    pace = RateLimit(Limit(requests=requests, seconds=seconds), clock)
    for rest in idle:
        clock.now += rest
        assert pace.turn(clock.wait)
        times.append(clock.now)
    assert most(times, seconds) <= requests


@pytest.mark.parametrize(("requests", "seconds"), [(500, 1), (10, 1), (5, 1), (500, 60), (30_000, 3600), (1, 1)])
def test_hardly_anything_of_the_limit_is_left_unused(requests: int, seconds: int) -> None:
    clock, count = Clock(), min(3 * requests, 1500)
    pace = RateLimit(Limit(requests=requests, seconds=seconds), clock)
    for _ in range(count):
        pace.turn(clock.wait)
    assert count / max(clock.now, 1e-9) >= 0.95 * requests / seconds


def test_places_that_were_taken_count_until_the_requests_leave_or_are_given_back() -> None:
    clock = Clock()
    pace = RateLimit(Limit(requests=10, seconds=1), clock)
    assert pace.free() == 2
    pace.take(2)
    assert pace.free() == 0
    pace.give_back()
    assert pace.free() == 1
    assert pace.turn(clock.wait, taken=True)
    clock.now += 0.2
    assert pace.free() == 2


def test_requests_that_were_held_up_do_not_all_leave_at_once() -> None:
    clock, times = Clock(), []
    pace = RateLimit(Limit(requests=10, seconds=1), clock)
    for _ in range(4):  # the places are taken in good time, and the requests leave much later, all at once
        while pace.free() > 0:
            pace.take()
            times.append(0.0)
        clock.now += 0.3
    clock.now += 30
    count = len(times)
    assert count == 8
    times = []
    for _ in range(count):
        assert pace.turn(clock.wait, taken=True)
        times.append(clock.now)
    for _ in range(30):
        assert pace.turn(clock.wait)
        times.append(clock.now)
    assert most(times, 1) <= 10


def test_nothing_leaves_while_the_vendor_wants_to_be_left_alone() -> None:
    clock = Clock()
    for pace in (RateLimit(None, clock), RateLimit(Limit(requests=100, seconds=1), clock)):
        start = clock.now
        pace.close(7.5)
        pace.close(2.0)
        assert pace.free() == 0
        assert pace.turn(clock.wait)
        assert 7.5 <= clock.now - start < 8.6
        assert pace.free() > 0


def test_waiting_ends_when_the_scan_is_stopped() -> None:
    clock = Clock()
    pace = RateLimit(Limit(requests=1, seconds=60), clock)
    answers = itertools.chain([False, False], itertools.repeat(True))
    assert pace.turn(lambda seconds: next(answers))
    assert not pace.turn(lambda seconds: next(answers))


def test_without_a_limit_of_its_own_a_vendor_is_asked_at_once() -> None:
    pace = RateLimit(None, Clock())
    assert pace.free() > 1000
    assert (pace.delay(), pace.rate) == (0.0, None)


# --- pauses after a failure ------------------------------------------------------------------------------------------


def test_pauses_grow_up_to_a_minute_and_are_never_the_same_for_all() -> None:
    for failures, most in ((1, 2.0), (2, 4.0), (3, 8.0), (5, 32.0), (6, 60.0), (1000, 60.0)):
        pauses = {open_scan.compute_backoff(failures) for _ in range(50)}
        assert all(most / 2 <= each <= most for each in pauses)
        assert len(pauses) > 1
