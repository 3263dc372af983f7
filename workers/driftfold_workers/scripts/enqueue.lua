-- Queues a job in its place among all. ARGV: that; specification, needs, name, horizon in rounds or
-- '', time of creation; what is recorded of it: the numbers of its last record and event, rounds,
-- attempts, epoch, checkpoint or '', worker, start or ''. Returns 1, or 0 if it is there already.
local number, spec, needs, name, horizon, created, seq, events = unpack(ARGV, 3, 10)
local rounds, attempt, epoch, checkpoint, worker, started = unpack(ARGV, 11, 16)
if redis.call('EXISTS', JOB) == 1 then return repeated() and 1 or 0 end
set('number', number, 'spec', spec, 'needs', needs, 'name', name, 'horizon_rounds', horizon,
  'created', created, 'seq', seq, 'events', events, 'rounds', rounds, 'attempt', attempt,
  'epoch', epoch, 'worker', worker, 'reason', '', 'nonce', NONCE)
redis.call('ZADD', ALL, number, ID)
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
