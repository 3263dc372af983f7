-- ARGV: why the job is canceled, or ''. Returns the job.
local state = field('state')
if not state then return unknown() end
if state == 'queued' or state == 'paused' then
  finish('canceled', ARGV[3])
  set('nonce', NONCE)
elseif state == 'running' then
  redis.call('HDEL', JOB, 'pausing')
  set('reason', ARGV[3], 'why', ARGV[3])
  move('canceling')
  tell('cancel-requested', attempt_facts())
elseif state ~= 'canceling' and not repeated() then
  return refuse('only a job that is not over can be canceled')
end
return redis.call('HGETALL', JOB)
