-- Queues a job in its place among all. ARGV: number of its last recorded event; 1 if it is paused,
-- or 0; then what is known and recorded of it, the hash's fields, names and values in turn. Returns
-- 1, or 0 if it is there already.
if redis.call('EXISTS', JOB) == 1 then return repeated() and 1 or 0 end
set('events', ARGV[3], 'nonce', NONCE, unpack(ARGV, 5))
redis.call('ZADD', ALL, field('number'), ID)
local paused = ARGV[4] == '1'
if ARGV[3] == '0' then
  tell('submitted', 'name', field('name'))
elseif field('started') and not paused then
  local why = 'the job store had lost the job'
  set('reason', why)
  count_outcome('store lost')
  tell('lost', 'reason', why, 'outcome', 'store lost', attempt_facts())
end
if paused then move('paused') else enqueue() end
return 1
