-- Queues a job that was accepted and recorded elsewhere, in its place among all. KEYS[19]: the
-- counter of jobs. ARGV: its place, or '' for the end; specification, needs, name, horizon in rounds
-- or '', time of creation; what is recorded of it: the numbers of its last record and event, rounds,
-- attempts, epoch, checkpoint or '', worker, start or ''. Returns 1, or 0 if it is there already.
local number, spec, needs, name, horizon, created, seq, events = unpack(ARGV, 3, 10)
local rounds, attempt, epoch, checkpoint, worker, started = unpack(ARGV, 11, 16)
if redis.call('EXISTS', JOB) == 1 then return 0 end
if number == '' then number = redis.call('INCR', KEYS[19]) end
create(number, spec, needs, name, horizon, created, seq, events)
set('rounds', rounds, 'attempt', attempt, 'epoch', epoch, 'worker', worker)
if checkpoint ~= '' then set('checkpoint', checkpoint) end
if started ~= '' then set('started', started) end
if events == '0' then
  tell('submitted', 'name', name)
elseif started ~= '' then
  local why = 'the job store had lost the job'
  set('reason', why)
  tell('lost', 'reason', why, 'outcome', 'store lost', attempt_facts())
end
enqueue()
return 1
