-- Returns the job.
local state = field('state')
if not state then return unknown() end
if state == 'queued' or state == 'paused' then
  finish('canceled', '')
  set('nonce', NONCE)
elseif state == 'running' then
  redis.call('HDEL', JOB, 'pausing')
  set('reason', '')
  move('canceling')
  tell('cancel-requested', attempt_facts())
elseif state ~= 'canceling' and not repeated() then
  return refuse('only a job that is not over can be canceled')
end
return redis.call('HGETALL', JOB)
