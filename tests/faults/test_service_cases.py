"""Which tests cover the faults that the service must survive, case by case.

- The worker is killed; its supervisor is stopped past its lease and wakes; Redis is killed and
  restarted; Redis is paused; the network to one worker stalls. Every round once, the numbers of
  an undisturbed run, one final state.
        tests/workers/test_worker_faults.py::
            test_a_killed_worker_is_replaced_within_its_lease_and_a_second
            test_a_worker_that_wakes_after_its_lease_writes_nothing_more
            test_a_restarted_store_has_lost_nothing_and_the_run_goes_on
            test_a_worker_drains_on_sigterm
        tests/workers/test_supervisor.py::
            test_a_store_that_hangs_slows_a_run_and_changes_nothing
            test_a_store_that_lost_its_last_second_is_told_again
        tests/faults/test_stalled_network.py::
            test_another_worker_takes_over_and_the_first_writes_nothing_more
        tests/faults/test_full_disk.py::
            test_the_store_cannot_write_its_log
            test_the_runs_cannot_be_written
        tests/workers/test_attempt_ends.py::
            test_stopped_at_any_step
            test_a_job_without_a_process_is_not_held_by_a_heartbeat
        tests/workers/test_chaos.py::
            test_chaos
        tests/faults/test_campaign.py::
            test_each_fault_once
            test_ten_random_kills
        tests/faults/test_chaos_rules.py::
            test_what_is_broken_is_told
- Out of memory in the process of a run, or its end by a signal: failed with that reason after its
  attempts, never running for ever.
        tests/workers/test_supervisor.py::
            test_what_fails_every_time_fails_after_its_attempts
            test_a_killed_process_is_replaced_at_once
        tests/workers/test_child.py::
            test_a_limit_on_memory_is_kept
        tests/workers/test_limits.py::
            test_out_of_memory
            test_what_is_over_its_limit_has_failed_unless_it_was_done
        tests/workers/test_store_retries.py::
            test_pauses_grow
- The HTTP client leaves during its submission: the job is there or not, never half.
        tests/api/test_submit.py::
            test_a_client_that_leaves_amid_its_request_leaves_nothing
            test_a_client_that_leaves_at_once_has_whole_jobs_or_none
            test_a_client_that_leaves_while_its_job_is_made_has_the_job
        tests/faults/test_many_jobs.py::
            test_a_thousand_jobs_of_twenty_clients
- A result is aggregated and the process dies before its record is kept: the next attempt goes on
  from what is recorded.
        tests/faults/test_unrecorded.py::
            test_it_goes_on_from_the_log
        tests/workers/test_child.py::
            test_the_order_of_messages_lets_a_snapshot_follow_its_records
            test_without_its_snapshot_a_run_begins_anew
        tests/workers/test_store_faults.py::
            test_a_kill_in_the_middle_of_appends_loses_nothing
- Bursts of metrics: none lost; a slow reader slows nobody.
        tests/workers/test_store_crowd.py::
            test_many_records
            test_long_records
        tests/workers/test_supervisor.py::
            test_a_store_that_hangs_slows_a_run_and_changes_nothing
        tests/api/test_stream_faults.py::
            test_slow_readers_slow_nobody_and_miss_nothing
            test_a_reader_that_takes_nothing_is_let_go
- Reconnects replay exactly what was missed.
        tests/api/test_stream_faults.py::
            test_over_a_restart_a_client_gets_exactly_what_it_missed
            test_a_stream_outlives_the_death_of_redis
        tests/api/test_client.py::
            test_a_watch_goes_on_over_restarts_and_loses_nothing
        tests/browser/test_reconnect.py::
            test_an_api_that_is_killed_and_comes_back
- A bad specification: a clear refusal or a failed state with the sentence that helps; nothing is
  half made.
        tests/faults/test_bad_specs.py::
            test_one_clear_sentence_and_no_folder
            test_a_plug_in_that_raises_on_import
        tests/api/test_refusals.py::
            test_a_bad_specification_is_told_line_by_line
            test_of_all_that_was_refused_nothing_is_left
        tests/workers/test_child.py::
            test_failures_are_told
            test_a_broken_plug_in_is_no_fault_of_the_job
        tests/workers/test_supervisor.py::
            test_what_cannot_get_better_fails_at_once
        tests/workers/test_data_paths.py::
            test_a_worker_reads_what_it_offers_and_nothing_else
        tests/api/test_fuzzed_specs.py::
            test_broken_specifications
        tests/api/test_exercised.py::
            test_a_service_that_runs
- Output that is huge: a million rounds, long texts, metrics that are NaN or infinite. All is kept
  and read, as valid JSON.
        tests/faults/test_huge_output.py::
            test_it_is_kept_to_the_end
        tests/workers/test_store_crowd.py::
            test_long_records

- The archive's tables are locked, its disk is full, its server is killed and comes back; its job
  store is away, lost, or another one's: what was accepted is kept, refusals say so, and the
  recorder goes on.
        tests/api/test_archive_faults.py::
            test_another_program_has_locked_it
            test_its_disk_is_full
            test_its_server_is_killed_and_started_again
        tests/api/test_archive.py::
            test_without_its_job_store_jobs_are_accepted_and_run_later
            test_what_is_wished_without_the_job_store_happens_when_it_is_back
            test_accepted_jobs_outlive_the_job_store_and_its_disk
        tests/command/test_without_job_store.py::
            test_jobs_are_accepted_and_run_when_it_is_there
        tests/recording/test_ownership.py::
            test_a_second_archive_touches_nothing
            test_jobs_of_a_lost_archive_are_adopted

What is not there yet, and so has no test: object stores.
"""

import pytest

from tests.faults.cases import cases, named_in_file

CASES = cases(__doc__ or "")


def test_every_case_is_covered_by_some_test() -> None:
    assert len(CASES) == 9
    assert all(CASES)


@pytest.mark.parametrize("place", sorted({place for case in CASES for place, _ in case}))
def test_what_is_named_is_there(place: str) -> None:
    assert {test for case in CASES for named, test in case if named == place} <= named_in_file(
        place
    )
