"""Failures that users of such simulators have met, and the tests that show what becomes of each.

Liveness
- A client raises in its work, or its coroutine does: its update alone is lost, counted with the
  reason; or the run fails, by the policy.
        tests/faults/test_client_errors.py::
            test_only_the_guilty_update_is_lost
            test_when_all_fail_the_round_is_skipped
            test_the_policy_may_be_to_fail
            test_a_delay_that_is_none_is_the_failure_of_that_client
            test_a_model_of_delays_that_raises_ends_the_run
        tests/kernel/test_failures.py::
            test_a_failure_between_two_runs_of_one_loop_is_raised_in_the_next
- A client never answers: the round ends by its deadline or the run by its horizon, or it is told
  at once that nothing will end it; no wall time is spent on waiting.
        tests/faults/test_liveness.py::
            test_waiting_for_ever_is_refused_at_once
            test_a_deadline_closes_the_round
            test_a_horizon_in_seconds_ends_the_wait
            test_when_none_is_in_time_rounds_are_skipped
        tests/faults/test_interrupts.py::
            test_flapping_and_never_done_is_told_at_once
- Everybody is off for a while: time jumps. For ever: the run ends, and says so.
        tests/faults/test_liveness.py::
            test_everybody_away_for_a_while_costs_virtual_time_only
            test_nobody_left
            test_everybody_declining_passes_virtual_time
            test_a_model_that_contradicts_itself_ends_the_run
            test_rounds_without_time_never_reach_a_horizon_in_seconds
- A quorum has answered and one client is dead: the round closes.
        tests/faults/test_liveness.py::
            test_a_quorum_closes_the_round_though_one_is_dead
        tests/faults/test_cohorts.py::
            test_over_selection_sends_the_slowest_home
            test_drop_outs_shrink_what_the_server_waits_for
- A buffer wants more answers than live clients give: a time limit empties it, or an error says so.
        tests/faults/test_buffers.py::
            test_a_time_limit_empties_the_buffer
            test_without_one_the_wait_for_ever_is_told_at_once
            test_when_the_others_have_left_the_buffer_is_as_full_as_it_gets
            test_live_clients_fill_it_in_turns_however_many_it_wants
- A client drops out in mid-visit and comes back: lost, suspended, or a part of the work is sent.
        tests/faults/test_interrupts.py::
            test_lost_when_the_session_ends
            test_suspended_until_the_client_is_back
            test_suspended_and_never_back_is_lost
            test_a_suspended_visit_takes_its_time_in_sessions
            test_what_is_done_is_sent_at_once
            test_sessions_of_a_trace
            test_whoever_is_interrupted_more_counts_no_less
            test_parts_of_unequal_length_are_the_same_in_any_stack
        tests/faults/test_sessions.py::
            test_partial_work_is_lost_or_kept_as_the_algorithm_says
        tests/world/test_resume_interrupts.py::
            test_interrupted_anywhere_and_resumed
            test_killed_in_the_gap_of_a_suspended_visit
- Clients flap; sessions have no length, or end at the very instant of an event: one rule.
        tests/faults/test_sessions.py::
            test_work_that_ends_with_the_session_counts
            test_a_session_without_length_never_was
            test_work_without_duration_is_done_in_a_session_however_short
            test_flapping_clients
        tests/faults/test_interrupts.py::
            test_a_visit_that_ends_with_its_session_is_not_suspended
            test_sessions_without_an_end_after_their_beginning_end_the_run
        tests/faults/test_cohorts.py::
            test_who_answers_at_the_instant_of_the_deadline_is_in_time
- The cohort is larger than the pool; the pool changes within the round.
        tests/faults/test_cohorts.py::
            test_a_pool_that_is_too_small_is_taken_whole
            test_drop_outs_shrink_what_the_server_waits_for
            test_a_client_that_misses_a_phase_runs_it_at_its_next_visit
            test_a_phase_that_is_not_carried_is_dropped

Numbers
- All weights are zero, or a client has no data: the round is skipped and counted.
        tests/faults/test_numbers.py::
            test_weights_that_are_none_skip_the_round
            test_a_client_without_data_counts_for_nothing
            test_a_round_of_clients_without_data_is_skipped
- NaN or infinity in an update: rejected and counted, or the run fails, by the policy; the model
  stays finite.
        tests/faults/test_numbers.py::
            test_one_bad_update_is_rejected
            test_when_all_are_bad_the_round_is_skipped
            test_the_policy_may_be_to_fail
            test_a_step_that_breaks_the_model_is_not_taken
            test_a_step_size_beyond_all_numbers
            test_end_points_without_a_way_back
- Rounding leads a point off its manifold over ten thousand rounds: it is brought back, how far it
  is off is told, and bounded.
        tests/faults/test_long_runs.py::
            test_rounding_does_not_lead_off_the_manifold
            test_a_point_that_is_off_is_brought_back
        tests/manifolds/test_long_walks.py::
            test_long_walk
            test_rounding_errors_of_a_descent_do_not_grow
        tests/manifolds/test_stiefel_rounds.py::
            test_points_stay_orthonormal_and_steps_tangent
- Deltas and models are mixed up: kinds of payload are types.
        tests/faults/test_payload_kinds.py::
            test_a_delta_where_a_model_is_meant_does_not_type_check
            test_models_are_not_mixed_where_clients_send_deltas
            test_what_is_no_vector_is_not_coded_or_clipped_as_one
            test_a_payload_of_another_kind_is_told_at_once
- Staleness counts from the download, in server updates, in whole numbers.
        tests/faults/test_order.py::
            test_staleness_counts_server_updates_since_the_download
        tests/world/test_flow.py::
            test_fedbuff_is_the_hand_calculation
            test_older_answers_are_dropped_or_count_as_the_oldest_allowed
            test_answers_about_to_be_too_old_are_called_for
- A stale tangent vector is carried to the present point before it is averaged.
        tests/faults/test_order.py::
            test_a_stale_tangent_vector_is_carried_to_the_present_point
            test_without_the_transport_the_model_would_differ
        tests/world/test_flow.py::
            test_stale_vectors_on_the_sphere_are_carried_to_the_present_point
- Client weights are computed and applied: unequal sizes give the mean worked out by hand.
        tests/faults/test_weighting.py::
            test_the_mean_is_weighted
            test_the_mean_over_some_is_weighted_among_them
            test_the_objective_is_weighted_alike
- Inverse probabilities near 1/0: bounded by the cap; the effective sample size is told.
        tests/faults/test_small_probabilities.py::
            test_a_cap_bounds_the_weight_of_whoever_hardly_comes
            test_a_probability_of_zero_is_no_division
        tests/estimators/test_wrappers.py::
            test_no_weight_is_above_the_cap_and_others_are_as_they_were
- A confusion matrix without an inverse, an empty class, a class that is never predicted, a batch of
  one: regularised, or skipped with a reason, or refused before the run; numbers stay finite.
        tests/faults/test_few_samples.py::
            test_scarce_classes
        tests/faults/test_adaptation_faults.py::
            test_a_singular_confusion_matrix_is_told_before_the_run
            test_regularised_estimates_go_on_with_it
            test_a_client_whose_own_matrix_gets_singular_is_skipped_with_a_reason
            test_an_empty_class_is_refused
            test_a_batch_of_one_and_of_one_class

Time and order
- Ties are ordered by scheduling, two runs give one digest of events; no step time is taken for
  zero in silence.
        tests/faults/test_order.py::
            test_ties_are_in_order_of_scheduling
            test_who_arrived_first_is_not_who_is_summed_first
        tests/faults/test_client_errors.py::
            test_a_delay_that_is_none_is_the_failure_of_that_client
- A client in flight is not selected again; its version is the one it downloaded.
        tests/faults/test_order.py::
            test_a_client_in_flight_is_never_invited_again
            test_staleness_counts_server_updates_since_the_download
- Queries of a trace in any order, beyond its period and at its very end: those of a list of
  intervals.
        tests/participation/test_every_kind.py::
            test_in_time
            test_in_time_a_million_times
        tests/participation/test_trace.py::
            test_later_weeks_are_as_the_first

Repeatability
- Three fresh processes choose the same participants; neither the width of stacks nor the schedule
  of evaluations changes the run, nor does whoever runs it.
        tests/faults/test_repeatability.py::
            test_three_fresh_processes_choose_the_same_participants
            test_twice_in_one_process
            test_the_width_of_stacks
            test_the_engine_changes_no_event
            test_the_schedule_of_evaluations
            test_snapshots
            test_one_metric_more
        tests/workers/test_worker_faults.py::
            test_a_killed_worker_is_replaced_within_its_lease_and_a_second
- What is restored is everything: the algorithm's state, the estimator's, the optimiser's, the
  number of the round.
        tests/faults/test_restoring.py::
            test_everything_comes_back
            test_each_part_matters
            test_the_moments_of_the_optimiser_matter
            test_work_kept_from_drop_outs_outlives_a_snapshot
        tests/world/test_resume.py::
            test_interrupted_anywhere_and_resumed
            test_killed_by_the_system_and_resumed

Memory
- Ten thousand rounds: resident memory is flat, events and metrics are streamed.
        tests/faults/test_long_runs.py::
            test_ten_thousand_rounds_in_flat_memory
        tests/telemetry/test_jsonl.py::
            test_a_million_records_in_flat_memory
"""

import pytest

from tests.faults.cases import cases, named_in_file

CASES = cases(__doc__ or "")


def test_every_case_is_covered_by_some_test() -> None:
    assert len(CASES) == 23
    assert all(CASES)


@pytest.mark.parametrize("place", sorted({place for case in CASES for place, _ in case}))
def test_what_is_named_is_there(place: str) -> None:
    assert {test for case in CASES for named, test in case if named == place} <= named_in_file(
        place
    )
